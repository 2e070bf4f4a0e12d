"""Gammoids: vertices from which disjoint paths lead to targets."""

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._types import IntArray
from matroid_bandits.matroids.base import CompiledMatroid, Matroid
from matroid_bandits.matroids.graphic import checked_edges
from matroid_bandits.matroids.transversal import TransversalMatroid

__all__ = ["GammoidMatroid"]


class GammoidMatroid(CompiledMatroid):
    """Vertices that can all be linked to targets at once, by paths that share no vertex.

    For example, senders that each need a path of their own through a network of relays. Adding an
    element and an exchange test each cost a search for alternating paths, O(arcs).

    Parameters
    ----------
    arcs : iterable of pairs
        ``(u, v)`` leads from u to v; a vertex is anything hashable.
    targets : iterable of hashable
        Where paths end. A target is linked to itself by a path without arcs.
    elements : iterable of hashable, optional
        The vertices that are elements, in this order. Default: all, in the order in which they
        first appear in `arcs` and then in `targets`. Paths may use the others as well.

    Notes
    -----
    With all vertices as elements the dual is transversal: its sets are, for every vertex outside
    the targets, that vertex with the heads of its arcs [IP73]. So paths are found by matching.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> arcs = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("x", "s"), ("y", "t")]
    >>> senders = mb.GammoidMatroid(arcs, targets=["s", "t"], elements=["a", "b", "c"])
    >>> senders.rank
    2
    >>> senders.max_weight_basis([1, 3, 2])
    array([1, 2])
    >>> mb.GammoidMatroid(arcs, targets=["s"]).vertices
    ['a', 'x', 'b', 'y', 'c', 's', 't']
    """

    def __init__(
        self,
        arcs: Iterable[tuple[Hashable, Hashable]],
        targets: Iterable[Hashable],
        elements: Iterable[Hashable] | None = None,
    ) -> None:
        given = as_list(checked_edges(arcs, "arcs"), "arcs")
        self._arcs = tuple(_pair(arc, i) for i, arc in enumerate(given))
        self._targets = tuple(_vertices(targets, "targets"))
        known = dict.fromkeys([*(end for arc in self._arcs for end in arc), *self._targets])
        chosen = list(known) if elements is None else _vertices(elements, "elements")
        for i, vertex in enumerate(chosen):
            if vertex not in known:
                raise ValueError(f"element {i}, {vertex!r}, is neither in an arc nor a target")
        self._vertices = tuple(chosen)
        super().__init__(len(chosen))
        # The elements come first, so that they keep their order.
        everywhere = list(dict.fromkeys([*chosen, *known]))
        inner = _transversal(everywhere, self._arcs, set(self._targets)).dual()
        self._inner = inner.restrict(range(len(chosen)))

    @property
    def vertices(self) -> list[Hashable]:
        """The vertex of every element."""
        return list(self._vertices)

    @property
    def arcs(self) -> list[tuple[Hashable, Hashable]]:
        """The two ends of every arc."""
        return list(self._arcs)

    @property
    def targets(self) -> list[Hashable]:
        """Where paths end."""
        return list(self._targets)

    def _kernel(self) -> MatroidKernel:
        return self._inner._new_kernel()

    def _find_rank(self) -> int:
        return self._inner.rank

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        return self._inner._are_loops(elements)

    def _data(self) -> tuple[Any, ...]:
        # Elements have their numbers. The other vertices are numbered in the order of their texts,
        # so that the order of the arcs does not matter.
        others = dict.fromkeys([*(end for arc in self._arcs for end in arc), *self._targets])
        for vertex in self._vertices:
            del others[vertex]
        number = {v: i for i, v in enumerate([*self._vertices, *sorted(others, key=repr)])}
        arcs = sorted({(number[tail], number[head]) for tail, head in self._arcs})
        targets = sorted(number[vertex] for vertex in self._targets)
        return tuple(arcs), tuple(targets)

    def _spec(self) -> dict[str, Any]:
        return {"arcs": self._arcs, "targets": self._targets, "elements": self._vertices}

    def _attributes(self) -> Any:
        return self._vertices, self._arcs, self._targets

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        if contracted.size:
            return super()._minor(kept, contracted)
        return GammoidMatroid(self._arcs, self._targets, [self._vertices[e] for e in kept])

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        n_vertices = size + int(rng.integers(0, 4))
        targets = np.flatnonzero(rng.random(n_vertices) < rng.uniform(0.2, 0.6))
        arcs = rng.integers(0, max(n_vertices, 1), (2 * n_vertices, 2))
        # An arc from each vertex to itself changes nothing, and names the vertex.
        own = [(v, v) for v in range(n_vertices)]
        return cls([*own, *map(tuple, arcs.tolist())], targets.tolist(), range(size))

    def __repr__(self) -> str:
        return (
            f"GammoidMatroid(size={self.size}, arcs={len(self._arcs)}, "
            f"targets={len(self._targets)}, rank={self.rank})"
        )


def _transversal(
    vertices: list[Any], arcs: Iterable[tuple[Any, Any]], targets: set[Any]
) -> TransversalMatroid:
    """The dual of the gammoid on all vertices."""
    sets_of = {v: [] if v in targets else [v] for v in vertices}
    for tail, head in arcs:
        if tail not in targets:
            sets_of[head].append(tail)
    return TransversalMatroid(list(sets_of.values()))


def _pair(arc: Any, i: int) -> tuple[Hashable, Hashable]:
    try:
        tail, head = arc
        hash((tail, head))
    except (TypeError, ValueError):
        raise ValueError(f"arc {i} must be a pair of hashable vertices, got {arc!r}") from None
    return tail, head


def _vertices(values: Any, what: str) -> list[Hashable]:
    vertices = as_list(values, what)
    seen: set[Hashable] = set()
    for vertex in vertices:
        try:
            hash(vertex)
            is_second = vertex in seen
        except TypeError:
            raise ValueError(f"{what} must be hashable vertices, got {vertex!r}") from None
        if is_second:
            raise ValueError(f"{what} have the vertex {vertex!r} twice")
        seen.add(vertex)
    return vertices
