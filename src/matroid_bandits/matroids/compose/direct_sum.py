"""Direct sums: matroids side by side."""

from math import prod
from typing import Any, Self

import numpy as np

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.direct_sum import DirectSumKernel
from matroid_bandits._types import BoolArray, IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import NaryComposition, kernel_of_part
from matroid_bandits.matroids.random_parts import random_part, random_sizes

__all__ = ["DirectSumMatroid"]


class DirectSumMatroid(NaryComposition):
    """Several matroids on elements of their own, played at once: ``first + second``.

    Parameters
    ----------
    *matroids : Matroid
        At least one. The elements of the first come first, then those of the second, and so on. A
        direct sum among them is replaced by its parts.

    Examples
    --------
    A spanning tree and two ads:

    >>> import matroid_bandits as mb
    >>> both = mb.GraphicMatroid.complete(3) + mb.UniformMatroid(2, 4)
    >>> both.size, both.rank
    (7, 4)
    >>> both.max_weight_basis([1, 2, 3, 4, 5, 6, 7])
    array([1, 2, 5, 6])
    >>> both.parts
    (GraphicMatroid(size=3, vertices=3, rank=2), UniformMatroid(rank=2, size=4))
    """

    def __init__(self, *matroids: Matroid) -> None:
        super().__init__(matroids)

    def _total_size(self) -> int:
        return sum(self._sizes)

    def _kernel(self) -> MatroidKernel:
        kernels = [kernel_of_part(*part) for part in zip(self._parts, self._sizes, strict=True)]
        return DirectSumKernel(kernels, self._ranks())

    def _find_rank(self) -> int:
        return sum(self._ranks())

    def _starts(self) -> list[int]:
        """The first element of each part."""
        return [0, *np.cumsum(self._sizes)[:-1].tolist()]

    def _are_loops(self, elements: IntArray) -> BoolArray:
        loops = [s + p.loops for s, p in zip(self._starts(), self._parts, strict=True)]
        return np.isin(elements, np.concatenate(loops))

    def _dual(self) -> Matroid:
        return DirectSumMatroid(*(part.dual() for part in self._parts))

    def _data(self) -> tuple[Any, ...]:
        return ()

    def _spec(self) -> dict[str, Any]:
        return {"matroids": self._parts}

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        minors = []
        for start, part in zip(self._starts(), self._parts, strict=True):
            own = [a[(a >= start) & (a < start + part.size)] - start for a in (kept, contracted)]
            if own[0].size:
                minors.append(part._checked_minor(*own))
        if not minors:
            return self._parts[0].restrict([])
        return minors[0] if len(minors) == 1 else DirectSumMatroid(*minors)

    def _n_bases(self) -> int:
        return prod(part.n_bases() for part in self._parts)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(*(random_part(rng, n) for n in random_sizes(rng, size)))

    def __repr__(self) -> str:
        return f"DirectSumMatroid({', '.join(map(repr, self._parts))})"
