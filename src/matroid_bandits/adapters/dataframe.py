"""Data frames of pandas, polars and pyarrow: the elements are rows."""

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, as_list, integer
from matroid_bandits._frames import Table
from matroid_bandits.adapters._numbers import whole_as_integers
from matroid_bandits.matroids import (
    LaminarMatroid,
    LinearMatroid,
    Matroid,
    PartitionMatroid,
    UniformMatroid,
)
from matroid_bandits.problem import Problem

__all__ = ["from_dataframe"]

# A capacity for all values of a column, or one for each of them.
Capacity = int | Mapping[Hashable, int]


def from_dataframe(
    frame: Any,
    *,
    groups: str | Sequence[str] | None = None,
    capacities: Capacity | Mapping[Hashable, Capacity] | None = None,
    at_most: int | None = None,
    vectors: Sequence[str] | Literal["numeric"] | None = None,
    field: int | None = None,
    labels: str | None = None,
    sense: Literal["max", "min"] = "max",
) -> Problem[Any, Any]:
    """Rows of a table: a limited number of each group, or rows that are linearly independent.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or Table of pyarrow
        Its rows are the elements.
    groups : str or list of str, optional
        A column whose values are groups, each with a capacity. Several columns must be nested, as
        departments are in companies.
    capacities : int or mapping, optional
        How many rows of each group: one number for all. For one column, ``{value: number}``; for
        a list of columns, ``{column: number}`` or ``{column: {value: number}}``.
    at_most : int, optional
        How many rows in all.
    vectors : list of str or "numeric", optional
        Columns of numbers: rows that are linearly independent may be played together. "numeric"
        takes all columns of numbers and truth values. Whole numbers are treated exactly.
    field : int, optional
        As in :class:`~matroid_bandits.LinearMatroid`, for `vectors`.
    labels : str, optional
        A column with a different name for every row. The default is the index of the frame, or
        numbers, if the index counts from 0 or the frame has none.
    sense : {"max", "min"}, default "max"
        Whether rewards are maximized or costs minimized.

    Returns
    -------
    Problem

    Examples
    --------
    >>> import pandas as pd
    >>> import matroid_bandits as mb
    >>> movies = pd.DataFrame({
    ...     "title": ["Alien", "Amelie", "Brazil", "Casablanca"],
    ...     "genre": ["science fiction", "romance", "science fiction", "romance"],
    ... })
    >>> slate = mb.from_dataframe(movies, groups="genre", capacities=1, labels="title")
    >>> slate.best_basis([4.0, 3.9, 3.8, 4.2])
    ['Alien', 'Casablanca']
    """
    table = Table(frame, "from_dataframe")
    if groups is not None and vectors is not None:
        raise ValueError("rows are chosen by groups or by vectors; leave one of the two out")
    if (groups is None) != (capacities is None):
        raise ValueError(
            "capacities are those of groups: say of which column, groups='genre'"
            if groups is None
            else f"groups={groups!r} need capacities, such as capacities=1: how many of each"
        )
    if field is not None and vectors is None:
        raise ValueError("field is for vectors: say which columns, vectors=[...]")
    limit = None if at_most is None else integer(at_most, "at_most", minimum=0)
    names = _labels(table, labels)
    matroid: Matroid
    if groups is not None:
        matroid = _grouped(_groupings(table, groups, capacities), limit)
    elif vectors is not None:
        matroid = LinearMatroid(_vectors(table, vectors, labels), field=field)
        if limit is not None and limit < matroid.rank:
            matroid = matroid.truncate(limit)
    elif limit is not None:
        matroid = UniformMatroid(min(limit, len(table)), len(table))
    else:
        raise ValueError(
            "say what may be played together: groups='column' with capacities, "
            "vectors=['column', ...], or at_most=5"
        )
    return Problem(matroid, names, sense=sense)


# ---- labels ----


def _labels(table: Table, name: str | None) -> list[Any] | None:
    """The names of the rows; None if they are numbered from 0."""
    labels = table.index if name is None else table.complete_column(name).values()
    if labels is None or (name is None and labels == list(range(len(labels)))):
        return None
    where = "the index" if name is None else f"column {name!r}"
    first: dict[Any, int] = {}
    for place, label in enumerate(labels):
        try:
            before = first.setdefault(label, place)
        except TypeError:
            raise ValueError(
                f"{where} has {abbreviated(label)} in row {place} counted from 0; a label must be "
                "hashable: a text, a number, a tuple of these"
            ) from None
        if before != place:
            raise ValueError(
                f"{where} has {abbreviated(label)} twice, in the rows {before} and {place} "
                "counted from 0; a label must name one row: take another column by "
                "labels='column', or number the rows by frame.reset_index(drop=True)"
            )
    return labels


