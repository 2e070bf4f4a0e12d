"""Finished runs from tables and parts, put together: each once, in the order of the study.

The curves of a hundred thousand runs have millions of lines. They are moved by run, not by line,
and the names on each line are numbers.
"""

import json
from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from matroid_bandits.experiments.storing.forms import Form
from matroid_bandits.experiments.storing.parts import FinishedRun
from matroid_bandits.experiments.storing.tables import KEY, typed
from matroid_bandits.simulation import COUNTERS

__all__ = ["Collected", "collected_from_parts", "collected_from_tables", "combined"]

# Of a counter that a policy does not have.
_MISSING = np.iinfo(np.int64).min

_Numbers = npt.NDArray[np.int64]
_Points = dict[str, npt.NDArray[Any]]


class Collected:
    """Runs, and their curves one after another.

    Attributes
    ----------
    runs : pandas.DataFrame
        One line per run, with the columns of the table.
    points : dict of str to numpy.ndarray
        The curves: round, and regret and counters, or the statistic.
    lengths : numpy.ndarray
        How many points each run has.
    """

    def __init__(self, runs: pd.DataFrame, points: _Points, lengths: _Numbers) -> None:
        self.runs = runs
        self.points = points
        self.lengths = lengths

    def choose(self, places: _Numbers) -> None:
        """Keep the runs at `places`, in this order."""
        if np.array_equal(places, np.arange(len(self.runs))):
            return
        ends = np.cumsum(self.lengths)
        lengths = self.lengths[places]
        shifts = (ends - self.lengths)[places] - (np.cumsum(lengths) - lengths)
        lines = np.repeat(shifts, lengths) + np.arange(lengths.sum())
        self.runs = self.runs.take(places).reset_index(drop=True)
        self.lengths = lengths
        # One after the other, so that only one of them is there twice.
        for name in self.points:
            self.points[name] = self.points[name][lines]

    def curves(self, identity: Mapping[str, Any]) -> pd.DataFrame:
        """The table of curves; instances and policies are categories, in the study's order."""
        columns: dict[str, Any] = {
            name: pd.Categorical.from_codes(
                np.repeat(_codes(self.runs[name], identity[known]), self.lengths),
                categories=pd.Index(list(identity[known]), dtype="str"),
            )
            for name, known in (("instance", "instances"), ("policy", "policies"))
        }
        columns["seed"] = np.repeat(self.runs["seed"].to_numpy(), self.lengths)
        columns |= {
            name: pd.arrays.IntegerArray(values, values == _MISSING) if name in COUNTERS else values
            for name, values in self.points.items()
        }
        return pd.DataFrame(columns, copy=False)

    def last_points(self) -> pd.DataFrame:
        """The last point of each run."""
        last = np.cumsum(self.lengths) - 1
        return pd.DataFrame(
            {
                name: pd.arrays.IntegerArray(values[last], values[last] == _MISSING)
                if name in COUNTERS
                else values[last]
                for name, values in self.points.items()
            }
        )


def collected_from_tables(runs: pd.DataFrame, curves: pd.DataFrame, form: Form) -> Collected:
    """The runs of two tables; a run without a curve, or a curve without a run, is left out."""
    # A curve without its run is from an interrupted write; a run without its curve is run again.
    starts = _starts([_comparable(curves[name]) for name in KEY])
    keys = _keys(curves.iloc[starts])
    if keys.has_duplicates:
        curves = curves.sort_values([*KEY, "round"], kind="stable")
        return collected_from_tables(runs, curves.reset_index(drop=True), form)
    lengths = np.diff([*starts, len(curves)]).astype(np.int64)
    places = keys.get_indexer(_keys(runs))
    points = {
        name: curves[name].to_numpy(dtype=np.int64, na_value=_MISSING)
        if name in COUNTERS
        else curves[name].to_numpy()
        for name in form.of_curves
    }
    kept = np.flatnonzero(places >= 0)
    found = Collected(curves.iloc[starts][KEY], points, lengths)
    found.choose(places[kept].astype(np.int64))
    found.runs = runs.take(kept).reset_index(drop=True)
    return found


