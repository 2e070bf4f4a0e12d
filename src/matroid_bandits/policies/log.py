"""Logs: what was played and what it brought, one row of a table for each element of a decision."""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from itertools import count, pairwise, repeat
from math import inf, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, not_an_element
from matroid_bandits._frames import Column, Table

if TYPE_CHECKING:
    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.policies.base import Policy
    from matroid_bandits.problem import Problem

__all__ = ["Log", "learn_log", "read_log"]

# Sums of rewards stay this far from overflow.
_LARGEST_SUM = 1e307


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
        Numbers of elements, and what they brought: larger is better, costs have been turned.
    rows : numpy.ndarray
        The row of the table that each comes from, counted from 0.
    """

    ids: list[Any]
    starts: CountArray
    elements: IntArray
    rewards: FloatArray
    rows: CountArray


def learn_log(policy: Policy[Any], frame: Any) -> None:
    """Learn from a log: all of it is checked first."""
    kernel, translation, hook = policy._kernel, policy._translation, policy._hook
    problem = policy._problem
    log = read_log(frame, problem, bounds=policy.reward_range, pivot=translation.pivot)
    # From the check on, nobody else may change the policy.
    with kernel.guard.hold():
        is_open = [kernel.decisions.is_open(identifier) for identifier in log.ids]
        _check_open(log, is_open, policy)
        _check_sums(log, policy)
        parts = list(pairwise(log.starts.tolist()))
        # A warning that is made an error must not end it half way.
        with kernel.guard.lend_to_loop(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for identifier, known, (start, end) in zip(log.ids, is_open, parts, strict=True):
                feedback = log.elements[start:end], log.rewards[start:end]
                if known:
                    kernel.learn_decision(identifier, *feedback, False, hook)
                else:
                    kernel.update(*feedback, hook)
    for warning in caught:
        warnings.warn(str(warning.message), warning.category, stacklevel=3)


def _check_open(log: Log, is_open: list[bool], policy: Policy[Any]) -> None:
    """Refuse rows about open decisions that `learn` would refuse."""
    problem, translation = policy._problem, policy._translation
    for k in np.flatnonzero(is_open).tolist():
        identifier = log.ids[k]
        _, elements = policy._kernel.decisions.decision(identifier)
        known = dict(
            zip(elements.tolist(), policy._kernel.decisions.received(identifier), strict=True)
        )
        for i in range(log.starts[k], log.starts[k + 1]):
            e, reward, row = int(log.elements[i]), float(log.rewards[i]), int(log.rows[i])
            if e not in known:
                raise refused(
                    row, "element", problem.name(e), f"is not in the decision {identifier!r}"
                )
            if not np.isnan(known[e]) and known[e] != reward:
                before, now = translation.in_user_units(np.array([known[e], reward])).tolist()
                raise refused(
                    row,
                    "reward",
                    now,
                    f"contradicts the decision {identifier!r}, in which "
                    f"{abbreviated(problem.name(e))} had {before:.6g}",
                )


def _check_sums(log: Log, policy: Policy[Any]) -> None:
    """Refuse rewards so large that means overflow."""
    kernel = policy._kernel
    sizes = np.abs(log.rewards)
    if not sizes.size:
        return
    counts = kernel.counts_copy()
    with np.errstate(over="ignore", invalid="ignore"):
        before = counts * np.where(counts > 0, np.abs(kernel.means_copy()), 0.0)
        sums = before + np.bincount(log.elements, sizes, kernel.size)
    for e in np.flatnonzero(~(sums <= _LARGEST_SUM / max(1, kernel.rank)))[:1].tolist():
        mine = np.flatnonzero(log.elements == e)
        if not mine.size:
            continue
        place = mine[np.argmax(sizes[mine])]
        given = float(policy._translation.in_user_units(log.rewards[place : place + 1])[0])
        reason = f"is too large: the mean of {abbreviated(policy._problem.name(e))} may overflow"
        raise refused(int(log.rows[place]), "reward", given, reason)


def refused(row: int, column: str, value: Any, reason: str) -> ValueError:
    """The error for a value of a log."""
    return ValueError(f"row {row} (from 0), column {column!r}: {abbreviated(value)} {reason}")


def read_log(
    frame: Any,
    problem: Problem[Any, Any],
    *,
    bounds: tuple[float, float] = (-inf, inf),
    pivot: float = 0.0,
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
    """
    table = Table(frame, "learn_log", mappings=True)
    columns = {name: table.column(name) for name in ("decision", "element", "reward")}
    elements = _elements(_complete(columns["element"]), problem)
    given, rows = _rewards(columns["reward"])
    rewards = pivot - given if problem.sense == "min" else given
    _check_rewards(rows, given, rewards, problem, bounds)
    decisions = _complete(columns["decision"]).values()
    order = _order(_complete(table.column("time"))) if "time" in table.columns else None
    codes, ids = _numbered(decisions, order)

    # From here on only rows with a reward.
    if order is not None:
        rows = order[np.isin(order, rows)]
    keys = codes[rows] * problem.size + elements[rows]
    sorting = np.argsort(keys, kind="stable")
    keys, rows = keys[sorting], rows[sorting]
    again = np.zeros(len(keys), dtype=bool)
    again[1:] = keys[1:] == keys[:-1]
    _check_repeated(again, rows, given, elements, decisions, problem)
    keys, rows = keys[~again], rows[~again]
    return Log(
        ids=ids,
        starts=np.searchsorted(keys, np.arange(len(ids) + 1) * problem.size),
        elements=elements[rows],
        rewards=rewards[rows],
        rows=rows,
    )


