"""Results as data frames, from the tables and from parts that are not in them yet.

Runs are compared with their curves, and all numbers with what the study allows.
"""

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from matroid_bandits._arguments import choice
from matroid_bandits._html import Html, never_raises, number, panel, paragraph
from matroid_bandits._html import table as html_table
from matroid_bandits._plots import pyplot
from matroid_bandits.experiments.storing.collecting import (
    Collected,
    collected_from_parts,
    collected_from_tables,
    combined,
)
from matroid_bandits.experiments.storing.forms import Form, form_of
from matroid_bandits.experiments.storing.json_files import as_json, unwritable
from matroid_bandits.experiments.storing.parts import FinishedRun, PartReading, read_part
from matroid_bandits.experiments.storing.provenance import SESSION_KEYS
from matroid_bandits.experiments.storing.store import Store
from matroid_bandits.experiments.storing.tables import KEY, Table, read_table, write_table
from matroid_bandits.experiments.study import Kind, StudyError, Task, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Results", "checked_results", "gather", "read_results"]

# What a notebook shows of the summary, and how much of it.
_SUMMARY = {
    "regret": ("instance", "policy", "runs", "regret", "regret_ci", "seconds", "oracle_calls"),
    "identification": ("instance", "policy", "runs", "settled", "rounds", "errors", "seconds"),
}
_HEADINGS = {
    "regret": {"regret": "mean regret", "regret_ci": "95 % interval \N{PLUS-MINUS SIGN}"},
    "identification": {"policy": "rule", "rounds": "median rounds", "settled": "share settled"},
}
_MOST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study.

    Attributes
    ----------
    runs : pandas.DataFrame
        One line per run: ``instance, policy, seed, horizon, regret, lower_bound, seconds,
        oracle_calls, greedy_calls, neighborhood_updates, session``. The lower bound is that on the
        regret at the horizon, NaN where the environment has none. In a study of identification:
        ``instance, policy, seed, horizon, rounds, observations, settled, correct, statistic,
        lower_bound, seconds, session``. The policy is a rule, the horizon is the most rounds, and
        the lower bound is that on the rounds, NaN where it is infinite or there is none.
    curves : pandas.DataFrame
        One line per run and checkpoint: ``instance, policy, seed, round, regret`` and the counters
        at that round, or ``statistic``. Instances and policies are categories: curves may have
        millions of lines.
    study : dict
        What was run, as in ``study.json``.
    sessions : list of dict
        When, how and on what, by the time of their start; ``runs.session`` has their names.
    folder : Path
        Where it is.
    warnings : list of str
        What was noticed when the results were put together: damaged lines, runs that were made
        twice with different numbers.
    """

    runs: pd.DataFrame
    curves: pd.DataFrame
    study: dict[str, Any]
    sessions: list[dict[str, Any]]
    folder: Path
    warnings: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        identity = self.study["identity"]
        player = "policies" if self.kind == "regret" else "rules"
        return (
            f"Results({self._progress()}, {counted(len(identity['instances']), 'instances')}, "
            f"{counted(len(identity['policies']), player)}, folder={str(self.folder)!r})"
        )

    def _progress(self) -> str:
        """How many runs there are, and of how many if some are missing."""
        done, wanted = self.n_finished(), self.n_wanted()
        if done < wanted:
            return f"{done:,} of {counted(wanted, 'runs')}"
        return counted(len(self.runs), "runs")

    @never_raises
    def _repr_html_(self) -> Html:
        summary = self.to_frame("summary")
        names = _SUMMARY[self.kind]
        rows = [
            [row[name] if isinstance(row[name], str) else number(row[name]) for name in names]
            for row in summary.head(_MOST_ROWS).to_dict("records")
        ]
        header = [_HEADINGS[self.kind].get(name, name.replace("_", " ")) for name in names]
        lines = html_table(header, rows, total=len(summary), left=(0, 1), most=_MOST_ROWS)
        note = f"{self.study['title']}: {self._progress()}"
        warned = [paragraph(f"Warning: {text}") for text in self.warnings[:3]]
        return panel("Results", lines, *warned, note=note)

    @overload
    def plot(
        self, instance: str, *, measure: str | None = None, ax: "Axes | None" = None
    ) -> "Axes": ...

    @overload
    def plot(self, instance: None = None, *, measure: str | None = None, ax: "Axes") -> "Axes": ...

    @overload
    def plot(
        self, instance: None = None, *, measure: str | None = None, ax: None = None
    ) -> "list[Axes]": ...

    def plot(
        self,
        instance: str | None = None,
        *,
        measure: str | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes | list[Axes]":
        """Draw the figure of the report: the mean of every policy, and a band for the runs.

        Parameters
        ----------
        instance : str, optional
            The instance to draw; by default all of them, one panel for each.
        measure : str, optional
            ``regret`` (the default), or one of the counters ``oracle_calls``, ``greedy_calls`` and
            ``neighborhood_updates``; in a study of identification ``rounds``.
        ax : matplotlib.axes.Axes, optional
            Where to draw one instance; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes, or list of them
            A list, one for each instance, if neither `instance` nor `ax` was given.

        Examples
        --------
        >>> from matroid_bandits.experiments import load_study, run_study
        >>> study = load_study({"instances": ["K4"], "policies": ["MAUB", "OMM"], "runs": 2,
        ...                     "horizon": 200})
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     results = run_study(study, folder, jobs=1, quiet=True)
        >>> results.plot("K4").get_xlabel()
        'round'
        """
        pyplot()  # or an error that says what to install
        from matroid_bandits.experiments.reporting.axes import plot_results

        return plot_results(self, instance, measure, ax)

    def to_frame(self, table: Literal["runs", "curves", "summary"] = "runs") -> pd.DataFrame:
        """One of the tables, to be changed at will.

        Parameters
        ----------
        table : {"runs", "curves", "summary"}, default "runs"
            ``runs`` has a line for each run, ``curves`` one for each run and checkpoint, and
            ``summary`` one for each instance and policy, as
            :func:`~matroid_bandits.experiments.summarize` makes it.

        Returns
        -------
        pandas.DataFrame
            A copy.
        """
        chosen = choice(table, "table", ("runs", "curves", "summary"))
        if chosen == "summary":
            from matroid_bandits.experiments.analysis.summary import summarize

            return summarize(self)
        return (self.runs if chosen == "runs" else self.curves).copy()

    @property
    def kind(self) -> Kind:
        """What the study is about: ``regret`` or ``identification``."""
        kind: Kind = self.study["identity"].get("kind", "regret")
        return kind

    def finished(self) -> set[Task]:
        """The runs that are there."""
        columns = (self.runs[name].tolist() for name in KEY)
        return {Task(*row) for row in zip(*columns, strict=True)}

    def n_wanted(self) -> int:
        """How many runs the study asks for."""
        identity = self.study["identity"]
        every = identity["policies"]
        pairs = (len(i.get("policies", every)) for i in identity["instances"].values())
        return int(identity["runs"]) * sum(pairs)

    def n_finished(self) -> int:
        """How many of these are there; more may have been made to separate policies."""
        identity = self.study["identity"]
        return int((self.runs["seed"] < identity["seed"] + identity["runs"]).sum())


def checked_results(results: object) -> Results:
    """`results`, if it is of this type.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(results, Results):
        raise TypeError(
            f"results must be what run_study or read_results returns, got {type(results).__name__}"
        )
    return results


