"""How long a study will take, from runs that are finished and from short trials.

Nothing is written. The time of a run is wall time: making policy and environment, the rounds, and
the lower bound. A process computes the lower bound once for several runs; it is counted in each.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace
from math import inf, nan
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from matroid_bandits._arguments import integer
from matroid_bandits._progress import Progress
from matroid_bandits._tables import aligned
from matroid_bandits.experiments.analysis.formatting import duration, number
from matroid_bandits.experiments.reading.user_code import import_from
from matroid_bandits.experiments.running.identifying import identified
from matroid_bandits.experiments.running.pools import available_cores
from matroid_bandits.experiments.running.worker import failed_answer, simulated
from matroid_bandits.experiments.storing.results import read_results
from matroid_bandits.experiments.storing.store import Store
from matroid_bandits.experiments.study import Instance, PolicySpec, Study, Task, counted

__all__ = ["PairPlan", "Plan", "makespan", "plan_study"]

Pair = tuple[str, str]

# Numbers of workers that every plan is for.
_WORKERS = (1, 8, 64)

# Seconds that the trials of all pairs may take together, and those of one pair at least and at
# most.
_ALL_TRIALS = 20.0
_SHORTEST_TRIALS = 0.05
_LONGEST_TRIALS = 0.5

# Where the rounds cost little beside what precedes them, trials go on until rounds can be told
# from noise, up to so many times the seconds of a pair.
_PATIENCE = 4

# Rounds of the trials after the first, which has one round: these, then four times as many, and so
# on.
_SECOND_TRIAL = 16
_GROWTH = 4

# Runs of a pair that are tried, where they are short.
_SEEDS = 3

# The times of more runs than this are bounded, not simulated.
_MOST_SIMULATED = 200_000

_NOT_COUNTED = "Not counted: the start of the workers (about 1 s), writing, the report."


@dataclass(frozen=True)
class PairPlan:
    """The runs of one policy on one instance, and how long they will take.

    Attributes
    ----------
    instance, policy : str
        Their names.
    runs : int
        How many runs are left.
    seconds : float
        Expected seconds of one run; NaN if nothing is left, or the trials failed.
    fastest, slowest : float
        Seconds of the fastest and of the slowest run among those that were measured or tried.
    how : str
        Where the seconds are from: ``measured``, ``trial``, ``extrapolated from 20,000 rounds``,
        ``finished``, or ``failed:`` and the error.
    """

    instance: str
    policy: str
    runs: int
    seconds: float
    fastest: float
    slowest: float
    how: str

    @property
    def total(self) -> float:
        """Expected seconds of all runs that are left; NaN if the trials failed."""
        return self.runs * self.seconds if self.runs else 0.0

    @property
    def failed(self) -> bool:
        """Whether a trial failed."""
        return self.how.startswith("failed:")


@dataclass(frozen=True)
class Plan:
    """How long a study, or the rest of it, will take; printed as a table.

    Attributes
    ----------
    pairs : tuple of PairPlan
        One for each instance and policy, in the order of the study.
    n_tasks : int
        All runs of the study, finished or not.
    by_workers : dict of int to float
        Number of workers to expected seconds until the last run ends. Every worker has a core of
        its own, and takes the next run in the order of the study when it is free.
    is_bound : bool
        Whether the times of several workers are upper bounds: there are too many runs to follow
        each.
    cores : int
        How many cores this machine has.
    """

    pairs: tuple[PairPlan, ...]
    n_tasks: int
    by_workers: Mapping[int, float]
    is_bound: bool
    cores: int

    def __repr__(self) -> str:
        pairs = counted(len(self.pairs), "pairs")
        return f"Plan({pairs}, {self.runs:,} of {counted(self.n_tasks, 'runs')} left)"

    @property
    def runs(self) -> int:
        """How many runs are left, without those of pairs whose trials failed."""
        return sum(pair.runs for pair in self.pairs if not pair.failed)

    @property
    def seconds(self) -> float:
        """Expected seconds of all these runs together."""
        return sum(pair.total for pair in self.pairs if not pair.failed)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A table of the pairs, and sentences about all of them."""
        header = ["instance", "policy", "runs left", "seconds per run", "range", "total", "from"]
        rows = [
            [
                pair.instance,
                pair.policy,
                f"{pair.runs:,}",
                number(pair.seconds),
                _range(pair),
                "-" if pair.failed else duration(pair.total),
                pair.how,
            ]
            for pair in self.pairs
        ]
        table = [f"  {line}" for line in aligned([header, *rows], left=(0, 1, 6))]
        return [*table, *self._sentences()]

    def _sentences(self) -> list[str]:
        failed = [pair for pair in self.pairs if pair.failed]
        left = self.runs + sum(pair.runs for pair in failed)
        if not left:
            return [f"All {self.n_tasks:,} runs are finished."]
        expected = duration(self.seconds)
        sentences = [
            f"{left:,} of {_things(self.n_tasks, 'run')} left. Expected computing time: {expected}."
        ]
        if failed:
            runs = sum(pair.runs for pair in failed)
            sentences.append(
                f"Trials of {_things(len(failed), 'pair')} failed; their {_things(runs, 'run')} "
                "are not in these times."
            )
        if self.runs:
            sentences += [
                "; ".join(self._with_workers(workers) for workers in self.by_workers),
                f"Each worker has a core to itself; this machine has {self.cores}. {_NOT_COUNTED}",
            ]
        return sentences

    def _with_workers(self, workers: int) -> str:
        useless = f" (only {_things(self.runs, 'run')})" if workers > self.runs else ""
        at_most = "at most " if self.is_bound and workers > 1 else ""
        time_ = duration(self.by_workers[workers])
        return f"{_things(workers, 'worker')}{useless}: {at_most}{time_}"


