"""Cographic matroids: sets of edges whose removal keeps a graph connected."""

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, Self

import numpy as np

from matroid_bandits._html import Html
from matroid_bandits.matroids.compose.dual import DualMatroid
from matroid_bandits.matroids.graphic import GraphicMatroid

__all__ = ["CographicMatroid"]


class CographicMatroid(DualMatroid):
    """Sets of edges that may fail while the network stays connected.

    It is the dual of the graphic matroid: bases are the complements of spanning trees, and a bridge
    is a loop. If the graph is not connected, each component stays connected. Growing a set costs
    O(edges) per element, an exchange test O(1).

    Parameters
    ----------
    edges : iterable of pairs
        ``edges[e]`` are the two ends of element e, as in
        :class:`~matroid_bandits.GraphicMatroid`.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> network = mb.CographicMatroid([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    >>> network.max_weight_basis([3, 1, 2, 9])
    array([0])
    >>> network.loops
    array([3])
    >>> network.dual()
    GraphicMatroid(size=4, vertices=4, rank=3)
    """

    def __init__(self, edges: Iterable[tuple[Hashable, Hashable]]) -> None:
        self._graph = GraphicMatroid(edges)
        super().__init__(self._graph)

    @property
    def edges(self) -> list[tuple[Hashable, Hashable]]:
        """The two ends of every element."""
        return self._graph.edges

    def _spec(self) -> dict[str, Any]:
        return {"edges": self.edges}

    def _attributes(self) -> list[tuple[Hashable, Hashable]]:
        return self.edges

    def _more_facts(self) -> list[tuple[str, Any]]:
        return self._graph._more_facts()

    def _picture(self, title: Callable[[int], str], marked: Collection[int]) -> Html | None:
        return self._graph._picture(title, marked)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(GraphicMatroid.random(rng, size).edges)

    def __repr__(self) -> str:
        vertices = len(self._graph._vertices)
        return f"CographicMatroid(size={self.size}, vertices={vertices}, rank={self.rank})"
