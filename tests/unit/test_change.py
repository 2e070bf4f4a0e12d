"""Means that change: mistakes, what users read, statistics of elements that come and go."""

from __future__ import annotations

import copy
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..states import assert_same

if TYPE_CHECKING:
    from pathlib import Path

MATROID = mb.UniformMatroid(2, 5)


def play(policy: mb.Policy, rounds: int, means: object, *, seed: int = 0, std: float = 0.1) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        played = policy.problem.elements(policy.select())
        rewards = rng.normal(np.asarray(means)[played], std)
        policy.update(policy.problem.names(played), rewards)


# ---- arguments ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"window": 1.5}, "window must be an integer, got 1.5"),
        ({"discount": 0}, "discount must be from 1e-06 to 1 - 1e-12, such as 0.999, or 1 for none"),
        ({"discount": 1 - 1e-13}, "discount must be from 1e-06 to 1 - 1e-12"),
        ({"index": "normal", "window": 2}, "window=2 is too short for the index NormalUCB"),
        ({"discount": 1.1}, "discount must be a number from 0 to 1, got 1.1"),
        ({"discount": float("nan")}, "discount must be a number from 0 to 1, got nan"),
        ({"window": 5, "discount": 0.9}, "window= and discount= cannot be used together"),
        ({"window": 5, "restart": "glr"}, "window= and restart= cannot be used together"),
        ({"discount": 0.9, "restart": "glr"}, "discount= and restart= cannot be used together"),
        ({"restart": "glrt"}, "unknown restart 'glrt'"),
        ({"restart": 3}, 'restart must be "glr" or mb.GLR'),
        ({"restart": {"type": "glr", "delt": 0.1}}, "no parameter 'delt'; did you mean delta"),
        ({"restart": {"type": "glr", "delta": 2}}, "delta must be a number from 0 to 1"),
        ({"restart": {"type": "glr", "scope": "one"}}, "unknown scope 'one'"),
        ({"restart": {"type": "glr", "period": 0}}, "period must be at least 1"),
        ({"discount": 0.9, "pending": "count"}, 'discount= and pending="count"'),
        ({"index": "normal", "discount": 0.9}, "discount= is not for the index NormalUCB"),
        ({"index": "normal", "restart": "glr"}, "restart= is not for the index NormalUCB"),
        ({"index": "mean", "restart": "glr"}, "restart= needs to know how rewards vary"),
        ({"noise": 0.0, "restart": "glr"}, "restart= needs to know how rewards vary"),
    ],
)
def test_mistakes_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.MAUB(MATROID, **arguments)


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM, mb.CUCB, mb.KLOSM, mb.CTS])
def test_parameters_are_kept(cls: type) -> None:
    for arguments in ({"window": 7}, {"discount": 0.9}, {"restart": mb.GLR(delta=0.1)}):
        policy = cls(MATROID, **arguments)
        ((name, value),) = arguments.items()
        assert getattr(policy, name) == value
        assert f"{name}={value!r}" in repr(policy)
        for again in (policy.clone(), mb.policy_from_spec(policy.to_spec()), copy.copy(policy)):
            assert repr(again) == repr(policy)


def test_restart_by_name_or_table_is_the_same() -> None:
    expected = mb.GLR(delta=0.1, scope="element")
    for given in ("glr(delta=0.1, scope=element)", expected.to_spec(), expected):
        assert mb.MAUB(MATROID, restart=given).restart == expected


# ---- what users read ----


def test_counts_of_a_window_are_those_of_its_rounds() -> None:
    policy = mb.OMM(MATROID, window=3)
    for reward in (0.1, 0.2, 0.3, 0.4):
        policy.update([0], [reward])
    assert policy.counts.tolist() == [3, 0, 0, 0, 0]
    assert policy.means[0] == pytest.approx(0.3)


def test_discounted_counts() -> None:
    policy = mb.OMM(MATROID, discount=0.5)
    for reward in (0.0, 0.0, 1.0):
        policy.update([1], [reward])
    assert policy.counts[1] == 3
    assert policy.effective_counts[1] == pytest.approx(1 + 0.5 + 0.25)
    assert policy.means[1] == pytest.approx(1 / 1.75)


def test_late_feedback_counts_for_the_round_of_its_decision() -> None:
    windowed, discounted = mb.OMM(MATROID, window=2), mb.OMM(MATROID, discount=0.5)
    for policy in (windowed, discounted):
        late = policy.decide(available=[0, 1])
        for _ in range(3):
            policy.update([2], [0.5])
        policy.learn(late, {0: 1.0, 1: 1.0})
        assert policy.n_pending.sum() == 0
    assert windowed.counts.tolist() == [0, 0, 2, 0, 0]
    # The age of round 1 is 3 when round 4 has ended.
    assert discounted.effective_counts[0] == pytest.approx(0.5**3)


