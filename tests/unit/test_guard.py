"""Calls from inside a call are refused, and nothing changes then; other threads wait."""

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest

import matroid_bandits as mb

REFUSED = "this policy is deciding right now"
REFUSED_OR_USED = f"{REFUSED}|has already learned from [12] rounds"


class InPython(mb.Policy):
    """Greedy on the means, written in Python."""

    def _select(self):
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))


CALLS: dict[str, Callable[[mb.Policy], object]] = {
    "select": lambda policy: policy.select(),
    "select available": lambda policy: policy.select(available=[0, 1, 2]),
    "update": lambda policy: policy.update([0], [1.0]),
    "decide": lambda policy: policy.decide(),
    "decide available": lambda policy: policy.decide([0, 1, 2], id="a"),
    "decide and learn": lambda policy: policy.learn(policy.decide(), [0.5, 1.0]),
    "expire": lambda policy: policy.expire(policy.open_decisions, reward=0.5),
    "explain": lambda policy: policy.explain(),
    "greedy_basis": lambda policy: policy.greedy_basis(np.zeros(4)),
    "simulate": lambda policy: mb.simulate(policy, mb.BernoulliEnvironment([0.5] * 4), 3),
}
POLICIES = {
    "MAUB": mb.MAUB,
    "MAUB paper": partial(mb.MAUB, neighborhood="paper"),
    "OMM": mb.OMM,
    "CTS": mb.CTS,
    "ESCB": mb.ESCB,
    "FasterCUCB": mb.FasterCUCB,
    "OSUB": mb.OSUB,
    "in Python": InPython,
}


class Intruder:
    """An oracle of rank 2 on four elements that calls the policy which calls it."""

    def __init__(self) -> None:
        self.call: Callable[[], object] | None = None
        self.errors: list[str] = []

    def __call__(self, elements: frozenset[int]) -> bool:
        if self.call is not None:
            # simulate refuses a policy that has learned before it looks at the guard.
            with pytest.raises((RuntimeError, ValueError), match=REFUSED_OR_USED) as error:
                self.call()
            self.errors.append(str(error.value))
        return len(elements) <= 2


@pytest.mark.parametrize("inner", CALLS)
@pytest.mark.parametrize("outer", CALLS)
@pytest.mark.parametrize("name", POLICIES)
def test_an_oracle_that_calls_its_policy_is_refused(name: str, outer: str, inner: str) -> None:
    oracle = Intruder()
    policy = POLICIES[name](mb.OracleMatroid(4, oracle))
    twin = pickle.loads(pickle.dumps(POLICIES[name](mb.UniformMatroid(2, 4))))
    oracle.call = partial(CALLS[inner], policy)
    CALLS[outer](policy)
    oracle.call = None
    CALLS[outer](twin)
    assert policy.rounds == twin.rounds
    assert policy.counts.tolist() == twin.counts.tolist()
    assert policy.select().tolist() == twin.select().tolist()
    policy.update([0, 1], [0.5, 0.5])


def test_oracles_are_really_called_in_these_tests() -> None:
    oracle = Intruder()
    policy = InPython(mb.OracleMatroid(4, oracle))
    oracle.call = partial(policy.greedy_basis, np.zeros(4))
    policy.select()
    assert len(oracle.errors) == 2


def test_greedy_is_allowed_in_a_rule_and_nothing_else_is() -> None:
    class Rule(mb.Policy):
        inner: Callable[[mb.Policy], object] = staticmethod(lambda _: None)

        def _select(self):
            first = self.greedy_basis(np.zeros(4))
            if self.rounds:
                self.inner(self)
            return first

    for name in CALLS.keys() - {"greedy_basis"}:
        policy = Rule(mb.UniformMatroid(2, 4))
        policy.update([0], [1.0])
        Rule.inner = staticmethod(CALLS[name])
        # A policy that has learned is refused by simulate anyway.
        error = ValueError if name == "simulate" else RuntimeError
        with pytest.raises(error):
            policy.select()
        with pytest.raises(error):
            policy.select(available=[1, 2, 3])
        assert policy.rounds == 1
        Rule.inner = staticmethod(lambda _: None)
        assert policy.select().tolist() == [0, 1]
        assert policy.select(available=[1, 2, 3]).tolist() == [1, 2]


