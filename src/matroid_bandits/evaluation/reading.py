"""A log with propensities: an entry for every element of every decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits._frames import Table
from matroid_bandits.policies.contract.log import (
    complete,
    label_of,
    numbered,
    numbers,
    order_of,
    refused,
)

if TYPE_CHECKING:
    from matroid_bandits._types import CountArray, FloatArray, IntArray

__all__ = ["RandomLog", "read_random_log"]


@dataclass(frozen=True, eq=False)
class RandomLog:
    """The decisions of a policy that draws at random.

    Attributes
    ----------
    ids : list
        The decisions, in the order in which they first appear.
    labels : list
        The elements that were shown at least once.
    decisions, elements : numpy.ndarray
        Of every entry, the number of its decision and of its label; decisions ascend.
    rewards, propensities : numpy.ndarray
        Of every entry: what was observed, rewards or costs, and how likely the element was.
    """

    ids: list[Any]
    labels: list[Any]
    decisions: CountArray
    elements: IntArray
    rewards: FloatArray
    propensities: FloatArray


def read_random_log(frame: Any, missing_reward: float | None) -> RandomLog:
    """Check a table completely. Rows about an element of a decision are put together.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, Table of pyarrow, or mapping of columns
        With the columns `decision`, `element`, `reward` and `propensity`, and perhaps `time`.
    missing_reward : float or None
        The reward of elements without feedback; None if all have some.
    """
    table = Table(frame, "evaluate_log", mappings=True)
    if "propensity" not in table.columns:
        raise ValueError(
            "the log has no column 'propensity': without it nothing says how likely an element "
            "was, and what was not shown cannot be judged; log decision.propensities of "
            "decide(propensities=1000), with a policy that draws at random, such as CTS"
        )
    order = order_of(complete(table.column("time"))) if "time" in table.columns else None
    codes, ids = numbered(complete(table.column("decision")).values(), order)
    labels: dict[Any, int] = {}
    names = [label_of(name) for name in complete(table.column("element")).values()]
    try:
        places = [labels.setdefault(name, len(labels)) for name in names]
    except TypeError as error:
        raise ValueError(f"labels in column 'element' must be hashable: {error}") from None
    elements = np.array(places, dtype=np.intp)
    keys, first, entry = np.unique(
        codes * len(labels) + elements, return_index=True, return_inverse=True
    )
    rewards = _put_together(table, "reward", entry, len(keys))
    propensities = _put_together(table, "propensity", entry, len(keys))
    _check_propensities(propensities, first, names)
    if missing_reward is None and np.isnan(rewards).any():
        row = int(first[np.flatnonzero(np.isnan(rewards))[0]])
        raise ValueError(
            f"row {row} (from 0), column 'reward': there is no reward of {names[row]!r} in its "
            "decision; say what missing feedback means, missing_reward=0, or leave the decision out"
        )
    return RandomLog(
        ids=ids,
        labels=list(labels),
        decisions=codes[first],
        elements=elements[first],
        rewards=np.where(np.isnan(rewards), missing_reward or 0.0, rewards),
        propensities=propensities,
    )


def _put_together(table: Table, name: str, entry: IntArray, n: int) -> FloatArray:
    """The value of every entry, NaN where no row has one. Two rows must not differ."""
    values, rows = numbers(table.column(name))
    rows = rows[~np.isnan(values[rows])]
    for row in rows[~np.isfinite(values[rows])][:1].tolist():
        raise refused(row, name, float(values[row]), "is not finite")
    found = np.full(n, np.nan)
    # Of several rows the first one is noted.
    found[entry[rows[::-1]]] = values[rows[::-1]]
    for row in rows[found[entry[rows]] != values[rows]][:1].tolist():
        known = f"{found[entry[row]]:.6g}"
        raise refused(row, name, float(values[row]), f"contradicts an earlier row, with {known}")
    return found


def _check_propensities(propensities: FloatArray, rows: IntArray, names: list[Any]) -> None:
    """Refuse a log that cannot be weighted."""
    for place in np.flatnonzero(np.isnan(propensities))[:1].tolist():
        row = int(rows[place])
        raise ValueError(
            f"row {row} (from 0), column 'propensity': there is no propensity of "
            f"{abbreviated(names[row])} in its decision; leave decisions without propensities out"
        )
    for place in np.flatnonzero(~((propensities > 0) & (propensities <= 1)))[:1].tolist():
        row, value = int(rows[place]), float(propensities[place])
        raise refused(row, "propensity", value, "is no probability above 0 and at most 1")
    if len(propensities) and (propensities == 1).all():
        raise ValueError(
            "all propensities are 1: the log is that of a policy that draws nothing at random. It "
            "says nothing about sets that were not shown; log decisions of a policy that does, "
            "such as CTS or EpsilonGreedy"
        )