# ---- groups ----


class _Grouping(NamedTuple):
    """A column whose values are groups."""

    column: str
    values: list[Any]
    capacities: dict[Any, int]


def _groupings(table: Table, groups: Any, capacities: Any) -> list[_Grouping]:
    if isinstance(groups, str) or groups in table.columns:  # a name may be a number
        return [_grouping(table, groups, capacities)]
    columns = as_list(groups, "groups")
    if not columns:
        raise ValueError("groups must name a column, got none; for the best few rows use at_most")
    if not isinstance(capacities, Mapping):
        return [_grouping(table, column, capacities) for column in columns]
    for column in columns:
        if column not in capacities:
            raise ValueError(
                f"column {column!r} has no capacity; for several columns write "
                "capacities={column: number}, got "
                f"{', '.join(map(repr, capacities)) or 'none'}"
            )
    return [_grouping(table, column, capacities[column]) for column in columns]


def _grouping(table: Table, name: str, capacities: Any) -> _Grouping:
    values = table.complete_column(name).values()
    for place, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise ValueError(
                f"column {name!r} has {abbreviated(value)} in row {table.row(place)}; a group is "
                "a number or a text, one for every row"
            )
    found: dict[Any, int] = {}
    for value in dict.fromkeys(values):
        if isinstance(capacities, Mapping) and value not in capacities:
            raise ValueError(
                f"{value!r} in column {name!r} has no capacity; capacities are given for "
                f"{', '.join(map(repr, capacities)) or 'no value'}"
            )
        given = capacities[value] if isinstance(capacities, Mapping) else capacities
        found[value] = integer(given, f"the capacity of {value!r} in column {name!r}", minimum=0)
    return _Grouping(name, values, found)


def _grouped(groupings: list[_Grouping], limit: int | None) -> Matroid:
    if len(groupings) == 1 and limit is None:
        return PartitionMatroid(groupings[0].values, groupings[0].capacities)
    size = len(groupings[0].values)
    sets: dict[Any, list[int]] = {}
    capacities: dict[Any, int] = {}
    for column, values, by_value in groupings:
        for e, value in enumerate(values):
            sets.setdefault((column, value), []).append(e)
        capacities |= {(column, value): number for value, number in by_value.items()}
    if limit is not None:
        sets["at_most"], capacities["at_most"] = list(range(size)), limit
    try:
        return LaminarMatroid(sets, capacities, size)
    except ValueError as error:
        raise ValueError(
            f"{error} (elements are rows, counted from 0); leave one of the columns out, or make "
            "the one finer than the other"
        ) from None


# ---- vectors ----


def _vectors(table: Table, names: Sequence[str] | str, labels: str | None) -> npt.NDArray[Any]:
    if isinstance(names, str):
        if names != "numeric":
            raise ValueError(
                f"vectors must be a list of columns, or 'numeric' for all columns of numbers; for "
                f"one column write [{names!r}]"
            )
        others = [name for name in table.columns if name != labels]
        chosen = [name for name in others if table.column(name).is_numeric()]
    else:
        chosen = as_list(names, "vectors")
    if not chosen:
        raise ValueError(
            "vectors need at least one column; the frame has "
            + (", ".join(map(repr, table.columns)) or "none")
        )
    return whole_as_integers(np.column_stack([_numbers(table, name) for name in chosen]))


def _numbers(table: Table, name: str) -> npt.NDArray[Any]:
    """A column of numbers; of objects where it holds large integers or fractions."""
    values = table.complete_column(name).array()
    if values.dtype.kind in "biuf":
        return values
    for place, value in enumerate(values.tolist()):
        if isinstance(value, Decimal):
            values[place] = Fraction(value)
        elif not isinstance(value, Real):
            raise ValueError(
                f"column {name!r} has {abbreviated(value)} in row {table.row(place)}, which is no "
                f"number; for a column of 0 and 1 per value: {table.advice_on_texts(name)}"
            )
    return values
