"""Sanity tests of decisions in the reference: hand-worked histories, and the usual loop."""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from . import matroids
from .decisions import REMEMBERED, Id, ReferenceDecisions, RefusedError
from .delays import delayed_run
from .escb import ReferenceESCB
from .indices import (
    KLUCB,
    UCB,
    UCBV,
    BetaThompson,
    GaussianThompson,
    Index,
    Mean,
    NormalUCB,
)
from .osub import ReferenceOSUB
from .policies import (
    Exchanges,
    ReferenceEpsilonGreedy,
    ReferenceGreedy,
    ReferenceMAUB,
    ReferenceOMM,
    ReferenceRandomBasis,
    _ReferencePolicy,
)
from .streams import basis_value, bernoulli_rewards, policy_generator, reference_run

K4 = list(combinations("abcd", 2))
ASK = matroids.graphic(K4)
TREES = sorted(tuple(sorted(basis)) for basis in matroids.bases(6, ASK))
EXCHANGES = [[j for j, b in enumerate(TREES) if len({*a, *b}) == 4] for a in TREES]

INDICES: dict[str, Callable[[], Index]] = {
    "mean": Mean,
    "ucb": lambda: UCB(0.5),
    "kl": KLUCB,
    "ucbv": UCBV,
    "normal": NormalUCB,
    "beta": lambda: BetaThompson(3),
    "gaussian": lambda: GaussianThompson(0.3, 3),
}


def _greedy(index: str) -> ReferenceGreedy:
    return ReferenceGreedy(6, ASK, INDICES[index]())


def _maub(index: str, exchanges: Exchanges = "one") -> ReferenceMAUB:
    return ReferenceMAUB(6, ASK, INDICES[index](), exchanges)


POLICIES: dict[str, Callable[[], _ReferencePolicy | ReferenceOSUB]] = {
    **{f"greedy {name}": partial(_greedy, name) for name in INDICES},
    **{f"MAUB {name}": partial(_maub, name) for name in INDICES},
    **{f"MAUB {name}, all exchanges": partial(_maub, name, "all") for name in ("ucb", "beta")},
    **{f"MAUB {name}, two exchanges": partial(_maub, name, 2) for name in ("ucb", "beta")},
    "ESCB": lambda: ReferenceESCB(6, ASK),
    "OSUB": lambda: ReferenceOSUB(TREES, EXCHANGES, size=6),
    "random": lambda: ReferenceRandomBasis(6, ASK, 5),
    "epsilon": lambda: ReferenceEpsilonGreedy(6, ASK, 0.3, 5),
}
every_policy = pytest.mark.parametrize("name", POLICIES)


def ucb_on_two_of(size: int, pending: str = "ignore") -> ReferenceDecisions:
    return ReferenceDecisions(
        ReferenceOMM(size, matroids.uniform(2)), pending=pending, reward_range=(0, 1)
    )


def refused(reason: str) -> AbstractContextManager[object]:
    return pytest.raises(RefusedError, match=f"^{reason}$")


# --- the usual loop ---


@every_policy
@pytest.mark.parametrize("pending", ["ignore", "count"])
def test_one_after_the_other_is_the_usual_loop(name: str, pending: str) -> None:
    usual = POLICIES[name]()
    decisions = ReferenceDecisions(POLICIES[name](), pending=pending)
    simple = ReferenceDecisions(POLICIES[name](), pending=pending)
    rng = np.random.default_rng(1)
    for t in range(150):
        decision = decisions.decide()
        expected = usual.select()
        assert decision.elements == expected == simple.select() == simple.select()
        assert decision.round == decision.id == decisions.rounds == t + 1
        assert simple.rounds == t
        rewards = rng.integers(0, 5, len(expected)) / 4
        decisions.learn(decision.id, dict(zip(expected, rewards.tolist(), strict=True)))
        for policy in (usual, simple):
            policy.update(expected, rewards.tolist())
        assert decisions.open == {}
        assert decisions.n_pending == [0] * 6
        if isinstance(usual, ReferenceOSUB):
            assert isinstance(decisions.policy, ReferenceOSUB)
            assert decisions.policy.plays == usual.plays
            assert decisions.policy.arm_means == usual.arm_means
        else:
            assert decisions.counts == simple.counts == usual.counts
            assert decisions.means == simple.means == usual.means


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "OSUB"])
def test_one_after_the_other_with_availability_that_changes(name: str) -> None:
    usual, decisions = POLICIES[name](), ReferenceDecisions(POLICIES[name]())
    assert isinstance(usual, _ReferencePolicy)
    rng = np.random.default_rng(2)
    for t in range(100):
        offer = np.flatnonzero(rng.random(6) < 0.7).tolist()
        if t % 3 == 0:
            offer = list(range(6))
        expected = usual.select_among(offer) if len(offer) < 6 else usual.select()
        decision = decisions.decide(offer, allow_smaller=True)
        assert decision.elements == expected
        assert decision.available == (None if len(offer) == 6 else tuple(offer))
        rewards = rng.integers(0, 5, len(expected)) / 4
        decisions.learn(decision.id, dict(zip(expected, rewards.tolist(), strict=True)))
        usual.update(expected, rewards.tolist())


