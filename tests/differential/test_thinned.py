"""MAUB with a Thompson index draws for few elements, and plays as if it drew for all.

Draws are random, so that distributions are compared: plays, sets of exchanges, and values. Seeds
are fixed. Each test of significance has the level ALARM; there are fewer than 200 of them, so that
a correct program fails with a probability of about 1e-4 in all, or less.
"""

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.policies.maub import thinned

from ..seeds import seeds

ALARM = 5e-7
ROUNDS = 40_000


@contextmanager
def constants(**given: Any) -> Iterator[None]:
    """Other constants, which change what is drawn but no distribution."""
    thinned.set_constants(**given)
    try:
        yield
    finally:
        thinned.set_constants()


# ---- the plain rule, by NumPy ----


@dataclass
class Plain:
    """The statistics of a policy, and the rule that draws for every element."""

    size: int
    leader: np.ndarray
    outside: np.ndarray
    partner: np.ndarray  # of each of `outside`
    means: np.ndarray
    draw: Callable[[np.random.Generator, int], np.ndarray]  # rounds x elements

    def margins(self, drawn: np.ndarray) -> np.ndarray:
        """How much each outside element is above its partner."""
        return drawn[:, self.outside] - drawn[:, self.partner]

    def plays(self, rng: np.random.Generator, rounds: int) -> Counter:
        """How often each outside element is played, -1 standing for the leader."""
        margins = self.margins(self.draw(rng, rounds))
        best = np.where(margins.max(axis=1) > 0, self.outside[margins.argmax(axis=1)], -1)
        return Counter(best.tolist())

    def sets(self, rng: np.random.Generator, rounds: int) -> Counter:
        """How often each set of elements is above the means of its partners."""
        above = self.draw(rng, rounds)[:, self.outside] > self.means[self.partner]
        return Counter(tuple(self.outside[row].tolist()) for row in above)


def plain(policy: mb.MAUB) -> Plain:
    """The plain rule for the present leader of a policy, and its statistics."""
    kernel = policy._kernel
    state = kernel.state()
    matroid = kernel.matroid
    leader = state["leader"]
    outside = np.setdiff1d(np.arange(matroid.size), [*leader, *matroid.loops])
    classes = matroid._new_kernel().symmetry_classes()
    partner = leader[state["partner"][classes[outside]]]
    pending = policy.n_pending if policy.pending == "count" else np.zeros(matroid.size)
    if isinstance(policy.index, mb.BetaThompson):
        a, b = state["index"]["tallies"].T
        a, b = a + pending * a / (a + b), b + pending * b / (a + b)

        def draw(rng: np.random.Generator, rounds: int) -> np.ndarray:
            return rng.beta(a, b, (rounds, matroid.size))

    else:
        deviations = policy.index.noise / np.sqrt(np.maximum(1, state["counts"] + pending))

        def draw(rng: np.random.Generator, rounds: int) -> np.ndarray:
            return rng.normal(state["means"], deviations, (rounds, matroid.size))

    return Plain(matroid.size, leader, outside, partner, state["means"], draw)


# ---- tests of significance ----


