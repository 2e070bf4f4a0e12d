"""Rounds in which not all elements are available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, freeze
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits._core.policies.contract.masks import mask_of
from matroid_bandits.matroids import Matroid, MinorMatroid
from matroid_bandits.matroids.base import CompiledMatroid

if TYPE_CHECKING:
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
        unavailable = np.delete(np.arange(matroid.size), available)
        self._elements = np.arange(matroid.size)
        self._elements[unavailable] = -1
        freeze(self._elements)
        rank = matroid.rank - len(self._completion[1])
        self._known_rank_and_loops = rank, np.union1d(unavailable, matroid.loops)

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
        Labels, numbers where there are none, or a mask: an array or a list of one truth value per
        element, or a Series of pandas, whose index names the elements.
    """
    flags: npt.NDArray[np.uint8] | None
    flags = mask_of(available, problem.size, None if problem.labels is None else problem._number)
    if flags is not NotImplemented:
        return flags
    given = _as_values(available)
    mask = _truth_values(problem, given)
    elements = problem.elements(given) if mask is None else np.flatnonzero(mask)
    if len(elements) == problem.size:
        return None
    flags = np.zeros(problem.size, dtype=np.uint8)
    flags[elements] = 1
    return flags


def _as_values(available: Any) -> Any:
    """A list; or an array or a Series of pandas, as it is."""
    is_table = isinstance(available, Mapping) or hasattr(available, "columns")
    if isinstance(available, (str, bytes)) or is_table or not isinstance(available, Iterable):
        raise ValueError(
            "available must be a list of elements, or a mask with one truth value per element, got "
            f"{abbreviated(available)}; the id of a decision is passed as id=..."
        )
    if isinstance(available, np.ma.MaskedArray):
        raise ValueError("available is a masked array; pass a plain array of truth values")
    if hasattr(available, "iloc"):
        return available
    if isinstance(available, np.ndarray) and available.dtype != object:
        return available
    # Polars and pyarrow have a method for it.
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(available, method):
            return getattr(available, method)()
    return list(available)


def _truth_values(problem: Problem[Any, Any], available: Any) -> npt.NDArray[np.bool_] | None:
    """A mask in the order of the elements; None if there are labels or numbers instead."""
    if isinstance(available, list):
        are_truth = [isinstance(value, (bool, np.bool_)) for value in available]
        is_mask = any(are_truth) and not any(isinstance(x, bool) for x in problem.labels or ())
        if is_mask and not all(are_truth):
            wrong = available[are_truth.index(False)]
            raise ValueError(
                "available has truth values and other values; a mask has one truth value per "
                f"element, got {abbreviated(wrong)} too"
            )
    elif str(available.dtype) == "object":
        is_mask = len(available) > 0 and all(isinstance(x, (bool, np.bool_)) for x in available)
    else:
        is_mask = str(available.dtype).lower().startswith("bool")
    if not is_mask:
        return None
    try:
        mask = np.asarray(available, dtype=np.bool_)
    except (ValueError, TypeError):
        raise ValueError("a mask of available elements must not have missing values") from None
    if mask.shape != (problem.size,):
        raise ValueError(
            f"a mask of available elements needs one truth value per element: {problem.size}, got "
            f"an array of shape {mask.shape}"
        )
    if hasattr(available, "iloc"):
        # A Series of pandas has names for its values. The default ones are those of positions.
        names = list(available.index)
        if names != list(range(problem.size)) or set(names) == set(problem.labels or ()):
            ordered = np.zeros(problem.size, dtype=np.bool_)
            ordered[problem.elements(names)] = mask
            return ordered
    return mask