@every_policy
def test_a_run_without_delay_is_the_usual_run(name: str) -> None:
    means = [0.9, 0.1, 0.5, 0.4, 0.6, 0.3]
    rewards = [bernoulli_rewards(7, e, means[e], 200) for e in range(6)]
    best = basis_value(matroids.best_basis(6, ASK, means), means)
    expected = reference_run(POLICIES[name](), rewards, means, best, 200)
    policy = ReferenceDecisions(POLICIES[name]())
    assert delayed_run(policy, rewards, means, best, 200, lambda *_: (0, False)) == expected
    assert policy.open == {}


# --- deciding ---


def test_elements_with_fewer_pending_plays_come_first() -> None:
    policy = ucb_on_two_of(5)
    played = [policy.decide().elements for _ in range(4)]
    assert played == [(0, 1), (2, 3), (0, 4), (1, 2)]
    assert policy.n_pending == [2, 2, 2, 1, 1]
    # What has been observed comes last, whatever is pending.
    policy.learn(2, {2: 0.5, 3: 0.5})
    assert policy.n_pending == [2, 2, 1, 0, 1]
    assert policy.decide().elements == (0, 4)
    policy.learn(3, {0: 1.0, 4: 1.0})
    # Only 1 is left, with one other: the lowest.
    assert policy.decide().elements == (0, 1)
    assert policy.rounds == 6
    assert list(policy.open) == [1, 4, 5, 6]


def test_an_index_repeats_itself_unless_pending_plays_count() -> None:
    for pending, expected in (("ignore", [(0, 1)] * 3), ("count", [(0, 1), (2, 3), (0, 1)])):
        policy = ucb_on_two_of(4, pending=pending)
        policy.update([0, 1, 2, 3], [0.1, 0.1, 0.0, 0.0])
        assert [policy.decide().elements for _ in range(3)] == expected


def test_ucb_counts_pending_plays() -> None:
    policy = ReferenceDecisions(ReferenceOMM(2, matroids.uniform(1)), pending="count")
    policy.update([0, 1], [0.5, 0.25])
    policy.update([0], [0.5])
    for _ in range(20):
        values = [
            mean + math.sqrt(2 * math.log(policy.rounds + 1) / (count + pending))
            for mean, count, pending in zip(
                policy.means, policy.counts, policy.n_pending, strict=True
            )
        ]
        assert policy.decide().elements == (int(np.argmax(values)),)


def test_beta_counts_pending_plays_in_the_ratio_of_the_posterior() -> None:
    policy = ReferenceDecisions(
        ReferenceGreedy(2, matroids.uniform(1), BetaThompson(9)), pending="count"
    )
    rng = policy_generator(9)
    policy.update([0, 1], [1.0, 0.0])
    policy.update([0], [1.0])
    for k in range(10):
        p, q = policy.n_pending
        draws = [
            rng.beta(3 + p * 3 / 4, 1 + p * 1 / 4),
            rng.beta(1 + q * 1 / 3, 2 + q * 2 / 3),
        ]
        assert policy.decide().elements == (int(np.argmax(draws)),), k


def test_variances_count_pending_plays() -> None:
    index = UCBV()
    for reward, before, after in ((1.0, 0.0, 1.0), (0.0, 1.0, 0.5)):
        index.observe(0, reward, before, after)
    # The sum of squares is 1/2; two plays are pending.
    log = math.log(5)
    expected = 0.5 + math.sqrt(2 * (0.5 / 4) * log / 4) + 3 * log / 4
    assert index.value(0, 4, 0.5, 5) == expected


def test_osub_counts_pending_plays_of_an_arm() -> None:
    for pending, expected in (("ignore", [(1,), (1,), (1,)]), ("count", [(1,), (2,), (1,)])):
        line = ReferenceOSUB([(0,), (1,), (2,)], [[1], [0, 2], [1]], UCB(), size=3)
        policy = ReferenceDecisions(line, pending=pending)
        for e, reward in ((0, 0.1), (1, 0.6), (2, 0.5)):
            policy.update([e], [reward])
        # Arm 1 leads. It must be played in the first round. In the second it has 0.6 + w / sqrt(2)
        # with w = sqrt(2 ln 2) = 1.18, if its pending play counts, and arm 2 has 0.5 + w; in the
        # third both have one that is pending.
        assert [policy.decide().elements for _ in range(3)] == expected
        assert line.plays == [1, 1, 1]


