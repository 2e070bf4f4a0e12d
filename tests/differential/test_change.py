"""Policies for means that change against the slow reference, every round."""

import os
import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import feedback
from ..recipes import random_recipe
from ..reference import matroids as textbook
from ..reference.change import ChangingMAUB
from ..seeds import FAMILIES, seeds
from . import continuing
from .changes import (
    CASES,
    CHANGES,
    INDICES,
    POLICIES,
    Hopeful,
    assert_same_means,
    has_tiny_tally,
    history,
    is_bounded,
    is_exact,
    is_level,
)
from .test_thinned import assert_same_distribution

every_case = pytest.mark.parametrize(("name", "change"), CASES)
# One third of them, but all with ``SEEDS=all``.
some_cases = pytest.mark.parametrize(("name", "change"), CASES[:: 1 if len(seeds(1)) > 1 else 3])

# Means jump after so many rounds.
JUMP = 30


@pytest.fixture(autouse=True)
def without_warnings() -> Iterator[None]:
    # Rewards have less noise than some policies assume.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _pair(name: str, change: str, matroid: mb.Matroid, ask: Any, seed: int) -> tuple[Any, Any]:
    make, make_reference = POLICIES[name]
    ours, theirs = CHANGES[change]()
    return make(matroid, seed, **ours), make_reference(matroid.size, ask, seed, **theirs)


class Changing:
    """Means that jump, and the rewards."""

    def __init__(self, rng: np.random.Generator, size: int, kind: str) -> None:
        self._rng, self._size, self._kind = rng, size, kind
        self.jump()

    def jump(self) -> None:
        self.means = self._rng.random(self._size)

    def rewards(self, elements: np.ndarray) -> np.ndarray:
        if self._kind == "gaussian":
            return self._rng.normal(self.means[elements], 0.2)
        return feedback.rewards(self._kind, self._rng, self.means[elements])


def _compare(
    name: str,
    change: str,
    matroid: mb.Matroid,
    ask: Any,
    rng: np.random.Generator,
    *,
    kind: str,
    rounds: int,
) -> bool:
    """Play both; False if they parted where sets are level but for rounding.

    Beta draws have another formula for a parameter that is 1 than for one that is 1 and a bit.
    What comes after that is not compared.
    """
    policy, other = _pair(name, change, matroid, ask, int(rng.integers(1000)))
    world = Changing(rng, matroid.size, kind)
    for t in range(rounds):
        if t % JUMP == JUMP - 1:
            world.jump()
        basis = policy.select()
        other.compared.clear()
        expected = other.select()
        leader = getattr(policy, "leader", None)
        if (
            leader is not None
            and other.leader is not None
            and tuple(leader.tolist()) != other.leader
        ):
            # Two leaders with the same sum of means.
            means = np.array(other.means)
            sums = means[leader].sum(), means[list(other.leader)].sum()
            assert not is_exact(name, change)
            assert sums[0] == pytest.approx(sums[1], rel=1e-9), t
            return False
        if tuple(basis.tolist()) != expected:
            assert not is_exact(name, change), (t, basis, expected)
            if has_tiny_tally(other):
                return True
            assert is_level(other, basis.tolist(), expected), (t, basis, expected)
            return False
        if isinstance(policy, mb.MAUB):
            assert leader is not None or other.leader is None
            if leader is not None and other.leader is None:
                # No round was decided by means yet: it is the basis that will lead.
                means = np.array(other.means)
                assert leader.tolist() == np.sort(matroid.max_weight_basis(means)).tolist()
        elif not change.startswith("restart"):
            assert policy.greedy_calls == other.greedy_calls
        assert policy.counts.tolist() == other.counts, t
        assert_same_means(policy, other, change)
        elements = feedback.observed(rng, basis, matroid.size, part=0.05, foreign=0.05)
        rewards = world.rewards(elements)
        policy.update(elements, rewards)
        other.update(elements.tolist(), rewards.tolist())
        assert policy.counts.tolist() == other.counts, t
        assert_same_means(policy, other, change)
    return True


@pytest.mark.usefixtures("plain_draws")
@every_case
def test_round_for_round(name: str, change: str) -> None:
    kinds = ["uniform", "bernoulli"] if is_bounded(name) else ["gaussian", "bernoulli"]
    place = CASES.index((name, change))
    for seed in seeds(1):
        kind = kinds[(place + seed) % 2]
        rng = np.random.default_rng([seed, 60, place])
        family = catalog.MATROIDS[FAMILIES[(place + seed) % len(FAMILIES)]]
        matroid = family.random(rng, int(rng.integers(3, 10)))
        ask = cache(lambda s, m=matroid: m.is_independent(s))
        went_on = _compare(name, change, matroid, ask, rng, kind=kind, rounds=80)
        # Rewards that never tie leave nothing to rounding, but for draws level by chance.
        assert went_on or kind == "bernoulli"


