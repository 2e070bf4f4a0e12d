"""Runs what is missing of a study: here, in processes, on any executor, or one shard of it."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from matroid_bandits._arguments import integer
from matroid_bandits._progress import Progress
from matroid_bandits.experiments.analysis.separation import next_batch
from matroid_bandits.experiments.reading.user_code import import_from
from matroid_bandits.experiments.running.crew import Crew
from matroid_bandits.experiments.running.dispatch import Executor, Failure
from matroid_bandits.experiments.running.worker import Answer
from matroid_bandits.experiments.shards import Shard, parse_shard, tasks_of
from matroid_bandits.experiments.storing.parts import PartWriter
from matroid_bandits.experiments.storing.results import Results, gather, read_results
from matroid_bandits.experiments.storing.sessions import Session
from matroid_bandits.experiments.storing.store import Store
from matroid_bandits.experiments.study import MOST_RUNS, Study, StudyError, Task

__all__ = ["RunsFailedError", "run_shard", "run_study"]

# A session writes down so many failed runs with their tracebacks.
_MOST_FAILURES = 100

# Without a limit, a study goes on up to so many times its runs.
_LIMIT_FACTOR = 10


class RunsFailedError(StudyError):
    """Some runs have failed; the others are kept.

    Attributes
    ----------
    failures : list of Failure
        Task, error and traceback of each.
    """

    def __init__(self, message: str, failures: list[Failure]) -> None:
        super().__init__(message)
        self.failures = failures


def run_study(
    study: Study,
    out: str | PathLike[str],
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    dask: str | None = None,
    lost_after: float | None = None,
    until_separated: bool = False,
    limit: int | None = None,
    extend: bool = False,
    quiet: bool = True,
    command: Sequence[str] | None = None,
) -> Results:
    """Run a study, or the rest of it, and return its results.

    Every run is written when it ends, and on disk a second later. After Ctrl-C, ``kill -9`` or a
    power cut, the same call runs what is missing and gives the same numbers as if nothing had
    happened; only the seconds are those of the machine.

    Parameters
    ----------
    study : Study
        From :func:`~matroid_bandits.experiments.load_study`.
    out : str or path
        Folder of the results; new, empty, or that of the same study.
    jobs : int, optional
        Runs at the same time. By default as many as there are cores, or as the executor has
        workers. The numbers do not depend on it.
    executor : object with ``submit``, optional
        Executes the runs: one of ``concurrent.futures``, loky, mpi4py, or Dask's
        ``client.get_executor()``. By default processes on this machine. This process gives out
        tasks and writes results, so the workers need no shared disk.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``, or ``local``; in place of an
        executor.
    lost_after : float, optional
        Seconds after which a call without an answer counts as lost and is made again; for
        executors that may lose calls without a word. By default an hour, and more for long runs; a
        day for runs of a kind that has not been seen yet.
    until_separated : bool, default False
        Whether to go on with more runs, in batches, until all pairs of policies are told apart on
        every instance. Only policies that are in an open pair go on.
    limit : int, optional
        With `until_separated`: the most runs of a policy on an instance; by default ten times
        those of the study.
    extend : bool, default False
        Whether the folder may hold the same study with fewer instances, policies or runs.
    quiet : bool, default True
        Whether to do without a progress bar.
    command : sequence of str, optional
        What to write down as the command that was given.

    Raises
    ------
    StudyError
        If the folder belongs to another study, or something is running in it.
    RunsFailedError
        If runs have failed, each three times where there are other processes; those that have not
        are kept. It is a `StudyError`.

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
    limit = _checked_limit(study, limit, until_separated=until_separated)
    import_from(study.code_folders)
    store = Store(Path(out))
    about: dict[str, Any] = {"runs": study.runs, "until_separated": until_separated}
    if until_separated:
        about["limit"] = limit
    crew = Crew(
        jobs=jobs,
        executor=executor,
        dask=dask,
        lost_after=lost_after,
        is_growing=until_separated,
    )
    work = None
    try:
        with crew:
            if dask is not None:
                # The folder becomes that of the study only if there is a cluster.
                store.check(study, extend=extend)
                crew.prepare(len(_missing(store, study.tasks())))
            with store.session(
                study, extend=extend, command=command, about=about, quiet=quiet
            ) as opened:
                work = _Work(study, store, crew, *opened, quiet=quiet)
                work.run(study.tasks())
                if until_separated:
                    work.run_until_separated(limit)
    finally:
        # Also after Ctrl-C and failures: what is finished gets into the tables.
        if work is not None:
            results = gather(store.folder)
    return results


