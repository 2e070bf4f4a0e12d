"""Propensities of decisions: known values, plays that stay the same, and what is refused."""

import copy
import pickle
from itertools import permutations
from math import erf, sqrt

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._streams import PROPENSITIES
from matroid_bandits.policies.contract.saving import restore_content, saved_content

# With n draws the standard deviation is at most sqrt(1 / 4 / n) = 0.0025. Margins are 5 of them.
DRAWS = 40_000
MARGIN = 0.0125

K5 = mb.GraphicMatroid.complete(5)


def normal_cdf(x):
    return (1 + erf(x / sqrt(2))) / 2


def greedy_probabilities(matroid, orders):
    """The share of orders in which greedy takes each element, by the independence test alone."""
    times = np.zeros(matroid.size)
    for order in orders:
        basis = []
        for e in order:
            if matroid.is_independent([*basis, e]):
                basis.append(e)
        times[basis] += 1
    return times / len(orders)


@pytest.mark.parametrize(
    "matroid",
    [
        mb.UniformMatroid(1, 2),
        mb.UniformMatroid(2, 4),
        mb.GraphicMatroid.complete(3),
        mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 2)]),
        mb.PartitionMatroid([0, 0, 0, 1, 1], capacities=1),
    ],
    ids=repr,
)
def test_random_bases_have_the_probabilities_of_all_orders(matroid):
    expected = greedy_probabilities(matroid, list(permutations(range(matroid.size))))
    decision = mb.RandomBasis(matroid, seed=1).decide(propensities=DRAWS)
    assert np.abs(decision.propensities - expected[decision.elements]).max() < MARGIN


def test_two_arms_of_thompson_sampling_by_the_normal_distribution():
    policy = mb.CTS(mb.UniformMatroid(1, 2), prior="gaussian", noise=0.5, seed=4)
    policy.observe({0: (0.6, 4), 1: (0.5, 9)})
    first = normal_cdf((0.6 - 0.5) / (0.5 * sqrt(1 / 4 + 1 / 9)))
    seen = set()
    for _ in range(8):
        decision = policy.decide(propensities=DRAWS)
        (e,) = decision.elements
        seen.add(int(e))
        assert decision.propensities[0] == pytest.approx([first, 1 - first][e], abs=MARGIN)
    assert seen == {0, 1}


def test_two_arms_of_thompson_sampling_by_the_beta_distribution():
    # After one success, Beta(2, 1) against Beta(1, 1), which is uniform: P(X > Y) = E[X] = 2/3.
    policy = mb.CTS(mb.UniformMatroid(1, 2), seed=3)
    policy.update([0], [1.0])
    decision = policy.decide(propensities=DRAWS)
    expected = [2 / 3, 1 / 3][decision.elements[0]]
    assert decision.propensities[0] == pytest.approx(expected, abs=MARGIN)


def test_epsilon_greedy():
    policy = mb.EpsilonGreedy(mb.UniformMatroid(1, 3), epsilon=0.3, seed=2)
    policy.update([0, 1, 2], [0.1, 0.9, 0.5])
    expected = [0.1, 0.8, 0.1]
    for _ in range(4):
        decision = policy.decide(propensities=DRAWS)
        assert decision.propensities[0] == pytest.approx(expected[decision.elements[0]], abs=MARGIN)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_inverse_propensities_miss_what_is_never_drawn_and_nothing_else(n):
    # Element 0 of U(1, 3) has p = 1/3: the mean of (played / estimate) is 1 - (2/3)**(n + 1). It is
    # at most n + 1, and E[X**2] <= (n + 1) E[X]. So the mean of 10,000 decisions has a standard
    # deviation below sqrt((n + 1) / 10,000), and the margin is 4 of it. Without the set that is
    # played, or with half a hit added, the mean would be off by 0.1 or more for n = 1.
    policy = mb.RandomBasis(mb.UniformMatroid(1, 3), seed=n)
    total = 0.0
    for _ in range(10_000):
        decision = policy.decide(propensities=n)
        total += (decision.elements[0] == 0) / decision.propensities[0]
        policy.expire(decision)
    expected = 1 - (2 / 3) ** (n + 1)
    assert total / 10_000 == pytest.approx(expected, abs=4 * sqrt((n + 1) / 10_000))


def test_some_available_elements():
    policy = mb.RandomBasis(mb.UniformMatroid(2, 6), seed=1)
    decision = policy.decide(available=[1, 3, 5], propensities=DRAWS)
    assert decision.propensities == pytest.approx([2 / 3, 2 / 3], abs=MARGIN)
    smaller = policy.decide(available=[4], allow_smaller=True, propensities=10)
    assert smaller.propensities.tolist() == [1.0]


