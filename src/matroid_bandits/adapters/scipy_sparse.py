"""Sparse matrices of SciPy: the elements are rows, or entries."""

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, choice
from matroid_bandits.adapters._numbers import whole_as_integers
from matroid_bandits.matroids import GraphicMatroid, LinearMatroid, TransversalMatroid
from matroid_bandits.problem import Problem, distinct_labels

__all__ = ["from_scipy_sparse"]

_KINDS = ("linear", "transversal", "graphic")

# Numbers of a dense matrix, once per prime; making the matroid takes about 50 bytes for each.
_MAX_ENTRIES = 2**25

# Size of the primes that exact linear matroids use.
_BITS_OF_A_PRIME = 28


def from_scipy_sparse(
    matrix: Any,
    *,
    kind: Literal["linear", "transversal", "graphic"] = "linear",
    labels: Iterable[Hashable] | None = None,
    field: int | None = None,
    tolerance: float = 1e-9,
    sense: Literal["max", "min"] = "max",
) -> Problem[Any, Any]:
    """A problem from a sparse matrix, in any of SciPy's formats.

    Parameters
    ----------
    matrix : sparse matrix or array
        Stored zeros are ignored, and duplicate entries are summed.
    kind : {"linear", "transversal", "graphic"}, default "linear"
        What the matrix means:

        - linear: rows are vectors; rows that are linearly independent may be played together.
        - transversal: row e can be matched with the columns in which it has an entry; rows that
          can all be matched at once may be played together.
        - graphic: a symmetric adjacency matrix; elements are its entries above the diagonal, row
          by row, and those on it, which are loops; edges without a cycle may be played together.
    labels : iterable of hashable, optional
        One name per row, all different. In an adjacency matrix they name vertices, by default
        0, 1, ..., and elements are called ``(vertex, vertex)``.
    field, tolerance : optional
        As in :class:`~matroid_bandits.LinearMatroid`, for vectors. Whole numbers are treated
        exactly, even if they are stored as floats.
    sense : {"max", "min"}, default "max"
        Whether rewards are maximized or costs minimized.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        Among others if vectors are too large: a linear matroid is made from the dense matrix,
        without empty columns and, for whole numbers, without duplicate columns; exact ones need
        more memory the higher the rank. The other kinds need memory for the entries alone.

    Examples
    --------
    >>> import scipy.sparse
    >>> import matroid_bandits as mb
    >>> skills = scipy.sparse.csr_array([[1, 0], [1, 0], [1, 1]])
    >>> names = ["Ann", "Bob", "Eve"]
    >>> staff = mb.from_scipy_sparse(skills, kind="transversal", labels=names)
    >>> staff.best_basis([0.2, 0.5, 0.1])
    ['Bob', 'Eve']
    """
    choice(kind, "kind", _KINDS)
    if field is not None and kind != "linear":
        raise ValueError(f"field is for kind='linear', got field={field!r} with kind={kind!r}")
    entries = _entries(matrix)
    names = None if labels is None else distinct_labels(labels, entries.shape[0], "row")
    if kind == "linear":
        return Problem(_linear(entries, field, tolerance), names, sense=sense)
    if kind == "transversal":
        return Problem(_transversal(entries), names, sense=sense)
    edges = _edges(entries)
    named = edges if names is None else [(names[u], names[v]) for u, v in edges]
    return Problem(GraphicMatroid(edges), named, sense=sense)


