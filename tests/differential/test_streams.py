"""No two uses of random numbers share a stream, and none is what a user draws."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import _streams, catalog
from matroid_bandits.delays import DelayStream

from ..reference.streams import (
    delay_generator,
    matroid_generator,
    means_generator,
    policy_generator,
    reward_generator,
)

SEEDS = [0, 1, 3, 2**31, 2**32 - 1, 2**32, 2**64, 2**64 + 3, 2**96 + 1, 2**128, 3**100]
NUMBERS = [0, 1, 2, 1000, 10**6, 2**31, 2**32 - 1]
DOMAINS = {
    "rewards": _streams.REWARDS,
    "policies": _streams.POLICIES,
    "delays": _streams.DELAYS,
    "means": _streams.RANDOM_MEANS,
    "features": _streams.RANDOM_FEATURES,
    "walks": _streams.WALKS,
    "matroids": _streams.RANDOM_MATROIDS,
}


def _ours() -> Iterator[tuple[str, np.random.Generator]]:
    for seed in SEEDS:
        for element in NUMBERS:
            for name in ("rewards", "walks"):
                yield f"{name} {seed} {element}", _streams.stream(DOMAINS[name], seed, element)
        for name, domain in DOMAINS.items():
            if name not in {"rewards", "walks"}:
                yield f"{name} {seed}", _streams.stream(domain, seed)


def _of_users() -> Iterator[tuple[str, np.random.Generator]]:
    for seed in SEEDS:
        # default_rng(s), default_rng([s, 0]) and default_rng([s, 0, 0]) are the same stream.
        yield f"default_rng({seed})", np.random.default_rng(seed)
        for k in NUMBERS[1:]:
            yield f"default_rng([{seed}, {k}])", np.random.default_rng([seed, k])
            yield f"default_rng([{seed}, 0, {k}])", np.random.default_rng([seed, 0, k])
        for k, child in enumerate(np.random.SeedSequence(seed).spawn(3)):
            yield f"SeedSequence({seed}).spawn {k}", np.random.default_rng(child)
            (grandchild,) = child.spawn(1)
            yield f"SeedSequence({seed}).spawn {k}, 0", np.random.default_rng(grandchild)


def test_no_stream_is_another_or_a_users() -> None:
    seen: dict[bytes, str] = {}
    users = {rng.bytes(32): name for name, rng in _of_users()}
    for name, rng in _ours():
        first = rng.bytes(32)
        assert first not in seen, f"{name} is {seen[first]}"
        assert first not in users, f"{name} is {users[first]}"
        seen[first] = name


def test_domains_are_four_words_without_zeros() -> None:
    for domain in DOMAINS.values():
        words = np.frombuffer(domain.to_bytes(16, "little"), dtype="<u4")
        assert len(words) == 4
        assert words.all()
    assert all(a != b for a, b in combinations(DOMAINS.values(), 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_streams_are_those_of_the_reference(seed: int) -> None:
    normal = mb.GaussianEnvironment(np.zeros(8), 1.0).rewards(seed).draw([7])[0]
    assert normal == reward_generator(seed, 7).standard_normal()
    means = mb.random_means(8, seed)
    assert means.tolist() == means_generator(seed).uniform(0.5, 1, 8).tolist()
    policy = mb.RandomBasis(mb.UniformMatroid(1, 8), seed=seed)
    assert policy.select().tolist() == [int(np.argmax(policy_generator(seed).random(8)))]
    delays = DelayStream(mb.FixedDelay(3, lost=0.5), seed).take(8)
    assert (delays < 0).tolist() == (delay_generator(seed).random(8) < 0.5).tolist()
    named = catalog.matroid("graphic(12)", seed=seed)
    expected = mb.GraphicMatroid.random(matroid_generator(seed), 12)
    assert list(named.edges) == list(expected.edges)


@pytest.mark.parametrize("seed", range(5))
def test_rewards_do_not_follow_means_drawn_with_the_same_seed(seed: int) -> None:
    # With 2000 independent pairs a correlation has standard deviation 0.022.
    n = 2000
    drawn = np.random.default_rng(seed).normal(size=n)
    rewards = mb.GaussianEnvironment(np.zeros(3), 1.0).rewards(seed)
    noise = np.array([rewards.draw([0, 1, 2]) for _ in range(n)])
    for e in range(3):
        assert abs(np.corrcoef(drawn, noise[:, e])[0, 1]) < 0.13
    uniform = np.random.default_rng(seed).uniform(0.5, 1, n)
    assert abs(np.corrcoef(uniform, mb.random_means(n, seed))[0, 1]) < 0.13
