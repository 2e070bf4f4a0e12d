"""Rounds in which not everything is on offer."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from matroid_bandits._arguments import freeze
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.matroids import Matroid, MinorMatroid
from matroid_bandits.matroids.base import CompiledMatroid

__all__ = ["Decision", "OnOffer"]

M = TypeVar("M", bound=Matroid)


class OnOffer(CompiledMatroid):
    """The restriction of a matroid to some elements, numbers kept: all others are loops.

    Parameters
    ----------
    matroid : Matroid
        What may be played when everything is on offer.
    available : array of int
        The elements on offer, ascending.
    """

    def __init__(self, matroid: Matroid, available: IntArray) -> None:
        super().__init__(matroid.size)
        self._whole = matroid
        self._available = freeze(available)
        # What completes a basis is the same, however the elements are numbered.
        self._frame = MinorMatroid(matroid, available)._frame
        closed = np.delete(np.arange(matroid.size), available)
        self._elements = np.arange(matroid.size)
        self._elements[closed] = -1
        freeze(self._elements)
        rank = matroid.rank - len(self.missing)
        self._known_facts = rank, np.union1d(closed, matroid.loops)

    @property
    def missing(self) -> IntArray:
        """Elements that are not on offer, and with which a basis of what is would be a full one."""
        return self._frame[1]

    def is_for(self, available: IntArray) -> bool:
        """Whether this is what is on offer."""
        return np.array_equal(self._available, available)

    def _kernel(self) -> MatroidKernel:
        return MinorKernel(self._whole._new_kernel(), self._elements, *self._frame)

    def __repr__(self) -> str:
        return f"{self._whole!r} with {len(self._available)} elements on offer"


@dataclass
class Decision(Generic[M]):
    """What was selected in a round, and how.

    Attributes
    ----------
    matroid : Matroid
        What could be played.
    elements : numpy.ndarray
        What was selected, ascending.
    why : str
        The rule that decided.
    index : numpy.ndarray
        The index of every element; NaN where it played no part.
    kernel : PolicyKernel, optional
        That decided. It remembers what the matroid has answered.
    is_open : bool
        Whether the round is not over yet.
    """

    matroid: M
    elements: IntArray
    why: str
    index: FloatArray
    kernel: PolicyKernel | None = None
    is_open: bool = True

    def __getstate__(self) -> dict[str, Any]:
        # A kernel shares its index with that of the policy: a copy of it would not.
        return {**vars(self), "kernel": None}
