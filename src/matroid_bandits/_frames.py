"""Tables of pandas, polars and pyarrow, read through narwhals; mappings of columns without it.

Nothing is imported before a table is read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, as_list, suggestion
from matroid_bandits._types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Table", "data_frame"]

_LIBRARIES = "pandas, polars or pyarrow"

# How rows without a value are dropped, by the library of the table.
_DROPPING = {
    "pandas": "frame.dropna(subset=[{!r}])",
    "polars": "frame.drop_nulls([{!r}])",
    "pyarrow": "frame.filter(pyarrow.compute.field({!r}).is_valid())",
}


def _narwhals(owner: str) -> Any:
    try:
        return import_module("narwhals.stable.v2")
    except ImportError as error:
        raise ImportError(
            f"{owner} reads tables through narwhals ({error}): pip install "
            "'matroid-bandits[frames]'"
        ) from error


class Column:
    """The values of one column, in the order of the rows.

    Parameters
    ----------
    name : hashable
        What the table calls it.
    series : narwhals.Series, numpy.ndarray or list
        Its values. In an array nothing is missing; in a list, what is None.
    """

    def __init__(self, name: Any, series: Any) -> None:
        self.name = name
        self._series = series
        self._is_plain = isinstance(series, (np.ndarray, list))

    def __len__(self) -> int:
        return len(self._series)

    def missing(self) -> BoolArray:
        """Where there is no value: null, and NaN in the columns of pandas that use it for null."""
        if isinstance(self._series, np.ndarray):
            return np.zeros(len(self), dtype=bool)
        if self._is_plain:
            return np.array([value is None for value in self._series], dtype=bool)
        return np.asarray(self._series.is_null().to_numpy(), dtype=bool)

    def undefined(self) -> BoolArray:
        """Where a value is NaN or NaT."""
        numbers = self.floats()
        if numbers is not None:
            return np.isnan(numbers)
        if isinstance(self._series, np.ndarray) and self._series.dtype.kind in "mM":
            return np.isnat(self._series)
        if self._is_plain:
            # They are not equal to themselves.
            return np.array([bool(x != x) for x in self._series], dtype=bool)  # noqa: PLR0124
        return np.zeros(len(self), dtype=bool)

    def values(self) -> list[Any]:
        """The values as objects of Python."""
        series = self._series
        if isinstance(series, list):
            return series
        if self._is_plain:
            return list(series.tolist())
        # Faster by way of an array, where that changes no value.
        if self._has_numpy_type() and not self.missing().any():
            return list(series.to_numpy().tolist())
        return list(series.to_list())

    def is_numeric(self) -> bool:
        """Whether the whole column is declared to hold integers, floats or truth values."""
        if isinstance(self._series, np.ndarray):
            return self._series.dtype.kind in "biuf"
        if self._is_plain:
            return False
        dtype = self._series.dtype
        return bool(dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean")

    def _has_numpy_type(self) -> bool:
        # Polars has integers of 128 bits.
        return self.is_numeric() and "128" not in str(self._series.dtype)

    def array(self) -> npt.NDArray[Any]:
        """The values, none of them missing: numbers in a type of NumPy's if one can hold them."""
        if isinstance(self._series, np.ndarray):
            return self._series
        if self._has_numpy_type():
            return np.asarray(self._series.to_numpy())
        values = self.values()
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def floats(self) -> FloatArray | None:
        """The values as floats, NaN where one is missing; None if it is no column of numbers."""
        if self.is_numeric() or (not self._is_plain and self._series.dtype.is_decimal()):
            if self._is_plain:
                return np.asarray(self._series, dtype=np.float64)
            narwhals = _narwhals("reading a column")
            return np.array(self._series.cast(narwhals.Float64()).to_numpy(), dtype=np.float64)
        return None

    def order(self) -> IntArray:
        """The places of the values, none of them missing, ascending; of equal ones as they stand.

        Raises
        ------
        TypeError
            If two values cannot be compared.
        """
        is_time = not self._is_plain and self._series.dtype.is_temporal()
        keys = np.asarray(self._series.to_numpy()) if is_time else self.array()
        if keys.dtype == object:
            values = keys.tolist()
            return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)
        return np.argsort(keys, kind="stable")