def test_osub_learns_when_a_decision_is_complete() -> None:
    osub = ReferenceOSUB([(0, 1), (0, 2), (1, 2)], [[1, 2], [0, 2], [0, 1]], size=3)
    policy = ReferenceDecisions(osub)
    first, second, third = (policy.decide() for _ in range(3))
    policy.learn(first.id, {0: 1.0})
    assert (policy.counts, osub.plays) == ([1, 0, 0], [0, 0, 0])
    policy.learn(first.id, {1: 0.5})
    assert osub.plays[osub._arms.index(first.elements)] == 1
    assert osub.arm_means[osub._arms.index(first.elements)] == 0.75
    policy.learn(second.id, {second.elements[0]: 1.0}, final=True)
    assert sum(osub.plays) == 1
    policy.expire(third.id, reward=0.0)
    assert sum(osub.plays) == 2
    assert policy.open == {}


def test_maub_counts_local_time_when_it_decides() -> None:
    maub = ReferenceMAUB(3, matroids.uniform(1))
    policy = ReferenceDecisions(maub)
    policy.update([0, 1, 2], [0.9, 0.5, 0.1])
    plays = [policy.decide().elements for _ in range(6)]
    # The leader 0 must be played every third round, though nothing has come back.
    assert plays[0] == plays[3] == (0,)
    assert maub._leader_rounds == {(0,): 6}


def test_a_decision_of_no_elements_closes_at_once() -> None:
    policy = ucb_on_two_of(3)
    decision = policy.decide([], allow_smaller=True)
    assert (decision.elements, decision.available, policy.rounds) == ((), (), 1)
    assert policy.open == {}
    policy.learn(decision.id, {})


def test_ids() -> None:
    policy = ucb_on_two_of(3)
    assert policy.decide(key="a").id == "a"
    assert policy.decide(key=3).id == 3
    # Three is taken.
    assert policy.decide().id == 4
    assert policy.decide().id == 5
    with refused("taken"):
        policy.decide(key="a")
    policy.expire("a")
    with refused("taken"):
        policy.decide(key="a")
    assert policy.rounds == 4
    assert [d.round for d in policy.open.values()] == [2, 3, 4]


def test_no_full_basis_is_refused() -> None:
    policy = ucb_on_two_of(3)
    with refused("no basis"):
        policy.decide([1])
    assert policy.rounds == 0
    assert policy.decide([1], allow_smaller=True).elements == (1,)


# --- learning ---


def test_feedback_in_parts_repeated_and_contradicted() -> None:
    policy = ucb_on_two_of(4)
    policy.decide()
    policy.learn(1, {1: 0.5})
    assert (policy.counts, policy.n_pending) == ([0, 1, 0, 0], [1, 0, 0, 0])
    before = policy.counts.copy(), policy.means.copy()
    for rewards, reason in (
        ({1: 0.25}, "conflict"),
        ({0: 1.0, 1: 0.25}, "conflict"),
        ({0: 1.0, 2: 1.0}, "outside"),
        ({0: 1.5}, "reward"),
        ({0: math.nan}, "reward"),
    ):
        with refused(reason):
            policy.learn(1, rewards)
    with refused("unknown"):
        policy.learn(2, {0: 1.0})
    policy.learn(1, {1: 0.5})
    assert (policy.counts, policy.means) == before
    policy.learn(1, {0: 1.0, 1: 0.5})
    assert (policy.counts, policy.open) == ([1, 1, 0, 0], {})
    policy.learn(1, {0: 1.0}, final=True)
    with refused("conflict"):
        policy.learn(1, {0: 0.0})


def test_nothing_more_comes_after_the_end() -> None:
    policy = ucb_on_two_of(4)
    for _ in range(4):
        policy.decide()
    policy.learn(1, {0: 1.0}, final=True)
    with refused("closed"):
        policy.learn(1, {0: 1.0, 1: 1.0})
    with refused("unknown"):
        policy.expire([2, 9])
    assert list(policy.open) == [2, 3, 4]
    policy.expire([1, 2])
    with refused("expired"):
        policy.learn(2, {2: 1.0})
    assert policy.counts == [1, 0, 0, 0]
    policy.learn(3, {policy.open[3].elements[0]: 0.5})
    policy.expire([3, 4, 4], reward=0.0)
    assert sum(policy.counts) == 5
    assert policy.n_pending == [0, 0, 0, 0]
    policy.learn(4, dict.fromkeys(policy._closed[4].elements, 0.0))
    with refused("expired"):
        policy.learn(4, dict.fromkeys(policy._closed[4].elements, 1.0))
    assert policy.rounds == 4