def test_initial_rounds_and_policies_that_draw_nothing_are_certain():
    initial = mb.CTS(mb.UniformMatroid(2, 6), prior="gaussian").decide(propensities=10)
    assert initial.propensities.tolist() == [1.0, 1.0]
    certain = mb.MAUB(K5).decide(propensities=10)
    assert certain.propensities.tolist() == [1.0] * 4
    assert mb.MAUB(mb.UniformMatroid(0, 3)).decide(propensities=10).propensities.tolist() == []


RANDOM = {
    "CTS beta": lambda: mb.CTS(K5, seed=1),
    "CTS normal": lambda: mb.CTS(K5, prior="gaussian", noise=0.5, seed=1, pending="count"),
    "OMM": lambda: mb.OMM(K5, index="gaussian", noise=0.5, seed=2),
    "MAUB": lambda: mb.MAUB(K5, index="gaussian", noise=0.5, seed=3),
    "MAUB beta": lambda: mb.MAUB(K5, index="beta", seed=3),
    "MAUB paper": lambda: mb.MAUB(K5, index="beta", neighborhood="paper", seed=3),
    "MAUB all": lambda: mb.MAUB(K5, index="gaussian", noise=0.5, exchanges="all", seed=4),
    "MAUB pending": lambda: mb.MAUB(K5, index="beta", pending="count", seed=3),
    "OSUB": lambda: mb.OSUB(mb.UniformMatroid(2, 5), index="gaussian", noise=0.5, seed=5),
    "RandomBasis": lambda: mb.RandomBasis(K5, seed=6),
    "EpsilonGreedy": lambda: mb.EpsilonGreedy(K5, epsilon=0.4, seed=7),
}


def history(policy, rng, rounds, decide):
    """Play rounds with late feedback and changing available elements; return all that is known."""
    told = []
    matroid = policy.matroid
    for _ in range(rounds):
        available = None
        if rng.random() < 0.3:
            mask = rng.random(matroid.size) < 0.8
            available = mask if matroid.rank_of(np.flatnonzero(mask)) == matroid.rank else None
        decision = decide(policy, available)
        told.append(list(decision.elements))
        rewards = (rng.random(len(decision.elements)) < 0.3 + 0.05 * decision.elements).astype(
            float
        )
        if rng.random() < 0.8:
            policy.learn(decision, rewards)
    told.append(policy._kernel.random_position())
    told.append(
        {name: getattr(policy, name) for name in ("oracle_calls", "greedy_calls", "rounds")}
    )
    return told, policy.means.tolist()


@pytest.mark.parametrize("name", RANDOM)
def test_the_plays_stay_the_same(name):
    plain = history(RANDOM[name](), np.random.default_rng(1), 150, lambda p, a: p.decide(a))
    with_draws = history(
        RANDOM[name](), np.random.default_rng(1), 150, lambda p, a: p.decide(a, propensities=5)
    )
    assert repr(plain) == repr(with_draws)


@pytest.mark.parametrize("name", RANDOM)
def test_a_draw_is_the_round_decided_with_other_random_numbers(name):
    # A copy of the policy, made before the round, decides the whole of it from the first number of
    # the stream. This finds a rule that a second decision in the round changes.
    def decide(policy, available):
        other = copy.deepcopy(policy)
        words = [PROPENSITIES, policy.seed, policy.rounds + 1]
        high, low = np.random.SeedSequence(words).generate_state(2, np.uint64).tolist()
        other._kernel.set_random_position((high << 64) | low)
        drawn = other.decide(available).elements
        decision = policy.decide(available, propensities=1)
        expected = np.where(np.isin(decision.elements, drawn), 1.0, 0.5)
        assert decision.propensities.tolist() == expected.tolist()
        agreed.append(expected.min() == 1.0)
        return decision

    agreed = []
    history(RANDOM[name](), np.random.default_rng(2), 150, decide)
    assert 0 < sum(agreed) < 150


# ---- stored with decisions ----


def test_open_decisions_have_them(tmp_path):
    policy = mb.CTS(mb.Problem(mb.UniformMatroid(2, 4), labels=list("abcd")), seed=1)
    plain = policy.decide(id="plain")
    decision = policy.decide(id="x", propensities=100)
    assert plain.propensities is None
    assert "propensities" not in plain.to_dict()
    assert decision.to_dict()["propensities"] == decision.propensities.tolist()
    policy.save(tmp_path / "file")
    for one in (policy, mb.load(tmp_path / "file"), copy.deepcopy(policy), policy.fork(3)):
        assert one.open_decisions["plain"].propensities is None
        assert one.open_decisions["x"].propensities.tolist() == decision.propensities.tolist()
    again = pickle.loads(pickle.dumps(decision))
    assert again.propensities.tolist() == decision.propensities.tolist()
    policy.select()
    policy.decide(propensities=10)
    assert policy.open_decisions[3].propensities is None
    assert policy.open_decisions[4].propensities is not None