def plan_study(
    study: Study,
    out: str | PathLike[str] | None = None,
    *,
    jobs: int | None = None,
    extend: bool = False,
    quiet: bool = True,
) -> Plan:
    """Say how long a study, or the rest of it, would take; nothing is written.

    A pair of instance and policy of which runs are finished takes as long as they took. Other pairs
    are tried on this machine, for about 20 seconds in all: whole runs if they are short, otherwise
    the first rounds of one run, from which the rest is extrapolated at the speed of the last of
    them.

    Parameters
    ----------
    study : Study
        From :func:`~matroid_bandits.experiments.load_study`.
    out : str or path, optional
        Folder in which the study would be run; it need not exist. Finished runs in it are not
        counted again.
    jobs : int, optional
        A number of parallel processes to plan for besides 1, 8 and 64; by default as many as there
        are cores.
    extend : bool, default False
        Whether the folder may hold the same study with fewer instances, policies or runs.
    quiet : bool, default True
        Whether to do without a progress bar.

    Returns
    -------
    Plan

    Raises
    ------
    StudyError
        If the folder belongs to another study.

    Examples
    --------
    >>> from matroid_bandits.experiments import load_study, plan_study
    >>> study = load_study({"horizon": 500, "runs": 2, "policies": ["MAUB"], "instances": ["K5"]})
    >>> plan = plan_study(study)
    >>> plan.runs, plan.pairs[0].how
    (2, 'trial')
    """
    cores = available_cores()
    jobs = cores if jobs is None else integer(jobs, "jobs", minimum=1)
    import_from(study.code_folders)
    finished, measured = _finished(study, out, extend=extend)
    tasks = study.tasks()
    left = [task for task in tasks if task not in finished]
    seeds: dict[Pair, list[int]] = {(task.instance, task.policy): [] for task in tasks}
    for task in left:
        seeds[task.instance, task.policy].append(task.seed)
    to_try = sum(bool(unused) and pair not in measured for pair, unused in seeds.items())
    start = time.perf_counter()
    instances = {instance.name: instance for instance in study.instances}
    policies = {policy.name: policy for policy in study.policies}
    pairs = []
    with Progress(len(seeds), unit="pair", quiet=quiet) as progress:
        for pair, unused in seeds.items():
            progress.now(" ".join(pair))
            instance, policy = instances[pair[0]], policies[pair[1]]
            before = measured.get(pair, [])
            # What short trials have not used is for those to come.
            share = (_ALL_TRIALS - (time.perf_counter() - start)) / max(1, to_try)
            budget = min(_LONGEST_TRIALS, max(_SHORTEST_TRIALS, share))
            pairs.append(_pair_plan(instance, policy, unused, before, budget))
            to_try -= bool(unused) and not before
            progress.done()
    seconds = {(pair.instance, pair.policy): pair.seconds for pair in pairs if not pair.failed}
    durations = [
        seconds[pair] for task in left if (pair := (task.instance, task.policy)) in seconds
    ]
    return Plan(
        pairs=tuple(pairs),
        n_tasks=len(tasks),
        by_workers={w: makespan(durations, w) for w in sorted({*_WORKERS, jobs})},
        is_bound=len(durations) > _MOST_SIMULATED,
        cores=cores,
    )


def makespan(durations: Sequence[float], workers: int) -> float:
    """When the last task ends, if each of the workers takes the next one whenever it is free.

    For more than 200,000 tasks and several workers, an upper bound: until the last task to end
    begins, all workers are busy with the others.
    """
    if not durations:
        return 0.0
    if len(durations) > _MOST_SIMULATED:
        longest = max(durations)
        return longest + (sum(durations) - longest) / workers
    free_at = list(durations[:workers])
    heapify(free_at)
    for seconds in durations[workers:]:
        heapreplace(free_at, free_at[0] + seconds)
    return max(free_at)