def test_closed_decisions_are_forgotten_in_the_end() -> None:
    policy = ReferenceDecisions(ReferenceOMM(1, matroids.uniform(1)))
    for _ in range(REMEMBERED + 1):
        policy.learn(policy.decide().id, {0: 0.5})
    with refused("unknown"):
        policy.learn(1, {0: 0.5})
    policy.learn(2, {0: 0.5})
    assert policy.counts == [REMEMBERED + 1]


def test_coins_are_tossed_in_the_order_of_learning() -> None:
    index = BetaThompson(4)
    policy = ReferenceDecisions(ReferenceGreedy(4, matroids.uniform(2), index))
    rng = policy_generator(4)
    first, second = policy.decide(), policy.decide()
    rng.beta(1, 1, 8)
    heads: dict[int, int] = dict.fromkeys(range(4), 0)
    for decision in (second, first):
        for e in decision.elements:
            heads[e] += rng.random() < 0.5
        policy.learn(decision.id, dict.fromkeys(reversed(decision.elements), 0.5))
    assert {e: index.successes[e] for e in range(4)} == heads


# --- select and update ---


def test_a_selection_becomes_a_decision() -> None:
    policy = ucb_on_two_of(6)
    assert policy.select() == (0, 1)
    assert (policy.n_pending, policy.rounds, policy.open) == ([0] * 6, 0, {})
    assert policy.decide().round == 2
    assert list(policy.open) == [1, 2]
    assert policy.n_pending == [1, 1, 1, 1, 0, 0]
    assert policy.select() == (0, 1)
    policy.update([0], [0.5])
    assert (policy.n_pending, policy.rounds) == ([0, 0, 1, 1, 0, 0], 2)
    policy.update([5], [0.5])
    assert policy.rounds == 3
    assert policy.select() == (1, 4)
    policy.update([], [])
    assert policy.rounds == 4
    assert list(policy.open) == [2]


def test_another_set_after_that_is_a_new_round() -> None:
    policy = ucb_on_two_of(6)
    assert policy.select([0, 1, 2]) == (0, 1)
    assert policy.decide().elements == (2, 3)
    assert policy.select([2, 3, 4, 5]) == (4, 5)
    assert (list(policy.open), policy.rounds) == ([2], 2)
    policy.update([4, 5], [0.5, 0.5])
    assert policy.rounds == 3


def test_the_set_selected_last_counts() -> None:
    rng = policy_generator(5)
    policy = ReferenceDecisions(ReferenceRandomBasis(4, matroids.uniform(1), 5))
    state = rng.bit_generator.state
    first = int(np.argmax(rng.random(3)))
    rng.bit_generator.state = state
    second = 2 + int(np.argmax(rng.random(2)))
    for _ in range(3):
        assert policy.select([0, 1, 2]) == (first,)
        assert policy.select([2, 3]) == (second,)
    assert policy.decide().elements == (int(np.argmax(rng.random(4))),)
    assert policy.n_pending[second] >= 1
    assert [policy.rounds, *policy.open] == [2, 1, 2]


# --- delays ---


def test_a_run_with_delays_by_hand() -> None:
    learned: list[tuple[int, Id, Mapping[int, float]]] = []

    class Watched(ReferenceDecisions):
        def learn(self, key: Id, rewards: Mapping[int, float], *, final: bool = False) -> None:
            learned.append((self.rounds + 1, key, rewards))
            super().learn(key, rewards, final=final)

    delays = {(1, 0): 2, (1, 1): 0, (2, 0): 1, (2, 2): 1, (3, 0): 0}
    policy = Watched(ReferenceOMM(3, matroids.uniform(2)))
    rewards = [[0.1, 0.2, 0.3, 0.4, 0.5]] * 3
    delayed_run(policy, rewards, [0.0] * 3, 0.0, 5, lambda t, e: (delays.get((t, e), 9), False))
    assert learned[0] == (2, 1, {1: 0.1})
    # Before round 4: the rest of round 1, round 2, and one element of round 3.
    assert learned[1:4] == [
        (4, 1, {0: 0.1}),
        (4, 2, {0: 0.2, 2: 0.1}),
        (4, 3, {0: 0.3}),
    ]
    assert len(learned) == 4
    assert policy.counts == [3, 1, 1]


def test_nobody_waits_for_what_is_lost() -> None:
    policy = ReferenceDecisions(ReferenceOMM(4, matroids.uniform(2)))
    rewards = [[0.0] * 20] * 4
    delayed_run(policy, rewards, [0.0] * 4, 0.0, 20, lambda t, e: (3, e % 2 == 0))
    # Played in rounds 17 to 20: feedback is due after the last round.
    assert list(policy.open) == [18, 19, 20]
    assert sum(policy.n_pending) == 6
    assert policy.counts[0] == policy.counts[2] == 0
    assert policy.counts[1] + policy.counts[3] > 0