def test_a_restart_forgets_and_counts() -> None:
    policy = mb.MAUB(MATROID, noise=0.1, restart="glr")
    play(policy, 300, [0.9, 0.8, 0.3, 0.2, 0.1])
    assert policy.n_restarts == 0
    play(policy, 300, [0.1, 0.2, 0.3, 0.8, 0.9], seed=1)
    assert policy.n_restarts == 1
    assert policy.leader.tolist() == [3, 4]
    assert policy.counts.sum() < 2 * 310
    assert mb.MAUB(MATROID).n_restarts == 0


@pytest.mark.parametrize("way", ["update", "learn_log"])
def test_what_comes_after_a_change_is_kept_where_nothing_is_selected(way: str) -> None:
    # 100 rewards of 0.2, then 1,900 of 0.9: the change is found at the second of them, if not the
    # first, and a restart forgets what was before.
    rewards = [0.2] * 100 + [0.9] * 1900
    policy = mb.OMM(mb.UniformMatroid(1, 2), noise=0.1, restart="glr")
    if way == "update":
        for reward in rewards:
            policy.update([0], [reward])
    else:
        policy.learn_log({"decision": range(2000), "element": [0] * 2000, "reward": rewards})
    assert policy.n_restarts == 1
    policy.select()
    assert policy.n_restarts == 1
    assert policy.counts[0] in (1898, 1899)
    assert policy.means[0] == pytest.approx(0.9)


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_elements_have_their_turn_in_rounds_with_some_elements(cls: type) -> None:
    policy = cls(MATROID, noise=0.1, restart=mb.GLR(period=5))
    for round_ in range(1, 200):
        available = [e for e in range(5) if e != round_ % 3]
        played = policy.select(available=available)
        if round_ > 20 and round_ % 5 == 0:
            turn = (round_ // 5 - 1) % 5
            assert (turn if turn in available else (turn + 1) % 5) in played
        policy.update(played, 0.9 - 0.2 * played)
    assert policy.n_restarts == 0


def test_explanations_say_why() -> None:
    policy = mb.MAUB(MATROID, noise=0.1, window=5)
    play(policy, 8, [0.9, 0.8, 0.3, 0.2, 0.1])
    while not policy._kernel.n_undersampled:
        play(policy, 1, [0.9, 0.8, 0.3, 0.2, 0.1])
    assert "too old come first" in str(policy.explain())
    forced = mb.OMM(MATROID, noise=0.1, restart=mb.GLR(period=10))
    play(forced, 9, [0.9, 0.8, 0.3, 0.2, 0.1])
    forced.select()
    assert "so that a change of it is noticed" in str(forced.explain())


def test_confidence_says_what_it_is_about() -> None:
    means = [0.9, 0.8, 0.3, 0.2, 0.1]
    windowed = mb.MAUB(MATROID, noise=0.1, window=50)
    play(windowed, 60, means)
    assert "the last 50 rounds" in windowed.confidence().caveat
    restarting = mb.MAUB(MATROID, noise=0.1, restart="glr")
    play(restarting, 100, means)
    assert not restarting.confidence().caveat
    play(restarting, 100, means[::-1])
    assert "since the last restart after round" in restarting.confidence().caveat
    discounting = mb.MAUB(MATROID, noise=0.1, discount=0.9)
    play(discounting, 60, means)
    with pytest.raises(ValueError, match="confidence is for observations that count fully"):
        discounting.confidence()
    assert "settled" not in str(discounting.explain())


def test_statistics_from_elsewhere() -> None:
    given = {0: (0.5, 30), 1: (0.4, 20)}
    for arguments in ({"window": 9}, {"discount": 0.9}):
        policy = mb.OMM(MATROID, **arguments)
        with pytest.raises(ValueError, match="do not say in which rounds"):
            policy.observe(given)
        assert not policy.counts.any()
    policy = mb.OMM(MATROID, noise=0.1, restart="glr")
    policy.observe(given)
    assert policy.counts.tolist() == [30, 20, 0, 0, 0]
    for _ in range(5):
        policy.update([0], [1.5])
    policy.select()
    assert policy.n_restarts == 1


def test_statistics_of_many_observations_come_in_blocks() -> None:
    """As if they had come one by one, but not one by one."""
    seen = np.random.default_rng(4).normal(size=7).tolist()
    for number in (101, 1000, 1023):
        at_once, in_parts = (mb.OMM(MATROID, noise=1e6, restart="glr") for _ in range(2))
        for policy in (at_once, in_parts):
            for reward in seen:
                policy.update([0], [reward])
        at_once.observe({0: (0.25, number)})
        for part in [100] * (number // 100) + [number % 100]:
            in_parts.observe({0: (0.25, part)})
        one, other = (p._kernel.state()["memory"] for p in (at_once, in_parts))
        levels = min(one["n_blocks"].shape[1], other["n_blocks"].shape[1])
        for state in (one, other):
            assert not state["n_blocks"][:, levels:].any()
            state["n_blocks"] = state["n_blocks"][:, :levels]
            state["sums"] = state["sums"][:, :levels]
        assert np.array_equal(one["n_blocks"], other["n_blocks"])
        used = np.arange(4) < one["n_blocks"][0][:, np.newaxis]
        assert np.allclose(one["sums"][0][used], other["sums"][0][used], rtol=1e-12)
    mb.OMM(MATROID, restart="glr").observe({0: (0.5, 2**53)})


# ---- elements that come and go ----


@pytest.mark.parametrize("arguments", [{"window": 40}, {"discount": 0.9}, {"restart": "glr"}])
def test_what_is_remembered_stays_with_the_labels(arguments: dict[str, object]) -> None:
    problem = mb.Problem(MATROID, labels=list("abcde"))
    policy = mb.MAUB(problem, noise=0.1, **arguments)
    play(policy, 60, [0.9, 0.8, 0.3, 0.2, 0.1])
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(2, 4), labels=list("xdba")))
    for new, old in ((1, 3), (2, 1), (3, 0)):
        assert moved.counts[new] == policy.counts[old]
        assert moved.effective_counts[new] == policy.effective_counts[old]
        assert moved.means[new] == policy.means[old]
    assert moved.counts[0] == 0
    # The new element is played next, and old observations still leave.
    assert "x" in moved.select()
    play(moved, 200, [0.5, 0.2, 0.8, 0.9])
    assert moved.leader == ["b", "a"]
    if "window" in arguments:
        assert moved.counts.sum() == 2 * 40


