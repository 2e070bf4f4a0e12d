"""Unions of matroids: sets that can be divided among them."""

from typing import Any, Self

import numpy as np

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.union import UnionKernel
from matroid_bandits._types import BoolArray, IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import NaryComposition, two_kernels
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["UnionMatroid"]


class UnionMatroid(NaryComposition):
    """The sets that can be divided into one independent set of each matroid: ``first | second``.

    An independence test costs one augmenting path: a search through circuits of all matroids.

    Parameters
    ----------
    *matroids : Matroid
        At least one, all on the same elements. A union among them is replaced by its parts.

    Examples
    --------
    Links for two spanning trees that have none in common:

    >>> import matroid_bandits as mb
    >>> network = mb.GraphicMatroid.complete(4)
    >>> two_trees = network | network
    >>> two_trees.rank
    6

    Two teams, each with one of every trade:

    >>> team = mb.PartitionMatroid(["cook", "cook", "cook", "waiter"], capacities=1)
    >>> mb.UnionMatroid(team, team).max_weight_basis([5, 6, 7, 1])
    array([1, 2, 3])
    """

    def __init__(self, *matroids: Matroid) -> None:
        super().__init__(matroids)

    def _total_size(self) -> int:
        if len(set(self._sizes)) > 1:
            raise ValueError(
                f"a union is of matroids on the same elements, got sizes {self._sizes}; for "
                "elements of their own, add them up: first + second"
            )
        return self._sizes[0]

    def _kernel(self) -> MatroidKernel:
        kernels = [two_kernels(part, self.size) for part in self._parts]
        growing, exchanging = zip(*kernels, strict=True)
        return UnionKernel(list(growing), list(exchanging), self._ranks())

    def _find_rank(self) -> int:
        limit = min(self.size, sum(self._ranks()))
        return len(self._new_kernel().greedy_basis(np.arange(self.size), limit))

    def _are_loops(self, elements: IntArray) -> BoolArray:
        in_all: BoolArray = np.all([np.isin(elements, part.loops) for part in self._parts], axis=0)
        return in_all

    def _data(self) -> tuple[Any, ...]:
        return ()

    def _spec(self) -> dict[str, Any]:
        return {"matroids": self._parts}

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        if contracted.size:
            return super()._minor(kept, contracted)
        return UnionMatroid(*(part.restrict(kept) for part in self._parts))

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        # Small ranks, so that not everything is independent.
        parts = [random_part(rng, size) for _ in range(int(rng.integers(2, 4)))]
        return cls(*(part.truncate(size // 3) for part in parts))

    def __repr__(self) -> str:
        return f"UnionMatroid({', '.join(map(repr, self._parts))})"