def test_a_file_without_any_has_no_table_of_them(tmp_path):
    policy = mb.CTS(mb.UniformMatroid(2, 4))
    policy.decide()
    assert "propensities" not in policy._kernel.state()["decisions"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda table: table.__setitem__((0, 0), 0.0),
        lambda table: table.__setitem__((0, 0), 1.5),
        lambda table: table.__setitem__((0, 0), np.nan),
        lambda table: np.zeros((1, 3)),
        lambda table: table.astype(np.float32),
        lambda table: "a text",
    ],
)
def test_a_forged_file_is_refused(tmp_path, forge):
    policy = mb.CTS(mb.UniformMatroid(2, 4))
    policy.decide(propensities=10)
    content = saved_content(policy)
    forged = forge(content["state"]["decisions"]["propensities"])
    if forged is not None:
        content["state"]["decisions"]["propensities"] = forged
    with pytest.raises(ValueError, match="propensities must be an array of 1 x 2 float64 above 0"):
        restore_content(mb.CTS(mb.UniformMatroid(2, 4)), content)


def test_they_move_with_their_elements():
    policy = mb.CTS(mb.Problem(mb.UniformMatroid(2, 3), labels=list("abc")), seed=2)
    policy.observe({"a": (0.9, 30), "b": (0.5, 30), "c": (0.2, 30)})
    decision = policy.decide(propensities=2000)
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(2, 4), labels=list("dcba")))
    there = moved.open_decisions[decision.id]
    known = dict(zip(decision.elements, decision.propensities, strict=True))
    assert dict(zip(there.elements, there.propensities, strict=True)) == known
    assert len(set(known.values())) == 2


def test_a_row_that_is_used_again_has_none():
    policy = mb.RandomBasis(mb.UniformMatroid(1, 2), seed=1)
    for _ in range(10_050):
        policy.learn(policy.decide(propensities=1), [0.0])
    assert policy.decide().propensities is None
    assert policy.open_decisions[10_051].propensities is None


# ---- what is refused ----


class Drawing(mb.Policy):
    def _select(self):
        return self.greedy_basis(np.random.default_rng().random(self.matroid.size))


class Hopeful(mb.Index):
    def values(self, means, counts, time):
        return means + 1 / counts


@pytest.mark.parametrize(
    "policy, options, message",
    [
        (Drawing(K5), {}, "Drawing decides by a _select of its own"),
        (mb.OMM(K5, index=Hopeful()), {}, "the index Hopeful, written in Python"),
        (mb.CTS(K5), {"shown": [0]}, "how likely you show other elements is not known"),
        (mb.CTS(K5), {"propensities": 0}, "propensities must be"),
        (mb.CTS(K5), {"propensities": 2.5}, "propensities must be"),
        (mb.CTS(K5), {"propensities": "many"}, "propensities must be"),
    ],
)
def test_mistakes(policy, options, message):
    with pytest.raises(ValueError, match=message):
        policy.decide(**{"propensities": 10} | options)
    assert policy.rounds == 0


class Failing(mb.Matroid):
    """U(2, 4) in Python, whose test fails on request."""

    fails_after = None

    def __init__(self):
        super().__init__(4)

    def _is_independent(self, elements):
        if self.fails_after is not None:
            self.fails_after -= 1
            if self.fails_after < 0:
                raise OSError("unplugged")
        return len(elements) <= 2


@pytest.mark.parametrize("is_selected", [False, True])
def test_a_draw_that_fails_changes_nothing(is_selected):
    matroid = Failing()
    policy, other = mb.RandomBasis(matroid, seed=1), mb.RandomBasis(mb.UniformMatroid(2, 4), seed=1)
    policy.decide()
    other.decide()
    if is_selected:
        assert policy.select().tolist() == other.select().tolist()
    # Enough for the decision, not for all draws.
    matroid.fails_after = 40
    with pytest.raises(OSError, match="unplugged"):
        policy.decide(available=[0, 1, 3], propensities=100)
    matroid.fails_after = None
    assert policy.rounds == 1
    assert len(policy.open_decisions) == 1
    for _ in range(5):
        assert policy.decide().elements.tolist() == other.decide().elements.tolist()
