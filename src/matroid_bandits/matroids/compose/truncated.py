"""Truncations: the independent sets of a matroid up to some size."""

from typing import Any, Self

import numpy as np

from matroid_bandits._arguments import integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.truncated import TruncatedKernel
from matroid_bandits._types import BoolArray, IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import (
    UnaryComposition,
    checked_matroid,
    kernel_of_part,
    rank_of_part,
)
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["TruncatedMatroid"]


class TruncatedMatroid(UnaryComposition):
    """The independent sets of another matroid with at most `rank` elements.

    ``matroid.truncate(rank)`` is the same matroid, of a simpler class where there is one.

    Parameters
    ----------
    matroid : Matroid
    rank : int
        The most elements that may be played. The rank of `matroid`, or more, restricts nothing.

    Examples
    --------
    Five ads in all, at most two of a kind:

    >>> import matroid_bandits as mb
    >>> two_of_a_kind = mb.PartitionMatroid(list("aaabbbcccddd"), capacities=2)
    >>> ads = mb.TruncatedMatroid(two_of_a_kind, 5)
    >>> ads.max_weight_basis([9, 9, 9, 8, 8, 8, 7, 7, 7, 6, 6, 6])
    array([0, 1, 3, 4, 6])
    """

    def __init__(self, matroid: Matroid, rank: int) -> None:
        super().__init__(matroid, checked_matroid(matroid).size)
        self._limit = integer(rank, "rank", minimum=0)

    def _kernel(self) -> MatroidKernel:
        rank = rank_of_part(self._matroid, self.size)
        kernel = kernel_of_part(self._matroid, self.size)
        return TruncatedKernel(kernel, rank, min(self._limit, rank))

    def _find_rank(self) -> int:
        return min(self._limit, rank_of_part(self._matroid, self.size))

    def _are_loops(self, elements: IntArray) -> BoolArray:
        if self._limit == 0:
            return np.ones(len(elements), dtype=np.bool_)
        return np.isin(elements, self._matroid.loops)

    def _data(self) -> tuple[Any, ...]:
        return (self._limit,)

    def _spec(self) -> dict[str, Any]:
        return {"matroid": self._matroid, "rank": self._limit}

    def _truncate(self, rank: int) -> Matroid:
        return self._matroid.truncate(rank)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        left = max(0, self._limit - self._matroid.rank_of(contracted))
        return self._matroid._checked_minor(kept, contracted).truncate(left)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        part = random_part(rng, size)
        return cls(part, int(rng.integers(0, part.rank + 1)))

    def __repr__(self) -> str:
        return f"TruncatedMatroid({self._matroid!r}, rank={self._limit})"
