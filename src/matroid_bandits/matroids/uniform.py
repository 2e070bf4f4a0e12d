"""Uniform matroids: any `rank` elements may be played together."""

from math import comb
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.partition import PartitionKernel
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["UniformMatroid"]


class UniformMatroid(CompiledMatroid):
    """Any elements, up to a fixed number: the "top-k" constraint.

    An independence test costs O(1).

    Parameters
    ----------
    rank : int
        How many elements are played, from 0 to `size`.
    size : int
        Number of elements.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.UniformMatroid(2, 4).max_weight_basis([0.3, 0.9, 0.1, 0.3])
    array([0, 1])
    """

    _rank_is_quick = True

    def __init__(self, rank: int, size: int) -> None:
        super().__init__(size)
        self._limit = integer(rank, "rank", minimum=0)
        if self._limit > self.size:
            raise ValueError(f"rank must be at most size = {self.size}, got {self._limit}")

    def _find_rank(self) -> int:
        return self._limit

    def _kernel(self) -> MatroidKernel:
        return PartitionKernel(
            np.zeros(self.size, dtype=np.intp), np.array([self._limit], dtype=np.intp)
        )

    def _are_loops(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        return np.full(len(elements), self._limit == 0)

    def _dual(self) -> Matroid:
        return UniformMatroid(self.size - self._limit, self.size)

    def _truncate(self, rank: int) -> Matroid:
        return UniformMatroid(rank, self.size)

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        left = max(0, self._limit - len(contracted))
        return UniformMatroid(min(left, len(kept)), len(kept))

    def _data(self) -> tuple[Any, ...]:
        return (self._limit,)

    def _spec(self) -> dict[str, Any]:
        return {"rank": self._limit, "size": self.size}

    def _n_bases(self) -> int:
        return comb(self.size, self._limit)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(int(rng.integers(0, size + 1)), size)

    def __repr__(self) -> str:
        return f"UniformMatroid(rank={self._limit}, size={self.size})"
