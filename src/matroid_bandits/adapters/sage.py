"""Conversions from and to matroids of SageMath.

Classes that both libraries have are converted into each other. Any other matroid of SageMath is the
oracle of an :class:`~matroid_bandits.OracleMatroid`, any other of ours becomes a ``RankMatroid``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated
from matroid_bandits.matroids import (
    DualMatroid,
    GraphicMatroid,
    LinearMatroid,
    Matroid,
    OracleMatroid,
    PartitionMatroid,
    PavingMatroid,
    TransversalMatroid,
    UniformMatroid,
    linear,
)
from matroid_bandits.problem import Problem

__all__ = ["from_sage", "to_sage"]

_INSTALL = "pip install passagemath-modules passagemath-graphs"


# ---- from SageMath ----


def from_sage(matroid: Any, *, sense: Literal["max", "min"] = "max") -> Problem:
    """A matroid of SageMath as a problem; its elements are the labels.

    Uniform, paving, graphic, transversal and partition matroids, those of matrices over the
    rationals and over prime fields, and duals of all these become ours, with compiled kernels. For
    any other matroid, every independence test calls SageMath.

    Parameters
    ----------
    matroid : sage.matroids.matroid.Matroid
        Any matroid of SageMath.
    sense : {"max", "min"}, default "max"
        Whether rewards are maximized or costs minimized.

    Returns
    -------
    Problem
        Labels are the elements of the ground set in ascending order. Where they cannot be
        compared, they are in the order of their types and texts.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from sage.matroids.database_matroids import Vamos
    >>> vamos = mb.from_sage(Vamos())
    >>> vamos.is_independent(["a", "b", "c", "d"])
    False
    >>> vamos.best_basis([9, 8, 7, 6, 5, 4, 3, 2])
    ['a', 'b', 'c', 'e']
    """
    if not _is_from_sage(matroid):
        raise TypeError(
            f"from_sage needs a matroid of SageMath, got {abbreviated(matroid)}; for a function "
            "that tests independence, use OracleMatroid(size, function)"
        )
    labels = _ascending(matroid.groundset())
    return Problem(_ours(matroid, labels), labels=labels, sense=sense)


def _is_from_sage(matroid: Any) -> bool:
    # Recognized by the names of its classes, so that SageMath need not be imported.
    classes = type(matroid).__mro__
    return any((c.__module__, c.__name__) == ("sage.matroids.matroid", "Matroid") for c in classes)


def _ascending(elements: Iterable[Any]) -> list[Any]:
    """The elements of a set, in an order that does not depend on how the set lists them."""
    listed = list(elements)
    # Comparing sets is only a partial order.
    if not any(isinstance(x, (set, frozenset)) for x in listed):
        try:
            return sorted(listed)
        except TypeError:
            pass
    return sorted(listed, key=lambda x: (type(x).__name__, _text(x)))


def _text(element: Any) -> str:
    return str(sorted(map(str, element))) if isinstance(element, frozenset) else str(element)


def _ours(matroid: Any, labels: Sequence[Any]) -> Matroid:
    for cls in type(matroid).__mro__:
        read = _READERS.get(cls.__name__)
        if read is not None and cls.__module__.startswith("sage.matroids."):
            found = read(matroid, labels)
            if found is not None:
                return found
    return OracleMatroid(len(labels), _SageOracle(matroid, tuple(labels)))


@dataclass(frozen=True)
class _SageOracle:
    """The independence test of SageMath's matroid; an object, so that it can be pickled."""

    matroid: Any
    labels: tuple[Any, ...]

    def __call__(self, elements: frozenset[int]) -> bool:
        return bool(self.matroid.is_independent(frozenset(self.labels[e] for e in elements)))


def _from_closures(matroid: Any, labels: Sequence[Any]) -> Matroid | None:
    """Uniform and paving matroids, which SageMath has as circuit closures."""
    rank = int(matroid.full_rank())
    closures = {int(r): sets for r, sets in matroid.circuit_closures().items() if sets}
    if closures.keys() - {rank - 1, rank}:
        return None
    number = {label: e for e, label in enumerate(labels)}
    planes = [[number[x] for x in plane] for plane in closures.get(rank - 1, ())]
    return PavingMatroid(rank, len(labels), planes) if planes else UniformMatroid(rank, len(labels))


def _from_graph(matroid: Any, labels: Sequence[Any]) -> Matroid:
    return GraphicMatroid([matroid.groundset_to_edges([x])[0][:2] for x in labels])


