"""Graphic matroids: sets of edges without a cycle."""

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list, freeze, integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.graphic import GraphicKernel
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids._spanning_trees import count_spanning_forests
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["GraphicMatroid"]


class GraphicMatroid(CompiledMatroid):
    """Forests of a graph; the bases of a connected one are its spanning trees.

    An independence question costs O(1), building a forest O(V log V) in all.

    Parameters
    ----------
    edges : iterable of pairs
        ``edges[e]`` are the two ends of element e; a vertex is anything hashable. Parallel edges
        are allowed; an edge from a vertex to itself is a loop of the matroid. In a graph that
        falls into pieces the bases are the spanning forests.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> network = mb.GraphicMatroid([("Oslo", "Rome"), ("Rome", "Cork"), ("Cork", "Oslo")])
    >>> network.rank
    2
    >>> network.fundamental_circuit([0, 1], 2)
    array([0, 1, 2])
    """

    def __init__(self, edges: Iterable[tuple[Hashable, Hashable]]) -> None:
        number: dict[Hashable, int] = {}
        ends: list[int] = []
        for e, edge in enumerate(as_list(edges, "edges")):
            try:
                tail, head = edge
            except (TypeError, ValueError):
                raise ValueError(f"edge {e} must be a pair of vertices, got {edge!r}") from None
            try:
                ends.append(number.setdefault(tail, len(number)))
                ends.append(number.setdefault(head, len(number)))
            except TypeError:
                raise ValueError(
                    f"the vertices of edge {e} must be hashable, got {edge!r}"
                ) from None
        super().__init__(len(ends) // 2)
        self._tails = freeze(np.array(ends[::2], dtype=np.intp))
        self._heads = freeze(np.array(ends[1::2], dtype=np.intp))
        self._vertices = tuple(number)

    @classmethod
    def complete(cls, n: int) -> Self:
        """The complete graph on the vertices 0..n-1, edges in lexicographic order."""
        return cls(combinations(range(integer(n, "n", minimum=0)), 2))

    @property
    def edges(self) -> list[tuple[Hashable, Hashable]]:
        """The two ends of every element."""
        return [
            (self._vertices[tail], self._vertices[head])
            for tail, head in zip(self._tails.tolist(), self._heads.tolist(), strict=True)
        ]

    def _kernel(self) -> MatroidKernel:
        return GraphicKernel(len(self._vertices), self._tails, self._heads)

    def _are_loops(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        from_a_vertex_to_itself: npt.NDArray[np.bool_] = (
            self._tails[elements] == self._heads[elements]
        )
        return from_a_vertex_to_itself

    def _n_bases(self) -> int:
        return count_spanning_forests(self._tails, self._heads)

    def _data(self) -> tuple[Any, ...]:
        # Neither the names of the vertices nor the direction of an edge matters: a vertex is the
        # list of the edges at it.
        edges_at: list[list[int]] = [[] for _ in self._vertices]
        for e, ends in enumerate(zip(self._tails.tolist(), self._heads.tolist(), strict=True)):
            for vertex in ends:
                edges_at[vertex].append(e)
        order = sorted(range(len(edges_at)), key=edges_at.__getitem__)
        number = np.argsort(order)
        ends_of = np.sort(number[np.array([self._tails, self._heads])], axis=0)
        return (plain_array(ends_of),)

    def _attributes(self) -> list[tuple[Hashable, Hashable]]:
        return self.edges

    def _dual(self) -> Matroid:
        from matroid_bandits.matroids.cographic import CographicMatroid

        return CographicMatroid(self.edges)

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        # The ends of a contracted edge become one vertex, called by the name of one of them.
        merged = list(range(len(self._vertices)))

        def now(vertex: int) -> int:
            while merged[vertex] != vertex:
                merged[vertex] = vertex = merged[merged[vertex]]
            return vertex

        tails, heads = self._tails.tolist(), self._heads.tolist()
        for e in contracted.tolist():
            merged[now(heads[e])] = now(tails[e])
        return GraphicMatroid(
            (self._vertices[now(tails[e])], self._vertices[now(heads[e])]) for e in kept.tolist()
        )

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        n_vertices = int(rng.integers(1, max(2, size)))
        return cls(map(tuple, rng.integers(0, n_vertices, (size, 2)).tolist()))

    def __repr__(self) -> str:
        return f"GraphicMatroid(size={self.size}, vertices={len(self._vertices)}, rank={self.rank})"