def run_shard(
    study: Study,
    out: str | PathLike[str],
    shard: Shard | str,
    *,
    jobs: int | None = None,
    extend: bool = False,
    quiet: bool = True,
    command: Sequence[str] | None = None,
) -> None:
    """Run the tasks of one shard of a study, or the rest of them.

    Any number of shards may run at the same time, on any machines that share the folder. A shard
    makes no tables: :func:`~matroid_bandits.experiments.gather`, ``write_report`` and ``run_study``
    do.

    Parameters
    ----------
    study : Study
    out : str or path
        Folder of the results, the same for all shards.
    shard : Shard or str
        Such as ``"3/64"``, or ``"auto"`` in a job array.
    jobs, extend, quiet, command
        As for :func:`~matroid_bandits.experiments.run_study`.

    Raises
    ------
    StudyError, RunsFailedError
        As for :func:`~matroid_bandits.experiments.run_study`.
    """
    if not isinstance(shard, Shard):
        shard = parse_shard(shard)
    import_from(study.code_folders)
    store = Store(Path(out))
    options: dict[str, Any] = {"extend": extend, "command": command, "quiet": quiet}
    about = {"runs": study.runs}
    with (
        Crew(jobs=jobs) as crew,
        store.session(study, shard=shard, about=about, **options) as opened,
    ):
        _Work(study, store, crew, *opened, quiet=quiet).run(tasks_of(study, shard))


def _checked_limit(study: Study, limit: int | None, *, until_separated: bool) -> int:
    if limit is None:
        return min(_LIMIT_FACTOR * study.runs, MOST_RUNS)
    if not until_separated:
        raise ValueError("limit is for until_separated=True")
    return integer(limit, "limit", minimum=study.runs, maximum=MOST_RUNS)


class _Work:
    """Runs tasks in a session, and keeps their results."""

    def __init__(
        self,
        study: Study,
        store: Store,
        crew: Crew,
        session: Session,
        part: PartWriter,
        *,
        quiet: bool,
    ) -> None:
        self._study = study
        self._store = store
        self._crew = crew
        self._session = session
        self._part = part
        self._quiet = quiet

    def run(self, tasks: Sequence[Task]) -> None:
        """Run those tasks that are not finished.

        Raises
        ------
        RunsFailedError
            If some have failed; the others are kept.
        """
        missing = _missing(self._store, tasks)
        if not missing:
            return
        if not self._session.has_begun:
            self._session.begin(self._crew.prepare(len(missing)))
        before = len(tasks) - len(missing)
        with Progress(len(tasks), unit="run", done_before=before, quiet=self._quiet) as progress:
            failures = self._crew.run(self._study, missing, self._keep, progress)
        if failures:
            self._session.note(failures=_described(failures))
            first = failures[0]
            raise RunsFailedError(
                f"{len(failures)} of {len(missing)} runs failed, the first one {first.task}: "
                f"{first.error}; all that are finished are kept",
                failures,
            )

    def run_until_separated(self, limit: int) -> None:
        """Make more runs, in batches, until all pairs of policies are told apart."""
        sessions = read_results(self._store.folder).sessions
        # A batch that was interrupted is finished first, as if nothing had happened.
        begun = [session["batch"] for session in sessions if session.get("batch")]
        if begun and begun[-1]["total"] <= limit:
            pairs = {(instance, policy) for instance, policy in begun[-1]["pairs"]}
            self._run_batch(pairs, begun[-1]["total"])
        while True:
            batch = next_batch(read_results(self._store.folder), limit)
            if batch is None:
                return
            self._run_batch(*batch)

    def _run_batch(self, pairs: set[tuple[str, str]], total: int) -> None:
        """Run more of some pairs of an instance and a policy: `total` runs of each."""
        self._session.note(runs=total, batch={"pairs": sorted(pairs), "total": total})
        self.run(
            [
                Task(instance.name, policy.name, seed)
                for seed in range(self._study.seed, self._study.seed + total)
                for instance in self._study.instances
                for policy in self._study.policies
                if (instance.name, policy.name) in pairs
            ]
        )

    def _keep(self, task: Task, answer: Answer, worker: str) -> None:  # noqa: ARG002
        self._part.write(answer.line)
        self._session.count(worker, answer.seconds)


def _missing(store: Store, tasks: Sequence[Task]) -> list[Task]:
    """Those of `tasks` that are not finished."""
    finished = read_results(store.folder).finished() if store.study_file.exists() else set()
    return [task for task in tasks if task not in finished]


def _described(failures: list[Failure]) -> list[dict[str, Any]]:
    return [
        {**failure.task._asdict(), "error": failure.error, "traceback": failure.trace}
        for failure in failures[:_MOST_FAILURES]
    ]