def _from_matrix(matroid: Any, labels: Sequence[Any]) -> Matroid | None:
    ring = matroid.base_ring()
    vectors = matroid.representation_vectors()
    rows = [list(vectors[x]) for x in labels]
    if ring is import_module("sage.rings.rational_field").QQ or ring is _integer_ring():
        exact = [[Fraction(int(x.numerator()), int(x.denominator())) for x in r] for r in rows]
        return LinearMatroid(_matrix(exact))
    p = int(ring.characteristic())
    # Only a prime field consists of the numbers modulo p.
    if p == 0 or p >= linear._LARGEST_FIELD or int(ring.cardinality()) != p:
        return None
    return LinearMatroid(_matrix([[int(x) for x in row] for row in rows]), field=p)


def _integer_ring() -> Any:
    # Regular matroids are given by integers.
    return import_module("sage.rings.integer_ring").ZZ


def _matrix(rows: list[list[Any]]) -> npt.NDArray[Any]:
    width = len(rows[0]) if rows else 0
    matrix = np.empty((len(rows), width), dtype=object)
    for e, row in enumerate(rows):
        matrix[e] = row
    return matrix


def _from_sets(matroid: Any, labels: Sequence[Any]) -> Matroid:
    sets = [frozenset(members) for members in matroid.sets()]
    return TransversalMatroid([[i for i, s in enumerate(sets) if x in s] for x in labels])


def _from_partition(matroid: Any, labels: Sequence[Any]) -> Matroid:
    # One of each part; a part is the closure of any of its elements.
    group: dict[Any, int] = {}
    for x in labels:
        if x not in group:
            group |= dict.fromkeys(matroid.closure([x]), len(group))
    return PartitionMatroid([group[x] for x in labels], 1)


def _from_dual(matroid: Any, labels: Sequence[Any]) -> Matroid:
    return _ours(matroid.dual(), labels).dual()


_READERS: dict[str, Callable[[Any, Sequence[Any]], Matroid | None]] = {
    "CircuitClosuresMatroid": _from_closures,
    "DualMatroid": _from_dual,
    "GraphicMatroid": _from_graph,
    "LinearMatroid": _from_matrix,
    "PartitionMatroid": _from_partition,
    "TransversalMatroid": _from_sets,
}


# ---- to SageMath ----


def to_sage(matroid: Matroid | Problem) -> Any:
    """The matroid as one of SageMath's; its ground set are the labels.

    Uniform, paving, graphic, transversal and exact linear matroids, partitions with capacities of
    1, and duals of all these become the corresponding classes. Any other becomes a ``RankMatroid``
    that calls ours.

    Parameters
    ----------
    matroid : Matroid or Problem
        The labels of a problem are kept, its sense is not.

    Raises
    ------
    ImportError
        If SageMath's matroids are not installed.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> k4 = mb.GraphicMatroid.complete(4)
    >>> mb.to_sage(k4).is_isomorphic(mb.to_sage(k4.dual()))
    True
    """
    if not isinstance(matroid, (Matroid, Problem)):
        raise TypeError(f"to_sage needs a Matroid or a Problem, got {abbreviated(matroid)}")
    problem = Problem.of(matroid)
    labels = list(range(problem.size)) if problem.labels is None else list(problem.labels)
    return _to_sage(problem.matroid, labels)


def _sage(module: str, name: str) -> Any:
    """An object of SageMath, which has no type annotations."""
    try:
        for everything in ("all__sagemath_modules", "all__sagemath_graphs"):
            import_module(f"sage.{everything}")  # its modules import each other; this order works
        return getattr(import_module(f"sage.{module}"), name)
    except ImportError as error:
        raise ImportError(f"to_sage needs SageMath's matroids ({error}): {_INSTALL}") from error


def _to_sage(matroid: Matroid, labels: list[Any]) -> Any:
    found = None
    # The data are useless if a subclass has changed the definition.
    if not matroid._is_python():
        write = next((w for cls, w in _WRITERS.items() if isinstance(matroid, cls)), None)
        found = None if write is None else write(matroid, labels)
    return _as_rank_matroid(matroid, labels) if found is None else found


def _as_rank_matroid(matroid: Matroid, labels: list[Any]) -> Any:
    number = {label: e for e, label in enumerate(labels)}

    def rank(elements: Iterable[Any]) -> int:
        order = np.array(sorted(number[x] for x in elements), dtype=np.intp)
        return len(matroid._new_kernel().greedy_basis(order, matroid.rank))

    return _sage("matroids.rank_matroid", "RankMatroid")(labels, rank)