def chi_square_tail(value: float, degrees: int) -> float:
    """An approximation of P(chi square > value), by Wilson and Hilferty."""
    spread = 2 / (9 * degrees)
    z = ((value / degrees) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return erfc(z / sqrt(2)) / 2


def assert_same_distribution(one: Counter, other: Counter) -> None:
    """Two samples of the same size; what is rare is counted together."""
    assert one.total() == other.total()
    together = one + other
    frequent = [key for key, count in together.items() if count >= 40]
    rare = one.total() - sum(one[key] for key in frequent)
    rows = [(one[key], other[key]) for key in frequent]
    rows.append((rare, other.total() - sum(other[key] for key in frequent)))
    table = np.array([row for row in rows if sum(row) >= 10])
    if len(table) < 2:
        return
    value = ((table[:, 0] - table[:, 1]) ** 2 / table.sum(axis=1)).sum()
    assert chi_square_tail(float(value), len(table) - 1) > ALARM, (one, other)


def assert_uniform(values: np.ndarray) -> None:
    """Kolmogorov and Smirnov's test, with the bound of Dvoretzky, Kiefer, Wolfowitz and Massart."""
    values = np.sort(values)
    n = len(values)
    above = np.max(np.arange(1, n + 1) / n - values)
    below = np.max(values - np.arange(n) / n)
    assert 2 * np.exp(-2 * n * max(above, below) ** 2) > ALARM


# ---- policies with fixed statistics ----


def known(matroid: mb.Matroid, index: mb.Index, means: Any, counts: Any, **more: Any) -> mb.MAUB:
    """A policy that has observed every element so often, and has a leader."""
    policy = mb.MAUB(matroid, index=index, exchanges="one", **more)
    policy.observe({e: (float(means[e]), int(counts[e])) for e in range(matroid.size)})
    # The first round of a leader plays it without any draw.
    policy.select()
    policy.update([], [])
    return policy


def rounds_with_draws(policy: mb.MAUB, rounds: int) -> Iterator[list[int]]:
    """Plays without feedback, but for the rounds in which the leader is played in any case."""
    kernel = policy._kernel
    period = policy.matroid.size - len(policy.matroid.loops) - policy.matroid.rank + 1
    time = kernel.state()["local_time"]
    while rounds:
        played = policy.select()
        if time % period:
            yield played.tolist()
            rounds -= 1
        time += 1
        policy.update([], [])


def plays(policy: mb.MAUB, rounds: int) -> Counter:
    """How often each exchange is played."""
    leader = set(policy.leader.tolist())
    found = Counter()
    for played in rounds_with_draws(policy, rounds):
        came = set(played) - leader
        found[came.pop() if came else -1] += 1
    return found


def with_thresholds(policy: mb.MAUB, rng: np.random.Generator, *, low: bool) -> mb.MAUB:
    """The same policy with any thresholds: about the means, or in the tails of the posteriors."""
    state = policy._kernel.state()
    classes = policy.matroid._new_kernel().symmetry_classes()
    deviations = 0.5 / np.sqrt(state["counts"] + 1)
    thresholds = state["thinned"]["thresholds"]
    for c in range(len(thresholds)):
        e = rng.choice(np.flatnonzero(classes == c))
        share = rng.uniform(-0.5, 1.0) if low else rng.uniform(0.6, 1.6)
        thresholds[c] = np.clip(state["means"][e] + share * deviations[e], 0.02, 0.98)
    other = mb.MAUB(
        policy.matroid, index=policy.index, seed=7, pending=policy.pending, exchanges="one"
    )
    other._kernel.restore(state)
    return other


INDICES = {"beta": mb.BetaThompson(), "gaussian": mb.GaussianThompson(0.5)}
K5 = mb.GraphicMatroid.complete(5)
U = mb.UniformMatroid(2, 12)
GROUPS = mb.PartitionMatroid([e % 3 for e in range(15)], 1)


def _settled(matroid: mb.Matroid) -> tuple[np.ndarray, np.ndarray]:
    """One basis ahead; others win in some rounds of a hundred."""
    means = np.random.default_rng(1).uniform(0.3, 0.5, matroid.size)
    counts = np.full(matroid.size, 30)
    basis = matroid.max_weight_basis(means)
    means[basis] = np.linspace(0.6, 0.7, matroid.rank)
    counts[basis] = 2000
    return means, counts


def _early(matroid: mb.Matroid) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.integers(0, 3, matroid.size) / 2, rng.integers(1, 4, matroid.size) * 2


def _tied(matroid: mb.Matroid) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return 0.6 + 0.01 * rng.random(matroid.size), rng.integers(100, 1000, matroid.size)


STATES: dict[str, tuple[mb.Matroid, Any]] = {
    "early K5": (K5, _early),
    "early uniform": (U, _early),
    "settled K5": (K5, _settled),
    "settled uniform": (U, _settled),
    "settled groups": (GROUPS, _settled),
    "tied groups": (GROUPS, _tied),
    "tied uniform": (U, _tied),
    "large class, early": (mb.UniformMatroid(2, 150), _early),
    "large class, settled": (mb.UniformMatroid(2, 150), _settled),
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", STATES)
def test_plays_have_the_same_distribution(name: str, index: str) -> None:
    matroid, statistics = STATES[name]
    policy = known(matroid, INDICES[index], *statistics(matroid), seed=11)
    expected = plain(policy).plays(np.random.default_rng(5), ROUNDS)
    assert_same_distribution(plays(policy, ROUNDS), expected)


@pytest.mark.parametrize("low", [True, False])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", STATES)
def test_any_thresholds_and_high_floors(name: str, index: str, low: bool) -> None:
    """Rare events become frequent, and every branch is taken often."""
    matroid, statistics = STATES[name]
    with constants(near=0.8, span=2.2, most_mass=0.9):
        policy = known(matroid, INDICES[index], *statistics(matroid))
        policy = with_thresholds(policy, np.random.default_rng(4), low=low)
        expected = plain(policy)
        rng = np.random.default_rng(6)
        rounds = ROUNDS // 2
        assert_same_distribution(plays(policy, rounds), expected.plays(rng, rounds))
        if matroid.size > 20:
            return
        search = policy._kernel.thinned
        sets = Counter(tuple(sorted(search.collected()[0].tolist())) for _ in range(rounds))
        assert_same_distribution(sets, expected.sets(rng, rounds))


@pytest.mark.parametrize("index", INDICES)
def test_pending_plays_narrow_the_posteriors(index: str) -> None:
    policy = known(U, INDICES[index], *_early(U), pending="count", seed=3)
    for _ in range(10):
        policy.decide()
    assert policy.n_pending.sum() == 20
    expected = plain(policy).plays(np.random.default_rng(5), ROUNDS)
    assert_same_distribution(plays(policy, ROUNDS), expected)


# ---- single rounds ----


@pytest.mark.parametrize("near", [0.0, 1.0])
@pytest.mark.parametrize("index", INDICES)
def test_a_play_follows_from_its_draws(index: str, near: float) -> None:
    """What was not drawn is at most at its threshold, and a floor from above: it cannot win."""
    n_partial = 0
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 8])
        for matroid in (K5, U, GROUPS, mb.UniformMatroid(3, 60)):
            with constants(near=near):
                policy = mb.MAUB(matroid, index=INDICES[index], seed=seed, exchanges="one")
            means = rng.uniform(0, 1, matroid.size)
            for _ in range(400):
                played = policy.select()
                kernel = policy._kernel
                values = kernel.index_values()
                if not np.isnan(values).all():
                    n_partial += int(np.isnan(values).any())
                    assert played.tolist() == _play(plain(policy), kernel.thinned, values)
                policy.update(played, (rng.random(len(played)) < means[played]).astype(float))
    assert n_partial > 100