def test_loops_are_never_in_the_queue() -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(2, 4), labels=list("abcd")), window=5)
    play(policy, 20, [0.1, 0.2, 0.3, 0.4])
    labels = list("abcdefghijklmnop")
    new = mb.Problem(mb.PartitionMatroid([0] * 4 + [1] * 12, {0: 2, 1: 0}), labels=labels)
    moved = policy.moved_to(new)
    for _ in range(10):
        moved.update([], [])
    play(moved, 30, np.full(16, 0.5))
    assert moved.counts[:4].all()
    assert not moved.counts[4:].any()


@pytest.mark.parametrize("arguments", [{"window": 5}, {"discount": 0.5}, {"restart": "glr"}])
@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_what_was_a_loop_is_observed(cls: type, arguments: dict[str, object]) -> None:
    old = mb.Problem(mb.PartitionMatroid([0, 0, 1], {0: 1, 1: 0}), labels=list("abc"))
    policy = cls(old, **arguments)
    play(policy, 20, [0.5, 0.5, 0.5])
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(1, 3), labels=list("abc")))
    play(moved, 1, [0.5, 0.5, 0.5])
    assert moved.counts[2] == 1


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_discounted_rounds_without_decisions(cls: type) -> None:
    """Weights stay finite when a long log is learned."""
    policy = cls(mb.UniformMatroid(1, 3), discount=0.5)
    play(policy, 10, [0.5, 0.5, 0.5])
    for number in range(3000):
        policy.update([number % 2], [0.5])
    assert policy.effective_counts[:2] == pytest.approx([2 / 3, 4 / 3])
    assert policy.means[:2] == pytest.approx([0.5, 0.5])
    # What was not observed for so long is forgotten, and comes first.
    assert policy.select().tolist() == [2]


# ---- the watch ----


def test_drift_names_what_has_changed() -> None:
    policy = mb.MAUB(mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"]), noise=0.1)
    play(policy, 300, [0.9, 0.1])
    assert not policy.drift()
    assert str(policy.drift()) == "No mean seems to have changed."
    play(policy, 100, [0.5, 0.1], seed=1)
    drift = policy.drift()
    assert [change.element for change in drift] == ["a"]
    assert len(drift) == 1
    assert drift.changes[0].before > 0.85
    assert drift.changes[0].after < 0.8
    assert "The mean of 1 element seems to have changed, that of 'a'" in str(drift)


def test_false_alarms_are_rare() -> None:
    """At most 5 % by the union bound of the test; 200 runs of 20 elements, none expected."""
    alarms = 0
    for seed in range(200):
        policy = mb.RandomBasis(mb.UniformMatroid(10, 20), seed=seed)
        play(policy, 50, np.zeros(20), seed=seed, std=1.0)
        alarms += bool(policy.drift(noise=1.0))
    # Binomial(200, 0.05) exceeds 20 with probability 0.001.
    assert alarms <= 20


@pytest.mark.parametrize("arguments", [{}, {"window": 500}, {"restart": mb.GLR(delta=1e-12)}])
def test_drift_finds_a_change_in_whatever_is_kept(arguments: dict[str, object]) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 1), noise=0.1, **arguments)
    for value in [0.3] * 40 + [0.5] * 20:
        policy.update([0], [value])
    (change,) = policy.drift()
    assert change.element == 0
    assert change.before == pytest.approx(0.3)
    assert change.after > 0.3
    if arguments:
        # All splits, or those between blocks, which are single rewards at the end.
        assert change.after == pytest.approx(0.5)
        expected = 40 * 20 / 60 * 0.2**2 / (2 * 0.1**2)
        assert change.statistic == pytest.approx(expected)


