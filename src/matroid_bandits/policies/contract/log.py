"""Logs: what was played, and its rewards; a row of a table for each element of a decision."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from itertools import count, repeat
from math import inf, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, not_an_element, not_whole
from matroid_bandits._frames import Column, Table
from matroid_bandits.policies.contract.decision import decision_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.problem import Problem

__all__ = ["Log", "complete", "label_of", "numbered", "numbers", "order_of", "read_log", "refused"]

# The number of a label that nobody has.
_UNKNOWN = np.iinfo(np.intp).min


@dataclass(frozen=True, eq=False)
class Log:
    """The feedback of a log, decision by decision, elements ascending.

    Attributes
    ----------
    ids : list
        The decisions, in the order in which they first appear. Those without any feedback too.
    starts : numpy.ndarray
        The feedback of ``ids[k]`` is at the places from ``starts[k]`` to ``starts[k + 1] - 1``.
    elements, rewards : numpy.ndarray
        Numbers of elements, and their rewards: larger is better, costs have become rewards.
    rows : numpy.ndarray
        The row of the table that each comes from, counted from 0.
    """

    ids: list[Any]
    starts: CountArray
    elements: IntArray
    rewards: FloatArray
    rows: CountArray


def refused(row: int, column: str, value: Any, reason: str) -> ValueError:
    """The error for a value of a log."""
    return ValueError(f"row {row} (from 0), column {column!r}: {abbreviated(value)} {reason}")


def read_log(
    frame: Any,
    problem: Problem[Any, Any],
    *,
    bounds: tuple[float, float] = (-inf, inf),
    pivot: float = 0.0,
    dropped: Mapping[Any, int] | None = None,
) -> Log:
    """Check a table completely and take out the feedback.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, Table of pyarrow, or mapping of columns
        With the columns `decision`, `element` and `reward`, and perhaps `time`, by which the rows
        are then ordered.
    problem : Problem
        Labels, and whether rewards are costs.
    bounds : tuple of float
        The smallest and the largest reward that is accepted.
    pivot : float
        A cost c is the reward ``pivot - c``.
    dropped : mapping, optional
        Labels of elements that the problem had once, and their numbers, which are below 0.
    """
    table = Table(frame, "learn_log", mappings=True)
    columns = {name: table.column(name) for name in ("decision", "element", "reward")}
    elements = _elements(complete(columns["element"]), problem, dropped or {})
    given, rows = numbers(columns["reward"])
    rewards = pivot - given if problem.sense == "min" else given
    _check_rewards(rows, given, rewards, problem, bounds)
    decisions = complete(columns["decision"]).values()
    order = order_of(complete(table.column("time"))) if "time" in table.columns else None
    codes, ids = numbered(decisions, order)

    # From here on only rows with a reward.
    if order is not None:
        rows = order[np.isin(order, rows)]
    n_dropped = len(dropped or ())
    keys = codes[rows] * (problem.size + n_dropped) + (elements[rows] + n_dropped)
    sorting = np.argsort(keys, kind="stable")
    keys, rows = keys[sorting], rows[sorting]
    again = np.zeros(len(keys), dtype=bool)
    again[1:] = keys[1:] == keys[:-1]
    _check_repeated(again, rows, given, elements, decisions, problem)
    keys, rows = keys[~again], rows[~again]
    return Log(
        ids=ids,
        starts=np.searchsorted(keys, np.arange(len(ids) + 1) * (problem.size + n_dropped)),
        elements=elements[rows],
        rewards=rewards[rows],
        rows=rows,
    )


def complete(column: Column) -> Column:
    """A column that has a value in every row."""
    missing = np.flatnonzero(column.missing())
    if missing.size:
        raise ValueError(
            f"row {missing[0]} (from 0), column {column.name!r}: there is no value; only a reward "
            "may be missing"
        )
    return column


def order_of(column: Column) -> IntArray:
    """The rows in the order of their times."""
    for row in np.flatnonzero(column.undefined())[:1].tolist():
        raise refused(row, column.name, nan, "is no time")
    try:
        return column.order()
    except TypeError as error:
        raise ValueError(
            f"the times in column {column.name!r} cannot be ordered: {error}"
        ) from None


def numbered(ids: list[Any], order: IntArray | None) -> tuple[CountArray, list[Any]]:
    """The number of the id of every row, by first appearance in `order`, and the ids."""
    if not set(map(type, ids)) <= {str, int}:
        ids = [_id(row, value) for row, value in enumerate(ids)]
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.empty(len(ids), dtype=np.int64)
    in_order = ids if order is None else list(map(ids.__getitem__, order.tolist()))
    found = np.fromiter(map(numbers.__getitem__, in_order), np.int64, len(ids))
    codes[slice(None) if order is None else order] = found
    return codes, list(numbers)


def _id(row: int, value: Any) -> str | int:
    try:
        return value if type(value) in (str, int) else decision_id(value)
    except ValueError:
        reason = "cannot be an id: ids are texts or integers"
        raise refused(row, "decision", value, reason) from None


# ---- elements ----


def _elements(column: Column, problem: Problem[Any, Any], dropped: Mapping[Any, int]) -> IntArray:
    if problem.labels is None:
        return _numbers_of_elements(column, problem.size)
    values = column.values()
    number = {**dropped, **problem._number} if dropped else problem._number
    try:
        found = np.fromiter(map(number.get, values, repeat(_UNKNOWN)), np.intp, len(values))
    except TypeError:
        # Polars, pyarrow and files have lists where labels are tuples.
        values = [label_of(value) for value in values]
        found = np.fromiter((_number(number, value) for value in values), np.intp, len(values))
    for row in np.flatnonzero(found == _UNKNOWN)[:1].tolist():
        try:
            problem._number_of(values[row])
        except ValueError as error:
            raise ValueError(f"row {row} (from 0), column {column.name!r}: {error}") from None
    return found


def label_of(value: Any) -> Any:
    """A label that was a tuple once, as a tuple again."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(label_of(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _is_hashable(value: Any) -> bool:
    # A tuple is hashable unless it holds a list.
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _number(numbers: Mapping[Any, int], label: Any) -> int:
    return numbers.get(label, _UNKNOWN) if _is_hashable(label) else _UNKNOWN


