"""One policy in several threads: calls wait for each other, and nothing is lost or doubled."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference.policies import mean_after

N_THREADS = 4
SIZE = 12
PARTITION = mb.PartitionMatroid([e % 3 for e in range(SIZE)], 2)


class InPython(mb.Policy):
    """Greedy on the means; keeps what it observed, in the order in which it did."""

    def __init__(self, matroid: Any) -> None:
        super().__init__(matroid)
        self.observed: list[tuple[list[int], list[float]]] = []

    def _select(self) -> Any:
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))

    def _observe(self, elements: Any, rewards: Any) -> None:
        self.observed.append((np.asarray(elements).tolist(), np.asarray(rewards).tolist()))


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], object]) -> None:
    """Do the work in four threads; raise what one of them raised."""
    errors: list[BaseException] = []

    def guarded(thread: int) -> None:
        try:
            work(thread)
        except BaseException as error:  # noqa: BLE001 (raised again below)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Site:
    """Visitors in several threads, with feedback that comes late and in parts, from any thread."""

    def __init__(self, policy: mb.Policy) -> None:
        self.policy = policy
        # Decisions that wait for feedback, and what each of them still waits for.
        self.waiting: deque[tuple[Any, list[int]]] = deque()
        self.decided: list[list[Any]] = [[] for _ in range(N_THREADS)]
        self.log: list[tuple[list[int], list[float]]] = []
        self.lock = threading.Lock()

    def visit(self, thread: int, visits: int) -> None:
        rng = random.Random(thread)
        for mask in np.random.default_rng(thread).random((visits, SIZE)) < 0.8:
            decision = self.policy.decide(mask, allow_smaller=True)
            elements = decision.elements.tolist()
            assert mask[elements].all()
            self.decided[thread].append(decision)
            self.waiting.append((decision, elements))
            if len(self.waiting) > 50:
                self.answer(rng)

    def answer(self, rng: random.Random) -> None:
        """Feedback for what has waited longest: for half of it, or for the rest."""
        try:
            decision, missing = self.waiting.popleft()
        except IndexError:
            return
        news = missing[: max(1, len(missing) // 2)] if rng.random() < 0.3 else missing
        rewards = [rng.random() for _ in news]
        self.learn(decision, news, rewards)
        if rng.random() < 0.1:
            # The message is delivered twice.
            self.policy.learn(decision.id, dict(zip(news, rewards, strict=True)))
        if len(news) < len(missing):
            self.waiting.append((decision, missing[len(news) :]))

    def learn(self, decision: Any, elements: list[int], rewards: list[float]) -> None:
        self.policy.learn(decision.id, dict(zip(elements, rewards, strict=True)))

    def close(self) -> None:
        rng = random.Random(99)
        while self.waiting:
            self.answer(rng)

    def check(self, visits: int) -> None:
        """Every visit is a round, and every reward was learned once, as in one thread."""
        policy = self.policy
        decisions = [decision for mine in self.decided for decision in mine]
        assert sorted(decision.id for decision in decisions) == list(range(1, visits + 1))
        assert sorted(decision.round for decision in decisions) == list(range(1, visits + 1))
        assert policy.rounds == visits
        assert len(policy.open_decisions) == 0
        assert not policy.n_pending.any()
        played = np.concatenate([decision.elements for decision in decisions])
        assert policy.counts.tolist() == np.bincount(played, minlength=SIZE).tolist()
        # The same feedback in the same order.
        counts, means = [0] * SIZE, [0.0] * SIZE
        for elements, rewards in self.log:
            for e, reward in zip(elements, rewards, strict=True):
                means[e] = mean_after(means[e], counts[e], reward)
                counts[e] += 1
        assert policy.counts.tolist() == counts
        assert policy.means.tolist() == means


class LoggedSite(Site):
    """Keeps the order of learning by a lock of its own. Deciding goes on meanwhile."""

    def learn(self, decision: Any, elements: list[int], rewards: list[float]) -> None:
        with self.lock:
            super().learn(decision, elements, rewards)
            self.log.append((elements, rewards))


@pytest.mark.usefixtures("quick_switches")
def test_a_hundred_thousand_decisions() -> None:
    site = LoggedSite(mb.MAUB(PARTITION, noise=0.3))
    in_threads(lambda thread: site.visit(thread, 25_000))
    site.close()
    site.check(100_000)


@pytest.mark.usefixtures("quick_switches")
def test_a_policy_in_python_without_any_lock() -> None:
    policy = InPython(PARTITION)
    site = Site(policy)
    in_threads(lambda thread: site.visit(thread, 1_500))
    site.close()
    site.log = policy.observed
    site.check(6_000)


@pytest.mark.usefixtures("quick_switches")
# OSUB cannot play smaller sets.
@pytest.mark.parametrize("name", sorted({*mb.catalog.POLICIES} - {"OSUB"}))
def test_every_policy(name: str) -> None:
    site = LoggedSite(mb.catalog.POLICIES[name]._example(PARTITION))
    in_threads(lambda thread: site.visit(thread, 1_000))
    site.close()
    site.check(4_000)


@pytest.mark.usefixtures("quick_switches")
def test_expiry_against_feedback() -> None:
    # Either the feedback is in time, or the decision has expired: never both, never neither.
    policy = mb.OMM(PARTITION)
    decisions = [policy.decide() for _ in range(2_000)]
    learned = [0] * 2
    refused = [0] * 2

    def work(thread: int) -> None:
        if thread >= 2:
            for decision in decisions[thread - 2 :: 2]:
                policy.expire(decision)
            return
        for decision in reversed(decisions[thread::2]):
            try:
                policy.learn(decision, np.ones(6))
                learned[thread] += 1
            except mb.DecisionError:
                refused[thread] += 1

    in_threads(work)
    assert sum(learned) + sum(refused) == 2_000
    assert policy.counts.sum() == 6 * sum(learned)
    assert len(policy.open_decisions) == 0
    assert not policy.n_pending.any()


def test_a_second_thread_waits() -> None:
    entered, released = threading.Event(), threading.Event()

    def ask(elements: frozenset[int]) -> bool:
        if threading.current_thread().name == "first":
            entered.set()
            assert released.wait(30)
        return len(elements) <= 2

    policy = mb.OMM(mb.OracleMatroid(4, ask))
    made: dict[str, Any] = {}
    arrived = {k: threading.Event() for k in ("first", "second")}

    def visit(k: str) -> None:
        arrived[k].set()
        made[k] = policy.decide()

    first, second = (threading.Thread(target=visit, args=(k,), name=k) for k in arrived)
    first.start()
    assert entered.wait(30)
    second.start()
    assert arrived["second"].wait(30)
    # Its next step is to decide. If it did not wait, that would take microseconds.
    second.join(0.2)
    assert second.is_alive()
    assert made == {}
    released.set()
    first.join(30)
    second.join(30)
    assert made["first"].round == 1
    assert made["second"].round == 2
    assert made["second"].elements.tolist() == [2, 3]


def in_a_fork(work: Callable[[], None]) -> int:
    """Do the work in a child process; return its exit status, 0 if all went well."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        # A child that waits forever is killed.
        signal.alarm(30)
        work()
        os._exit(0)
    finally:
        os._exit(1)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
