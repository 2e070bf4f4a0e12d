"""The crew that runs the tasks of a study: this process, processes, Dask or any executor."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import inf
from types import TracebackType
from typing import Self

import cloudpickle

from matroid_bandits._arguments import integer
from matroid_bandits._progress import Progress
from matroid_bandits.experiments.running.dispatch import Dispatcher, Executor, Failure, Keep
from matroid_bandits.experiments.running.pools import (
    available_cores,
    check_dask,
    dask_cluster,
    local_processes,
    workers_of,
)
from matroid_bandits.experiments.running.worker import (
    PackedWorker,
    Worker,
    failed_answer,
    working_here,
)
from matroid_bandits.experiments.study import Study, StudyError, Task

__all__ = ["Crew"]


class Crew:
    """Runs tasks; processes are started when they are first needed, and have ended on exit.

    Parameters
    ----------
    jobs : int, optional
        Runs at the same time.
    executor : Executor, optional
    dask : str, optional
        Address of a Dask scheduler, or ``local``.
    lost_after : float, optional
        Seconds after which a call of an executor counts as lost.
    is_growing : bool, default False
        Whether more tasks may follow the first ones.
    """

    def __init__(
        self,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        dask: str | None = None,
        lost_after: float | None = None,
        is_growing: bool = False,
    ) -> None:
        if jobs is not None:
            jobs = integer(jobs, "jobs", minimum=1)
        if executor is not None and dask is not None:
            raise ValueError("give executor= or dask=, not both")
        if isinstance(executor, type):
            raise TypeError(f"executor is a class; pass an object: {executor.__name__}(...)")
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise TypeError(
                f"an executor must have a method submit, got {type(executor).__name__}; Dask's "
                "Client has get_executor()"
            )
        if dask is not None:
            check_dask(dask)
        if lost_after is not None and not lost_after > 0:
            raise ValueError(f"lost_after must be a positive number of seconds, got {lost_after!r}")
        self._jobs = jobs
        self._executor = executor
        self._dask = dask
        self._lost_after = lost_after
        self._is_growing = is_growing
        self._stack = ExitStack()
        # Starts new processes on this machine, if ours are broken.
        self._renew: Callable[[], Executor] | None = None
        self._count = available_cores if executor is None else workers_of(executor)

    def n_workers(self) -> int:
        """Runs at the same time."""
        return self._count() if self._jobs is None else self._jobs

    def run(
        self, study: Study, tasks: Sequence[Task], keep: Keep, progress: Progress
    ) -> list[Failure]:
        """Run tasks, give their answers to `keep`, and return those that have failed."""
        worker = Worker(study)
        if self._works_here():
            return _run_here(worker, tasks, keep, progress)
        packed = PackedWorker.of(_pickled(worker), study.code_folders, study.code_texts)
        with working_here(packed, worker):
            dispatcher = Dispatcher(
                self._started(len(tasks)),
                packed,
                keep,
                n_workers=self.n_workers,
                lost_after=self._lost_after,
                renew=self._renew,
            )
            return dispatcher.run(tasks, progress)

    def prepare(self, n_tasks: int) -> int:
        """Start what executes the tasks, if this process does not; return how many at once."""
        if n_tasks and not self._works_here():
            self._started(n_tasks)
        return self._n_useful(n_tasks)

    def _works_here(self) -> bool:
        """Whether this process runs the tasks itself.

        A single task of many workers has a process, too: it may kill it.
        """
        is_ours = self._executor is None or self._renew is not None
        return is_ours and self._dask is None and self.n_workers() == 1

    def _n_useful(self, n_tasks: int) -> int:
        """Workers that have something to do."""
        return self.n_workers() if self._is_growing else min(self.n_workers(), n_tasks)

    def _started(self, n_tasks: int) -> Executor:
        """The executor; it is started when it is first needed."""
        if self._executor is not None:
            return self._executor
        jobs = self._n_useful(n_tasks)
        if self._dask is None:
            start_pool = self._stack.enter_context(local_processes(jobs))

            def start() -> Executor:
                self._executor = start_pool()
                return self._executor

            self._renew = start
            return start()
        self._executor, count = self._stack.enter_context(dask_cluster(self._dask, jobs))
        if self._dask != "local":
            self._count = count
        if self._lost_after is None:
            # Dask gives tasks of lost workers to others, and waits for workers that start late.
            self._lost_after = inf
        return self._executor

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _pickled(worker: Worker) -> bytes:
    try:
        content: bytes = cloudpickle.dumps(worker)
    except Exception as error:
        # A class of the user refers to something that stays in this process.
        raise StudyError(
            f"the study cannot be sent to other processes ({failed_answer(error).error}); change "
            "the class that refers to this, or run it in this process (--jobs 1)"
        ) from error
    return content


def _run_here(
    worker: Worker, tasks: Sequence[Task], keep: Keep, progress: Progress
) -> list[Failure]:
    """Run the tasks one after another in this process."""
    failures = []
    for task in tasks:
        progress.now(str(task))
        answer = worker.answer(task)
        if answer.error:
            failures.append(Failure(task, answer.error, answer.trace))
        else:
            keep(task, answer, "here")
        progress.done()
    return failures