def _complete(column: Column) -> Column:
    missing = np.flatnonzero(column.missing())
    if missing.size:
        raise ValueError(
            f"row {missing[0]} (from 0), column {column.name!r}: there is no value; only a reward "
            "may be missing"
        )
    return column


def _order(column: Column) -> IntArray:
    numbers = column.floats()
    if numbers is not None and np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0])
        raise refused(row, column.name, nan, "is no time")
    try:
        return column.order()
    except TypeError as error:
        raise ValueError(
            f"the times in column {column.name!r} cannot be ordered: {error}"
        ) from None


def _numbered(ids: list[Any], order: IntArray | None) -> tuple[CountArray, list[Any]]:
    """The number of the id of every row, by first appearance in `order`, and the ids."""
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.empty(len(ids), dtype=np.int64)
    in_order = ids if order is None else list(map(ids.__getitem__, order.tolist()))
    try:
        found = np.fromiter(map(numbers.__getitem__, in_order), np.int64, len(ids))
    except TypeError:
        row = next(row for row, value in enumerate(ids) if not _is_hashable(value))
        raise refused(
            row, "decision", ids[row], "cannot be an id; ids are texts or integers"
        ) from None
    codes[slice(None) if order is None else order] = found
    return codes, list(numbers)


def _is_hashable(value: Any) -> bool:
    # A tuple is hashable unless it holds a list.
    try:
        hash(value)
    except TypeError:
        return False
    return True


# ---- elements ----


def _elements(column: Column, problem: Problem[Any, Any]) -> IntArray:
    if problem.labels is None:
        return _numbers_of_elements(column, problem.size)
    values = column.values()
    number = problem._number
    try:
        found = np.fromiter(map(number.get, values, repeat(-1)), np.intp, len(values))
    except TypeError:
        # Polars, pyarrow and files have lists where labels are tuples.
        values = [_label(value) for value in values]
        found = np.fromiter((_number(number, value) for value in values), np.intp, len(values))
    for row in np.flatnonzero(found < 0)[:1].tolist():
        try:
            problem._number_of(values[row])
        except ValueError as error:
            raise ValueError(f"row {row} (from 0), column {column.name!r}: {error}") from None
    return found


def _label(value: Any) -> Any:
    """A label that was a tuple once, as a tuple again."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(_label(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _number(numbers: dict[Any, int], label: Any) -> int:
    return numbers.get(label, -1) if _is_hashable(label) else -1


def _numbers_of_elements(column: Column, size: int) -> IntArray:
    array = column.array()
    if array.dtype == object:
        integers = [_is_integer(value) for value in array.tolist()]
    else:
        integers = [array.dtype.kind in "iu"] * min(len(array), 1)
    for row in np.flatnonzero(~np.array(integers, dtype=bool))[:1].tolist():
        value = array[row : row + 1].tolist()[0]
        raise refused(row, column.name, value, "is no number of an element: 0, 1, ...")
    outside = np.asarray((array < 0) | (array >= size), dtype=bool)
    for row in np.flatnonzero(outside)[:1].tolist():
        wrong = not_an_element(int(array[row]), size)
        raise ValueError(f"row {row} (from 0), column {column.name!r}: {wrong}")
    return array.astype(np.intp)


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


# ---- rewards ----


def _rewards(column: Column) -> tuple[FloatArray, IntArray]:
    """The rewards, NaN where one is missing, and the rows that have one."""
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