# Newer versions of Python warn of a fork beside other threads.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_other_threads_are_in_calls() -> None:
    entered, released = threading.Event(), threading.Event()

    def ask(elements: frozenset[int]) -> bool:
        if threading.current_thread().name == "first":
            entered.set()
            assert released.wait(60)
        return len(elements) <= 2

    policy = mb.OMM(mb.OracleMatroid(4, ask))

    def use() -> None:
        assert policy.decide().round == 1
        # A thread that is new may have the number of one that was there before the fork.
        in_threads(lambda _: policy.update([0], [0.5]))
        assert policy.rounds == 5

    threads = [threading.Thread(target=policy.decide, name=k) for k in ("first", "second", "third")]
    threads[0].start()
    assert entered.wait(30)
    for thread in threads[1:]:
        thread.start()
    try:
        assert in_a_fork(use) == 0
    finally:
        released.set()
        for thread in threads:
            thread.join(30)
    assert policy.rounds == 3


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_inside_a_call() -> None:
    """The call goes on in both processes. In the child, nobody waits for its end."""
    parent, statuses = os.getpid(), []

    class Forking(InPython):
        def _observe(self, elements: Any, rewards: Any) -> None:
            other = threading.Thread(target=self.decide, daemon=True)
            other.start()
            # Whether it waits already makes no difference to what is right.
            other.join(0.1)
            child = os.fork()
            if child:
                statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                return
            # A child that waits forever is killed.
            signal.alarm(30)
            with pytest.raises(RuntimeError, match="deciding right now"):
                self.decide()

    policy = Forking(PARTITION)
    try:
        policy.update([0], [0.5])
        if os.getpid() != parent:
            in_threads(lambda _: policy.decide())
            os._exit(policy.rounds != 5)
    finally:
        if os.getpid() != parent:
            os._exit(1)
    assert statuses == [0]


def test_an_oracle_that_calls_its_policy_is_refused_while_others_wait() -> None:
    refused: list[str] = []
    entered = threading.Event()
    calls: list[Callable[[], object]] = []

    def ask(elements: frozenset[int]) -> bool:
        entered.set()
        for call in calls:
            with pytest.raises(RuntimeError):
                call()
            refused.append("")
        return len(elements) <= 2

    policy = mb.MAUB(mb.OracleMatroid(4, ask))
    first = policy.decide()
    calls += [
        policy.decide,
        lambda: policy.learn(first, [0.5, 0.5]),
        lambda: policy.expire(first),
        lambda: policy.update([0], [0.5]),
    ]
    made: list[Any] = []
    in_threads(lambda _: made.append(policy.decide()))
    assert refused
    assert sorted(decision.round for decision in made) == [2, 3, 4, 5]
    assert policy.counts.sum() == 0
    assert list(policy.open_decisions) == [1, 2, 3, 4, 5]
    calls.clear()
    policy.learn(first, [0.5, 0.5])


MILLION = """
import resource
import sys

import matroid_bandits as mb

policy = mb.RandomBasis(mb.UniformMatroid(10, 12))
for _ in range(1000):
    policy.decide()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(1_000_000):
    policy.decide()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(policy.open_decisions) == 1_001_000
assert policy.n_pending.sum() == 10_010_000
# In kilobytes, on macOS in bytes.
print((after - before) * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource")
def test_a_million_open_decisions_fit_in_400_megabytes() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, check=True
    )
    assert int(ran.stdout) < 400e6


@pytest.mark.parametrize("name", ["in Python", "FasterCUCB", "MAUB"])
def test_no_thread_is_kept_out(name: str) -> None:
    """Four threads that call again and again: each gets its turn, however quick the others are."""
    policy: Any = (
        InPython(PARTITION)
        if name == "in Python"
        else mb.catalog.POLICIES[name]._example(PARTITION)
    )
    counts, is_over = [0] * 4, threading.Event()

    def call(thread: int) -> None:
        while not is_over.is_set():
            policy.expire(policy.decide())
            counts[thread] += 1
            if sum(counts) >= 40_000:
                is_over.set()

    in_threads(call)
    # Equal shares are 10,000 each, but the interpreter switches between threads as it likes. With a
    # guard that reserves no turn, a thread may wait for all the calls of another one.
    assert min(counts) >= 10, counts
