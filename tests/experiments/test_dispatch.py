"""Executors that lose, repeat, reorder, cancel and fail: every task is run, and kept once."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from matroid_bandits._progress import Progress
from matroid_bandits.experiments import StudyError, load_study, run_study
from matroid_bandits.experiments.running import dispatch
from matroid_bandits.experiments.running.chunks import ChunkMaker
from matroid_bandits.experiments.running.dispatch import Dispatcher, Failure
from matroid_bandits.experiments.running.runner import RunsFailedError
from matroid_bandits.experiments.running.worker import (
    Answer,
    ChunkAnswer,
    PackedWorker,
    UnfitWorkerError,
    failed_answer,
)
from matroid_bandits.experiments.study import Task

from ..seeds import seeds

PACKED = PackedWorker.of(b"", (), {})


def tasks_of(n: int, kinds: int = 1) -> list[Task]:
    return [Task(f"instance {i % kinds}", "policy", i // kinds) for i in range(n)]


class Fake:
    """An executor whose answers come when `answer` is called; it keeps count of everything."""

    def __init__(
        self, *, seconds: float = 0.5, failing: Callable[[Task], bool] = lambda task: False
    ) -> None:
        self.seconds = seconds
        self.failing = failing
        self.waiting: list[tuple[Future, list[Task]]] = []
        self.chunks: list[list[Task]] = []
        self.most_waiting = 0
        self.numbers: set[int] = set()

    def submit(
        self, function: Callable, packed: PackedWorker, tasks: Sequence[Task], number: int
    ) -> Future:
        # Dask takes two calls with the same arguments for one.
        assert number not in self.numbers
        self.numbers.add(number)
        future: Future = Future()
        self.chunks.append(list(tasks))
        self.waiting.append((future, list(tasks)))
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        return future

    def done(self, tasks: Sequence[Task]) -> ChunkAnswer:
        answers = [
            failed_answer(ValueError(f"{task} is bad"), self.seconds)
            if self.failing(task)
            else Answer(str(task).encode(), self.seconds)
            for task in tasks
        ]
        return ChunkAnswer("fake", answers)

    def answer(self) -> None:
        future, tasks = self.waiting.pop(0)
        future.set_result(self.done(tasks))

    def tries(self) -> Counter[Task]:
        return Counter(task for chunk in self.chunks for task in chunk)


def dispatched(
    executor: Fake, tasks: Sequence[Task], *, workers: int = 2, **options
) -> tuple[list[Task], list[Failure]]:
    """Run tasks; the executor answers one chunk whenever the dispatcher waits."""
    kept: list[Task] = []

    def keep(task: Task, answer: Answer, worker: str) -> None:
        assert answer.line == str(task).encode()
        kept.append(task)

    dispatcher = Dispatcher(
        executor, PACKED, keep, n_workers=lambda: workers, lost_after=60.0, **options
    )
    clock = iter(range(100_000))

    def answer() -> float:
        """One answer a second, by a clock that does not depend on the machine."""
        if executor.waiting:
            executor.answer()
        now = float(next(clock))
        patch.setattr(dispatch, "time", SimpleNamespace(monotonic=lambda: now))
        return 0.0

    dispatcher._pause = answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "time", SimpleNamespace(monotonic=lambda: 0.0))
        failures = dispatcher.run(tasks, Progress(len(tasks), unit="run", quiet=True))
    return kept, failures


def test_all_tasks_are_run_once_and_kept() -> None:
    executor = Fake()
    tasks = tasks_of(40, kinds=3)
    kept, failures = dispatched(executor, tasks)
    assert sorted(kept) == sorted(tasks)
    assert failures == []
    assert set(executor.tries().values()) == {1}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_two_chunks_are_given_out_for_every_worker(workers: int) -> None:
    executor = Fake()
    dispatched(executor, tasks_of(60), workers=workers)
    assert executor.most_waiting == 2 * workers


def test_a_failing_task_is_tried_three_times_and_the_others_once() -> None:
    tasks = tasks_of(30, kinds=2)
    bad = {tasks[0], tasks[17], tasks[29]}
    executor = Fake(seconds=0.1, failing=bad.__contains__)
    kept, failures = dispatched(executor, tasks)
    assert sorted(kept) == sorted(set(tasks) - bad)
    assert executor.tries() == {task: 3 if task in bad else 1 for task in tasks}
    assert {failure.task for failure in failures} == bad
    for failure in failures:
        assert failure.error == f"ValueError: {failure.task} is bad"
        assert failure.trace.endswith(f"ValueError: {failure.task} is bad\n")


def test_a_task_that_fails_twice_has_not_failed() -> None:
    tasks = tasks_of(12)
    executor = Fake()
    executor.failing = lambda task: task == tasks[5] and executor.tries()[task] < 3
    kept, failures = dispatched(executor, tasks)
    assert (sorted(kept), failures) == (tasks, [])
    assert executor.tries()[tasks[5]] == 3


class Lossy(Fake):
    """Loses, repeats, reorders, cancels and fails, by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__(seconds=0.3)
        self.rng = np.random.default_rng(seed)
        self.old: list[tuple[Future, list[Task]]] = []
        self.accidents: Counter[str] = Counter()

    def answer(self) -> None:
        future, tasks = self.waiting.pop(int(self.rng.integers(len(self.waiting))))
        # No task is hit by three accidents.
        if max(self.tries()[task] for task in tasks) > 2:
            future.set_result(self.done(tasks))
            return
        kinds = ["none", "lost", "late", "cancelled", "failed", "wrong", "short"]
        kind = str(self.rng.choice(kinds, p=[0.58, 0.07, *[0.07] * 5]))
        self.accidents[kind] += 1
        if kind == "none":
            future.set_result(self.done(tasks))
            # The same answer once more.
            for callback in list(future._done_callbacks):
                callback(future)
        elif kind == "late":
            self.old.append((future, tasks))
        elif kind == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif kind == "failed":
            future.set_exception(OSError("the network"))
        elif kind == "wrong":
            future.set_result(None)
        elif kind == "short":
            future.set_result(ChunkAnswer("fake", self.done(tasks).answers[:-1]))
        if self.old and self.rng.random() < 0.5:
            future, tasks = self.old.pop()
            future.set_result(self.done(tasks))


