"""Calls that end in the middle, by an exception or Ctrl-C in Python code: nothing has changed."""

import pickle
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..states import assert_same


class Failing:
    """An independence test that raises an exception on demand."""

    def __init__(self) -> None:
        self.fails = False

    def __call__(self, elements: Any) -> bool:
        if self.fails:
            raise KeyboardInterrupt
        return len(elements) <= 2


class FailingRule(mb.Policy):
    """Plays the last elements, or fails."""

    fails = False

    def _select(self) -> Any:
        if self.fails:
            raise KeyboardInterrupt
        return self.greedy_basis(np.arange(self.problem.size, dtype=float))


def learned(policy: Any) -> Any:
    policy.update(range(4), [0.5, 0.6, 0.4, 0.3])
    return policy


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_a_decision_that_failed_leaves_no_values_behind(name: str) -> None:
    """What is learned between a failure and the next attempt counts."""
    plays = []
    for is_failing in (False, True):
        test = Failing()
        policy = learned(mb.catalog.POLICIES[name]._example(mb.OracleMatroid(4, test)))
        first = policy.decide()
        if is_failing:
            test.fails = True
            with suppress(KeyboardInterrupt):
                policy.decide()
                # It needs no oracle call here.
                assert name in {"MAUB", "FasterCUCB", "OSUB", "ESCB"}
                return
            test.fails = False
        policy.learn(first, [0.0, 0.05])
        plays.append([policy.decide().elements.tolist() for _ in range(3)])
    assert plays[0] == plays[1]


@pytest.mark.parametrize("has_decided", [False, True])
def test_a_failed_selection_from_other_elements_leaves_the_selection(has_decided: bool) -> None:
    policy = FailingRule(mb.UniformMatroid(1, 3))
    selected = policy.select()
    if has_decided:
        policy.decide()
    before = policy._kernel.state()
    policy.fails = True
    with pytest.raises(KeyboardInterrupt):
        policy.select(available=[0, 1])
    policy.fails = False
    after = policy._kernel.state()
    for state in (before, after):
        state["answers"] = state["answers"] or []
    assert_same(before, after)
    assert policy.select().tolist() == selected.tolist()
    policy.decide()
    assert policy.rounds == len(policy.open_decisions) == 2 + has_decided


def test_a_failed_selection_from_other_elements_in_compiled_policies() -> None:
    for name in sorted(mb.catalog.POLICIES):
        test = Failing()
        matroid = mb.OracleMatroid(4, test)
        policy, twin = (learned(mb.catalog.POLICIES[name]._example(matroid)) for _ in range(2))
        assert policy.select([0, 1, 2]).tolist() == twin.select([0, 1, 2]).tolist()
        test.fails = True
        with pytest.raises(KeyboardInterrupt):
            policy.select(available=[1, 2, 3])
        test.fails = False
        for one in (policy, twin):
            one.decide()
        assert policy.rounds == twin.rounds == 3
        assert list(policy.open_decisions.values()) == list(twin.open_decisions.values())


def test_a_refused_decision_forgets_no_closed_one() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    for i in range(10_000):
        policy.learn(policy.decide(id=f"r{i}"), [0.5])
    policy.select()
    with pytest.raises(mb.NoBasisError):
        policy.decide(available=[])
    policy.learn("r0", [0.5])  # delivered twice
    policy.learn(policy.decide(), [0.5])
    with pytest.raises(mb.DecisionError, match="no decision with the id 'r0'"):
        policy.learn("r0", [0.5])


class _Ends(mb.Delay):
    """Loses some feedback, and raises an exception after 50 rounds."""

    def __init__(self) -> None:
        self.n = 0

    def draw(self, rng: np.random.Generator, n: int) -> Any:
        self.n += 1
        if self.n == 50:
            raise KeyboardInterrupt
        return np.where(rng.random(n) < 0.3, -11, 10)


@pytest.mark.parametrize("cls", [FailingRule, mb.OMM])
def test_a_simulation_that_ends_early_leaves_a_policy_that_can_be_saved(
    cls: type[mb.Policy], tmp_path: Any
) -> None:
    policy = cls(mb.UniformMatroid(2, 4))
    with pytest.raises(KeyboardInterrupt):
        mb.simulate(policy, mb.BernoulliEnvironment([0.1, 0.2, 0.3, 0.4]), 100, delay=_Ends())
    assert np.isfinite(policy.means[policy.counts > 0]).all()
    policy.save(tmp_path / "policy.mb")
    again = mb.load(tmp_path / "policy.mb", classes=[FailingRule])
    assert_same(policy._kernel.state(), again._kernel.state())


# ---- Ctrl-C at every place where it can be noticed: where a function in Python begins ----


def is_interrupted(call: Callable[[], object], place: int) -> bool:
    """Make a call, with Ctrl-C in the function in Python that begins at this place.

    Whether there was one: other exceptions are not caught.
    """
    n = 0

    def interrupt(_: Any, event: str, __: Any) -> None:
        nonlocal n
        n += event == "call"
        if n == place:
            sys.setprofile(None)
            raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(interrupt)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


