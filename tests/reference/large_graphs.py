"""MAUB on graphs that `ReferenceMAUB` is too slow for.

The steps are those of `ReferenceMAUB`. Two questions are answered by the graph itself and not by
the independence test: greedy is Kruskal's algorithm, and an edge outside a spanning forest can
replace the edges on the path between its ends.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from .change import ChangingMAUB
from .matroids import graphic

Edge = tuple[int, int]


class LargeGraphMAUB(ChangingMAUB):
    """[DG25] MAUB on the spanning forests of a graph. It does not count oracle calls."""

    def __init__(self, edges: Sequence[Edge], *args: Any, **options: Any) -> None:
        self._edges = list(edges)
        super().__init__(len(self._edges), graphic(self._edges), *args, **options)

    def _take_in_order(self, order: Iterable[int]) -> frozenset[int]:
        trees = _Trees(self._edges)
        return frozenset(e for e in order if trees.join(*self._edges[e]))

    def _compute_partners(self, leader: tuple[int, ...]) -> None:
        self._order = self._ascending(leader)
        basis = frozenset(leader)
        ends: dict[int, set[int]] = {}
        for e in self._nonloops:
            if e not in basis:
                for vertex in self._edges[e]:
                    ends.setdefault(vertex, set()).add(e)
        # The leader's edges, the highest mean first. The one that joins the ends of e is the lowest
        # on the path between them.
        self.partners = {}
        trees = _Trees(self._edges)
        for x in reversed(self._order):
            one, two = (trees.members(vertex) for vertex in self._edges[x])
            if len(one) > len(two):
                one, two = two, one
            for vertex in one:
                for e in ends.get(vertex, ()):
                    if e not in self.partners and not two.isdisjoint(self._edges[e]):
                        self.partners[e] = x
            trees.join(*self._edges[x])


class _Trees:
    """The trees of a forest that grows, as sets of vertices."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._tree = {vertex: {vertex} for edge in edges for vertex in edge}

    def members(self, vertex: int) -> set[int]:
        return self._tree[vertex]

    def join(self, a: int, b: int) -> bool:
        """Whether the edge joins two trees."""
        one, two = sorted((self._tree[a], self._tree[b]), key=len)
        if one is two:
            return False
        two |= one
        for vertex in one:
            self._tree[vertex] = two
        return True
