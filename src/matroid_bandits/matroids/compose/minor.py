"""Minors: some elements of a matroid, after others were contracted or deleted."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from matroid_bandits._arguments import distinct_elements, freeze
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._types import BoolArray, IntArray
from matroid_bandits.errors import too_small
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.compose.base import (
    UnaryComposition,
    checked_matroid,
    kernel_of_part,
    rank_of_part,
)
from matroid_bandits.matroids.compose.dual import DualMatroid
from matroid_bandits.matroids.random_parts import random_part

__all__ = ["MinorMatroid"]


class MinorMatroid(UnaryComposition):
    """Some elements of another matroid, renumbered in ascending order.

    A set of them is independent if its union with any basis of the contracted elements is
    independent. ``matroid.restrict``, ``delete`` and ``contract`` give the same matroid, of a
    simpler class where there is one.

    Parameters
    ----------
    matroid : Matroid
    elements : iterable of int
        The elements that are kept.
    contracted : iterable of int, optional
        Elements that count as chosen in every set. None of `elements`. All others are deleted.

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
        self._inner_size = size = checked_matroid(matroid).size
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
        """For each element, its number in the other matroid (a copy)."""
        return self._elements.copy()

    @property
    def contracted(self) -> IntArray:
        """The elements of the other matroid that are contracted (a copy)."""
        return self._contracted.copy()

    @cached_property
    def _completion(self) -> tuple[IntArray, IntArray]:
        """A basis of the contracted elements, and the elements that complete its union with any
        basis of the minor to a basis of the other matroid.
        """
        inner = self._matroid
        rank = rank_of_part(inner, self._inner_size)
        named = np.concatenate((self._contracted, self._elements))
        order = np.concatenate((named, np.delete(np.arange(self._inner_size), named)))
        basis = kernel_of_part(inner, self._inner_size).greedy_basis(order, rank)
        if len(basis) < rank:
            raise too_small(inner, basis.tolist(), rank)
        return basis[np.isin(basis, self._contracted)], basis[~np.isin(basis, named)]

    def _kernel(self) -> MatroidKernel:
        kernel = kernel_of_part(self._matroid, self._inner_size)
        return MinorKernel(kernel, self._elements, *self._completion)

    def _find_rank(self) -> int:
        return rank_of_part(self._matroid, self._inner_size) - sum(map(len, self._completion))

    def _are_loops(self, elements: IntArray) -> BoolArray:
        return np.isin(self._elements[elements], self._matroid.closure(self._contracted))

    def _data(self) -> tuple[Any, ...]:
        return plain_array(self._elements), plain_array(self._contracted)

    def _spec(self) -> dict[str, Any]:
        return {
            "matroid": self._matroid,
            "elements": self._elements,
            "contracted": self._contracted,
        }

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        taken = np.concatenate((self._contracted, self._elements[contracted]))
        return MinorMatroid(self._matroid, self._elements[kept], contracted=taken)

    def _dual(self) -> Matroid:
        dual = self._matroid.dual()
        if isinstance(dual, DualMatroid):
            # Minors of a DualMatroid are duals of minors, so this would not be simpler.
            return super()._dual()
        # Elements deleted here are contracted there, and vice versa.
        named = np.concatenate((self._contracted, self._elements))
        others = np.delete(np.arange(self._inner_size), named)
        return dual._checked_minor(self._elements, others)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        extra = int(rng.integers(0, 5))
        order = rng.permutation(size + extra)
        n_contracted = int(rng.integers(0, extra + 1))
        part = random_part(rng, size + extra)
        return cls(part, order[:size], contracted=order[size : size + n_contracted])

    def __repr__(self) -> str:
        contracted = f", contracted={len(self._contracted)}" if self._contracted.size else ""
        return f"MinorMatroid({self._matroid!r}, size={self.size}{contracted})"