def _play(rule: Plain, search: Any, values: np.ndarray) -> list[int]:
    thresholds = search.thresholds_by_element()
    lowest = np.where(np.isnan(values), thresholds, values)
    pairs = list(zip(rule.outside.tolist(), rule.partner.tolist(), strict=True))
    best, play = 0.0, (-1, -1)
    for e, x in pairs:
        if not np.isnan(values[e]):
            assert not np.isnan(values[x])
            if values[e] - values[x] > best:
                best, play = values[e] - values[x], (e, x)
    for e, x in pairs:
        if np.isnan(values[e]) and thresholds[e] - lowest[x] > best:
            # Then one of the same class, with the same partner, was drawn above the threshold.
            level = [o for o, y in pairs if y == x and thresholds[o] == thresholds[e]]
            assert any(values[o] > thresholds[e] for o in level)
    leader = set(rule.leader.tolist())
    return sorted(leader - {play[1]} | {play[0]} if play[0] >= 0 else leader)


@pytest.mark.parametrize("index", INDICES)
def test_draws_have_the_right_distribution(index: str) -> None:
    """Draws above a threshold and below a floor, against the tails of a large plain sample."""
    stats = pytest.importorskip("scipy.stats")
    with constants(near=0.8, span=1.2, most_mass=0.9):
        policy = known(U, INDICES[index], *_tied(U))
        policy = with_thresholds(policy, np.random.default_rng(4), low=False)
    search = policy._kernel.thinned
    drawn: dict[int, list[float]] = {e: [] for e in range(U.size)}
    for _ in rounds_with_draws(policy, ROUNDS):
        for e, value in zip(*search.draws(), strict=True):
            drawn[int(e)].append(float(value))
    state = policy._kernel.state()
    thresholds = search.thresholds_by_element()
    for e, values in drawn.items():
        if index == "beta":
            law = stats.beta(*state["index"]["tallies"][e])
        else:
            law = stats.norm(state["means"][e], 0.5 / np.sqrt(state["counts"][e]))
        for part, begin, end in (
            (np.array([v for v in values if v > thresholds[e]]), law.cdf(thresholds[e]), 1.0),
            (np.array([v for v in values if v <= thresholds[e]]), 0.0, law.cdf(thresholds[e])),
        ):
            if len(part) > 100:
                assert_uniform((law.cdf(part) - begin) / (end - begin))


