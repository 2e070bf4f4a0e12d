"""Turn what users pass into checked arrays, with messages that name the offender."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from math import nan
from numbers import Real
from operator import index
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from matroid_bandits._types import FloatArray, IntArray

__all__ = [
    "abbreviated",
    "as_list",
    "check_known",
    "choice",
    "distinct_elements",
    "element_array",
    "freeze",
    "frozen_state",
    "integer",
    "not_an_element",
    "not_whole",
    "number_from",
    "real",
    "real_array",
    "suggestion",
    "truth_value",
    "unknown_argument",
    "weight_array",
    "whole",
]

T = TypeVar("T", bound=str)
N = TypeVar("N", int, float)

# Elements are smaller.
_TOO_LARGE = int(np.iinfo(np.intp).max) + 1

# What other libraries call a parameter.
_ALIASES = {"context": "features", "contexts": "features"}

# How many names are compared with a wrong one, and how much of it.
_MOST_COMPARED = 10_000
_MOST_LETTERS = 200


# ---- elements ----


def element_array(elements: Any) -> IntArray:
    """A contiguous array of integers; that they are elements is for the caller to check."""
    array = elements if type(elements) is np.ndarray else _array_of(elements)
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
    if not_whole(array).size:
        raise ValueError(f"elements must be integers, got {abbreviated(array.tolist())}")
    for extreme in (array.min(), array.max()):
        if not -_TOO_LARGE <= extreme < _TOO_LARGE:
            raise ValueError(f"element {int(extreme)} is not in the ground set")
    return np.ascontiguousarray(array, dtype=np.intp)


def _array_of(elements: Any) -> npt.NDArray[Any]:
    if isinstance(elements, np.ma.MaskedArray):
        raise ValueError("elements are a masked array; pass those that are not masked")
    is_list = isinstance(elements, Sequence) and not isinstance(elements, str)
    if not is_list and not hasattr(elements, "__array__"):
        raise ValueError(
            "elements must be a list, a tuple or an array of integers, "
            f"got {abbreviated(elements)} ({type(elements).__name__})"
        )
    try:
        return np.asarray(elements)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"elements must be integers, got {abbreviated(elements)}") from error


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


def not_an_element(element: int, size: int) -> ValueError:
    """The error for an element outside ``0..size-1``."""
    ground = f"0..{size - 1}" if size else "(it is empty)"
    return ValueError(f"element {element} is not in the ground set {ground}")


# ---- numbers ----


def real_array(values: Any, what: str) -> FloatArray:
    """A contiguous one-dimensional array of floats; `what` names it in messages."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1:
        return np.ascontiguousarray(values)
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{what} are a masked array; pass those that are not masked")
    try:
        array = np.asarray(values)
        numbers = array.dtype.kind in "fiub" or (
            array.dtype == object and all(isinstance(x, Real) for x in array.flat)
        )
        if array.size and not numbers:
            raise TypeError("not numbers")
        array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{what} must be numbers, got {abbreviated(values)}") from error
    if array.ndim != 1:
        got = abbreviated(values) if array.ndim == 0 else f"an array of shape {array.shape}"
        raise ValueError(f"{what} must be a one-dimensional list, got {got}")
    return np.ascontiguousarray(array)


def weight_array(weights: Any, size: int) -> FloatArray:
    """One weight per element, none of them NaN."""
    values = real_array(weights, "weights")
    if len(values) != size:
        raise ValueError(f"one weight per element is needed: {size}, got {len(values)}")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(f"the weight of element {missing[0]} is NaN")
    return values