@pytest.mark.parametrize("seed", seeds(24))
def test_accidents(seed: int) -> None:
    executor = Lossy(seed)
    tasks = tasks_of(60, kinds=4)
    kept, failures = dispatched(executor, tasks, workers=3)
    assert failures == []
    assert sorted(kept) == sorted(tasks)
    assert executor.accidents["none"] < executor.accidents.total()


def test_a_future_that_never_answers() -> None:
    class Silent(Fake):
        def answer(self) -> None:
            future, tasks = self.waiting.pop(0)
            if tasks[0].seed != 3:
                future.set_result(self.done(tasks))

    executor = Silent(seconds=5.0)  # a chunk for every run
    tasks = tasks_of(8)
    kept, failures = dispatched(executor, tasks)
    assert kept == [*tasks[:3], *tasks[4:]]
    assert [failure.task for failure in failures] == [tasks[3]]
    assert failures[0].error.startswith("TimeoutError: no answer for")
    assert executor.tries()[tasks[3]] == 3


def test_a_failure_that_comes_too_late_does_not_count_twice() -> None:
    """A chunk that was given up was given out again: its late failure is no other attempt."""

    class Late(Fake):
        first: Future | None = None

        def answer(self) -> None:
            future, tasks = self.waiting.pop(0)
            if self.first is None:
                self.first = future
            elif not self.first.done():
                self.first.set_exception(OSError("gone"))
                future.set_exception(OSError("gone, too"))
            else:
                future.set_result(self.done(tasks))

    executor = Late()
    kept, failures = dispatched(executor, tasks_of(1))
    assert (kept, failures) == (tasks_of(1), [])
    assert len(executor.chunks) == 3


