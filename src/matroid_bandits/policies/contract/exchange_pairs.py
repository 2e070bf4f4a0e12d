"""The basis that looks best, and all exchanges with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from matroid_bandits._core.matroids.partners import find_circuits

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.matroids import Matroid

__all__ = ["ExchangePairs", "exchanges_of"]


def exchanges_of(matroid: Matroid, basis: IntArray) -> tuple[IntArray, IntArray]:
    """All exchanges with a basis, which ascends: what leaves it, and what comes.

    By what comes, and then by what leaves, ascending.
    """
    is_other = np.ones(matroid.size, dtype=np.bool_)
    is_other[basis] = False
    is_other[matroid.loops] = False
    return find_circuits(matroid._new_kernel(), basis, np.flatnonzero(is_other))


class ExchangePairs:
    """The best basis by given means, with the pairs of elements that can be exchanged.

    Circuits do not depend on the means. They are kept as long as the basis stays the best one,
    which its exchanges show: then no oracle is called.

    Parameters
    ----------
    matroid : Matroid

    Attributes
    ----------
    basis : numpy.ndarray
        The best basis, ascending.
    inside, outside : numpy.ndarray
        The pairs: an element of the basis, and one that can replace it; by the second one, and
        then by the first one, ascending.
    """

    def __init__(self, matroid: Matroid) -> None:
        self._matroid = matroid
        self._is_known = False
        self.basis: IntArray = np.zeros(0, dtype=np.intp)
        self.inside = self.outside = self.basis

    def refresh(self, means: FloatArray) -> None:
        """Find the best basis by these means; ties go to the lowest index."""
        if self._is_known and self._is_best(means):
            return
        matroid = self._matroid
        self._is_known = False
        self.basis = np.sort(matroid.max_weight_basis(means))
        self.inside, self.outside = exchanges_of(matroid, self.basis)
        self._is_known = True

    def _is_best(self, means: FloatArray) -> bool:
        """Whether no exchange improves the basis."""
        own, other = means[self.inside], means[self.outside]
        is_better = (own > other) | ((own == other) & (self.inside < self.outside))
        return bool(is_better.all())