def _finished(
    study: Study, out: str | PathLike[str] | None, *, extend: bool
) -> tuple[set[Task], dict[Pair, list[float]]]:
    """The runs in the folder, and by pair the seconds of their rounds."""
    seconds: defaultdict[Pair, list[float]] = defaultdict(list)
    if out is None:
        return set(), seconds
    store = Store(Path(out))
    store.check(study, extend=extend)
    if not store.study_file.exists():
        return set(), seconds
    results = read_results(store.folder)
    columns = (results.runs[name].tolist() for name in ("instance", "policy", "seconds"))
    for instance, policy, value in zip(*columns, strict=True):
        seconds[instance, policy].append(value)
    return results.finished(), seconds


# ---- trials ----


class _Trial(NamedTuple):
    """A run of so many rounds: seconds of the rounds, and of everything.

    `whole` is how many rounds the whole run has, or is expected to have.
    """

    rounds: int
    seconds: float
    wall: float
    whole: int


def _pair_plan(
    instance: Instance,
    policy: PolicySpec,
    seeds: Sequence[int],
    measured: Sequence[float],
    budget: float,
) -> PairPlan:
    """The plan of one pair; `seeds` are those left, `measured` the seconds of finished runs."""
    walls: list[float] = []
    how = "finished"
    if seeds:
        try:
            if measured:
                around = _around(instance, policy, seeds[0])
                walls, how = [seconds + around for seconds in measured], "measured"
            else:
                walls, how = _tried(instance, policy, seeds[:_SEEDS], budget)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # does not stop the others
            walls = []
            how = f"failed: {failed_answer(error).error}"
    return PairPlan(
        instance=instance.name,
        policy=policy.name,
        runs=len(seeds),
        seconds=sum(walls) / len(walls) if walls else nan,
        fastest=min(walls, default=nan),
        slowest=max(walls, default=nan),
        how=how,
    )


def _tried(
    instance: Instance, policy: PolicySpec, seeds: Sequence[int], budget: float
) -> tuple[list[float], str]:
    """Expected seconds of the runs that were tried, and how they were found."""
    # The first trial also warms up: what is made once for all runs is in no other.
    trials = [_trial(instance, policy, seeds[0], 1)]
    # With very slow rounds, two tell enough.
    rounds = _SECOND_TRIAL if trials[0].seconds < budget else 2
    while trials[-1].rounds < trials[-1].whole:
        trials.append(_trial(instance, policy, seeds[0], min(rounds, instance.horizon)))
        before, last = trials[-2:]
        # Of the last rounds only: the first ones are often the most expensive.
        n_more = max(1, last.rounds - before.rounds)
        per_round = max(0.0, (last.seconds - before.seconds) / n_more)
        is_clear = last.seconds >= 1.5 * before.seconds
        spare = budget * (1 if is_clear else _PATIENCE) - _spent(trials) - last.wall
        rounds = _GROWTH * last.rounds
        if spare < per_round * (rounds - last.rounds):
            # A last trial may be shorter than that.
            rounds = last.rounds + int(spare / per_round) if per_round else 0
        if last.rounds < last.whole and rounds < min(2 * last.rounds, last.whole):
            whole = last.wall + per_round * (last.whole - last.rounds)
            return [whole], f"extrapolated from {last.rounds:,} rounds"
    walls = [trials[-1].wall]
    spent = _spent(trials)
    for seed in seeds[1:]:
        if spent + max(walls) > budget:
            break
        walls.append(_trial(instance, policy, seed, instance.horizon).wall)
        spent += walls[-1]
    return walls, "trial"


def _spent(trials: Sequence[_Trial]) -> float:
    return sum(trial.wall for trial in trials)


def _around(instance: Instance, policy: PolicySpec, seed: int) -> float:
    """Seconds of a run that are not those of its rounds."""
    trials = [_trial(instance, policy, seed, 1) for _ in range(2)]
    return max(0.0, min(trial.wall - trial.seconds for trial in trials))


def _trial(instance: Instance, policy: PolicySpec, seed: int, rounds: int) -> _Trial:
    short = replace(instance, horizon=rounds)
    start = time.perf_counter()
    if instance.stopping is not None:
        return _trial_of_identification(short, policy, seed, start, instance.horizon)
    result = simulated(short, policy, seed)
    short.lower_bound(seed)
    return _Trial(rounds, result.seconds, time.perf_counter() - start, instance.horizon)


def _trial_of_identification(
    short: Instance, policy: PolicySpec, seed: int, start: float, limit: int
) -> _Trial:
    """A run that may be settled before the rounds of the trial are over."""
    result = identified(short, policy, seed)
    short.rounds_lower_bound(seed, "basis")
    whole = limit
    if result.settled or result.rounds < short.horizon:
        whole = result.rounds
    elif 0 < result.statistic < inf:
        # The statistic grows about as the rounds do.
        growth = max(1.0, result.threshold / result.statistic)
        whole = int(min(limit, max(growth * result.rounds, result.rounds + 1)))
    return _Trial(result.rounds, result.seconds, time.perf_counter() - start, whole)


# ---- text ----


def _range(pair: PairPlan) -> str:
    if not pair.fastest < pair.slowest:
        return ""
    return f"{number(pair.fastest)} to {number(pair.slowest)}"


def _things(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