@pytest.mark.parametrize("inner", ["select", "select available", "update", "explain", "simulate"])
@pytest.mark.parametrize("cls", [mb.MAUB, InPython])
def test_an_environment_that_calls_the_policy_is_refused(cls, inner: str) -> None:
    class Meddling(mb.Environment):
        def _sample(self, rng, element, count):
            with pytest.raises((RuntimeError, ValueError)):
                CALLS[inner](policy)
            return rng.normal(self.means[element], 0.1, count)

    means = [0.1, 0.2, 0.3, 0.4]
    policy, twin = cls(mb.UniformMatroid(2, 4)), cls(mb.UniformMatroid(2, 4))

    class Quiet(mb.Environment):
        def _sample(self, rng, element, count):
            return rng.normal(self.means[element], 0.1, count)

    meddled = mb.simulate(policy, Meddling(means), 50)
    quiet = mb.simulate(twin, Quiet(means), 50)
    assert policy.rounds == 50
    assert meddled.regret.tolist() == quiet.regret.tolist()
    assert policy.counts.tolist() == twin.counts.tolist()


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switches")
@pytest.mark.parametrize("name", ["MAUB", "CTS", "in Python"])
def test_threads_lose_nothing_that_was_accepted(name: str) -> None:
    matroid = mb.OracleMatroid(4, lambda s: len(s) <= 2) | mb.UniformMatroid(1, 4)
    policy = POLICIES[name](matroid)
    accepted = [0] * 4
    wrong: list[BaseException] = []

    def update(thread: int) -> None:
        policy.update([thread], [0.5])
        accepted[thread] += 1

    def select(thread: int) -> None:
        available = [thread, (thread + 1) % 4, (thread + 2) % 4]
        assert policy.select(available=available).tolist() == sorted(available)

    def explain(_: int) -> None:
        assert len(policy.explain().selected) == 3

    calls = [update, select, explain, lambda _: policy.greedy_basis(np.zeros(4))]

    def use(thread: int) -> None:
        rng = np.random.default_rng(thread)
        for _ in range(150):
            try:
                calls[rng.integers(4)](thread)
            except BaseException as error:  # noqa: BLE001
                if REFUSED not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert policy.counts.tolist() == accepted
    assert policy.rounds == sum(accepted)
    assert len(policy.select()) == 3
    # A matroid is wrapped once, whatever happened.
    assert repr(policy.matroid) == repr(matroid)


@pytest.mark.parametrize("cls", [mb.MAUB, InPython])
def test_other_threads_wait_for_a_running_simulation(cls) -> None:
    drawing = threading.Event()

    class Slow(mb.Environment):
        def _sample(self, rng, element, count):
            drawing.set()
            # Others get their chance to run here.
            time.sleep(0.001)
            return np.full(count, self.means[element])

    policy = cls(mb.UniformMatroid(2, 4))
    rounds: list[int] = []

    def intrude() -> None:
        assert drawing.wait(30)
        policy.update([0], [1.0])
        rounds.append(policy.rounds)

    threads = [threading.Thread(target=intrude) for _ in range(3)]
    for thread in threads:
        thread.start()
    mb.simulate(policy, Slow([0.1, 0.2, 0.3, 0.4]), 20)
    for thread in threads:
        thread.join()
    assert min(rounds) > 20
    assert policy.rounds == 23


def test_the_guard_is_not_copied() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    twin = pickle.loads(pickle.dumps(policy))
    with policy._kernel.guard.hold():
        # In the middle of a call, a copy would be of a state in between.
        for change in (policy.select, lambda: pickle.dumps(policy), lambda: copy.deepcopy(policy)):
            with pytest.raises(RuntimeError, match=REFUSED):
                change()
        assert twin.select().tolist() == [0, 1]
    assert policy.select().tolist() == [0, 1]
