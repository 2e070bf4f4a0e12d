"""Data frames of pandas: the elements are rows."""

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, as_list, integer, suggestion
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
    frame : pandas.DataFrame
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
        numbers, if the index counts from 0.
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
    _check_frame(frame)
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
    names = _labels(frame, labels)
    matroid: Matroid
    if groups is not None:
        matroid = _grouped(_groupings(frame, groups, capacities), limit)
    elif vectors is not None:
        matroid = LinearMatroid(_vectors(frame, vectors, labels), field=field)
        if limit is not None and limit < matroid.rank:
            matroid = matroid.truncate(limit)
    elif limit is not None:
        matroid = UniformMatroid(min(limit, len(frame)), len(frame))
    else:
        raise ValueError(
            "say what may be played together: groups='column' with capacities, "
            "vectors=['column', ...], or at_most=5"
        )
    return Problem(matroid, names, sense=sense)


# ---- frames ----


def _check_frame(frame: Any) -> None:
    # Recognized by its attributes, so that pandas need not be imported.
    if not isinstance(frame, type) and all(
        hasattr(frame, name) for name in ("columns", "index", "iloc")
    ):
        return
    kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    for method in ("to_pandas", "to_frame"):
        if not isinstance(frame, type) and hasattr(frame, method):
            raise TypeError(
                f"from_dataframe needs a pandas.DataFrame, got a {kind}; pass its {method}()"
            )
    raise TypeError(
        f"from_dataframe needs a pandas.DataFrame, got {abbreviated(frame)}; make one by "
        "pandas.DataFrame(...) (pip install 'matroid-bandits[frames]')"
    )


def _column(frame: Any, name: Any) -> Any:
    """The only column called `name`, checked for missing values."""
    known = list(frame.columns)
    if name not in known:
        raise ValueError(
            f"the frame has no column {name!r}; {suggestion(str(name), map(str, known))}"
            if known
            else f"the frame has no column {name!r}, nor any other"
        )
    if known.count(name) > 1:
        raise ValueError(f"the frame has {known.count(name)} columns called {name!r}; rename them")
    column = frame[name]
    missing = np.flatnonzero(column.isna())
    if missing.size:
        raise ValueError(
            f"column {name!r} has no value in row {_row(frame, missing[0])}"
            + (f" and {missing.size - 1} more" if missing.size > 1 else "")
            + f"; fill it in, or drop such rows: frame.dropna(subset=[{name!r}])"
        )
    return column


def _row(frame: Any, place: int) -> str:
    """The name of a row in the index."""
    return abbreviated(frame.index[[place]].tolist()[0])


def _labels(frame: Any, name: str | None) -> list[Any] | None:
    """The names of the rows; None if they are numbered from 0."""
    labels: list[Any] = (frame.index if name is None else _column(frame, name)).tolist()
    if name is None and labels == list(range(len(labels))):
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


def _groupings(frame: Any, groups: Any, capacities: Any) -> list[_Grouping]:
    if isinstance(groups, str) or groups in list(frame.columns):  # a name may be a number
        return [_grouping(frame, groups, capacities)]
    columns = as_list(groups, "groups")
    if not columns:
        raise ValueError("groups must name a column, got none; for the best few rows use at_most")
    if not isinstance(capacities, Mapping):
        return [_grouping(frame, column, capacities) for column in columns]
    for column in columns:
        if column not in capacities:
            raise ValueError(
                f"column {column!r} has no capacity; for several columns write "
                "capacities={column: number}, got "
                f"{', '.join(map(repr, capacities)) or 'none'}"
            )
    return [_grouping(frame, column, capacities[column]) for column in columns]


def _grouping(frame: Any, name: str, capacities: Any) -> _Grouping:
    values = _column(frame, name).tolist()
    for place, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise ValueError(
                f"column {name!r} has {abbreviated(value)} in row {_row(frame, place)}; a group is "
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


def _vectors(frame: Any, names: Sequence[str] | str, labels: str | None) -> npt.NDArray[Any]:
    if isinstance(names, str):
        if names != "numeric":
            raise ValueError(
                f"vectors must be a list of columns, or 'numeric' for all columns of numbers; for "
                f"one column write [{names!r}]"
            )
        kinds = zip(frame.columns, frame.dtypes, strict=True)
        chosen = [name for name, kind in kinds if name != labels and kind.kind in "biuf"]
    else:
        chosen = as_list(names, "vectors")
    if not chosen:
        raise ValueError(
            "vectors need at least one column; the frame has "
            + (", ".join(map(repr, frame.columns)) or "none")
        )
    return whole_as_integers(np.column_stack([_numbers(frame, name) for name in chosen]))


def _numbers(frame: Any, name: str) -> npt.NDArray[Any]:
    """A column of numbers; of objects where it holds large integers or fractions."""
    values: npt.NDArray[Any] = _column(frame, name).to_numpy()
    if values.dtype.kind in "biuf":
        return values
    for place, value in enumerate(values.tolist()):
        if not isinstance(value, Real):
            raise ValueError(
                f"column {name!r} has {abbreviated(value)} in row {_row(frame, place)}, which is "
                f"no number; for a column of 0 and 1 per value: pandas.get_dummies(frame[{name!r}])"
            )
    return values