class Fragile(Fake):
    """Breaks for good at some tasks; a new one must be made."""

    def __init__(self, poison: set[Task]) -> None:
        super().__init__(seconds=0.1)
        self.poison = poison
        self.broken = False
        self.made = 0

    def new(self) -> "Fragile":
        self.broken = False
        self.made += 1
        return self

    def submit(self, function, packed, tasks, number):
        if self.broken:
            raise BrokenExecutor("a process died")
        return super().submit(function, packed, tasks, number)

    def answer(self) -> None:
        if not self.poison.isdisjoint(self.waiting[0][1]):
            self.broken = True
            for future, _ in self.waiting:
                future.set_exception(BrokenExecutor("a process died"))
            self.waiting = []
        else:
            super().answer()


@pytest.mark.parametrize("bad", [[0], [7, 8], [29], [0, 13, 22]])
def test_tasks_that_kill_their_process_are_isolated(bad: list[int]) -> None:
    tasks = tasks_of(30)
    executor = Fragile({tasks[i] for i in bad})
    kept: list[Task] = []
    dispatcher = Dispatcher(
        executor.new(),
        PACKED,
        lambda task, answer, worker: kept.append(task),
        n_workers=lambda: 3,
        renew=executor.new,
    )
    pause = dispatcher._pause

    def answer_then_pause() -> float | None:
        if executor.waiting:
            executor.answer()
        return pause()

    dispatcher._pause = answer_then_pause
    failures = dispatcher.run(tasks, Progress(30, unit="run", quiet=True))
    assert {failure.task for failure in failures} == executor.poison
    assert all("its process ended suddenly" in failure.error for failure in failures)
    assert sorted(kept) == sorted(set(tasks) - executor.poison)
    # Nothing else was blamed for it.
    alone = Counter(chunk[0] for chunk in executor.chunks if len(chunk) == 1)
    assert all(alone[tasks[i]] >= 3 for i in bad)
    assert executor.made > 1


def test_a_broken_executor_of_the_user_ends_the_study() -> None:
    tasks = tasks_of(10)
    executor = Fragile({tasks[4]})
    with pytest.raises(StudyError, match=r"the executor is broken \(BrokenExecutor: a process di"):
        dispatched(executor, tasks)


def test_answers_that_are_there_are_kept_when_the_executor_breaks() -> None:
    class Half(Fake):
        """One chunk breaks it; the other one is finished."""

        def answer(self) -> None:
            (bad, _), (good, tasks), *_ = self.waiting
            self.waiting = []
            bad.set_exception(BrokenExecutor("a process died"))
            good.set_result(self.done(tasks))

    kept: list[Task] = []
    executor = Half()
    dispatcher = Dispatcher(
        executor,
        PACKED,
        lambda task, answer, worker: kept.append(task),
        n_workers=lambda: 1,
    )
    dispatcher._pause = executor.answer
    with pytest.raises(StudyError, match="the executor is broken"):
        dispatcher.run(tasks_of(5), Progress(5, unit="run", quiet=True))
    assert kept == [tasks_of(5)[1]]


def test_an_unfit_worker_ends_the_study_at_once() -> None:
    class Unfit(Fake):
        def answer(self) -> None:
            self.waiting.pop(0)[0].set_exception(UnfitWorkerError("another version"))

    executor = Unfit()
    with pytest.raises(UnfitWorkerError, match="another version"):
        dispatched(executor, tasks_of(9))
    assert len(executor.chunks) == 4
    assert all(future.cancelled() for future, _ in executor.waiting)


def test_workers_without_the_package() -> None:
    class Bare(Fake):
        def answer(self) -> None:
            missing = ModuleNotFoundError("No module", name="matroid_bandits")
            self.waiting.pop(0)[0].set_exception(missing)

    with pytest.raises(StudyError, match="the workers do not have matroid-bandits: install"):
        dispatched(Bare(), tasks_of(3))


# ---- sizes of chunks ----


def test_the_first_run_of_a_kind_is_a_chunk_of_its_own() -> None:
    maker = ChunkMaker(tasks_of(9, kinds=3))
    assert [len(maker.take(1)) for _ in range(9)] == [1] * 9
    assert maker.take(1) == []


