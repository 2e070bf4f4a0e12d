"""Rounds in which not all elements are available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import freeze
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._core.policies.masks import mask_of
from matroid_bandits.matroids import Matroid, MinorMatroid
from matroid_bandits.matroids.base import CompiledMatroid

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from matroid_bandits._core.matroids.base import MatroidKernel
    from matroid_bandits._types import IntArray
    from matroid_bandits.problem import Problem

__all__ = ["Availability", "availability_mask"]


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
        rank = matroid.rank - len(self._completion[1])
        self._known_rank_and_loops = rank, np.union1d(closed, matroid.loops)

    def _kernel(self) -> MatroidKernel:
        return MinorKernel(self._whole._new_kernel(), self._elements, *self._completion)

    def __repr__(self) -> str:
        return f"{self._whole!r} with {len(self._available)} available elements"


def availability_mask(
    problem: Problem[Any, Any], available: Iterable[Any] | npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8] | None:
    """One byte per element, 1 if it is available; None if all are.

    Parameters
    ----------
    problem : Problem
        Labels and size.
    available : iterable, or array of bool
        Labels, numbers where there are none, or a mask.
    """
    flags: npt.NDArray[np.uint8] | None
    flags = mask_of(available, problem.size, None if problem.labels is None else problem._number)
    if flags is not NotImplemented:
        return flags
    kind = str(getattr(available, "dtype", ""))
    if problem.labels is None and hasattr(available, "__array__"):
        available = np.asarray(available)
        kind = str(available.dtype)
    if kind.lower().startswith("bool"):
        mask = np.asarray(available, dtype=np.bool_)
        if mask.shape != (problem.size,):
            raise ValueError(
                f"a mask of available elements needs one truth value per element: {problem.size}, "
                f"got an array of shape {mask.shape}"
            )
        elements = np.flatnonzero(mask)
    else:
        elements = problem.elements(available)
    if len(elements) == problem.size:
        return None
    flags = np.zeros(problem.size, dtype=np.uint8)
    flags[elements] = 1
    return flags
