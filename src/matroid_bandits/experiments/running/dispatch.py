"""Hands chunks of tasks to an executor, and keeps what comes back.

An executor may lose a chunk, fail, cancel it, answer late, twice or in any order. Runs are
deterministic, so that a task may always be given out again; its first answer counts.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

from matroid_bandits._progress import Progress
from matroid_bandits.experiments.running.chunks import ChunkMaker
from matroid_bandits.experiments.running.worker import (
    Answer,
    ChunkAnswer,
    PackedWorker,
    UnfitWorkerError,
    failed_answer,
    run_chunk,
)
from matroid_bandits.experiments.study import StudyError, Task

__all__ = ["Dispatcher", "Executor", "Failure", "Keep"]

# A task that has failed is tried so many times again.
_RETRIES = 2

# Chunks given out at the same time for every worker: none waits for its next one.
_AHEAD = 2

# Seconds between two looks at workers and lost chunks, if no answer comes.
_LOOK = 2.0

# Seconds that are left to chunks under way when the study is interrupted.
_GRACE = 4.0

# A chunk without an answer counts as lost after so many seconds, and so many times what it is
# expected to take.
_PATIENCE = 3600.0
_PATIENCE_FACTOR = 100

# The same for a kind of run that was not seen yet.
_PATIENCE_FOR_UNKNOWN = 24 * 3600.0

#: Keeps an answer: the task, its answer, and the name of the worker.
Keep = Callable[[Task, Answer, str], None]


class Executor(Protocol):
    """Anything with `submit`, which returns a future with `add_done_callback` and `result`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Call a function somewhere, some time."""


class Failure(NamedTuple):
    """A run that has failed, after all retries.

    Attributes
    ----------
    task : Task
    error, trace : str
        The exception, in a line and as a whole.
    """

    task: Task
    error: str
    trace: str


class _Chunk(NamedTuple):
    """Tasks that were given out together."""

    tasks: list[Task]
    given_out: float
    # Whether nothing else was under way.
    is_alone: bool
    executor: Executor


class Dispatcher:
    """Runs tasks on an executor.

    Parameters
    ----------
    executor : Executor
    packed : PackedWorker
        What executes the tasks.
    keep : callable
        Receives every answer, each task once.
    n_workers : callable
        How many chunks can be executed at the same time; may change.
    lost_after : float, optional
        Seconds after which a chunk without an answer is given out again. By default an hour and a
        hundred times the time that its runs are expected to take; a day for runs of a new kind.
    renew : callable, optional
        Returns another executor if the first one is broken.
    """

    def __init__(
        self,
        executor: Executor,
        packed: PackedWorker,
        keep: Keep,
        *,
        n_workers: Callable[[], int],
        lost_after: float | None = None,
        renew: Callable[[], Executor] | None = None,
    ) -> None:
        self._executor = executor
        self._renew_executor = renew
        self._packed = packed
        self._keep = keep
        self._n_workers = n_workers
        self._lost_after = lost_after
        # Calls have numbers.
        self._answered: SimpleQueue[int] = SimpleQueue()
        self._under_way: dict[int, tuple[Any, _Chunk]] = {}
        # Futures that are no longer waited for; a late answer counts all the same.
        self._given_up: dict[int, tuple[Any, _Chunk]] = {}
        self._again: deque[list[Task]] = deque()
        self._alone: deque[list[Task]] = deque()
        self._attempts: Counter[Task] = Counter()
        self._open: set[Task] = set()
        self._failures: list[Failure] = []
        self._n_calls = 0

    def run(self, tasks: Sequence[Task], progress: Progress) -> list[Failure]:
        """Run all tasks; return those that have failed.

        Raises
        ------
        StudyError
            If no worker can run anything.
        """
        self._maker = ChunkMaker(tasks)
        self._open = set(tasks)
        self._progress = progress
        try:
            while self._open:
                self._give_out()
                progress.now(", ".join(str(c.tasks[0]) for _, c in self._first_under_way()))
                self._receive(self._pause())
                self._find_lost()
        except BaseException as error:
            self._receive_what_is_there(_GRACE if isinstance(error, KeyboardInterrupt) else 0.0)
            self._cancel()
            raise
        self._cancel()
        return self._failures

    # ---- giving out ----

    def _give_out(self) -> None:
        while True:
            chunk, is_alone = self._next()
            if not chunk:
                return
            self._submit(chunk, is_alone=is_alone)

    def _next(self) -> tuple[list[Task], bool]:
        """The next chunk to give out, if one can be."""
        if self._alone and self._under_way:
            return [], True
        # One of these breaks the executor: one at a time, to see which.
        alone = self._still_open(self._alone)
        if alone:
            return alone, True
        if any(chunk.is_alone for _, chunk in self._under_way.values()):
            return [], False
        workers = max(1, self._n_workers())
        if len(self._under_way) >= _AHEAD * workers:
            return [], False
        return self._still_open(self._again) or self._maker.take(workers), False

    def _still_open(self, queue: deque[list[Task]]) -> list[Task]:
        while queue:
            chunk = [task for task in queue.popleft() if task in self._open]
            if chunk:
                return chunk
        return []

    def _submit(self, tasks: list[Task], *, is_alone: bool) -> None:
        try:
            try:
                future = self._called(tasks)
            except BrokenExecutor as error:
                self._renew(error)
                future = self._called(tasks)
        except StudyError:
            raise
        except Exception as error:
            # It was shut down, say.
            raise StudyError(
                f"the executor takes no more calls ({failed_answer(error).error}); finished runs "
                "are kept: run the same again with a new executor"
            ) from error
        chunk = _Chunk(tasks, time.monotonic(), is_alone, self._executor)
        if not hasattr(future, "add_done_callback") or not hasattr(future, "result"):
            raise TypeError(
                f"executor.submit must return a future with add_done_callback and result, got "
                f"{type(future).__name__}"
            )
        number = self._n_calls
        self._under_way[number] = future, chunk
        # By its number: what the callback receives may be another future, to which this one passes
        # on the calls. A callback that knew the future would keep its answer in memory.
        future.add_done_callback(lambda _: self._answered.put(number))

    def _called(self, tasks: list[Task]) -> Any:
        self._n_calls += 1
        return self._executor.submit(run_chunk, self._packed, tasks, self._n_calls)

    def _renew(self, error: BaseException) -> None:
        if self._renew_executor is None:
            raise StudyError(
                f"the executor is broken ({type(error).__name__}: {error}); finished runs are "
                "kept: run the same again with a new executor"
            ) from error
        self._executor = self._renew_executor()

    # ---- receiving ----

    def _pause(self) -> float:
        """How long to wait for an answer, before there is something else to look after."""
        # New workers may have come.
        return _LOOK if self._lost_after is None else min(_LOOK, self._lost_after / 4)

    def _receive(self, seconds: float) -> bool:
        """Handle one answer and all others that are there; return whether there was one."""
        try:
            number = self._answered.get(timeout=seconds)
        except Empty:
            return False
        while True:
            self._handle(number)
            try:
                number = self._answered.get_nowait()
            except Empty:
                return True

    def _handle(self, number: int) -> None:
        late = self._given_up.pop(number, None)
        there = self._under_way.pop(number, None) or late
        if there is None:
            # An executor that answers twice.
            return
        future, chunk = there
        try:
            answer = future.result()
        except KeyboardInterrupt:
            raise
        except UnfitWorkerError:
            raise
        except BaseException as error:  # noqa: BLE001  # also a cancelled future
            answer = error
        if isinstance(answer, ChunkAnswer) and len(answer.answers) == len(chunk.tasks):
            for task, one in zip(chunk.tasks, answer.answers, strict=True):
                # What failed too late was given out again already.
                if not (late and one.error):
                    self._handle_answer(task, one, answer.worker)
        elif not late:
            wrong = TypeError(f"the executor answered with {answer!r:.100}")
            self._handle_loss(chunk, answer if isinstance(answer, BaseException) else wrong)

    def _handle_answer(self, task: Task, answer: Answer, worker: str) -> None:
        if task not in self._open:
            return
        if not answer.error:
            self._maker.note(task, answer.seconds)
            self._close(task)
            self._keep(task, answer, worker)
        else:
            self._try_again(task, answer)

    def _try_again(self, task: Task, answer: Answer, *, is_alone: bool = False) -> None:
        """Give a task out again, or count it as failed."""
        self._attempts[task] += 1
        if self._attempts[task] > _RETRIES:
            self._failures.append(Failure(task, answer.error, answer.trace))
            self._close(task)
        else:
            (self._alone if is_alone else self._again).append([task])

    def _close(self, task: Task) -> None:
        self._open.discard(task)
        self._progress.done()

    # ---- losses ----

    def _handle_loss(self, chunk: _Chunk, error: BaseException) -> None:
        """A chunk has no answers: give its tasks out again, in smaller chunks."""
        if isinstance(error, ModuleNotFoundError) and error.name == "matroid_bandits":
            raise UnfitWorkerError(
                "the workers do not have matroid-bandits: install the same version there, with "
                "the extra experiments"
            ) from error
        tasks = [task for task in chunk.tasks if task in self._open]
        breaks = _is_broken(error)
        if isinstance(error, BrokenExecutor) and chunk.executor is self._executor:
            self._renew(error)
        if breaks and not chunk.is_alone:
            # Any of the chunks under way may have been the cause.
            self._alone.append(tasks)
        elif len(tasks) > 1:
            middle = len(tasks) // 2
            (self._alone if breaks else self._again).extend([tasks[:middle], tasks[middle:]])
        elif tasks:
            self._try_again(tasks[0], failed_answer(_explained(error)), is_alone=breaks)

    def _find_lost(self) -> None:
        """Give out again what has had no answer for very long."""
        now = time.monotonic()
        for key, (future, chunk) in list(self._under_way.items()):
            if now - chunk.given_out > self._patience(chunk):
                del self._under_way[key]
                self._given_up[key] = future, chunk
                waited = f"no answer for {now - chunk.given_out:.0f} seconds"
                self._handle_loss(chunk, TimeoutError(waited))

    def _patience(self, chunk: _Chunk) -> float:
        if self._lost_after is not None:
            return self._lost_after
        expected = [self._maker.expected(task) for task in chunk.tasks]
        if None in expected:
            # Nobody knows how long it takes.
            return _PATIENCE_FOR_UNKNOWN
        return _PATIENCE + _PATIENCE_FACTOR * sum(seconds or 0.0 for seconds in expected)

    # ---- the end ----

    def _receive_what_is_there(self, grace: float) -> None:
        """Keep what is finished, and chunks that will soon be: each takes two seconds or so."""
        end = time.monotonic() + grace
        while self._under_way:
            has_more = any(len(chunk.tasks) > 1 for _, chunk in self._under_way.values())
            left = end - time.monotonic() if has_more else 0.0
            try:
                if not self._receive(max(left, 0.0)):
                    return
            except StudyError:
                # Of one answer; the next one may be a good one.
                continue
            except (KeyboardInterrupt, OSError):
                return

    def _cancel(self) -> None:
        for future, _ in [*self._under_way.values(), *self._given_up.values()]:
            if hasattr(future, "cancel"):
                future.cancel()

    def _first_under_way(self) -> Iterator[tuple[Any, _Chunk]]:
        return iter(list(self._under_way.values())[: max(1, self._n_workers())])


def _is_broken(error: BaseException) -> bool:
    """Whether a process has ended in the middle of a chunk; by name, as Dask may be missing."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _explained(error: BaseException) -> BaseException:
    """An error whose text says that the worker is gone, if that is what it is about."""
    if _is_broken(error):
        told = StudyError("its process ended suddenly; perhaps the memory was full")
        told.__cause__ = error
        return told
    return error
