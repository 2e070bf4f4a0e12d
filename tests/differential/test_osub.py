"""OSUB against the slow reference: arms, neighbors, plays, leaders and statistics, every round."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import feedback
from ..reference import indices as slow
from ..reference.osub import ReferenceOSUB
from ..seeds import FAMILIES, seeds

Arms = Sequence[tuple[int, ...]]

MOST_BASES = 60
INDICES: dict[str, tuple[mb.Index, Callable[[], slow.Index]]] = {
    "kl": (mb.KLUCB(), slow.KLUCB),
    "kl 0": (mb.KLUCB(0), lambda: slow.KLUCB(0.0)),
    "ucb": (mb.UCB(), slow.UCB),
    "noise 0.2": (mb.UCB(0.2), lambda: slow.UCB(0.2)),
    "ucbv": (mb.UCBV(), slow.UCBV),
    "normal": (mb.NormalUCB(), slow.NormalUCB),
    "moss": (mb.MOSS(), slow.MOSS),
    "moss 300": (mb.MOSS(300, 0.2), lambda: slow.MOSS(300, 0.2)),
}
every_index = pytest.mark.parametrize("index", INDICES)
every_kind = pytest.mark.parametrize("kind", ["bernoulli", "few values", "uniform", "negative"])


def _bases(matroid: mb.Matroid) -> list[tuple[int, ...]]:
    """All bases by definition, in lexicographic order."""
    subsets = combinations(range(matroid.size), matroid.rank)
    return [elements for elements in subsets if matroid.is_independent(elements)]


def _exchanges(arms: Arms) -> list[list[int]]:
    """Those that differ in one element, by definition."""
    return [[j for j, other in enumerate(arms) if len(set(arm) - set(other)) == 1] for arm in arms]


def _small(family: str, rng: np.random.Generator, maximum: int = MOST_BASES) -> mb.Matroid:
    while True:
        matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(0, 9)))
        if len(_bases(matroid)) <= maximum:
            return matroid


def _rewards(kind: str, rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    if kind == "negative":
        # Arms that were never played have mean 0, the largest there is.
        return rng.normal(means - 1, 0.5)
    return feedback.rewards(kind, rng, means)


def _observed(basis: np.ndarray, arms: Arms, size: int, rng: np.random.Generator) -> np.ndarray:
    """Mostly the arm, in any order; now and then a part, another arm, anything, or nothing."""
    chance = rng.random()
    if chance < 0.05:
        return rng.permutation(basis)[: len(basis) // 2]
    if chance < 0.1:
        return rng.permutation(size)[: rng.integers(0, size + 1)]
    if chance < 0.2:
        return rng.permutation(np.array(arms[rng.integers(len(arms))], dtype=np.intp))
    return rng.permutation(basis) if chance < 0.4 else basis


def _assert_same_play(arm: int, expected: int, other: ReferenceOSUB) -> None:
    if isinstance(other._index, slow.KLUCB) and arm != expected:
        # Means that are equal but for the last bit, as sums of thirds are, have values that are
        # equal but for the last bit: each way of solving the equation has another one ahead.
        near = [other.leader, *other._neighbors[other.leader]]
        time = other.leader_rounds[other.leader]
        assert arm in near
        value, largest = (other._value(k, time) for k in (arm, expected))
        assert abs(largest - value) <= 1e-15
        assert other.plays[arm] == other.plays[expected]
    else:
        assert arm == expected


def _compare(
    policy: mb.OSUB, other: ReferenceOSUB, arms: Arms, rng: np.random.Generator, kind: str
) -> None:
    size = policy.matroid.size
    means = rng.uniform(0, 1, size)
    for t in range(250):
        basis = policy.select()
        _assert_same_play(arms.index(tuple(basis.tolist())), arms.index(other.select()), other)
        assert tuple(policy.leader.tolist()) == arms[other.leader], t
        assert policy.arm_counts.tolist() == other.plays
        seen = policy.arm_counts > 0
        assert policy.arm_means[seen].tolist() == np.array(other.arm_means)[seen].tolist()
        elements = _observed(basis, arms, size, rng)
        rewards = _rewards(kind, rng, means[elements])
        policy.update(elements, rewards)
        other.update(elements.tolist(), rewards.tolist())
        if rng.random() < 0.05:
            # A round that no select came before.
            policy.update([], [])
            other.update([], [])


def _is_unfit(index: str, kind: str) -> bool:
    return kind == "negative" and INDICES[index][0].low == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_arms_and_neighbors_are_those_of_the_definition(family: str) -> None:
    for seed in seeds(20):
        matroid = _small(family, np.random.default_rng([seed, 21]), maximum=200)
        policy = mb.OSUB(matroid)
        arms = _bases(matroid)
        near = _exchanges(arms)
        assert [tuple(arm) for arm in policy.arms.tolist()] == arms
        assert [policy.neighbors(k).tolist() for k in range(len(arms))] == near
        assert policy.largest_degree == max(map(len, near))


@every_index
@every_kind
@pytest.mark.parametrize("family", FAMILIES)
def test_bases_round_for_round(family: str, kind: str, index: str) -> None:
    fast, exact = INDICES[index]
    if _is_unfit(index, kind):
        kind = "bernoulli"
    for seed in seeds(2):
        rng = np.random.default_rng([seed, 22])
        matroid = _small(family, rng)
        arms = _bases(matroid)
        other = ReferenceOSUB(arms, _exchanges(arms), exact())
        _compare(mb.OSUB(matroid, index=fast), other, arms, rng, kind)


def _connected(elements: Sequence[int], rng: np.random.Generator) -> list[tuple[int, int]]:
    """A random tree, and a few edges more, some of them twice."""
    order = rng.permutation(elements).tolist()
    edges = [(order[i], order[int(rng.integers(0, i))]) for i in range(1, len(order))]
    for _ in range(int(rng.integers(0, 6)) if len(order) > 1 else 0):
        one, two = rng.choice(order, 2, replace=False).tolist()
        edges.append((one, two))
    return edges


@every_index
@every_kind
def test_single_arms_round_for_round(kind: str, index: str) -> None:
    fast, exact = INDICES[index]
    if _is_unfit(index, kind):
        kind = "bernoulli"
    for seed in seeds(10):
        rng = np.random.default_rng([seed, 23])
        size = int(rng.integers(1, 11))
        # All elements are parallel, but for a few loops.
        is_loop = rng.random(size) < 0.2
        is_loop[int(rng.integers(0, size))] = False
        matroid = mb.GraphicMatroid([(0, 0) if loop else (0, 1) for loop in is_loop])
        elements = np.flatnonzero(~is_loop).tolist()
        edges = _connected(elements, rng)
        near = [
            sorted({k for k, f in enumerate(elements) if (e, f) in edges or (f, e) in edges})
            for e in elements
        ]
        arms = [(e,) for e in elements]
        policy = mb.OSUB(matroid, edges, index=fast)
        assert [policy.neighbors(k).tolist() for k in range(len(arms))] == near
        _compare(policy, ReferenceOSUB(arms, near, exact()), arms, rng, kind)


def test_simulated_as_played_by_hand() -> None:
    # The loop of the simulator teaches the kernel directly.
    matroid = mb.GraphicMatroid.complete(4)
    environment = mb.BernoulliEnvironment(np.linspace(0.1, 0.9, 6))
    policy, by_hand = mb.OSUB(matroid), mb.OSUB(matroid)
    mb.simulate(policy, environment, 2000, seed=3)
    rewards = environment.rewards(seed=3)
    for _ in range(2000):
        basis = by_hand.select()
        by_hand.update(basis, rewards.draw(basis))
    assert policy.arm_counts.tolist() == by_hand.arm_counts.tolist()
    assert np.array_equal(policy.arm_means, by_hand.arm_means, equal_nan=True)
    assert policy.counts.tolist() == by_hand.counts.tolist()


@every_index
@pytest.mark.parametrize("family", FAMILIES)
def test_bases_with_availability_that_changes(family: str, index: str) -> None:
    fast, exact = INDICES[index]
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 24])
        matroid = _small(family, rng)
        arms = _bases(matroid)
        policy = mb.OSUB(matroid, index=fast)
        other = ReferenceOSUB(arms, _exchanges(arms), exact(), size=matroid.size)
        for t in range(150):
            offer = np.flatnonzero(rng.random(matroid.size) < rng.choice([0.5, 0.8, 1.0]))
            if other.rank_among(offer) < matroid.rank:
                with pytest.raises(ValueError, match="cannot play a smaller set"):
                    policy.select(available=offer, allow_smaller=True)
                continue
            played = tuple(policy.select(available=offer).tolist())
            expected = other.decide(t, offer.tolist() if len(offer) < matroid.size else None)
            _assert_same_play(arms.index(played), arms.index(expected), other)
            rewards = rng.integers(0, 3, len(played)) / 2
            policy.update(played, rewards)
            other.observe_play(played, rewards.tolist())
            assert policy.arm_counts.tolist() == other.plays