def read_results(folder: str | PathLike[str]) -> Results:
    """The results in a study's folder, finished or not; nothing is run.

    Parameters
    ----------
    folder : str or path
        Where :func:`~matroid_bandits.experiments.run_study` has put them.
    """
    return _checked_reading(Store(Path(folder)))[0]


def gather(folder: str | PathLike[str]) -> Results:
    """Make the tables ``runs.parquet`` and ``curves.parquet`` from all finished runs.

    The parts stay: other processes may be writing into the folder, and tables can be made again.

    Parameters
    ----------
    folder : str or path
        Where :func:`~matroid_bandits.experiments.run_study`, or shards of a study, have put them.

    Returns
    -------
    Results
    """
    store = Store(Path(folder))
    results, sources, is_new = _checked_reading(store)
    if is_new:
        for path, frame in (
            # In this order: a run in the table of runs has its curve in the other.
            (store.curves_file, results.curves),
            (store.runs_file, results.runs),
        ):
            try:
                write_table(path, Table(frame, **sources))
            except OSError as error:
                raise unwritable(path, error) from error
    return results


def _checked_reading(store: Store) -> tuple[Results, dict[str, Any], bool]:
    try:
        return _read(store)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, StudyError):
            raise
        raise StudyError(f"the results in {store.folder} are damaged: {error!r}") from error


def _read(store: Store) -> tuple[Results, dict[str, Any], bool]:
    """The results, what tables of them are made of, and whether they have more than the tables."""
    # A study may grow, but not become one of another kind.
    form = form_of(store.description()["identity"])
    tables = [
        read_table(store.runs_file, form.run_columns),
        read_table(store.curves_file, form.curve_columns),
    ]
    there = collected_from_tables(tables[0].frame, tables[1].frame, form)
    n_before = min(len(tables[0].frame), len(there.runs))
    before, of_curves = (table.parts for table in tables)
    told = {text: None for table in tables for text in table.warnings}
    # Millions of lines are there once, not in every form that they go through.
    del tables
    if before != of_curves:
        # Two processes have written one table each: all parts are read again.
        if before and of_curves:
            there.choose(np.flatnonzero(_lead_to_runs(there, form)))
        before = {}
    fresh, parts, damage = _new_runs(store, before, form)
    sessions = store.sessions()
    # Last: a study may grow meanwhile, and what was read is a part of it.
    study = store.description()
    identity = study["identity"]
    _check(study, sessions, form, there.runs, fresh.runs)
    if there.runs.duplicated(KEY).any():
        raise ValueError("a run is there twice")
    pieces = [there, fresh]
    del there, fresh
    noticed: list[str] = []
    every = combined(pieces, identity, noticed, form)
    del pieces
    warnings = [*(told | dict.fromkeys(noticed))]
    results = Results(
        runs=every.runs,
        curves=every.curves(identity),
        study=study,
        sessions=sessions,
        folder=store.folder,
        warnings=[*warnings],
    )
    if results.n_finished() < results.n_wanted():
        results.warnings.extend(damage)
    _check_numbers(identity, sessions, results.runs, form)
    _check_curves(every, form)
    is_new = parts != before or n_before < len(every.runs) or len(warnings) > len(told)
    return results, {"parts": parts, "warnings": warnings}, is_new