# ---- saving ----


@pytest.mark.parametrize("index", INDICES)
def test_copies_continue_bit_for_bit(index: str) -> None:
    """Large classes and their thresholds too; test_snapshots.py has the small ones."""
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 9])
        for matroid in (mb.UniformMatroid(3, 80), GROUPS, K5):
            means = rng.uniform(0.2, 0.8, matroid.size)
            exchanges = "all" if seed % 2 else "one"
            policy = mb.MAUB(matroid, index=INDICES[index], seed=seed, exchanges=exchanges)
            for _ in range(6):
                _played(policy, means, int(rng.integers(1, 400)))
                twin = pickle.loads(pickle.dumps(policy))
                assert _same(twin._kernel.state()["thinned"], policy._kernel.state()["thinned"])
                assert _played(policy, means, 300) == _played(twin, means, 300)
                assert policy.counts.tolist() == twin.counts.tolist()
                assert _same(twin._kernel.state()["thinned"], policy._kernel.state()["thinned"])


def _played(policy: mb.MAUB, means: np.ndarray, rounds: int) -> list[list[int]]:
    """What a policy plays, with rewards from a stream that begins here."""
    rng = np.random.default_rng(rounds)
    found = []
    for _ in range(rounds):
        played = policy.select()
        policy.update(played, (rng.random(len(played)) < means[played]).astype(float))
        found.append(played.tolist())
    return found


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return all(np.array_equal(one[key], other[key]) for key in ("floors", "thresholds"))


# ---- runs ----


@pytest.mark.parametrize("exchanges", ["one", "all"])
def test_regret_is_that_of_the_plain_rule(exchanges: str) -> None:
    """200 runs each. The means differ by less than 5 standard errors with probability 1 - 6e-7."""
    matroid = mb.GraphicMatroid.complete(6)
    environment = mb.BernoulliEnvironment(mb.random_means(15, seed=0))
    for index in INDICES.values():
        regrets = []
        for is_plain in (False, True):
            thinned.set_plain(is_plain)
            try:
                found = [
                    mb.simulate(
                        mb.MAUB(
                            matroid,
                            index=index,
                            exchanges=exchanges,
                            seed=1000 * is_plain + seed,
                        ),
                        environment,
                        2000,
                        seed=1000 * is_plain + seed,
                    ).regret[-1]
                    for seed in range(200)
                ]
            finally:
                thinned.set_plain(False)
            regrets.append(np.array(found))
        new, old = regrets
        error = np.sqrt(new.var(ddof=1) / 200 + old.var(ddof=1) / 200)
        assert abs(new.mean() - old.mean()) < 5 * error


def test_settled_rounds_draw_nothing() -> None:
    matroid = mb.UniformMatroid(5, 500)
    means = np.full(500, 0.1)
    means[:5] = 0.9
    for index in INDICES.values():
        policy = known(matroid, index, means, np.full(500, 10_000))
        rounds = rounds_with_draws(policy, 1000)
        # Now and then a draw of the leader is below its floor.
        assert sum(len(policy._kernel.thinned.draws()[0]) > 0 for _ in rounds) <= 10
