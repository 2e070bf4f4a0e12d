"""Truncations: at most so many elements of another matroid."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.truncated import TruncatedKernel
from matroid_bandits._types import IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import MadeOfOne, checked_matroid
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["TruncatedMatroid"]


class TruncatedMatroid(MadeOfOne):
    """The independent sets of another matroid with at most `rank` elements.

    ``matroid.truncate(rank)`` is the same, or something simpler where the class of `matroid` knows
    it.

    Parameters
    ----------
    matroid : Matroid
    rank : int
        The most elements that may be played; from the rank of `matroid` on, no restriction.

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
        rank = self._matroid.rank
        return TruncatedKernel(self._matroid._new_kernel(), rank, min(self._limit, rank))

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        if self._limit == 0:
            return np.ones(len(elements), dtype=np.bool_)
        return np.isin(elements, self._matroid.loops)

    def _data(self) -> tuple[Any, ...]:
        return (self._limit,)

    def _truncate(self, rank: int) -> Matroid:
        return self._matroid.truncate(rank)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        left = max(0, self._limit - self._matroid.restrict(contracted).rank)
        return self._matroid._checked_minor(kept, contracted).truncate(left)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        part = random_part(rng, size)
        return cls(part, int(rng.integers(0, part.rank + 1)))

    def __repr__(self) -> str:
        return f"TruncatedMatroid({self._matroid!r}, rank={self._limit})"
