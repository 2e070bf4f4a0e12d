"""Graphic matroids: sets of edges without a cycle."""

from collections.abc import Callable, Collection, Hashable, Iterable
from itertools import combinations
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list, freeze, integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.graphic import GraphicKernel
from matroid_bandits._graph_drawing import graph_picture
from matroid_bandits._html import Html, number
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids._spanning_trees import count_spanning_forests
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["GraphicMatroid", "checked_edges"]

# A complete graph on more vertices has more edges than a matroid may have elements.
_MAX_VERTICES = 2**16
# A picture of a larger graph would show nothing.
_MOST_DRAWN_VERTICES = 16
_MOST_DRAWN_EDGES = 60


class GraphicMatroid(CompiledMatroid):
    """Forests of a graph; the bases of a connected one are its spanning trees.

    An independence test costs O(1), building a whole forest O(V log V).

    Parameters
    ----------
    edges : iterable of pairs
        ``edges[e]`` are the two ends of element e; a vertex is anything hashable. Parallel edges
        are allowed; an edge from a vertex to itself is a loop of the matroid. If the graph is not
        connected, the bases are the spanning forests. For a NetworkX graph, see
        :func:`~matroid_bandits.from_networkx`.

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
        for e, edge in enumerate(as_list(checked_edges(edges, "edges"), "edges")):
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
        """The complete graph on the vertices 0..n-1, edges in lexicographic order.

        Parameters
        ----------
        n : int
            Number of vertices.
        """
        return cls(combinations(range(integer(n, "n", minimum=0, maximum=_MAX_VERTICES)), 2))

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
        # Names of vertices and directions of edges do not matter: a vertex is identified by the
        # list of its edges.
        edges_at: list[list[int]] = [[] for _ in self._vertices]
        for e, ends in enumerate(zip(self._tails.tolist(), self._heads.tolist(), strict=True)):
            for vertex in ends:
                edges_at[vertex].append(e)
        order = sorted(range(len(edges_at)), key=edges_at.__getitem__)
        number = np.argsort(order)
        ends_of = np.sort(number[np.array([self._tails, self._heads])], axis=0)
        return (plain_array(ends_of),)

    def _spec(self) -> dict[str, Any]:
        return {"edges": self.edges}

    def _attributes(self) -> list[tuple[Hashable, Hashable]]:
        return self.edges

    def _more_facts(self) -> list[tuple[str, Any]]:
        return [("vertices", number(len(self._vertices)))]

    def _picture(self, title: Callable[[int], str], marked: Collection[int]) -> Html | None:
        if len(self._vertices) > _MOST_DRAWN_VERTICES or self.size > _MOST_DRAWN_EDGES:
            return None
        ends = list(zip(self._tails.tolist(), self._heads.tolist(), strict=True))
        titles = [title(e) for e in range(self.size)]
        return graph_picture(self._vertices, ends, titles, marked) if ends else None

    def _dual(self) -> Matroid:
        from matroid_bandits.matroids.cographic import CographicMatroid

        return CographicMatroid(self.edges)

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        # The ends of a contracted edge become one vertex, with the name of one of them.
        merged = list(range(len(self._vertices)))

        def representative(vertex: int) -> int:
            while merged[vertex] != vertex:
                merged[vertex] = vertex = merged[merged[vertex]]
            return vertex

        tails, heads = self._tails.tolist(), self._heads.tolist()
        for e in contracted.tolist():
            merged[representative(heads[e])] = representative(tails[e])

        def name(vertex: int) -> Hashable:
            return self._vertices[representative(vertex)]

        return GraphicMatroid((name(tails[e]), name(heads[e])) for e in kept.tolist())

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        n_vertices = int(rng.integers(1, max(2, size)))
        return cls(map(tuple, rng.integers(0, n_vertices, (size, 2)).tolist()))

    def __repr__(self) -> str:
        return f"GraphicMatroid(size={self.size}, vertices={len(self._vertices)}, rank={self.rank})"


def checked_edges(edges: Any, what: str) -> Any:
    """`edges`, unless they are a whole graph."""
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):
        raise ValueError(
            f"{what} must be a list of pairs, got a {type(edges).__name__}; pass a NetworkX graph "
            "to from_networkx, or its edges"
        )
    return edges