def interrupted_copies(policy: Any, call: Callable[[Any], object], step: int = 1) -> Any:
    """Copies of a policy in which a call was interrupted, each at another place."""
    saved, place = pickle.dumps(policy), 1
    while True:
        copy = pickle.loads(saved)
        if not is_interrupted(lambda copy=copy: call(copy), place):
            return
        yield copy
        place += step


def future(policy: Any, seed: int) -> list[Any]:
    """What a policy plays, with feedback at once, late, and about other elements."""
    rng, told, waiting = random.Random(seed), [], []
    for _ in range(12):
        if rng.random() < 0.4:
            e = rng.randrange(policy.matroid.size)
            policy.update([e], [rng.random()])
        waiting.append(policy.decide())
        told.append(waiting[-1].elements.tolist())
        if rng.random() < 0.7:
            decision = waiting.pop(rng.randrange(len(waiting)))
            policy.learn(decision, [rng.random() for _ in decision.elements])
    return [*told, policy.rounds, policy.counts.tolist()]


GROWING = {
    "MAUB with a window": lambda: mb.MAUB(mb.UniformMatroid(3, 12), window=5),
    "CTS with a window": lambda: mb.CTS(mb.UniformMatroid(3, 12), window=5, seed=1),
    "MAUB with a discount": lambda: mb.MAUB(mb.UniformMatroid(3, 12), discount=0.9),
    "MAUB with restarts": lambda: mb.MAUB(mb.UniformMatroid(3, 12), restart="glr"),
    "MAUB": lambda: mb.MAUB(mb.UniformMatroid(3, 12)),
    "FasterCUCB": lambda: mb.FasterCUCB(mb.GraphicMatroid.complete(6)),
}


@pytest.mark.parametrize("name", GROWING)
def test_feedback_is_learned_or_not(name: str) -> None:
    """Also where memory grows."""
    policy: Any = GROWING[name]()
    n = policy.matroid.size
    rng = np.random.default_rng(3)
    for _ in range(8):
        policy.select()
        rewards = rng.random(n)

        def update(copy: Any, rewards: Any = rewards) -> None:
            copy.update(np.arange(n), rewards)

        before = policy._kernel.state()
        for copy in interrupted_copies(policy, update):
            assert_same(before, copy._kernel.state())
        update(policy)


@pytest.mark.parametrize("name", GROWING)
def test_an_interrupted_selection_can_be_repeated(name: str) -> None:
    policy: Any = GROWING[name]()
    rng = np.random.default_rng(4)
    for seed in range(6):
        expected = future(pickle.loads(pickle.dumps(policy)), seed)
        for copy in interrupted_copies(policy, lambda copy: copy.select()):
            assert future(copy, seed) == expected
        policy.update(policy.select(), rng.random(policy.matroid.rank))


def test_an_interrupted_simulation_with_late_feedback() -> None:
    environment = mb.BernoulliEnvironment([0.1, 0.2, 0.3, 0.4])

    def simulate(policy: Any) -> None:
        # So much feedback is on its way that the calendar grows.
        mb.simulate(policy, environment, 200, delay=mb.FixedDelay(50))

    n = sum(1 for _ in interrupted_copies(mb.OMM(mb.UniformMatroid(2, 4)), simulate))
    assert n > 10


@pytest.mark.parametrize(
    "make, step",
    [
        (lambda: mb.MAUB(mb.GraphicMatroid.complete(5), index="gaussian", noise=0.1, seed=2), 7),
        (lambda: mb.MAUB(mb.UniformMatroid(3, 12), index="gaussian", noise=0.5, seed=2), 7),
        (lambda: mb.MAUB(mb.UniformMatroid(3, 12), index="beta", exchanges="one", seed=3), 7),
        (lambda: mb.MAUB(mb.GraphicMatroid.complete(5)), 1),
    ],
    ids=["graph", "gaussian", "one exchange", "UCB"],
)
def test_interrupted_propensities_change_no_later_play(make: Callable[[], Any], step: int) -> None:
    policy = make()
    rng = np.random.default_rng(5)
    for seed in range(10):
        expected = future(pickle.loads(pickle.dumps(policy)), seed)
        for copy in interrupted_copies(policy, lambda copy: copy.decide(propensities=2), step):
            # Otherwise the decision was made, and the call was interrupted after that.
            if copy.rounds == policy.rounds:
                assert future(copy, seed) == expected
        decision = policy.decide()
        policy.learn(decision, rng.random(len(decision.elements)))


class UniformInPython(mb.Matroid):
    """At most three of eight elements."""

    def __init__(self) -> None:
        super().__init__(8)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 3


@pytest.mark.parametrize("seed_of_rewards", [10, 38, 40])
def test_an_interrupted_decision_leaves_the_leader(seed_of_rewards: int) -> None:
    """The matroid in Python is asked after the leader has changed."""
    policy = mb.MAUB(UniformInPython(), index="beta")
    rng = np.random.default_rng(seed_of_rewards)
    for seed in range(9):
        expected = future(pickle.loads(pickle.dumps(policy)), seed)
        for copy in interrupted_copies(policy, lambda copy: copy.decide(), 7):
            # Otherwise the decision was made, and the call was interrupted after that.
            if copy.rounds == policy.rounds:
                assert future(copy, seed) == expected
        decision = policy.decide()
        policy.learn(decision, rng.random(len(decision.elements)))