@pytest.mark.usefixtures("plain_draws")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["MAUB all ucb", "CTS"])
def test_a_longer_run(name: str, change: str) -> None:
    matroid = mb.GraphicMatroid.complete(5)
    rng = np.random.default_rng(3)
    kind = "uniform" if is_bounded(name) else "gaussian"
    ask = cache(matroid.is_independent)
    assert _compare(name, change, matroid, ask, rng, kind=kind, rounds=240)


@pytest.mark.parametrize("change", ["window 100", "discount 0.9", "restart of elements"])
@pytest.mark.parametrize("name", ["MAUB one ucb", "MAUB all ucb", "OMM ucb"])
def test_large_classes(name: str, change: str) -> None:
    groups = [e % 3 for e in range(75)]
    matroid = mb.PartitionMatroid(groups, 2)
    ask = textbook.partition(groups, dict.fromkeys(range(3), 2))
    rng = np.random.default_rng(1)
    assert _compare(name, change, matroid, ask, rng, kind="gaussian", rounds=120)


@pytest.mark.parametrize("scope", ["all", "element"])
@pytest.mark.parametrize("name", ["MAUB one ucb", "OMM kl", "CTS gaussian"])
def test_jumps_are_found(name: str, scope: str) -> None:
    """Otherwise the comparisons above would not be about restarts."""
    change = "restart by dict" if scope == "all" else "restart of elements"
    matroid = mb.UniformMatroid(3, 6)
    policy, other = _pair(name, change, matroid, matroid.is_independent, 0)
    rng = np.random.default_rng(5)
    n_lost = 0
    for t in range(400):
        means = np.linspace(0.1, 0.9, 6)[:: 1 if t // 100 % 2 else -1]
        played = policy.select()
        assert tuple(played.tolist()) == other.select()
        before = policy.counts.sum()
        rewards = (rng.random(3) < means[played]).astype(float)
        if not is_bounded(name):
            rewards = rng.normal(means[played], 0.1)
        policy.update(played, rewards)
        other.update(played.tolist(), rewards.tolist())
        policy.select()
        other.select()
        n_lost += bool(policy.counts.sum() < before)
        assert policy.counts.tolist() == other.counts
    assert n_lost >= 2


# --- availability, decisions ---------------------------------------------------------------------


@pytest.mark.usefixtures("plain_draws")
@every_case
def test_availability_that_changes(name: str, change: str) -> None:
    place = CASES.index((name, change))
    for seed in seeds(1):
        rng = np.random.default_rng([seed, 61, place])
        recipe = random_recipe(rng, int(rng.integers(3, 8)), int(rng.integers(0, 3)))
        policy, twin = _pair(name, change, recipe.build(), recipe.is_independent, seed)
        available = np.arange(recipe.size)
        for t in range(60):
            if rng.random() < 0.3:
                available = np.flatnonzero(rng.random(recipe.size) < rng.choice([0.5, 0.8, 1.0]))
            twin.compared.clear()
            if len(available) < recipe.size:
                played = policy.select(available=available, allow_smaller=True)
                expected = twin.select_among(available.tolist())
            else:
                played, expected = policy.select(), twin.select()
            if tuple(played.tolist()) != expected:
                assert not is_exact(name, change), (recipe, t, available.tolist())
                level = is_level(twin, played.tolist(), expected) or has_tiny_tally(twin)
                assert level, (recipe, t, available.tolist())
                break
            rewards = rng.random(len(played)) * (1 if rng.random() < 0.5 else 0.2)
            policy.update(played, rewards)
            twin.update(played.tolist(), rewards.tolist())
            assert policy.counts.tolist() == twin.counts
            assert_same_means(policy, twin, change)


@pytest.mark.usefixtures("plain_draws")
@every_case
def test_random_histories(name: str, change: str) -> None:
    """Feedback that is late, partial, out of order or lost, mistakes, and copies."""
    place = CASES.index((name, change))
    takes_count = not change.startswith("discount") and not name.endswith("mean")
    pending = "count" if takes_count and place % 3 == 0 else "ignore"
    for seed in seeds(1):
        history(name, change, pending, np.random.default_rng([seed, 62, place])).play(45)


# --- the stationary policy -----------------------------------------------------------------------


@pytest.mark.parametrize("change", ["window 1000000", "discount 1.0"])
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.usefixtures("plain_draws")
def test_a_memory_without_end_is_the_stationary_policy(name: str, change: str) -> None:
    """To the last bit, the engine against itself."""
    if (name, change) not in CASES:
        return
    make, ours = POLICIES[name][0], CHANGES[change]()[0]
    for seed in seeds(2):
        place = list(POLICIES).index(name)
        rng = np.random.default_rng([seed, 63, place])
        family = catalog.MATROIDS[FAMILIES[(place + seed) % len(FAMILIES)]]
        matroid = family.random(rng, int(rng.integers(3, 10)))
        world = Changing(rng, matroid.size, "uniform")
        usual, other = make(matroid, seed), make(matroid, seed, **ours)
        for t in range(150):
            offer = None
            if t % 9 == 8:
                offer = np.flatnonzero(rng.random(matroid.size) < 0.7)
            played = usual.select(available=offer, allow_smaller=True)
            assert other.select(available=offer, allow_smaller=True).tolist() == played.tolist()
            assert _bits(other) == _bits(usual)
            elements = feedback.observed(rng, played, matroid.size, part=0.05, foreign=0.05)
            rewards = world.rewards(elements)
            for policy in (usual, other):
                policy.update(elements, rewards)
            assert _bits(other) == _bits(usual)


def _bits(policy: Any) -> list[Any]:
    """All that can be seen, exactly."""
    leader = getattr(policy, "leader", None)
    return [
        *continuing.statistics(policy),
        None if leader is None else leader.tolist(),
        policy._kernel.index_values().tobytes(),
    ]


@pytest.mark.parametrize("index", ["beta", "gaussian"])
@pytest.mark.parametrize("exchanges", ["one", "all"])
def test_a_window_without_end_makes_the_same_few_draws(exchanges: str, index: str) -> None:
    matroid = mb.UniformMatroid(3, 40)
    rng = np.random.default_rng(7)
    usual, other = (
        mb.MAUB(matroid, index=INDICES[index][0](), exchanges=exchanges, **change)
        for change in ({}, {"window": 10**6})
    )
    means = rng.random(40)
    for _ in range(600):
        played = usual.select()
        assert other.select().tolist() == played.tolist()
        rewards = (rng.random(3) < means[played]).astype(float)
        for policy in (usual, other):
            policy.update(played, rewards)


# --- few draws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["window 100", "restart of elements", "discount 0.99"])
@pytest.mark.parametrize("index", ["beta", "gaussian"])
def test_few_draws_have_the_distribution_of_the_plain_rule(index: str, change: str) -> None:
    """MAUB with one exchange, at moments of a run; see test_thinned.py, also for the level."""
    name = f"MAUB one {index}"
    matroid = mb.UniformMatroid(2, 14)
    policy, twin = _pair(name, change, matroid, matroid.is_independent, 1)
    rng = np.random.default_rng(8)
    world = Changing(rng, 14, "bernoulli")
    moments = (110, 240)
    for t in range(max(moments) + 1):
        if t % 80 == 79:
            world.jump()
        played = policy.select()
        twin.select()
        if t in moments:
            _compare_distributions(policy, twin, rng)
        rewards = world.rewards(played)
        policy.update(played, rewards)
        twin.update(played.tolist(), rewards.tolist())
        assert policy.counts.tolist() == twin.counts


def _compare_distributions(policy: Any, twin: ChangingMAUB, rng: np.random.Generator) -> None:
    """Many rounds that follow this one, without feedback, each with other random numbers."""
    assert policy.leader.tolist() == list(twin.leader)
    policy = pickle.loads(pickle.dumps(policy))
    policy.update([], [])
    samples = 1000
    found = Counter(tuple(policy.fork(seed).select().tolist()) for seed in range(samples))
    twin = pickle.loads(pickle.dumps(twin))
    twin.update([], [])
    # The plain rule, from the statistics of the reference.
    twin.select()
    if not twin.compared_gains or len(found) == 1:
        # The leader in any case, or elements that are missing.
        return
    outside = np.array(sorted(twin.partners))
    partner = np.array([twin.partners[e] for e in outside])
    index: Any = twin._index
    if hasattr(index, "successes"):
        a, b = (
            np.array([1 + part[e] for e in range(14)]) for part in (index.successes, index.failures)
        )
        drawn = rng.beta(a, b, (samples, 14))
    else:
        drawn = rng.normal(twin.means, index.noise / np.sqrt(twin.weights), (samples, 14))
    margins = drawn[:, outside] - drawn[:, partner]
    best = margins.argmax(axis=1)
    leader = set(twin.leader or ())
    plays = Counter(
        tuple(sorted(leader - {int(partner[k])} | {int(outside[k])} if gain > 0 else leader))
        for k, gain in zip(best.tolist(), margins.max(axis=1), strict=True)
    )
    assert_same_distribution(found, plays)


# --- saving --------------------------------------------------------------------------------------


@some_cases
def test_saved_loaded_and_continued(
    name: str, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if nothing had happened, bit for bit; with late feedback and availability."""
    # Without waiting for the disk.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    place = CASES.index((name, change))
    make, ours = POLICIES[name][0], CHANGES[change]()[0]
    problem = list(continuing.PROBLEMS)[place % len(continuing.PROBLEMS)]
    for seed in seeds(1):
        policy = make(continuing.PROBLEMS[problem](), seed, **ours)
        rng = np.random.default_rng([seed, 64, place])
        for _ in range(2):
            for _ in range(int(rng.integers(10, 60))):
                continuing.act(policy, rng)
            policy.save(tmp_path / "policy")
            loaded = mb.load(
                tmp_path / "policy", continuing.matroid_for(problem), classes=[Hopeful]
            )
            assert repr(loaded) == repr(policy) or change == "restart by dict"
            assert continuing.continued(loaded, 9) == continuing.continued(policy, 9)
