"""Linear matroids: sets of linearly independent vectors."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm, prod
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import freeze, integer
from matroid_bandits._core.matroids.linear.modular import (
    ModularKernel,
    independent_columns,
    pivot_columns,
)
from matroid_bandits._core.matroids.linear.real import RealKernel
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids._primes import is_prime, large_primes
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

if TYPE_CHECKING:
    from matroid_bandits._core.matroids.base import MatroidKernel

__all__ = ["LinearMatroid"]

_LARGEST_FIELD = 2**31


class LinearMatroid(CompiledMatroid):
    """Linearly independent rows: a slate of movies whose genre vectors differ.

    While a set grows to a basis, an element costs O(entries other than 0 * rank still missing),
    and one that is added O(rank**2).

    Parameters
    ----------
    vectors : array_like, one row per element
        Integers (of any size) or :class:`fractions.Fraction` are decided exactly over the
        rationals. Floats are decided with `tolerance`.
    field : int, optional
        A prime p below 2**31: the rows, which must be whole numbers, are vectors over GF(p).
    tolerance : float, default 1e-9
        For floats: rows are scaled to length 1, and a row counts as dependent if it is no farther
        than this from the span of the others. A row of zeros is a loop.

    Notes
    -----
    Exact results over the rationals without rational arithmetic: rows are reduced modulo several
    primes, whose product exceeds Hadamard's bound on every minor. Independent rows have a non-zero
    minor, which not all of these primes can divide. Small entries need a single prime. Columns that
    depend on others are left out first.

    With floats, results near the tolerance depend on the order of the rows; choose a tolerance far
    from the distances that occur, or use integers.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> genres = mb.LinearMatroid([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
    >>> genres.rank
    3
    >>> genres.fundamental_circuit([0, 1, 3], 2)
    array([0, 1, 2])
    >>> mb.LinearMatroid([[1, 1], [1, -1]], field=2).rank
    1
    """

    def __init__(
        self, vectors: npt.ArrayLike, *, field: int | None = None, tolerance: float = 1e-9
    ) -> None:
        rows = _rows(vectors)
        super().__init__(len(rows))
        self._field = None if field is None else _checked_field(field)
        self._primes: npt.NDArray[np.uint64] | None = None
        self._vectors: npt.NDArray[np.float64]
        self._width: int
        self._starts: npt.NDArray[np.intp]
        self._columns: npt.NDArray[np.intp]
        self._values: npt.NDArray[np.uint64]
        self._classes: npt.NDArray[np.int32]
        if not isinstance(tolerance, Real) or isinstance(tolerance, bool) or not 0 <= tolerance < 1:
            raise ValueError(f"tolerance must be a number from 0 to below 1, got {tolerance!r}")
        self._tolerance: float = float(tolerance)
        # Floats as given; exact rows as integers: residues over GF(p), otherwise without a common
        # factor.
        self._rows: npt.NDArray[Any]
        if rows.dtype == np.float64 and self._field is None:
            self._rows = freeze(rows)
            self._vectors = freeze(np.array(_unit_rows(rows), dtype=np.float64, order="C"))
            return
        integers = _integer_rows(rows, self._field)
        self._rows = freeze(_compact(integers if field is None else integers % self._field))
        if self._field is None:
            integers = _spanning_columns(integers)
            primes = _primes_for(integers)
        else:
            primes = [self._field]
        self._primes = freeze(np.array(primes, dtype=np.uint64))
        residues = np.array([integers % p for p in primes], dtype=np.uint64)
        self._width, *entries = independent_columns(residues, self._primes)
        self._starts, self._columns, self._values, self._classes = map(freeze, entries)

    @property
    def _correction(self) -> str:
        if self._primes is not None:
            return super()._correction
        return (
            f"some vectors are nearly dependent, at about the tolerance {self._tolerance:g}; use "
            "integers, or a tolerance that separates them"
        )

    def _kernel(self) -> MatroidKernel:
        if self._primes is None:
            return RealKernel(self._vectors, self._tolerance)
        return ModularKernel(
            self._primes, self._width, self._starts, self._columns, self._values, self._classes
        )

    def _are_loops(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        all_zero: npt.NDArray[np.bool_]
        if self._primes is None:
            all_zero = (self._vectors[elements] == 0).all(axis=1)
        else:
            all_zero = (self._starts[:, elements] == self._starts[:, elements + 1]).all(axis=0)
        return all_zero

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        if contracted.size:
            return super()._minor(kept, contracted)
        if not kept.size:
            return LinearMatroid([], field=self._field)
        rows = LinearMatroid.__new__(LinearMatroid)
        Matroid.__init__(rows, len(kept))
        rows._field, rows._tolerance, rows._primes = self._field, self._tolerance, self._primes
        rows._rows = freeze(self._rows[kept])
        if self._primes is None:
            rows._vectors = freeze(self._vectors[kept])
            return rows
        rows._width = self._width
        lengths = np.diff(self._starts, axis=1)
        is_kept = np.zeros(self.size, dtype=np.bool_)
        is_kept[kept] = True
        # Entries are listed by prime and then by element.
        entries = np.repeat(np.tile(is_kept, len(self._primes)), lengths.reshape(-1))
        rows._columns = freeze(self._columns[entries])
        rows._values = freeze(self._values[entries])
        starts = np.zeros((len(self._primes), len(kept) + 1), dtype=np.intp)
        starts[:, 1:] = np.cumsum(lengths[:, kept]).reshape(len(self._primes), -1)
        starts[1:, 0] = starts[:-1, -1]
        rows._starts = freeze(starts)
        rows._classes = freeze(
            np.unique(self._classes[kept], return_inverse=True)[1].astype(np.int32)
        )
        return rows

    def _data(self) -> tuple[Any, ...]:
        if self._primes is None:
            return self._tolerance, plain_array(self._vectors)
        return self._field, plain_array(self._rows)

    def _spec(self) -> dict[str, Any]:
        if self._primes is None:
            return {"vectors": self._rows, "tolerance": self._tolerance}
        field = {} if self._field is None else {"field": self._field}
        return {"vectors": self._rows, **field}

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        width = int(rng.integers(1, max(2, size)))
        field = [None, 2, 3, 10007][int(rng.integers(4))]
        return cls(rng.integers(-1, 2, (size, width)), field=field)

    def __repr__(self) -> str:
        over = "the rationals" if self._field is None else f"GF({self._field})"
        if self._primes is None:
            over = f"floats, tolerance {self._tolerance:g}"
        return f"LinearMatroid(size={self.size}, rank={self.rank}, over {over})"


def _rows(vectors: npt.ArrayLike) -> npt.NDArray[Any]:
    """A matrix of float64 or int64, or of large integers and fractions as objects."""
    try:
        matrix = np.asarray(vectors)
    except (ValueError, OverflowError):
        matrix = np.asarray(vectors, dtype=object)
    if matrix.size == 0 and matrix.ndim in (1, 2):
        # Without entries there is no kind of numbers, and without rows no length of them.
        matrix = np.empty((len(matrix), 0), dtype=np.int64)
    if matrix.ndim != 2:
        raise ValueError(
            "vectors must be a matrix, one row of equal length per element, "
            f"got an array of shape {matrix.shape}"
        )
    if matrix.dtype.kind in "iub":
        small = matrix.size == 0 or -(2**62) < matrix.min() <= matrix.max() < 2**62
        return matrix.astype(np.int64 if small else object)
    if matrix.dtype.kind == "f":
        return matrix.astype(np.float64, order="C")
    if matrix.dtype != object:
        raise ValueError(f"vectors must be numbers, got {matrix.dtype} entries")
    return _object_rows(matrix)


def _object_rows(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Large integers and fractions as they are; all as floats if there is one float."""
    for place, entry in np.ndenumerate(matrix):
        if not isinstance(entry, (int, Fraction, float, np.integer, np.floating)):
            raise ValueError(f"vectors must be numbers, got {entry!r} in row {place[0]}")
    if not any(isinstance(entry, (float, np.floating)) for entry in matrix.flat):
        return matrix
    try:
        return matrix.astype(np.float64, order="C")
    except OverflowError:
        raise ValueError(
            "vectors mix floats with integers too large for floats; use integers only"
        ) from None


def _unit_rows(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    unfit = np.argwhere(~np.isfinite(rows))
    if len(unfit):
        e, column = unfit[0]
        raise ValueError(f"row {e} has the entry {rows[e, column]}; entries must be finite")
    # First by the largest entry, so that squares neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, initial=0.0)[:, np.newaxis]
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.sqrt((scaled**2).sum(axis=1))[:, np.newaxis]
    unit: npt.NDArray[np.float64] = np.divide(scaled, lengths, out=scaled, where=lengths > 0)
    return unit


def _integer_rows(rows: npt.NDArray[Any], field: int | None) -> npt.NDArray[Any]:
    """Integer rows: denominators cleared and, over the rationals, common factors removed."""
    if rows.dtype.kind == "i":
        divisors = np.ones(len(rows), dtype=np.int64)
        if field is None and rows.shape[1]:
            divisors = np.maximum(np.gcd.reduce(rows, axis=1), 1)
        divided: npt.NDArray[Any] = rows // divisors[:, np.newaxis]
        return divided
    result = np.empty(rows.shape, dtype=object)
    for e, row in enumerate(rows.tolist()):
        if field is not None:
            for entry in row:
                # A whole number is one in any type: numpy.eye(3) is made of floats.
                if not (entry.is_integer() if isinstance(entry, float) else entry == int(entry)):
                    raise ValueError(
                        f"over GF({field}) entries must be integers, row {e} has {entry!r}"
                    )
        denominator = lcm(*(Fraction(entry).denominator for entry in row))
        integers = [int(Fraction(entry) * denominator) for entry in row]
        divisor = 1 if field is not None else gcd(*integers) or 1
        result[e] = [entry // divisor for entry in integers]
    return result


def _compact(integers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy in the narrowest type that holds all entries."""
    low, high = integers.min(initial=0), integers.max(initial=0)
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return integers.astype(dtype)
    return integers.copy()


def _checked_field(field: int) -> int:
    p = integer(field, "field")
    if not 2 <= p < _LARGEST_FIELD or not is_prime(p):
        raise ValueError(f"field must be a prime from 2 to below 2**31, got {p}")
    return p


def _spanning_columns(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Linearly independent columns of `rows` that span the others over the rationals.

    A combination of rows that is 0 in these columns is 0 in all. Fewer columns have smaller minors,
    so that fewer primes are needed.
    """
    columns = np.empty(0, dtype=np.intp)
    product = 1
    for p in large_primes():
        found = pivot_columns(np.array(rows % p, dtype=np.uint64, order="C"), p)
        # Independent modulo a prime is independent over the rationals.
        columns = max(columns, found, key=len)
        product *= p
        larger = len(columns) + 1
        # All minors of the next size are 0 modulo each of these primes. Where the product of the
        # primes exceeds them, they are 0 and the rank is that of the columns.
        if larger > min(rows.shape) or product**2 > _largest_squared_minor(rows, larger):
            break
    spanning: npt.NDArray[Any] = rows[:, columns]
    return spanning


def _primes_for(rows: npt.NDArray[Any]) -> list[int]:
    """Primes whose product exceeds every minor of `rows`."""
    bound = _largest_squared_minor(rows, rows.shape[1])
    primes: list[int] = []
    for p in large_primes():
        primes.append(p)
        if prod(primes) ** 2 > bound:
            break
    return primes


def _largest_squared_minor(rows: npt.NDArray[Any], size: int) -> int:
    """A bound on the squares of the minors of `rows` with `size` rows or fewer, by Hadamard."""
    # A minor is at most the product of the lengths of its rows; squared, to stay with integers,
    # which as objects are of any size.
    squares = np.sort((rows.astype(object) ** 2).sum(axis=1))[::-1]
    return prod(max(1, int(square)) for square in squares[:size])
