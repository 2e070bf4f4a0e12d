"""Minors: some elements of a matroid, with others taken for granted."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import distinct_elements, freeze
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._types import IntArray
from matroid_bandits.errors import too_small
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import MadeOfOne, checked_matroid
from matroid_bandits.matroids.compose.dual import DualMatroid
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["MinorMatroid"]


class MinorMatroid(MadeOfOne):
    """Some elements of another matroid, numbered anew in ascending order.

    A set of them is independent if it is so together with any basis of the contracted elements.
    ``matroid.restrict``, ``delete`` and ``contract`` give the same, or something simpler where the
    class of `matroid` knows it.

    Parameters
    ----------
    matroid : Matroid
    elements : iterable of int
        The elements that are kept.
    contracted : iterable of int, optional
        Elements that are taken for granted, as if every set contained them. None of `elements`.
        All others are deleted.

    Examples
    --------
    Links of a network of which one has been built:

    >>> import matroid_bandits as mb
    >>> network = mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> left = mb.MinorMatroid(network, [0, 2, 3], contracted=[1])
    >>> left.elements
    array([0, 2, 3])
    >>> left.rank, left.is_independent([0, 1])
    (2, False)
    """

    def __init__(
        self, matroid: Matroid, elements: Iterable[int], contracted: Iterable[int] = ()
    ) -> None:
        size = checked_matroid(matroid).size
        self._elements = freeze(distinct_elements(elements, size))
        self._contracted = freeze(distinct_elements(contracted, size))
        both = np.intersect1d(self._elements, self._contracted)
        if both.size:
            raise ValueError(
                f"element {both[0]} is to be kept and contracted; leave it out of one of the two"
            )
        super().__init__(matroid, len(self._elements))

    @property
    def elements(self) -> IntArray:
        """Which element of the other matroid each element is (a copy)."""
        return self._elements.copy()

    @property
    def contracted(self) -> IntArray:
        """The elements of the other matroid that are taken for granted (a copy)."""
        return self._contracted.copy()

    @cached_property
    def _frame(self) -> tuple[IntArray, IntArray]:
        """A basis of the contracted elements, and what completes it, together with any basis of
        the minor, to one of the other matroid.
        """
        inner = self._matroid
        named = np.concatenate((self._contracted, self._elements))
        order = np.concatenate((named, np.delete(np.arange(inner.size), named)))
        basis = inner._new_kernel().greedy_basis(order, inner.rank)
        if len(basis) < inner.rank:
            raise too_small(inner, basis.tolist(), inner.rank)
        return basis[np.isin(basis, self._contracted)], basis[~np.isin(basis, named)]

    def _kernel(self) -> MatroidKernel:
        return MinorKernel(self._matroid._new_kernel(), self._elements, *self._frame)

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        if self._contracted.size:
            return super()._are_loops(elements)
        return np.isin(self._elements[elements], self._matroid.loops)

    def _data(self) -> tuple[Any, ...]:
        return plain_array(self._elements), plain_array(self._contracted)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        taken = np.concatenate((self._contracted, self._elements[contracted]))
        return MinorMatroid(self._matroid, self._elements[kept], taken)

    def _dual(self) -> Matroid:
        dual = self._matroid.dual()
        if isinstance(dual, DualMatroid):
            # Its minors are duals of minors: nothing would be gained.
            return super()._dual()
        # What is deleted here is contracted there, and the other way round.
        named = np.concatenate((self._contracted, self._elements))
        others = np.delete(np.arange(self._matroid.size), named)
        return dual._checked_minor(self._elements, others)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        extra = int(rng.integers(0, 5))
        order = rng.permutation(size + extra)
        n_contracted = int(rng.integers(0, extra + 1))
        part = random_part(rng, size + extra)
        return cls(part, order[:size], order[size : size + n_contracted])

    def __repr__(self) -> str:
        contracted = f", contracted={len(self._contracted)}" if self._contracted.size else ""
        return f"MinorMatroid({self._matroid!r}, size={self.size}{contracted})"
