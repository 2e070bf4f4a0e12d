"""Transversal matroids: sets that can be matched."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list, freeze
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.transversal import TransversalKernel
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["TransversalMatroid"]


class TransversalMatroid(CompiledMatroid):
    """Elements that can all be matched at once: workers who each get a task of their own.

    An independence test costs one augmenting path, O(edges).

    Parameters
    ----------
    neighbors : sequence of iterables of hashable
        ``neighbors[e]`` are the right-hand vertices (tasks) that element e can be matched with.
        An element without any is a loop.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> staff = mb.TransversalMatroid([["cook"], ["cook"], ["cook", "serve"]])
    >>> staff.is_independent([0, 1])
    False
    >>> staff.max_weight_basis([0.2, 0.5, 0.1])
    array([1, 2])
    """

    def __init__(self, neighbors: Sequence[Iterable[Hashable]]) -> None:
        number: dict[Hashable, int] = {}
        start = [0]
        right: list[int] = []
        for e, names in enumerate(as_list(neighbors, "neighbors")):
            if isinstance(names, str):
                raise ValueError(
                    f"neighbors[{e}] must list vertices, got the text {names!r}; "
                    f"for a single one write [{names!r}]"
                )
            try:
                right += dict.fromkeys(number.setdefault(name, len(number)) for name in names)
            except TypeError:
                raise ValueError(
                    f"neighbors[{e}] must list hashable vertices, got {names!r}"
                ) from None
            start.append(len(right))
        super().__init__(len(start) - 1)
        self._start = freeze(np.array(start, dtype=np.intp))
        self._right = freeze(np.array(right, dtype=np.intp))
        self._vertices = tuple(number)

    @property
    def neighbors(self) -> list[list[Hashable]]:
        """The right-hand vertices every element can be matched with."""
        right = self._right.tolist()
        return [
            [self._vertices[y] for y in right[start:end]]
            for start, end in pairwise(self._start.tolist())
        ]

    def _kernel(self) -> MatroidKernel:
        return TransversalKernel(self._start, self._right, len(self._vertices))

    def _are_loops(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        without_neighbors: npt.NDArray[np.bool_] = np.diff(self._start)[elements] == 0
        return without_neighbors

    def _data(self) -> tuple[Any, ...]:
        # Names of right-hand vertices do not matter: each is identified by its elements.
        elements = np.repeat(np.arange(self.size), np.diff(self._start))
        by_vertex = np.argsort(self._right, kind="stable")
        bounds = np.cumsum(np.bincount(self._right, minlength=len(self._vertices)))[:-1]
        elements_of = np.split(elements[by_vertex], bounds)
        return tuple(sorted(tuple(each.tolist()) for each in elements_of))

    def _spec(self) -> dict[str, Any]:
        return {"neighbors": self.neighbors}

    def _attributes(self) -> list[list[Hashable]]:
        return self.neighbors

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        if contracted.size:
            # Not always transversal.
            return super()._minor(kept, contracted)
        neighbors = self.neighbors
        return TransversalMatroid([neighbors[e] for e in kept.tolist()])

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        n_right = int(rng.integers(1, max(2, size)))
        chance = rng.uniform(0.1, 0.7)
        return cls([np.flatnonzero(rng.random(n_right) < chance).tolist() for _ in range(size)])

    def __repr__(self) -> str:
        return (
            f"TransversalMatroid(size={self.size}, right={len(self._vertices)}, rank={self.rank})"
        )