def _comparable(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """Numbers that are equal where the values are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy()
    return column.to_numpy()


def _starts(codes: list[npt.NDArray[Any]]) -> _Numbers:
    """Where the lines of another run begin."""
    if not len(codes[0]):
        return np.zeros(0, dtype=np.int64)
    changes = np.zeros(len(codes[0]) - 1, dtype=bool)
    for code in codes:
        changes |= code[1:] != code[:-1]
    return np.concatenate([[0], np.flatnonzero(changes) + 1]).astype(np.int64)


def _keys(lines: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([lines[name].to_numpy(dtype=object) for name in KEY])


def collected_from_parts(
    parts: Iterable[tuple[str, Iterable[FinishedRun]]], form: Form
) -> Collected:
    """The runs of parts, given with the names of their sessions."""
    columns: dict[str, list[Any]] = {name: [] for name in form.run_columns}
    lengths = array("q")
    points = {name: array("d" if name == form.value else "q") for name in form.of_curves}
    # Each name once, not once for every run.
    names: dict[Any, Any] = {}
    for session, runs in parts:
        for run in runs:
            numbers = {**run.numbers, "session": session}
            for name, values in columns.items():
                value = numbers[name] if name in KEY else numbers.get(name)
                values.append(names.setdefault(value, value) if name in KEY else value)
            curve = json.loads(run.curve)
            lengths.append(len(curve["round"]))
            for name, column in points.items():
                column.extend(curve.get(name) or [_MISSING] * lengths[-1])
    if {len(column) for column in points.values()} != {sum(lengths)}:
        raise ValueError("the columns of a curve have different lengths")
    return Collected(
        typed(pd.DataFrame(columns), form.run_columns),
        # Without a copy: there may be millions of points.
        {name: np.frombuffer(column, dtype=column.typecode) for name, column in points.items()},
        np.array(lengths, dtype=np.int64),
    )


def combined(
    pieces: list[Collected], identity: Mapping[str, Any], warnings: list[str], form: Form
) -> Collected:
    """All runs of several collections, each once, sorted as the study lists them.

    A run that was made twice counts once, the first one. If its numbers differ, there is a warning.
    """
    filled = [piece for piece in pieces if len(piece.runs)] or pieces[:1]
    together = filled[0]
    if len(filled) > 1:
        together = Collected(
            pd.concat([piece.runs for piece in filled], ignore_index=True),
            {
                name: np.concatenate([piece.points[name] for piece in filled])
                for name in form.of_curves
            },
            np.concatenate([piece.lengths for piece in filled]),
        )
    runs = together.runs
    codes = [
        _codes(runs["instance"], identity["instances"]),
        _codes(runs["policy"], identity["policies"]),
        runs["seed"].to_numpy(),
    ]
    # Stable: of the same run, the first one remains the first.
    order = np.lexsort(codes[::-1])
    again = np.ones(len(order), dtype=bool)
    again[:1] = False
    for code in codes:
        again[1:] &= code[order][1:] == code[order][:-1]
    if again.any():
        warnings += _contradictions(runs, order, np.flatnonzero(again), form)
    together.choose(order[~again])
    return together


def _contradictions(
    runs: pd.DataFrame, order: _Numbers, repeated: _Numbers, form: Form
) -> list[str]:
    """What differs between runs that were made more than once."""
    first, other = (
        runs.take(order[places])[form.results].reset_index(drop=True)
        for places in (repeated - 1, repeated)
    )
    # Missing counters are equal.
    same = ((first == other) | (first.isna() & other.isna())).fillna(value=False).all(axis=1)
    wrong = np.flatnonzero(~same.to_numpy(dtype=bool))
    if not len(wrong):
        return []
    one, two = (runs.iloc[order[repeated[wrong[0]] - back]] for back in (1, 0))
    text = (
        f"{len(wrong)} runs were made twice with different numbers, the first one "
        f"{one['instance']} {one['policy']} seed {one['seed']}: {form.value} "
        f"{one[form.value]!r} in session {one['session']} and {two[form.value]!r} in session "
        f"{two['session']}; the machines or versions do not compute the same"
    )
    return [text]


def _codes(names: "pd.Series[Any]", known: Iterable[str]) -> _Numbers:
    """The places of names in the study."""
    places = {name: i for i, name in enumerate(known)}
    codes, texts = pd.factorize(names)
    table = np.array([places[text] for text in texts], dtype=np.int64)
    return table[codes] if len(table) else np.zeros(0, dtype=np.int64)
