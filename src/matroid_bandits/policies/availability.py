"""Rounds in which not all elements are available."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from matroid_bandits._arguments import freeze
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.matroids import Matroid, MinorMatroid
from matroid_bandits.matroids.base import CompiledMatroid

__all__ = ["Availability", "Decision", "Decisions"]


class Availability(CompiledMatroid):
    """The restriction of a matroid to available elements, numbers kept: all others are loops.

    Parameters
    ----------
    matroid : Matroid
        What may be played when all elements are available.
    available : array of int
        The available elements, ascending.
    """

    def __init__(self, matroid: Matroid, available: IntArray) -> None:
        super().__init__(matroid.size)
        self._whole = matroid
        self._available = freeze(available)
        # What completes a basis is the same, however the elements are numbered.
        self._completion = MinorMatroid(matroid, available)._completion
        closed = np.delete(np.arange(matroid.size), available)
        self._elements = np.arange(matroid.size)
        self._elements[closed] = -1
        freeze(self._elements)
        rank = matroid.rank - len(self.missing)
        self._known_rank_and_loops = rank, np.union1d(closed, matroid.loops)

    @property
    def missing(self) -> IntArray:
        """Elements that are not available and that complete a basis of the available ones."""
        return self._completion[1]

    def is_for(self, available: IntArray) -> bool:
        """Whether exactly these elements are available."""
        return np.array_equal(self._available, available)

    def _kernel(self) -> MatroidKernel:
        return MinorKernel(self._whole._new_kernel(), self._elements, *self._completion)

    def __repr__(self) -> str:
        return f"{self._whole!r} with {len(self._available)} available elements"


@dataclass(frozen=True)
class Decision:
    """What was selected from a matroid, and how.

    Attributes
    ----------
    matroid : Availability
        What could be played.
    elements : numpy.ndarray
        What was selected, ascending.
    why : str
        The rule that decided.
    index : numpy.ndarray
        The index of every element; NaN where it played no part.
    outcome : dict
        What the decision changes in the policy if it is played: see ``PolicyKernel.outcome``.
    """

    matroid: Availability
    elements: IntArray
    why: str
    index: FloatArray
    outcome: dict[str, Any]


class Decisions:
    """The decisions of one round: one for each set of available elements.

    All of them start from the state before the round; the one selected last takes effect when the
    round ends.

    Attributes
    ----------
    everything : numpy.ndarray or None
        What a rule written in Python selects when all elements are available.
    last : Decision or None
        The decision selected last among those with some elements not available.
    """

    def __init__(self) -> None:
        self._round = -1
        self._by_available: dict[bytes, Decision] = {}
        self._kernel: PolicyKernel | None = None
        self.everything: IntArray | None = None
        self.last: Decision | None = None

    def in_round(self, number: int) -> "Decisions":
        """These decisions, without those of an earlier round."""
        if self._round != number:
            self._round = number
            self._by_available = {}
            self.everything = None
        return self

    def get(self, available: IntArray) -> Decision | None:
        """The decision of this round for `available`, if there is one."""
        return self._by_available.get(available.tobytes())

    def add(self, available: IntArray, decision: Decision, kernel: PolicyKernel) -> None:
        """Keep a decision; `kernel` made it."""
        self._by_available[available.tobytes()] = decision
        # The next round often has the same elements: its oracle has cached answers.
        self._kernel = kernel

    def matroid(self, whole: Matroid, available: IntArray) -> Availability:
        """The restriction of `whole` to `available`; the same object as before if possible."""
        before = None if self._kernel is None else self._kernel.matroid
        if isinstance(before, Availability) and before.is_for(available):
            return before
        return Availability(whole, available)

    @property
    def kernel(self) -> PolicyKernel | None:
        """The kernel that decided last."""
        return self._kernel

    def __getstate__(self) -> dict[str, Any]:
        # A kernel shares its index with that of the policy: a copy of it would not.
        return {**vars(self), "_kernel": None}