def _numbers_of_elements(column: Column, size: int) -> IntArray:
    array = column.array()
    for row in not_whole(array)[:1].tolist():
        value = array[row : row + 1].tolist()[0]
        raise refused(row, column.name, value, "is no number of an element: 0, 1, ...")
    outside = np.asarray((array < 0) | (array >= size), dtype=bool)
    for row in np.flatnonzero(outside)[:1].tolist():
        wrong = not_an_element(int(array[row]), size)
        raise ValueError(f"row {row} (from 0), column {column.name!r}: {wrong}")
    return array.astype(np.intp)


# ---- rewards ----


def numbers(column: Column) -> tuple[FloatArray, IntArray]:
    """The values, NaN where one is missing, and the rows that have one."""
    missing = column.missing()
    rewards = column.floats()
    if rewards is None:
        rewards = np.empty(len(column))
        for row, value in enumerate(column.values()):
            if missing[row]:
                rewards[row] = nan
            elif not isinstance(value, (Real, Decimal)):
                raise refused(row, column.name, value, "is no number")
            else:
                try:
                    rewards[row] = float(value)
                except OverflowError:
                    rewards[row] = inf
    return rewards, np.flatnonzero(~missing)


def _check_rewards(
    rows: IntArray,
    given: FloatArray,
    rewards: FloatArray,
    problem: Problem[Any, Any],
    bounds: tuple[float, float],
) -> None:
    what = "cost" if problem.sense == "min" else "reward"
    for row in rows[~np.isfinite(given[rows])][:1].tolist():
        raise refused(
            row,
            "reward",
            float(given[row]),
            f"is not finite; where there was no feedback, leave the {what} empty (null) or the row "
            "out",
        )
    low, high = bounds
    for row in rows[~((low <= rewards[rows]) & (rewards[rows] <= high))][:1].tolist():
        raise refused(
            row,
            "reward",
            float(given[row]),
            f"is outside the range of the policy, which is for {what}s from {low:g} to {high:g}",
        )


def _check_repeated(
    again: Any,
    rows: IntArray,
    given: FloatArray,
    elements: IntArray,
    decisions: list[Any],
    problem: Problem[Any, Any],
) -> None:
    """Refuse two different rewards of an element in a decision."""
    places = np.flatnonzero(again)
    for place in places[given[rows[places]] != given[rows[places - 1]]][:1].tolist():
        row, before = int(rows[place]), int(rows[place - 1])
        raise refused(
            row,
            "reward",
            float(given[row]),
            f"contradicts row {before}: in decision {abbreviated(decisions[row])}, "
            f"{abbreviated(problem.name(elements[row]))} had {given[before]:.6g} already",
        )
