"""Duals: complements of bases."""

from typing import Any, Self

import numpy as np

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.dual import DualKernel
from matroid_bandits._core.matroids.partners import find_replacements
from matroid_bandits._types import BoolArray, IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import (
    UnaryComposition,
    checked_matroid,
    kernel_of_part,
    rank_of_part,
    two_kernels,
)
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["DualMatroid"]


class DualMatroid(UnaryComposition):
    """The sets that some basis of another matroid avoids.

    Its bases are the complements of the bases of the other matroid. ``matroid.dual()`` is the same
    matroid, of a simpler class where there is one.

    Parameters
    ----------
    matroid : Matroid

    Examples
    --------
    Links of a network that can be shut down together without cutting it:

    >>> import matroid_bandits as mb
    >>> network = mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> spare = mb.DualMatroid(network)
    >>> spare.rank, spare.loops
    (1, array([3]))
    >>> spare.is_independent([0, 1])
    False
    """

    def __init__(self, matroid: Matroid) -> None:
        super().__init__(matroid, checked_matroid(matroid).size)

    def _kernel(self) -> MatroidKernel:
        inner = self._matroid
        if isinstance(inner, DualMatroid) and not inner._is_python():
            # The dual of the dual of a matroid is the matroid.
            return kernel_of_part(inner._matroid, self.size)
        return DualKernel(*two_kernels(inner, self.size), rank_of_part(inner, self.size))

    def _find_rank(self) -> int:
        return self.size - rank_of_part(self._matroid, self.size)

    def _are_loops(self, elements: IntArray) -> BoolArray:
        # A loop is in every basis of the other matroid: no element can replace it.
        inner = self._matroid
        kernel = kernel_of_part(inner, self.size)
        everything = np.arange(self.size)
        basis = kernel.greedy_basis(everything, rank_of_part(inner, self.size))
        others = np.setdiff1d(everything, np.append(basis, inner.loops))
        loops = basis[find_replacements(kernel, basis, others) < 0]
        return np.isin(elements, loops)

    def _data(self) -> tuple[Any, ...]:
        return ()

    def _spec(self) -> dict[str, Any]:
        return {"matroid": self._matroid}

    def _dual(self) -> Matroid:
        return self._matroid

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        # Elements deleted here are contracted there, and vice versa.
        others = np.delete(np.arange(self.size), np.concatenate((kept, contracted)))
        return self._matroid._checked_minor(kept, others).dual()

    def _n_bases(self) -> int:
        return self._matroid.n_bases()

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(random_part(rng, size))

    def __repr__(self) -> str:
        return f"DualMatroid({self._matroid!r})"