def _new_runs(
    store: Store, before: dict[str, int], form: Form
) -> tuple[Collected, dict[str, int], list[str]]:
    """The runs in parts that are not in the tables, how far each part was read, and damage."""
    readings = {
        path: PartReading(before.get(path.stem, 0))
        for path in store.part_files()
        if path.stat().st_size > before.get(path.stem, 0)
    }
    single = store.single_runs()
    fresh = collected_from_parts(
        [
            *((path.stem, read_part(path, reading)) for path, reading in readings.items()),
            *((str(run["session"]), [_from_single(run)]) for run in single),
        ],
        form,
    )
    damage = [
        f"damaged lines of parts/{path.name}: {reading.n_damaged}; their runs count as not finished"
        for path, reading in readings.items()
        if reading.n_damaged
    ]
    read = {path.stem: reading.end for path, reading in readings.items() if reading.end}
    return fresh, before | read, damage


def _from_single(run: dict[str, Any]) -> FinishedRun:
    """A run as earlier versions wrote it to a file of its own."""
    numbers = {name: value for name, value in run.items() if name not in {"curve", "session"}}
    return FinishedRun(numbers, as_json(run["curve"]).encode())


def _check(
    study: dict[str, Any], sessions: list[dict[str, Any]], form: Form, *tables: pd.DataFrame
) -> None:
    """Refuse results that contradict the study or each other."""
    identity = study["identity"]
    if [entry["name"] for entry in study["instances"]] != list(identity["instances"]):
        raise ValueError("study.json contradicts itself")
    known = {session["name"] for session in sessions}
    for table in tables:
        for column, there in (("instance", "instances"), ("policy", "policies")):
            for name in table[column].unique():
                if name not in identity[there]:
                    raise ValueError(f"there are runs of {name}, which is not in study.json")
        if table[form.value].isna().any() or not table["session"].isin(known).all():
            raise ValueError(f"runs without {form.value}, or of an unknown session")
    for session in sessions:
        missing = SESSION_KEYS - session.keys()
        if missing:
            raise ValueError(f"session {session['name']} lacks {', '.join(sorted(missing))}")


def _check_numbers(
    identity: dict[str, Any], sessions: list[dict[str, Any]], runs: pd.DataFrame, form: Form
) -> None:
    """Refuse runs with numbers that no run of the study can have."""
    horizons = {name: origin["horizon"] for name, origin in identity["instances"].items()}
    # A session may make more runs than the study asks for, to separate policies.
    most = max([identity["runs"], *(session.get("runs", 0) for session in sessions)])
    sane = {
        "a horizon that is not the study's": runs["horizon"] == runs["instance"].map(horizons),
        "a seed that is not the study's": runs["seed"].between(
            identity["seed"], identity["seed"] + most - 1
        ),
        "negative seconds": np.isfinite(runs["seconds"]) & (runs["seconds"] >= 0),
        "a negative lower bound": ~(runs["lower_bound"] < 0),
        **form.checks(runs),
    }
    for problem, is_sane in sane.items():
        if not is_sane.all():
            first = runs.loc[~is_sane, KEY].iloc[0]
            raise ValueError(f"{Task(*first)} has {problem}")


def _check_curves(found: Collected, form: Form) -> None:
    """Refuse curves that do not lead to what their runs have at the end."""
    rounds = found.points["round"]
    if not np.isfinite(found.points[form.value]).all() or not (rounds >= 1).all():
        raise ValueError(
            f"a curve has a {form.value} that is not finite, or a round before the first"
        )
    ascends = np.diff(rounds) > 0
    # From the end of a curve to the beginning of the next one.
    ascends[np.cumsum(found.lengths)[:-1] - 1] = True
    if not ascends.all():
        raise ValueError("a curve has a round twice, or its rounds do not ascend")
    if not _lead_to_runs(found, form).all():
        raise ValueError("a run and the end of its curve are not the same")


def _lead_to_runs(found: Collected, form: Form) -> npt.NDArray[np.bool_]:
    """Which curves lead to what their runs have at the end."""
    last = found.last_points().rename(columns=dict(form.ends))
    shared = list(form.ends.values())
    ends, runs = last[shared], found.runs[shared]
    # Missing counters are equal.
    same = ((ends == runs) | (ends.isna() & runs.isna())).fillna(value=False)
    return same.all(axis=1).to_numpy(dtype=bool)
