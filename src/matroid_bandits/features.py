"""Features of elements: what one item has in common with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, as_list, freeze, frozen_state, integer, real
from matroid_bandits._frames import Table
from matroid_bandits._plain_data import plain

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.problem import Problem

__all__ = ["LinearFeatures"]

# Squares of such numbers, and sums of them, stay finite.
_LARGEST = 1e50
# A prior so many times wider than the noise still has digits left in double precision, also after
# many observations: they narrow it by the root of their number.
_MOST_APART = 1e10
# So many numbers are shown by `repr`.
_SHOWN = 12


class LinearFeatures:
    """Features of elements, for a mean that is linear in them: ``phi[e] @ theta``.

    `theta` is unknown and the same for all elements, so what is learned about one element holds for
    others like it. Immutable.

    Parameters
    ----------
    phi : array_like, mapping or data frame, optional
        The features: an array with a row for each element and a column for each feature; a mapping
        ``{label: vector}``; or a data frame of pandas, polars or pyarrow, whose columns are the
        features, its rows in the order of the elements, or with their labels in a column
        ``element``. Leave it out if all features come with the round; then give `n_features`.
    noise : float, default 1.0
        Standard deviation of the rewards around their means.
    prior : float, default 1.0
        What is known about theta before anything was observed: standard deviation of each
        coefficient, around 0. Lambda in [WKA15].
    names : sequence of str, optional
        Names of the features, for explanations; by default those of the columns of a data frame.
    n_features : int, optional
        Number of features, if `phi` is left out.

    References
    ----------
    .. [WKA15] Z. Wen, B. Kveton and A. Ashkan, Efficient Learning in Large-Scale Combinatorial
       Semi-Bandits, ICML 2015.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> features = mb.LinearFeatures([[1, 0], [0, 1], [1, 1]], noise=0.2, names=["tea", "cheap"])
    >>> features
    LinearFeatures([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], noise=0.2, names=('tea', 'cheap'))
    >>> features.n_features
    2
    """

    def __init__(
        self,
        phi: Any = None,
        *,
        noise: float = 1.0,
        prior: float = 1.0,
        names: Any = None,
        n_features: int | None = None,
    ) -> None:
        self._noise = _scale(noise, "noise")
        self._prior = _scale(prior, "prior")
        self._labels: tuple[Any, ...] | None = None
        self._phi: FloatArray | None = None
        columns: list[str] | None = None
        if phi is None:
            if n_features is None:
                raise ValueError(
                    "LinearFeatures needs phi, a row of features for each element; or n_features, "
                    "if features come with every round"
                )
            self._n_features = integer(n_features, "n_features", minimum=1)
        else:
            if isinstance(phi, (list, tuple)) and not phi and n_features is not None:
                # Of no elements, as plain data have it.
                phi = np.zeros((0, integer(n_features, "n_features", minimum=1)))
            labels, matrix, columns = _read(phi)
            self._labels = None if labels is None else tuple(labels)
            self._phi = freeze(np.array(matrix))
            self._n_features = matrix.shape[1]
            if n_features not in (None, self._n_features):
                raise ValueError(
                    f"phi has {self._n_features} features, got n_features={n_features}"
                )
            self.refuse_far_apart(self._phi)
        self._names = _checked_names(columns if names is None else names, self._n_features)

    # ---- what users read ----

    @property
    def phi(self) -> FloatArray | None:
        """The features, a row for each element (read-only); None if they come with the round."""
        return self._phi

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels of the rows of `phi`; None if it was given without."""
        return self._labels

    @property
    def noise(self) -> float:
        """Standard deviation of the rewards around their means."""
        return self._noise

    @property
    def prior(self) -> float:
        """Standard deviation of each coefficient before anything was observed."""
        return self._prior

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features; None if they have none."""
        return self._names

    def name(self, feature: int) -> str:
        """The name of a feature, or its number in words."""
        j = integer(feature, "feature")
        return f"feature {j}" if self._names is None else self._names[j]

    # ---- what policies need ----

    def matrix_for(self, problem: Problem[Any, Any]) -> FloatArray | None:
        """The features in the order of the elements of a problem; None if they come with the round.

        Raises
        ------
        ValueError
            If an element has none.
        """
        if self._phi is None:
            return None
        if self._labels is None:
            if len(self._phi) != problem.size:
                raise ValueError(
                    f"phi has {len(self._phi)} rows, the problem {problem.size} elements: one row "
                    "for each is needed"
                )
            return self._phi
        place = {label: row for row, label in enumerate(self._labels)}
        names = list(problem.labels or range(problem.size))
        for name in names:
            if name not in place:
                raise ValueError(f"phi has no features of {name!r}")
        return freeze(self._phi[[place[name] for name in names]].reshape(-1, self._n_features))

    def rows_of(self, given: Any, problem: Problem[Any, Any]) -> tuple[IntArray | None, FloatArray]:
        """Elements and their features, as they were given later; None for all elements in order.

        Columns of a data frame are found by the names of the features.
        """
        labels, matrix, columns = _read(given, self._names)
        if self._names is None and not all(name.isdecimal() for name in columns or ()):
            raise ValueError(
                f"the data frame has the columns {abbreviated(columns)}, but the features have no "
                "names by which these could be found: pass LinearFeatures(..., names=[...]), or an "
                "array"
            )
        if matrix.shape[1] != self._n_features:
            raise ValueError(
                f"features must have {self._n_features} columns, as the policy was made for, got "
                f"{matrix.shape[1]}"
            )
        if labels is not None:
            return problem.elements(labels), matrix
        if len(matrix) != problem.size:
            raise ValueError(
                f"features must have a row for each of the {problem.size} elements, got "
                f"{len(matrix)}; for some of them, pass a mapping: {{label: vector}}"
            )
        return None, matrix

    def of_round(
        self,
        given: Any,
        problem: Problem[Any, Any],
        available: npt.NDArray[np.uint8] | None,
        fixed: FloatArray | None,
    ) -> FloatArray:
        """Features that came with a round, in the order of the elements.

        Parameters
        ----------
        given : array_like, mapping or data frame
            As `phi`. With labels, elements may be missing that are not available.
        problem : Problem
            Labels and size.
        available : array of uint8, optional
            1 where an element is available; None if all are.
        fixed : array, optional
            The features of elements that are missing; by default they have none.
        """
        elements, matrix = self.rows_of(given, problem)
        if elements is None:
            rows = np.array(matrix)
        else:
            # Who is not available may have no features; NaN if so.
            shape = problem.size, self._n_features
            rows = np.full(shape, np.nan) if fixed is None else fixed.copy()
            rows[elements] = matrix
            if fixed is None:
                missing = np.ones(problem.size, bool) if available is None else available != 0
                missing[elements] = False
                for e in np.flatnonzero(missing)[:1].tolist():
                    raise ValueError(
                        f"features has no vector for {problem.name(e)!r}, which is available"
                    )
        self.refuse_far_apart(rows)
        return freeze(rows)

    def refuse_far_apart(self, rows: FloatArray) -> None:
        """Refuse a prior that is so much wider than the noise that no digits are left."""
        largest = float(np.nan_to_num(np.abs(rows)).max(initial=0.0))
        if largest * self._prior > _MOST_APART * self._noise:
            raise ValueError(
                f"the prior {self._prior:g} times the largest feature {largest:g} is more than "
                f"{_MOST_APART:g} times the noise {self._noise:g}: too far apart for double "
                "precision; scale the features, or take a smaller prior or a larger noise"
            )

    # ---- plain data, copies ----

    def to_spec(self) -> dict[str, Any]:
        """The features as plain data, defaults left out; `labels` are those of the rows of `phi`.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.LinearFeatures([[0.5], [1.0]], noise=0.1).to_spec()
        {'phi': [[0.5], [1.0]], 'noise': 0.1}
        """
        spec: dict[str, Any] = {}
        if self._phi is None:
            spec["n_features"] = self._n_features
        elif self._labels is None:
            spec["phi"] = self._phi.tolist()
        else:
            spec["labels"] = plain(self._labels, "labels of LinearFeatures")
            spec["phi"] = self._phi.tolist()
        if self._phi is not None and not len(self._phi):
            spec["n_features"] = self._n_features
        spec |= {k: v for k, v in (("noise", self._noise), ("prior", self._prior)) if v != 1.0}
        return spec if self._names is None else spec | {"names": list(self._names)}

    def _key(self) -> tuple[Any, ...]:
        phi = None if self._phi is None else (self._phi.shape, self._phi.tobytes())
        return phi, self._labels, self._n_features, self._noise, self._prior, self._names

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, LinearFeatures) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __copy__(self) -> LinearFeatures:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> LinearFeatures:
        # Immutable, and perhaps large.
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(frozen_state(state))

    def __repr__(self) -> str:
        if self._phi is None:
            shown = f"n_features={self._n_features}"
        elif self._phi.size > _SHOWN:
            shown = f"<{len(self._phi):,} x {self._n_features}>"
        elif self._labels is not None:
            shown = repr(dict(zip(self._labels, self._phi.tolist(), strict=True)))
        else:
            shown = repr(self._phi.tolist())
        parts = [shown]
        parts += [f"noise={self._noise:g}"] if self._noise != 1.0 else []
        parts += [f"prior={self._prior:g}"] if self._prior != 1.0 else []
        if self._names is not None and self._n_features <= _SHOWN:
            parts.append(f"names={self._names!r}")
        return f"LinearFeatures({', '.join(parts)})"


def _scale(value: Any, what: str) -> float:
    """A positive number of moderate size."""
    number = real(value, what, minimum=0.0, maximum=_LARGEST)
    if number < 1 / _LARGEST:
        raise ValueError(f"{what} must be above 0, a standard deviation, got {value!r}")
    return number


def _read(
    given: Any, names: tuple[str, ...] | None = None
) -> tuple[list[Any] | None, FloatArray, list[str] | None]:
    """Labels, rows and names of columns; None where there are none."""
    if isinstance(given, Mapping):
        vectors = list(given.values())
        if not vectors:
            raise ValueError("features must not be empty: pass {label: vector}")
        return list(given), _matrix(vectors, "a vector for each label, all of one length"), None
    if hasattr(type(given), "columns") and not isinstance(given, np.ndarray):
        return _read_frame(given, names)
    return None, _matrix(given, "an array with a row for each element"), None


def _read_frame(
    frame: Any, names: tuple[str, ...] | None
) -> tuple[list[Any] | None, FloatArray, list[str]]:
    """The same of a data frame."""
    is_pandas = type(frame).__module__.partition(".")[0] == "pandas"
    # Columns of pandas may have numbers as names.
    table = Table(frame.rename(columns=str) if is_pandas else frame, "features")
    columns = [name for name in table.columns if name != "element"]
    if names is not None and set(names) <= set(columns):
        # By name, in whatever order the frame has them.
        columns = list(names)
    elif names is not None and not all(name.isdecimal() for name in columns):
        raise ValueError(
            f"the features are called {abbreviated(list(names))}, the columns of the data frame "
            f"{abbreviated(columns)}; rename them, or pass an array"
        )
    found = []
    for name in columns:
        numbers = table.complete_column(name).floats()
        if numbers is None:
            raise ValueError(
                f"column {name!r} must have numbers; for words, make columns of 0 and 1: "
                f"{table.advice_on_texts(name)}"
            )
        found.append(numbers)
    labels = None
    if "element" in table.columns:
        labels = table.complete_column("element").values()
    elif is_pandas and frame.index.tolist() != list(range(len(frame))):
        # The index says which row is which, unless it only counts them.
        labels = frame.index.tolist()
    for label, times in Counter(labels or ()).items():
        if times > 1:
            raise ValueError(f"features have {times} rows for {label!r}; there must be one")
    matrix = np.column_stack(found) if found else np.zeros((len(table), 0))
    return labels, _matrix(matrix, "numbers"), [str(name) for name in columns]


def _matrix(values: Any, what: str) -> FloatArray:
    """Finite numbers in rows."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            array = np.array([[float(x) for x in row] for row in values])
        matrix = np.ascontiguousarray(array, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(f"features must be {what}, got {abbreviated(values)}") from None
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise ValueError(
            f"features must be {what}, got an array of shape {matrix.shape}; a single feature is "
            "a column: phi.reshape(-1, 1)"
        )
    unfit = np.argwhere(~(np.abs(matrix) <= _LARGEST))
    if unfit.size:
        row, column = unfit[0].tolist()
        raise ValueError(
            f"feature {column} in row {row} is {matrix[row, column]}; it must be finite and at "
            f"most {_LARGEST:g} in size"
        )
    return matrix


def _checked_names(names: Any, count: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    given = as_list(names, "names")
    if len(given) != count or len(set(given)) != count or not all(type(n) is str for n in given):
        raise ValueError(
            f"names must be {count} different texts, one for each feature, got {abbreviated(given)}"
        )
    return tuple(given)