@pytest.mark.parametrize("arguments", [{}, {"window": 500}, {"restart": mb.GLR(delta=1e-12)}])
def test_drift_is_for_the_noise_that_is_given(arguments: dict[str, object]) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 1), noise=0.1, **arguments)
    for round_ in range(60):
        policy.update([0], [0.3 if round_ < 32 else 0.5])
    # All splits but those of a window are on a grid; the first one of these is at 32.
    assert policy.n_restarts == 0
    (change,) = policy.drift()
    assert (change.before, change.after) == pytest.approx((0.3, 0.5))
    assert change.statistic == pytest.approx(32 * 28 / 60 * 0.2**2 / (2 * 0.1**2))
    assert not policy.drift(noise=10.0)
    assert not policy.drift(family="bernoulli")


def test_drift_of_costs_is_in_the_units_of_the_user() -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, 1), sense="min"), index="kl")
    for value in [0.0, 0.0, 0.0, 0.0] * 30 + [1.0] * 20:
        policy.update([0], [value])
    (change,) = policy.drift()
    assert change.before < 0.1
    assert change.after > 0.2


def test_drift_needs_something_to_compare() -> None:
    policy = mb.OMM(MATROID, discount=0.9)
    with pytest.raises(ValueError, match="does not keep apart"):
        policy.drift()
    with pytest.raises(ValueError, match="assumes nothing about the noise"):
        mb.RandomBasis(MATROID).drift()
    observed = mb.OMM(MATROID, noise=0.1)
    observed.observe({0: (0.5, 100)})
    for _ in range(20):
        observed.update([0], [0.9])
    # Nobody knows what its mean was after 64 observations.
    assert not observed.drift()


LARGE: dict[str, dict[str, object]] = {
    "discount": {"discount": 0.9, "noise": 1.0},
    "long discount": {"discount": 1 - 1e-9, "noise": 1.0},
    "window": {"window": 3, "noise": 1.0},
    "restart": {"restart": "glr", "noise": 1.0},
    "variance": {"index": "normal", "window": 4},
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("sense", ["max", "min"])
def test_rewards_that_could_overflow_are_refused_before_anything_changes(
    name: str, sense: Any, tmp_path: Path
) -> None:
    problem = mb.Problem(mb.UniformMatroid(1, 2), ["a", "b"], sense=sense)
    policy: Any = mb.MAUB(problem, **LARGE[name])
    first, second = policy.decide(), policy.decide()
    elements = [decision.elements[0] for decision in (first, second)]
    policy.update({"a": 0.5})
    before = policy._kernel.state()
    for large in (1e308, -1.7e308, 1.01e100):
        log = {"decision": [7, 8], "element": ["a", "b"], "reward": [0.5, large]}
        of_decision = {"decision": [first.id], "element": elements[:1], "reward": [large]}
        for call in (
            lambda large=large: policy.update({"a": large}),
            lambda large=large: policy.update({"b": 0.5, "a": large}),
            lambda large=large: policy.learn(first, [large]),
            lambda large=large: policy.expire([first, second], reward=large),
            lambda log=log: policy.learn_log(log),
            lambda log=of_decision: policy.learn_log(log),
        ):
            with pytest.raises(ValueError, match=r"is too large .*at most 1e\+100 in size"):
                call()
            assert_same(before, policy._kernel.state())
        if not {"window", "discount"} & LARGE[name].keys():
            with pytest.raises(ValueError, match=r"is too large .*at most 1e\+100 in size"):
                policy.observe({"a": (large, 1)})
            assert_same(before, policy._kernel.state())
    # Up to that size nothing overflows, in any order.
    for k, (x, y) in enumerate(product([1e100, -1e100, 1.0], repeat=2)):
        policy.update({"a": x, "b": y})
        policy.learn_log({"decision": [f"{k}x"], "element": ["a"], "reward": [y]})
        policy.learn(policy.decide(), [x])
    policy.learn(first, [1e100])
    policy.expire(second, reward=-1e100)
    assert np.isfinite(policy.means).all()
    policy.save(tmp_path / "policy")
    again = mb.load(tmp_path / "policy")
    assert_same(policy._kernel.state(), again._kernel.state())
    assert again.select() == policy.select()