class Table:
    """Columns by name.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or Table of pyarrow
        What a user passed.
    owner : str
        The function that it was passed to, for messages.
    mappings : bool, default False
        Whether a mapping of columns is accepted as well.
    """

    def __init__(self, frame: Any, owner: str, *, mappings: bool = False) -> None:
        self._library = type(frame).__module__.partition(".")[0]
        self._columns: list[Any]
        self._index = None
        if mappings and isinstance(frame, Mapping):
            self._frame: Any = {name: _plain_column(name, frame[name]) for name in frame}
            self._columns = list(frame)
            lengths = {name: len(column) for name, column in self._frame.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(f"columns must be equally long, got the lengths {lengths}")
            self._length = next(iter(lengths.values()), 0)
            return
        if not _is_frame(frame):
            raise _no_frame(frame, owner, mappings)
        narwhals = _narwhals(owner)
        self._columns = list(getattr(frame, "column_names", frame.columns))
        # Narwhals refuses doubled names, whether or not they are asked for.
        times = Counter(self._columns)
        single = [i for i, name in enumerate(self._columns) if times[name] == 1]
        if len(single) < len(self._columns):
            frame = frame.iloc[:, single] if hasattr(frame, "iloc") else frame.select(single)
        try:
            self._frame = narwhals.from_native(frame, eager_only=True)
        except TypeError:
            raise _no_frame(frame, owner, mappings) from None
        self._index = narwhals.maybe_get_index(self._frame)
        self._length = len(frame)

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return self._columns

    @property
    def index(self) -> list[Any] | None:
        """The names of the rows; None if they have none."""
        return None if self._index is None else list(self._index.tolist())

    def row(self, place: int) -> str:
        """What the table calls the row at `place`, for messages."""
        return str(place) if self._index is None else abbreviated(self._index[[place]].tolist()[0])

    def column(self, name: Any) -> Column:
        """The only column called `name`."""
        known = self._columns
        if name not in known:
            raise ValueError(
                f"the frame has no column {name!r}; "
                + suggestion(str(name), map(str, known), intro="it has")
                if known
                else f"the frame has no column {name!r}, nor any other"
            )
        if known.count(name) > 1:
            raise ValueError(
                f"the frame has {known.count(name)} columns called {name!r}; rename them"
            )
        if isinstance(self._frame, dict):
            column: Column = self._frame[name]
            return column
        return Column(name, self._frame[name])

    def complete_column(self, name: Any) -> Column:
        """The only column called `name`, which must have a value in every row."""
        column = self.column(name)
        missing = np.flatnonzero(column.missing())
        if missing.size:
            dropping = _DROPPING.get(self._library)
            raise ValueError(
                f"column {name!r} has no value in row {self.row(int(missing[0]))}"
                + (f" and {missing.size - 1} more" if missing.size > 1 else "")
                + "; fill it in, or drop such rows"
                + (f": {dropping.format(name)}" if dropping else "")
            )
        return column

    def advice_on_texts(self, name: Any) -> str:
        """How to make columns of 0 and 1 from a column of texts."""
        if self._library == "polars":
            return f"frame[{name!r}].to_dummies()"
        return f"pandas.get_dummies(frame[{name!r}])"


def data_frame(columns: "Mapping[str, Sequence[Any] | npt.NDArray[Any]]") -> "pd.DataFrame":
    """A data frame of pandas; arrays are copied.

    Raises
    ------
    ImportError
        If pandas is not installed; the message names the extra.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"to_frame needs pandas ({error}): pip install 'matroid-bandits[experiments]'"
        ) from error
    found = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            found[name] = pandas.Series(values.copy())
            continue
        # Labels may be tuples, which are values here, and of different types.
        array = np.empty(len(values), dtype=object)
        array[:] = values
        found[name] = pandas.Series(array).infer_objects()
    frame: pd.DataFrame = pandas.DataFrame(found)
    return frame


def _is_frame(frame: Any) -> bool:
    """Whether it is a table of a library that narwhals reads whole."""
    # Recognized by what they have, so that none need be imported.
    kind = type(frame)
    return hasattr(kind, "columns") and any(
        hasattr(kind, name) for name in ("iloc", "get_columns", "column_names")
    )


def _no_frame(frame: Any, owner: str, mappings: bool) -> TypeError:
    """The error for something that is no table."""
    kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    for method in ("collect", "to_frame", "to_pandas"):
        if not isinstance(frame, type) and hasattr(frame, method):
            return TypeError(
                f"{owner} needs a data frame of {_LIBRARIES}, got a {kind}; pass its {method}()"
            )
    also = ", or a mapping of columns" if mappings else ""
    return TypeError(
        f"{owner} needs a data frame of {_LIBRARIES}{also}, got {abbreviated(frame)}; make one, "
        "for instance by pandas.DataFrame(...) (pip install 'matroid-bandits[frames]')"
    )


def _plain_column(name: Any, values: Any) -> Column:
    """A column of a mapping."""
    if isinstance(values, np.ma.MaskedArray) or (
        isinstance(values, np.ndarray) and values.ndim != 1
    ):
        raise ValueError(f"column {name!r} must be a list or an array with one dimension")
    if isinstance(values, np.ndarray) and values.dtype != object:
        return Column(name, values)
    if hasattr(values, "to_numpy"):
        series = _narwhals("reading a column").from_native(
            values, series_only=True, pass_through=True
        )
        if series is not values:
            return Column(name, series)
    return Column(name, as_list(values, f"column {name!r}"))