def _entries(matrix: Any) -> Any:
    """A copy in CSR format, without zeros and duplicates."""
    # Recognized by its attributes, so that SciPy need not be imported.
    if isinstance(matrix, type) or not all(hasattr(matrix, name) for name in ("tocsr", "shape")):
        raise TypeError(
            f"from_scipy_sparse needs a sparse matrix of SciPy, got {abbreviated(matrix)}; make "
            "one by scipy.sparse.csr_array(...) (pip install 'matroid-bandits[sparse]'), or pass a "
            "matrix that is not sparse to LinearMatroid"
        )
    if len(matrix.shape) != 2:
        raise ValueError(f"the matrix must have rows and columns, got the shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"the entries must be real numbers, got {matrix.dtype}")
    # Sums of small integers could overflow.
    small = matrix.dtype.kind in "iu" and matrix.dtype.itemsize < 8
    entries = (matrix.astype(np.int64) if small else matrix).tocsr(copy=True)
    entries.sum_duplicates()
    unfit = np.flatnonzero(~np.isfinite(entries.data))
    if unfit.size:
        row = np.searchsorted(entries.indptr, unfit[0], side="right") - 1
        raise ValueError(
            f"row {row} has the entry {entries.data[unfit[0]]} in column "
            f"{entries.indices[unfit[0]]}; entries must be finite"
        )
    entries.eliminate_zeros()
    return entries


def _transversal(entries: Any) -> TransversalMatroid:
    columns = entries.indices.tolist()
    return TransversalMatroid([columns[a:b] for a, b in pairwise(entries.indptr.tolist())])


def _linear(entries: Any, field: int | None, tolerance: float) -> LinearMatroid:
    entries.data = whole_as_integers(entries.data)
    exact = entries.data.dtype.kind in "iu"
    columns = _without_empty_columns(entries).tocsc()
    if exact:
        columns = columns[:, _distinct(columns)]
    primes = _n_primes(columns) if exact and field is None else 1
    rows, width = columns.shape
    if rows * width * primes > _MAX_ENTRIES:
        modulo = f", modulo each of {primes} primes" if primes > 1 else ""
        over_one = "use one large prime (field=1000000007) or "
        advice = over_one if rows * width <= _MAX_ENTRIES else ""
        raise ValueError(
            "a linear matroid is made from its dense matrix: without empty and duplicate columns "
            f"these are {rows:,} x {width:,} numbers{modulo}, in all {rows * width * primes:,}, "
            f"and {_MAX_ENTRIES:,} are allowed; {advice}take fewer rows or columns"
        )
    return LinearMatroid(columns.toarray(order="C"), field=field, tolerance=tolerance)


def _n_primes(columns: Any) -> int:
    """An upper bound on the primes that a linear matroid needs, by Hadamard's bound on minors."""
    rows, width = columns.shape
    squares = np.bincount(columns.indices, np.float64(columns.data) ** 2, minlength=rows)
    largest = np.sort(squares)[::-1][: min(rows, width)]
    return 1 + int(np.log2(np.maximum(largest, 1)).sum() / 2 / _BITS_OF_A_PRIME)


def _without_empty_columns(entries: Any) -> Any:
    """In CSR format still: in CSC format every empty column would take memory."""
    filled, places = np.unique(entries.indices, return_inverse=True)
    shape = entries.shape[0], len(filled)
    return type(entries)((entries.data, places, entries.indptr), shape=shape)


def _distinct(columns: Any) -> npt.NDArray[np.intp]:
    """The first of every group of equal columns."""
    columns.sort_indices()
    first: dict[tuple[bytes, bytes], int] = {}
    for column, (start, end) in enumerate(pairwise(columns.indptr.tolist())):
        content = columns.indices[start:end].tobytes(), columns.data[start:end].tobytes()
        first.setdefault(content, column)
    return np.array(list(first.values()), dtype=np.intp)


def _edges(entries: Any) -> list[tuple[int, int]]:
    """The entries on and above the diagonal, row by row."""
    rows, columns = entries.shape
    if rows != columns:
        raise ValueError(
            f"an adjacency matrix has as many columns as rows, got the shape {entries.shape}; for "
            "a matrix of rows and what they can be matched with, kind='transversal'"
        )
    entries.sort_indices()
    tails = np.repeat(np.arange(rows), np.diff(entries.indptr))
    heads = entries.indices.astype(np.intp)
    one_way = np.setdiff1d(tails * rows + heads, heads * rows + tails)
    if one_way.size:
        u, v = divmod(int(one_way[0]), rows)
        raise ValueError(
            f"an adjacency matrix is symmetric, this one has an entry at ({u}, {v}) and none at "
            f"({v}, {u}); if links go both ways, pass matrix + matrix.T"
        )
    upper = tails <= heads
    return list(zip(tails[upper].tolist(), heads[upper].tolist(), strict=True))
