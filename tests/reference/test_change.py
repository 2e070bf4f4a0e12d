"""Sanity tests of the reference for means that change: known formulas, hand-worked runs."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from . import glr, matroids
from .change import ChangingDecisions, ChangingGreedy, ChangingMAUB, Restart
from .decisions import ReferenceDecisions
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
from .policies import ReferenceGreedy, ReferenceMAUB
from .streams import policy_generator

K4 = matroids.graphic(list(combinations("abcd", 2)))
INDICES: dict[str, Callable[[], Index]] = {
    "mean": Mean,
    "ucb": lambda: UCB(0.5),
    "kl": KLUCB,
    "ucbv": UCBV,
    "normal": NormalUCB,
    "beta": lambda: BetaThompson(3),
    "gaussian": lambda: GaussianThompson(0.3, 3),
}
STATIONARY: tuple[dict[str, Any], ...] = ({"window": 10**9}, {"discount": 1.0})


# --- the stationary policy -----------------------------------------------------------------------


@pytest.mark.parametrize("change", STATIONARY, ids=str)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("exchanges", [None, "one", "all", 2])
def test_a_memory_without_end_is_the_stationary_policy(
    exchanges: Any, index: str, change: dict[str, Any]
) -> None:
    if exchanges is None:
        usual: Any = ReferenceGreedy(6, K4, INDICES[index]())
        other: Any = ChangingGreedy(6, K4, INDICES[index](), **change)
    else:
        usual = ReferenceMAUB(6, K4, INDICES[index](), exchanges)
        other = ChangingMAUB(6, K4, INDICES[index](), exchanges, **change)
    rng = np.random.default_rng(1)
    for t in range(100):
        if t % 7 == 3:
            offer = np.flatnonzero(rng.random(6) < 0.7).tolist()
            played = usual.select_among(offer)
            assert other.select_among(offer) == played
        else:
            played = usual.select()
            assert other.select() == played
        rewards = (rng.integers(0, 5, len(played)) / 4).tolist()
        for policy in (usual, other):
            policy.update(played, rewards)
        assert other.counts == usual.counts
        assert other.means == usual.means
        assert other.oracle_calls == usual.oracle_calls
        assert other.greedy_calls == usual.greedy_calls


@pytest.mark.parametrize("change", STATIONARY, ids=str)
@pytest.mark.parametrize("pending", ["ignore", "count"])
def test_late_feedback_with_a_memory_without_end(change: dict[str, Any], pending: str) -> None:
    usual = ReferenceDecisions(ReferenceMAUB(6, K4, UCB(0.5)), pending=pending)
    other = ChangingDecisions(ChangingMAUB(6, K4, UCB(0.5), **change), pending=pending)
    rng = np.random.default_rng(2)
    for _ in range(150):
        assert other.decide().elements == usual.decide().elements
        for key in rng.permutation(list(usual.open))[:3].tolist():
            waiting = usual.open[key].pending
            rewards = {e: float(rng.random()) for e in waiting if rng.random() < 0.8}
            for decisions in (usual, other):
                decisions.learn(key, rewards)
        assert other.means == usual.means
        assert other.n_pending == usual.n_pending


# --- rank 1: the published formulas --------------------------------------------------------------


def _play_one_of(policy: Any, rounds: int, n: int, seed: int) -> tuple[list[int], list[float]]:
    """A run on the uniform matroid of rank 1: what was played, and what it paid."""
    rng = np.random.default_rng(seed)
    arms: list[int] = []
    paid: list[float] = []
    for t in range(rounds):
        (arm,) = policy.select()
        # The best arm changes every 60 rounds.
        reward = float(rng.normal(1.0 if arm == t // 60 % n else 0.0, 0.3))
        policy.update([arm], [reward])
        arms.append(arm)
        paid.append(reward)
    return arms, paid


def _assert_best(arm: int, values: Sequence[float]) -> None:
    """The arm has the largest value, but for rounding."""
    assert values[arm] >= max(values) - 1e-12


@pytest.mark.parametrize("tau", [5, 20, 50, 1000])
def test_one_element_a_round_with_a_window_is_sw_ucb(tau: int) -> None:
    """[GM11] X + B sqrt(xi ln(t ^ tau) / N) over the last tau rounds, here B = 0.3 and xi = 0.6.

    [GM11] writes t for the rounds that ended. Here, as in the stationary policy, it is the number
    of the round that is decided.
    """
    n, noise, xi = 4, 0.3, 0.6
    policy = ChangingGreedy(n, matroids.uniform(1), UCB(noise, xi), window=tau)
    arms, paid = _play_one_of(policy, 240, n, seed=1)
    for t in range(n + 1, 241):
        recent = list(zip(arms, paid, strict=True))[: t - 1][-tau:]
        seen = [[x for arm, x in recent if arm == i] for i in range(n)]
        if not all(seen):
            assert not seen[arms[t - 1]]
            continue
        values = [
            sum(own) / len(own) + noise * math.sqrt(xi * math.log(min(t, tau)) / len(own))
            for own in seen
        ]
        _assert_best(arms[t - 1], values)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_one_element_a_round_with_a_discount_is_d_ucb(gamma: float) -> None:
    """[GM11] X + 2 B sqrt(xi ln n / N), here 2 B = 0.3 and xi = 0.6.

    [GM11] sums n over the rounds that ended. Here it has one term more, for the round that is
    decided: n is t for gamma = 1.
    """
    n, noise, xi = 4, 0.3, 0.6
    policy = ChangingGreedy(n, matroids.uniform(1), UCB(noise, xi), discount=gamma)
    arms, paid = _play_one_of(policy, 240, n, seed=2)
    for t in range(n + 1, 241):
        # Recurrences, as programs have them: all is multiplied by gamma, then one reward is added.
        counts, sums = np.zeros(n), np.zeros(n)
        for arm, reward in zip(arms[: t - 1], paid[: t - 1], strict=True):
            counts *= gamma
            sums *= gamma
            counts[arm] += 1
            sums[arm] += reward
        if (t - 1) % 40 == 0 and gamma == 0.5:
            # Arms that were forgotten; ln(10^12) / ln 2 is 39.9.
            counts[counts < 1e-6] = 0
        if not counts.all():
            continue
        n_gamma = gamma * counts.sum() + 1
        assert n_gamma == pytest.approx((1 - gamma**t) / (1 - gamma), rel=1e-9) or gamma == 0.5
        values = sums / counts + noise * np.sqrt(xi * np.log(n_gamma) / counts)
        _assert_best(arms[t - 1], values.tolist())
    assert len(set(arms[120:180])) > 1


# --- the window, by hand -------------------------------------------------------------------------


def test_a_window_of_two_rounds_by_hand() -> None:
    policy = ChangingGreedy(3, matroids.uniform(1), Mean(), window=2)
    # Rounds 1 to 3 are initial rounds. Before round 4, what round 1 paid has left: element 0 is
    # unobserved, and so on. All three cannot be in a window of two.
    for t in range(9):
        assert policy.select() == (t % 3,)
        policy.update([t % 3], [float(t)])
        recent = range(max(0, t - 1), t + 1)
        assert policy.counts == [sum(s % 3 == e for s in recent) for e in range(3)]


def test_a_window_shorter_than_the_initial_rounds_starves_nobody() -> None:
    policy = ChangingGreedy(5, matroids.uniform(2), UCB(), window=1)
    played = []
    for _ in range(6):
        played.append(policy.select())
        policy.update(policy.select(), [0.5, 0.5])
    assert played == [(0, 1), (2, 3), (0, 4), (1, 2), (0, 3), (1, 4)]


def test_means_in_a_window_by_hand() -> None:
    policy = ChangingGreedy(1, matroids.uniform(1), Mean(), window=3)
    # 0.1 + 0.2 + 0.3 by the running mean, and then by exact sums.
    for reward in (0.1, 0.2, 0.3):
        policy.update([0], [reward])
    assert policy.means == [(2 * ((1 * 0.1 + 0.2) / 2) + 0.3) / 3]
    policy.update([0], [0.7])
    assert policy.means == [math.fsum([0.2, 0.3, 0.7]) / 3]
    for left in (2, 1, 0):
        policy.update([], [])
        assert policy.counts == [left]
    # From nothing on, it is the running mean again.
    policy.update([0], [0.1])
    policy.update([0], [0.2])
    assert policy.means == [(1 * 0.1 + 0.2) / 2]


def test_late_feedback_and_a_window() -> None:
    decisions = ChangingDecisions(ChangingGreedy(2, matroids.uniform(2), UCB(), window=2))
    first, second = decisions.decide(), decisions.decide()
    # Two rounds have ended: both are in the window of round 3.
    decisions.learn(first.id, {0: 1.0})
    assert decisions.counts == [1, 0]
    third = decisions.decide()
    # Before round 4 the window is rounds 2 and 3.
    assert decisions.counts == [0, 0]
    assert decisions.n_pending == [2, 3]
    decisions.learn(first.id, {1: 1.0})
    assert decisions.counts == [0, 0]
    assert decisions.n_pending == [2, 2]
    decisions.learn(third.id, {0: 0.25})
    decisions.learn(second.id, {0: 0.75})
    assert decisions.counts == [2, 0]
    assert decisions.means[0] == 0.5
    decisions.decide()
    # The one of round 2 has left, though it came last.
    assert decisions.counts == [1, 0]
    assert decisions.means[0] == 0.25


def test_elements_that_left_the_window_wait_in_a_queue() -> None:
    policy = ChangingGreedy(4, matroids.uniform(2), Mean(), window=3)
    for elements, rewards in (([3, 0], [0.9, 0.1]), ([2, 1], [0.3, 0.2]), ([2, 1], [0.3, 0.2])):
        policy.update(elements, rewards)
    assert policy.counts == [1, 2, 2, 1]
    policy.update([1, 2], [0.2, 0.3])
    # In round 1, the reward of 3 came before that of 0.
    assert policy.counts == [0, 3, 3, 0]
    assert policy._queue == [3, 0]
    policy.pending = [0, 0, 0, 1]
    assert policy.select() == (0, 3)
    policy.update([0], [0.1])
    # One place is left after element 3: the largest mean.
    assert policy.select() == (2, 3)


def test_the_local_time_of_maub_is_capped_in_the_index_alone() -> None:
    told: list[int] = []

    class Listening(UCB):
        def width(self, time: int) -> float:
            told.append(time)
            return super().width(time)

    policy = ChangingMAUB(3, matroids.uniform(1), Listening(0.1), window=5)
    leads = 0
    for t in range(60):
        policy.select()
        # All elements are observed, so that nothing else happens.
        policy.update([0, 1, 2], [1.0, 0.5, 0.4])
        leads += t > 0
    assert policy.leader == (0,)
    assert policy._leader_rounds == {(0,): leads}
    # The leader is played in any case when l - 1 is a multiple of 3.
    assert told == [min(t, 5) for t in range(1, leads + 1) if (t - 1) % 3]


# --- the discount, by hand -----------------------------------------------------------------------


def test_discounted_statistics_by_hand() -> None:
    index: Any = UCBV()
    policy = ChangingGreedy(2, matroids.uniform(1), index, discount=0.5)
    policy.update([0], [1.0])
    policy.update([1], [0.25])
    policy.update([0], [0.0])
    # Weights 1/4, 1/2 and 1.
    assert policy.weights == [1.25, 0.5]
    assert policy.counts == [2, 1]
    assert policy.means == [0.25 / 1.25, 0.25]
    # The weighted variance of 1 and 0 with probabilities 0.2 and 0.8.
    assert index.variance(0, 1.25) == pytest.approx(0.16, abs=1e-15)
    # The sum of 1, 1/2, 1/4 and 1/8.
    assert policy._index_time(4) == 1.875


def test_late_feedback_has_the_weight_of_its_round() -> None:
    late = ChangingDecisions(ChangingGreedy(2, matroids.uniform(1), UCB(), discount=0.9))
    prompt = ChangingGreedy(2, matroids.uniform(1), UCB(), discount=0.9)
    decisions = [late.decide() for _ in range(3)]
    for decision, reward in reversed(list(zip(decisions, (0.1, 0.7, 0.4), strict=True))):
        late.learn(decision.id, {decision.elements[0]: reward})
    for decision, reward in zip(decisions, (0.1, 0.7, 0.4), strict=True):
        prompt.update(decision.elements, [reward])
    assert late.counts == prompt.counts
    assert late.policy.weights == pytest.approx(prompt.weights, rel=1e-15)
    assert late.means == pytest.approx(prompt.means, rel=1e-15)


def test_elements_of_no_weight_are_forgotten_after_so_many_rounds() -> None:
    policy = ChangingGreedy(3, matroids.uniform(1), UCB(0.0), discount=0.5)
    for e in range(3):
        policy.update([e], [[0.1, 0.9, 0.2][e]])
    # Without optimism it plays element 1 until the others are forgotten, before round 41.
    for t in range(4, 41):
        assert policy.select() == (1,), t
        policy.update([1], [0.9])
    assert policy.counts == [1, 38, 1]
    assert policy.select() == (0,)
    assert policy.counts == [0, 38, 0]
    policy.update([0], [0.1])
    assert policy.select() == (2,)
    policy.update([2], [0.2])
    assert policy.select() == (1,)


def test_the_prior_of_thompson_sampling_is_not_discounted() -> None:
    policy = ChangingGreedy(1, matroids.uniform(1), BetaThompson(5), discount=0.5)
    for reward in (1.0, 0.0, 1.0):
        policy.update([0], [reward])
    rng = policy_generator(5)
    assert policy._values(4)[0] == rng.beta(1 + 1.25, 1 + 0.5)


def test_coins_are_tossed_when_rewards_are_learned() -> None:
    index = BetaThompson(5)
    policy = ChangingGreedy(1, matroids.uniform(1), index, window=2)
    rng = policy_generator(5)
    coins = [rng.random() < 0.5 for _ in range(6)]
    for k, coin in enumerate(coins):
        policy.update([0], [0.5])
        assert policy.kept[-1].success == coin
        assert index.successes[0] == sum(coins[max(0, k - 1) : k + 1])


# --- restarts ------------------------------------------------------------------------------------


def test_block_sizes() -> None:
    known = {1: (1,), 3: (1, 1, 1), 4: (2, 1, 1), 5: (2, 1, 1, 1), 6: (2, 2, 1, 1)}
    known |= {8: (2, 2, 2, 1, 1), 10: (4, 2, 2, 1, 1), 22: (8, 4, 4, 2, 2, 1, 1)}
    for count, sizes in known.items():
        assert glr.block_sizes(count) == sizes
    for count in range(1, 500):
        sizes = glr.block_sizes(count)
        assert sum(sizes) == count
        assert list(sizes) == sorted(sizes, reverse=True)
        assert all(size & (size - 1) == 0 and sizes.count(size) <= 3 for size in sizes)
        assert len(sizes) <= 3 * (1 + math.log2(count))


def test_the_statistic_by_hand() -> None:
    # 2 * 2 / 4 * (3 - 1)^2 / (2 * 2^2).
    assert glr.statistic([1.0, 1.0, 3.0, 3.0], 2.0, [2]) == 0.5
    assert glr.statistic([1.0, 1.0, 3.0, 3.0], 2.0, [1, 2, 3]) == 0.5
    # 2 kl(0, 1/2) + 2 kl(1, 1/2) = 4 ln 2.
    assert glr.statistic([0.0, 0.0, 1.0, 1.0], None, [2]) == pytest.approx(4 * math.log(2))
    assert glr.statistic([1.0] * 5, None, [1, 2, 3, 4]) == 0.0
    assert glr.threshold(4, 5, 0.1) == pytest.approx(math.log(3 * 4**1.5 * 5 / 0.1))


def _full(rewards: Sequence[float], noise: float | None) -> float:
    return glr.statistic(rewards, noise, range(1, len(rewards)))


@pytest.mark.parametrize("noise", [0.3, None])
def test_the_grid_against_all_splits(noise: float | None) -> None:
    """Never above. At least half of it while the change is not long ago.

    A change is found soon after it, or hardly ever: the blocks before it merge. Half is for steps
    without noise whose newer part is at most twice the older one, as for three rewards and three
    others; noisy ones are close to that.
    """
    for before, after in product(range(1, 60), repeat=2):
        rewards = [0.2] * before + [0.9] * after
        some, most = glr.statistic(rewards, noise, glr.grid(len(rewards))), _full(rewards, noise)
        assert some <= most
        assert some >= 0.4999 * most or after > 2 * before
    rng = np.random.default_rng(4)
    for _ in range(300):
        before, after = rng.integers(5, 150, 2)
        chances = rng.random(2)
        chance = np.repeat(chances, [before, after])
        rewards = (rng.random(before + after) < chance).astype(float).tolist()
        some, most = glr.statistic(rewards, noise, glr.grid(len(rewards))), _full(rewards, noise)
        assert some <= most
        if after <= 2 * before and abs(chances[0] - chances[1]) > 0.3:
            assert some >= 0.45 * most


def _changing(scope: str, rank: int = 1, period: int | None = None) -> ChangingGreedy:
    return ChangingGreedy(
        3, matroids.uniform(rank), UCB(0.1), restart=Restart(scope=scope, period=period)
    )


def test_a_restart_of_all_by_hand() -> None:
    # Rounds that are forced are out of reach.
    policy = _changing("all", period=1000)
    for e in (0, 1, 2):
        policy.update([e], [0.5])
    policy.update([1], [0.5])
    # n1 n2 / N (m1 - m2)^2 / (2 s^2) = 2/3 * 4 / 0.02 = 133; ln(3 * 3^1.5 * 3 / 0.01) = 8.4.
    policy.update([1], [2.5])
    assert policy.counts == [1, 3, 1]
    assert policy.restarted_at == 0
    assert policy.select() == (0,)
    assert policy.counts == [0, 0, 0]
    assert policy.restarted_at == 5
    for e in (0, 1, 2):
        assert policy.select() == (e,)
        policy.update([e], [0.5])
    policy.select()
    # Round 9 is the fourth since.
    values = policy._values(9)
    assert values[0] == 0.5 + 0.1 * math.sqrt(2 * math.log(4))


def test_a_restart_of_one_element_by_hand() -> None:
    decisions = ChangingDecisions(_changing("element", rank=2, period=1000))
    first = decisions.decide(shown=[0, 1])
    late = decisions.decide(shown=[1, 2])
    decisions.learn(first.id, {0: 0.5, 1: 0.5})
    decisions.update([0, 1, 2], [0.5, 0.5, 0.5])
    decisions.update([1, 0], [2.5, -1.5])
    assert decisions.counts == [3, 3, 1]
    # Element 1 was marked first.
    assert decisions.decide().elements == (0, 1)
    assert decisions.policy._queue == [1, 0]
    assert decisions.counts == [0, 0, 1]
    # Round 2 was before the restart of element 1, and element 2 had none.
    decisions.learn(late.id, {1: 0.5, 2: 1.0})
    assert decisions.counts == [0, 0, 2]
    assert decisions.policy.restarted_at == 0


def test_forced_rounds_by_hand() -> None:
    policy = _changing("all")
    means = [0.3, 0.9, 0.1]
    forced = {}
    for t in range(1, 150):
        (e,) = policy.select()
        if t in (9, 36, 81, 144):
            forced[t] = e
        policy.update([e], [means[e]])
    assert forced == {9: 0, 36: 1, 81: 2, 144: 0}
    policy = _changing("all", rank=2, period=5)
    for t in range(1, 31):
        played = policy.select()
        if t % 5 == 0:
            # The element in turn, and the best of the others.
            turn = (t // 5 - 1) % 3
            others = [e for e in (1, 0, 2) if e != turn]
            assert played == tuple(sorted([turn, others[0]]))
        policy.update(played, [means[e] for e in played])


def test_maub_forgets_leaders_and_local_times_with_everything_else() -> None:
    policy = ChangingMAUB(3, matroids.uniform(1), UCB(0.1), restart=Restart(period=7))
    for t in range(1, 30):
        assert len(policy.select()) == 1
        policy.update([0, 1, 2], [0.9, 0.5, 0.1])
        # The first round is initial; the rounds 7, 14, ... are forced.
        assert policy._leader_rounds.get((0,), 0) == t - 1 - t // 7
    policy.update([0], [-5.0])
    policy.select()
    assert policy.leader is None
    assert policy._leader_rounds == {}
    for _ in range(2):
        policy.update([0, 1, 2], [0.1, 0.5, 0.9])
        policy.select()
    assert policy.leader == (2,)


def test_maub_plays_forgotten_elements_beside_its_leader() -> None:
    policy = ChangingMAUB(4, matroids.uniform(2), UCB(0.1), window=3)
    policy.update([0, 1, 2, 3], [0.9, 0.8, 0.5, 0.1])
    assert policy.select() == (0, 1)
    assert policy.leader == (0, 1)
    # Element 2 looks best when element 3 is forgotten, but it is not in the leader.
    policy.update([0, 1, 2], [0.4, 0.8, 2.0])
    policy.update([0, 1, 2], [0.4, 0.8, 2.0])
    policy.update([0, 1, 2], [0.4, 0.8, 2.0])
    assert policy.counts == [3, 3, 3, 0]
    assert policy.select() == (1, 3)
    assert policy.leader == (0, 1)
    assert policy.select_among([0, 2, 3]) == (2, 3)
    policy.update([3], [0.1])
    policy.select()
    assert policy.leader == (1, 2)


def test_no_round_is_forced_while_elements_are_missing() -> None:
    policy = _changing("all", period=1)
    policy.update([0, 1, 2], [0.3, 0.9, 0.1])
    # Round 2: the second turn, or that of the next element that is available.
    assert policy.select_among([0, 2]) == (2,)
    assert policy.select() == (1,)
    policy.update([1], [0.9])
    assert policy.select() == (2,)