@pytest.mark.parametrize("seconds, expected", [(0.5, 4), (0.01, 200), (1.9, 1), (30.0, 1)])
def test_chunks_take_two_seconds(seconds: float, expected: int) -> None:
    tasks = tasks_of(10_000)
    maker = ChunkMaker(tasks)
    (first,) = maker.take(2)
    maker.note(first, seconds)
    assert maker.expected(first) == seconds
    chunk = maker.take(2)
    assert chunk == tasks[1 : 1 + len(chunk)]
    assert len(chunk) in {expected, expected - 1}  # sums of floats


def test_chunks_have_a_thousand_tasks_at_most() -> None:
    maker = ChunkMaker(tasks_of(5000))
    maker.note(maker.take(1)[0], 1e-9)
    sizes = [len(maker.take(1)) for _ in range(2)]
    assert max(sizes) <= 1000


def test_chunks_get_smaller_towards_the_end() -> None:
    maker = ChunkMaker(tasks_of(101))
    maker.note(maker.take(4)[0], 0.1)
    sizes = []
    while len(maker):
        sizes.append(len(maker.take(4)))
    assert sum(sizes) == 100
    assert sizes[0] == 12  # an eighth of what is left
    assert all(after <= before for before, after in pairwise(sizes))
    assert sizes[-4:] == [1] * 4


def test_kinds_that_take_longer_get_smaller_chunks() -> None:
    tasks = tasks_of(2000, kinds=2)
    maker = ChunkMaker(tasks)
    for seconds in (0.1, 0.3):
        maker.note(maker.take(1)[0], seconds)
    assert len(maker.take(1)) in {9, 10}  # five of each
    maker.note(tasks[0], 0.5)  # 0.3 on average
    assert maker.expected(tasks[0]) == pytest.approx(0.3)
    assert len(maker.take(1)) == 6


# ---- with a study ----

SMALL = {"horizon": 60, "runs": 4, "policies": ["MAUB", "OMM"], "instances": ["K4"]}


def test_failures_are_reported_with_their_traceback(tmp_path) -> None:
    class OddError(ValueError):
        """Cannot be pickled, nor shown."""

        def __init__(self, number: int, other: object) -> None:
            self.other = lambda: other

        def __str__(self) -> str:
            raise RuntimeError

    class Unsafe:
        name = "Unsafe"

        def __init__(self, matroid) -> None:
            self.basis = matroid.max_weight_basis(range(matroid.size)).tolist()

        def select(self) -> list[int]:
            return self.basis

        def update(self, elements, rewards) -> None:
            raise OddError(1, 2)

    study = load_study(SMALL | {"policies": ["OMM", Unsafe]})
    with (
        ThreadPoolExecutor(2) as executor,
        pytest.raises(RunsFailedError, match=r"4 of 8 runs failed, .* OddError: it cann") as failed,
    ):
        run_study(study, tmp_path / "threads", executor=executor)
    with pytest.raises(RunsFailedError, match="4 of 8 runs failed") as failed_here:
        run_study(study, tmp_path / "here", jobs=1)
    for failures in (failed.value.failures, failed_here.value.failures):
        assert sorted(f.task for f in failures) == [Task("K4", "Unsafe", i) for i in range(4)]
        assert all("raise OddError(1, 2)" in failure.trace for failure in failures)


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), MemoryError()])
@pytest.mark.parametrize("jobs", [1, None])
def test_whatever_a_policy_raises_the_others_are_finished(tmp_path, error, jobs) -> None:
    class Raising:
        name = "Raising"

        def __init__(self, matroid) -> None:
            pass

        def select(self) -> list[int]:
            raise error

        def update(self, elements, rewards) -> None:
            pass

    study = load_study(SMALL | {"policies": [Raising, "OMM"]})
    with ThreadPoolExecutor(2) as executor, pytest.raises(RunsFailedError, match="4 of 8 runs"):
        run_study(study, tmp_path, jobs=jobs, executor=None if jobs else executor)