def integer(
    value: Any, what: str, *, minimum: int | None = None, maximum: int | None = None
) -> int:
    """An integer from `minimum` to `maximum`, perhaps as a float; `what` names it in messages."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a truth value")
        number = index(whole(value))
    except TypeError as error:
        raise ValueError(f"{what} must be an integer, got {abbreviated(value)}") from error
    if minimum is not None and number < minimum:
        raise ValueError(f"{what} must be at least {minimum}, got {number}")
    if maximum is not None and number > maximum:
        raise ValueError(f"{what} must be at most {maximum}, got {number}")
    return number


def whole(value: Any) -> Any:
    """A float that is a whole number, as an integer; anything else as it is."""
    is_whole = isinstance(value, (float, np.floating)) and value.is_integer()
    return int(value) if is_whole else value


def not_whole(values: npt.NDArray[Any]) -> IntArray:
    """The places of those values, in the order of ``values.flat``, that are no whole numbers."""
    if values.dtype.kind in "iu":
        return np.empty(0, dtype=np.intp)
    if values.dtype.kind == "f":
        return np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
    return np.flatnonzero([not _is_whole(value) for value in values.ravel().tolist()])


def _is_whole(value: Any) -> bool:
    try:
        integer(value, "a value")
    except ValueError:
        return False
    return True


def number_from(text: str, kind: Callable[[str], N]) -> N:
    """The number that a text is, of this kind. Digits are those from 0 to 9, without blanks."""
    if not text.isascii() or text != text.strip():
        raise ValueError(f"{abbreviated(text)} is not a number")
    return kind(text)


def real(value: Any, what: str, *, minimum: float, maximum: float) -> float:
    """A number from `minimum` to `maximum`; `what` names it in messages."""
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    try:
        number = float(value) if is_number else nan
    except OverflowError:
        number = nan
    if not minimum <= number <= maximum:
        raise ValueError(
            f"{what} must be a number from {minimum:g} to {maximum:g}, got {abbreviated(value)}"
        )
    return number


# ---- other things ----


def as_list(values: Any, what: str) -> list[Any]:
    """The members of an iterable that is neither a text nor a mapping."""
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values.tolist())
    if isinstance(values, (str, Mapping, np.ndarray)) or not isinstance(values, Iterable):
        raise ValueError(f"{what} must be a list, got {abbreviated(values)}")
    return list(values)


def truth_value(value: Any, what: str) -> bool:
    """True or False; `what` names it in messages."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{what} must be True or False, got {abbreviated(value)}")


def freeze(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`values`, from now on read-only: what an immutable object keeps."""
    values.flags.writeable = False
    return values


def frozen_state(state: dict[str, Any]) -> dict[str, Any]:
    """The unpickled state of an immutable object: pickling forgets that arrays are read-only."""
    for value in state.values():
        if isinstance(value, np.ndarray):
            freeze(value)
    return state


def choice(
    value: Any,
    what: str,
    allowed: Iterable[T],
    *,
    ignore_case: bool = False,
    aliases: Mapping[str, str] | None = None,
) -> T:
    """The member of `allowed` that `value` is; an error suggests what was perhaps meant.

    Parameters
    ----------
    value : object
        What was passed.
    what : str
        What it is, for the message: "index", "kind".
    allowed : iterable of str
        The names that are allowed.
    ignore_case : bool, default False
        Whether "maub" is accepted for "MAUB".
    aliases : mapping of str to str, optional
        Other names, which are not accepted, and the allowed name to suggest for each.
    """
    names = list(allowed)
    if isinstance(value, str):
        for name in names:
            if value == name or (ignore_case and value.lower() == name.lower()):
                return name
    hint = suggestion(str(value), names, aliases)
    raise ValueError(f"unknown {what} {abbreviated(value)}; {hint}")


def suggestion(
    name: str,
    allowed: Iterable[str],
    aliases: Mapping[str, str] | None = None,
    *,
    intro: str = "allowed are",
) -> str:
    """The end of a message about an unknown name: what was perhaps meant, and what is allowed."""
    names = list(allowed)
    # More names would take seconds.
    lowered = {known.lower(): known for known in [*(aliases or ()), *names[:_MOST_COMPARED]]}
    close = difflib.get_close_matches(name[:_MOST_LETTERS].lower(), lowered, n=1)
    hint = ""
    if close:
        meant = lowered[close[0]]
        hint = f"did you mean {(aliases or {}).get(meant, meant)}? "
    shown = names[:30]
    if any(", " in known for known in shown):
        shown = [repr(known) for known in shown]
    more = ", ..." if len(names) > 30 else ""
    return f"{hint}{intro} {', '.join(shown)}{more}"


def check_known(owner: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a ValueError for the first parameter that `owner` does not have."""
    names = list(allowed)
    for key in given:
        if key not in names:
            hint = suggestion(key, names) if names else "it takes none"
            raise ValueError(f"{owner} has no parameter {abbreviated(key)}; {hint}")


def unknown_argument(owner: str, given: Iterable[str], function: Callable[..., Any]) -> TypeError:
    """The error for the first argument, given by its name, that `function` does not take."""
    parameters = signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != "self"]
    key = next(key for key in given if key not in names)
    aliases = {alias: name for alias, name in _ALIASES.items() if name in names}
    return TypeError(f"{owner} has no parameter {key!r}; {suggestion(key, names, aliases)}")


def abbreviated(value: Any) -> str:
    """A value as messages show it: its repr, cut at 60 characters."""
    try:
        text = repr(value)
    except ValueError:
        # An integer with more digits than Python writes.
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "?"
    return text if len(text) <= 60 else text[:57] + "..."
