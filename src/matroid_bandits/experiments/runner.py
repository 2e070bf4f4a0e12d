"""Runs what is missing of a study, in parallel processes."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import cloudpickle
from loky import ProcessPoolExecutor
from loky.process_executor import TerminatedWorkerError

from matroid_bandits._arguments import integer
from matroid_bandits._progress import Progress
from matroid_bandits.experiments.provenance import new_session, now
from matroid_bandits.experiments.results import Results, gather, read_results
from matroid_bandits.experiments.store import Store
from matroid_bandits.experiments.study import Study, StudyError, Task
from matroid_bandits.experiments.user_code import import_from
from matroid_bandits.experiments.worker import Worker, begin_work, work

__all__ = ["available_cores", "run_study"]

Failures = list[tuple[Task, BaseException]]


def available_cores() -> int:
    """How many processes this one may keep busy."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_study(
    study: Study,
    out: str | PathLike[str],
    *,
    jobs: int | None = None,
    extend: bool = False,
    quiet: bool = True,
    command: Sequence[str] | None = None,
) -> Results:
    """Run a study, or the rest of it, and return its results.

    Every run is on disk when it ends. After Ctrl-C, ``kill -9`` or a power cut, the same call
    runs what is missing and gives the same numbers as if nothing had happened; only the seconds
    are those of the machine.

    Parameters
    ----------
    study : Study
        From :func:`~matroid_bandits.experiments.load_study`.
    out : str or path
        Folder of the results; new, empty, or that of the same study.
    jobs : int, optional
        Parallel processes; by default as many as there are cores. The numbers do not depend on it.
    extend : bool, default False
        Whether the folder may hold the same study with fewer instances, policies or runs.
    quiet : bool, default True
        Whether to do without a progress bar.
    command : sequence of str, optional
        What to write down as the command that was given.

    Raises
    ------
    StudyError
        If the folder belongs to another study, or runs have failed; those that have not are kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from matroid_bandits.experiments import load_study, run_study
    >>> study = load_study({"horizon": 500, "runs": 2, "policies": ["MAUB"], "instances": ["K5"]})
    >>> with TemporaryDirectory() as folder:
    ...     results = run_study(study, folder, jobs=1)
    >>> results.runs[["instance", "policy", "seed", "horizon"]]
      instance policy  seed  horizon
    0       K5   MAUB     0      500
    1       K5   MAUB     1      500
    """
    jobs = available_cores() if jobs is None else integer(jobs, "jobs", minimum=1)
    store = Store(Path(out))
    failed: Failures = []
    import_from(study.code_folders)
    with store.claimed(study, extend=extend):
        finished = read_results(store.folder).finished()
        tasks = study.tasks()
        missing = [task for task in tasks if task not in finished]
        if missing:
            sessions = store.sessions()
            session = new_session(min(jobs, len(missing)), command=command)
            store.write_sessions([*sessions, session])
            worker = Worker(study, store, len(sessions))
            start = time.perf_counter()
            try:
                before = len(tasks) - len(missing)
                with Progress(len(tasks), unit="run", done_before=before, quiet=quiet) as progress:
                    if session["jobs"] == 1:
                        failed = _run_here(worker, missing, progress)
                    else:
                        failed = _run_in_parallel(worker, missing, session["jobs"], progress)
            finally:
                # Also on Ctrl-C: what is finished is gathered.
                gather(store)
                session |= {"ended": now(), "elapsed": time.perf_counter() - start}
                store.write_sessions([*sessions, session])
        else:
            gather(store)
    if failed:
        task, error = failed[0]
        raise StudyError(
            f"{len(failed)} of {len(missing)} runs failed, the first one {task}: "
            f"{type(error).__name__}: {error}; the others are kept"
        ) from error
    return read_results(store.folder)


def _run_here(worker: Worker, tasks: Sequence[Task], progress: Progress) -> Failures:
    """Run the tasks one after another in this process."""
    failed: Failures = []
    for task in tasks:
        progress.now(str(task))
        try:
            worker.run(task)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # does not stop the others
            failed.append((task, error))
        progress.done()
    return failed


def _run_in_parallel(
    worker: Worker, tasks: Sequence[Task], jobs: int, progress: Progress
) -> Failures:
    """Run the tasks in `jobs` processes."""
    failed: Failures = []
    with _pool(worker, jobs) as submit:
        left = iter(tasks)
        running: dict[Future[None], Task] = {}
        while True:
            # A few ahead, so that no worker waits and little is queued when Ctrl-C comes.
            running |= {submit(task): task for task in islice(left, 2 * jobs - len(running))}
            if not running:
                return failed
            progress.now(", ".join(str(task) for task in list(running.values())[:jobs]))
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                error = future.exception()
                if isinstance(error, TerminatedWorkerError):
                    raise StudyError(
                        f"a worker process was killed, perhaps for want of memory, at {task}; "
                        "finished runs are kept: run the same command again, perhaps with fewer "
                        "--jobs"
                    ) from error
                if error is not None:
                    failed.append((task, error))
                progress.done()


@contextlib.contextmanager
def _pool(worker: Worker, jobs: int) -> Iterator[Callable[[Task], Any]]:
    """Processes that run tasks; all have ended on exit."""
    # So that they do not import from the folder in which they start.
    safe_path = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    pool = ProcessPoolExecutor(
        max_workers=jobs,
        initializer=begin_work,
        initargs=(cloudpickle.dumps(worker), os.getpid(), worker.code_folders),
    )
    try:
        yield lambda task: pool.submit(work, task)
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    else:
        pool.shutdown(wait=True)
    finally:
        if safe_path is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = safe_path