def test_executors_that_take_no_calls(tmp_path) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    study = load_study(SMALL)
    with pytest.raises(StudyError, match=r"takes no more calls \(RuntimeError: cannot schedule"):
        run_study(study, tmp_path / "a", executor=executor)
    with pytest.raises(TypeError, match="an executor must have a method submit, got int"):
        run_study(study, tmp_path / "b", executor=3)
    with pytest.raises(TypeError, match=r"is a class; pass an object: ThreadPoolExecutor\(...\)"):
        run_study(study, tmp_path / "b", executor=ThreadPoolExecutor)

    class NoFuture:
        def submit(self, function, *arguments):
            return function(*arguments)

    with pytest.raises(TypeError, match="must return a future with add_done_callback"):
        run_study(study, tmp_path / "c", executor=NoFuture())
    with pytest.raises(ValueError, match="give executor= or dask=, not both"):
        run_study(study, tmp_path / "d", executor=executor, dask="local")
    with pytest.raises(ValueError, match="lost_after must be a positive number of seconds, got 0"):
        run_study(study, tmp_path / "e", executor=executor, lost_after=0)


def test_a_run_that_hangs_once_is_run_elsewhere(tmp_path) -> None:
    """Its process is not waited for, nor one with a thread that goes on."""
    mark = tmp_path / "was here"

    class Hanging:
        name = "Hanging"

        def __init__(self, matroid) -> None:
            self.basis = matroid.max_weight_basis(range(matroid.size)).tolist()
            self.rounds = 0

        def select(self) -> list[int]:
            import threading  # noqa: PLC0415
            import time  # noqa: PLC0415

            self.rounds += 1
            if self.rounds == 1:
                threading.Thread(target=time.sleep, args=(60,)).start()
                try:
                    mark.touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    time.sleep(60)
            return self.basis

        def update(self, elements, rewards) -> None:
            pass

    study = load_study({"horizon": 9, "runs": 3, "policies": [Hanging], "instances": ["K4"]})
    start = time.monotonic()
    assert len(run_study(study, tmp_path / "out", jobs=2, lost_after=4.0).runs) == 3
    assert time.monotonic() - start < 30


class KilledWorker(Exception):  # noqa: N818  # as Dask calls it
    """A worker has died several times with a chunk."""


class Deadly(Fake):
    """Workers die of some tasks, and with them other chunks that they have."""

    def __init__(self, poison: set[Task]) -> None:
        super().__init__(seconds=0.1)
        self.poison = poison

    def answer(self) -> None:
        if self.poison.isdisjoint(self.waiting[0][1]):
            super().answer()
            return
        for future, _ in self.waiting:
            future.set_exception(KilledWorker("attempted to run task ... on 4 workers"))
        self.waiting = []


@pytest.mark.parametrize("bad", [[0], [7, 8], [29], [0, 13, 22]])
def test_workers_of_dask_that_die_take_no_other_run_along(bad: list[int]) -> None:
    tasks = tasks_of(30)
    kept, failures = dispatched(Deadly({tasks[i] for i in bad}), tasks)
    assert sorted(failure.task for failure in failures) == [tasks[i] for i in bad]
    assert sorted(kept) == [task for i, task in enumerate(tasks) if i not in bad]
    message = "StudyError: its process ended suddenly; perhaps the memory was full"
    assert {failure.error for failure in failures} == {message}
    assert "KilledWorker" in failures[0].trace


def test_a_future_that_passes_on_the_calls_to_another_one(tmp_path) -> None:
    class Wrapped:
        def __init__(self, future: Future) -> None:
            self._future = future

        def __getattr__(self, name: str):
            return getattr(self._future, name)

    class Wrapping:
        def __init__(self, executor: ThreadPoolExecutor) -> None:
            self._executor = executor

        def submit(self, function, *arguments) -> Wrapped:
            return Wrapped(self._executor.submit(function, *arguments))

    study = load_study({"horizon": 50, "runs": 3, "policies": ["MAUB"], "instances": ["K4"]})
    with ThreadPoolExecutor(2) as executor:
        results = run_study(study, tmp_path, executor=Wrapping(executor))
    assert len(results.runs) == 3
