"""Duals: what a matroid's bases leave over."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.dual import DualKernel
from matroid_bandits._core.matroids.partners import find_partners
from matroid_bandits._types import IntArray
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import MadeOfOne, checked_matroid
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["DualMatroid"]


class DualMatroid(MadeOfOne):
    """The sets that can be left out: those avoided by a basis of another matroid.

    Its bases are what the bases of the other one leave over. ``matroid.dual()`` is the same, or
    something simpler where the class of `matroid` knows it.

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
        return DualKernel(inner._new_kernel(), inner._new_kernel(), inner.rank)

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        # One that can be left out can replace something in any basis; one question after another
        # whether it can be left out would each look at all elements.
        kernel = self._kernel()
        basis = kernel.greedy_basis(np.arange(self.size), self.size)
        without_partner: npt.NDArray[np.bool_] = find_partners(kernel, basis, elements) < 0
        return without_partner

    def _data(self) -> tuple[Any, ...]:
        return ()

    def _dual(self) -> Matroid:
        return self._matroid

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        # What is deleted here is contracted there, and the other way round.
        others = np.delete(np.arange(self.size), np.concatenate((kept, contracted)))
        return self._matroid._checked_minor(kept, others).dual()

    def _n_bases(self) -> int:
        return self._matroid.n_bases()

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(random_part(rng, size))

    def __repr__(self) -> str:
        return f"DualMatroid({self._matroid!r})"
