"""Turn what users pass into checked arrays, with messages that name the offender."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["distinct_elements", "element_array", "integer", "not_an_element", "real_array"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


def element_array(elements: Any) -> IntArray:
    """A contiguous array of integers; that they are elements is for the caller to check."""
    array = elements if isinstance(elements, np.ndarray) else _array_of(elements)
    if array.ndim != 1:
        raise ValueError(
            f"elements must be a one-dimensional list, got an array of shape {array.shape}"
        )
    if array.dtype == np.intp:
        return np.ascontiguousarray(array)
    if array.dtype == bool:
        raise ValueError(
            "elements must be integers, got booleans; for a mask, pass numpy.flatnonzero(mask)"
        )
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise ValueError(f"elements must be integers, got {_shown(array.tolist())}")
    if array.max() > np.iinfo(np.intp).max:
        raise ValueError(f"element {array.max()} is not in the ground set")
    return np.ascontiguousarray(array, dtype=np.intp)


def _array_of(elements: Any) -> npt.NDArray[Any]:
    if not isinstance(elements, Sequence) or isinstance(elements, str):
        raise ValueError(
            "elements must be a list, a tuple or an array of integers, "
            f"got {_shown(elements)} ({type(elements).__name__})"
        )
    try:
        return np.asarray(elements)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"elements must be integers, got {_shown(elements)}") from error


def distinct_elements(elements: Iterable[int], size: int) -> IntArray:
    """Checked, ascending elements of the ground set ``0..size-1``, each at most once."""
    if isinstance(elements, Iterable) and not isinstance(elements, (np.ndarray, Sequence)):
        elements = list(elements)
    array = np.sort(element_array(elements))
    if array.size:
        for extreme in (array[0], array[-1]):
            if not 0 <= extreme < size:
                raise not_an_element(int(extreme), size)
        doubled = array[1:][array[1:] == array[:-1]]
        if doubled.size:
            raise ValueError(f"element {doubled[0]} is given twice")
    return array


def real_array(values: Any, what: str) -> FloatArray:
    """A contiguous one-dimensional array of floats; `what` names it in messages."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1:
        return np.ascontiguousarray(values)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub" and array.size:
            raise ValueError("not numbers")
        array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{what} must be numbers, got {_shown(values)}") from error
    if array.ndim != 1:
        raise ValueError(
            f"{what} must be a one-dimensional list, got {_shown(values)}"
            if array.ndim == 0
            else f"{what} must be a one-dimensional list, got an array of shape {array.shape}"
        )
    return np.ascontiguousarray(array)


def integer(value: Any, what: str, *, least: int | None = None) -> int:
    """An integer of at least `least`; `what` names it in messages."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a truth value")
        number = index(value)
    except TypeError as error:
        raise ValueError(f"{what} must be an integer, got {_shown(value)}") from error
    if least is not None and number < least:
        raise ValueError(f"{what} must be at least {least}, got {number}")
    return number


def not_an_element(element: int, size: int) -> ValueError:
    """The error for an element outside ``0..size-1``."""
    ground = f"0..{size - 1}" if size else "(it is empty)"
    return ValueError(f"element {element} is not in the ground set {ground}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