def _closures(matroid: UniformMatroid | PavingMatroid, labels: list[Any]) -> Any:
    planes = matroid.hyperplanes if isinstance(matroid, PavingMatroid) else []
    closures: dict[int, Any] = {}
    if planes:
        closures[matroid.rank - 1] = [[labels[e] for e in plane] for plane in planes]
    if matroid.rank < matroid.size:
        closures[matroid.rank] = [labels]
    cls = _sage("matroids.circuit_closures_matroid", "CircuitClosuresMatroid")
    return cls(groundset=labels, circuit_closures=closures)


def _dual(matroid: DualMatroid, labels: list[Any]) -> Any:
    return _to_sage(matroid.dual(), labels).dual()


def _graph(matroid: GraphicMatroid, labels: list[Any]) -> Any:
    edges = [(u, v, x) for (u, v), x in zip(matroid.edges, labels, strict=True)]
    graph = _sage("graphs.graph", "Graph")(edges, multiedges=True, loops=True)
    # With loops SageMath's class for graphs has a wrong corank, and is relabeled wrongly (10.8.13);
    # the class for totally unimodular matrices is right.
    regular = any(u == v for u, v, _ in edges)
    return _sage("matroids.constructor", "Matroid")(graph=graph, regular=regular)


def _sets(matroid: TransversalMatroid, labels: list[Any]) -> Any:
    members: dict[Any, list[Any]] = {}
    for x, near in zip(labels, matroid.neighbors, strict=True):
        for slot in near:
            members.setdefault(slot, []).append(x)
    cls = _sage("matroids.transversal_matroid", "TransversalMatroid")
    return cls(list(members.values()), groundset=labels)


def _partition(matroid: PartitionMatroid, labels: list[Any]) -> Any:
    # SageMath's class has no others.
    if (matroid._capacities != 1).any():
        return None
    parts: dict[int, list[Any]] = {}
    for x, group in zip(labels, matroid._groups.tolist(), strict=True):
        parts.setdefault(group, []).append(x)
    return _sage("matroids.union_matroid", "PartitionMatroid")(list(parts.values()))


def _columns(matroid: LinearMatroid, labels: list[Any]) -> Any:
    if matroid._primes is None:
        return None
    residues = [_dense(matroid, i) for i in range(len(matroid._primes))]
    if matroid._field is not None:
        rows, ring = residues[0], _prime_field(matroid._field)
    else:
        rows, ring = (
            _lifted(residues, matroid._primes.tolist()),
            _sage("rings.rational_field", "QQ"),
        )
        # A minor that is 0 modulo all primes is 0 if it is smaller than their product.
        if (
            linear._largest_squared_minor(rows, rows.shape[1])
            >= prod(matroid._primes.tolist()) ** 2
        ):
            return None
    columns = _sage("matrix.constructor", "matrix")(ring, *rows.T.shape, rows.T.ravel().tolist())
    return _sage("matroids.constructor", "Matroid")(labels, matrix=columns)


def _prime_field(p: int) -> Any:
    try:
        return _sage("rings.finite_rings.finite_field_constructor", "GF")(p)
    except ImportError:
        # p is known to be prime; to test it, SageMath needs one more package.
        direct = _sage("rings.finite_rings.finite_field_prime_modn", "FiniteField_prime_modn")
        return direct(p, check=False)


def _dense(matroid: LinearMatroid, i: int) -> npt.NDArray[Any]:
    """The rows modulo the i-th prime."""
    ends = matroid._starts[i]
    here = slice(ends[0], ends[-1])
    elements = np.repeat(np.arange(matroid.size), np.diff(ends))
    rows = np.zeros((matroid.size, matroid._width), dtype=object)
    rows[elements, matroid._columns[here]] = matroid._values[here].tolist()
    return rows


def _lifted(residues: list[npt.NDArray[Any]], primes: list[int]) -> npt.NDArray[Any]:
    """The integers of least absolute value with these residues."""
    modulus = prod(primes)
    parts = (modulus // p * pow(modulus // p, -1, p) for p in primes)
    rows = sum(part * rest for part, rest in zip(parts, residues, strict=True)) % modulus
    return np.where(2 * rows > modulus, rows - modulus, rows)


_WRITERS: dict[type[Matroid], Callable[[Any, list[Any]], Any]] = {
    DualMatroid: _dual,
    GraphicMatroid: _graph,
    LinearMatroid: _columns,
    PartitionMatroid: _partition,
    PavingMatroid: _closures,
    TransversalMatroid: _sets,
    UniformMatroid: _closures,
}
