"""Values as JSON has them, and back.

JSON knows no tuples. As labels are hashable, a list in the place of a label can only mean a tuple;
so tuples are written as lists, and all lists are read as tuples.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from matroid_bandits._arguments import abbreviated

__all__ = ["class_text", "plain", "with_tuples"]

# Deeper values would exceed Python's recursion limit.
_MAX_DEPTH = 100
# Truth values first: they are integers too.
_SCALARS: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, np.bool_), bool),
    ((int, np.integer), int),
    ((float, np.floating), float),
    ((str,), str.__str__),
)
_SAME = frozenset((str, int, bool, type(None)))


def plain(value: Any, what: str, *, depth: int = 0) -> Any:
    """`value` with lists for tuples and arrays, and Python's numbers for NumPy's.

    Parameters
    ----------
    value : object
        Texts, finite numbers, truth values, None; sequences of such values, and mappings from texts
        to them.
    what : str
        What it is, for messages.
    depth : int, default 0
        How many values it is inside of.

    Raises
    ------
    ValueError
        If there is anything else in it.
    """
    if type(value) in _SAME:
        return value
    if depth > _MAX_DEPTH:
        raise ValueError(f"{what}: nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item, what, depth=depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): plain(item, what, depth=depth + 1) for key, item in value.items()}
    for kinds, ours in _SCALARS:
        if isinstance(value, kinds):
            number = ours(value)
            if ours is not float or isfinite(number):
                return number
    raise ValueError(
        f"{what}: {abbreviated(value)} cannot be written as plain data; use texts, finite numbers, "
        "truth values, None, and tuples of these"
    )


def with_tuples(value: Any, *, depth: int = 0) -> Any:
    """`value` with tuples in place of lists, and dictionaries in place of other mappings.

    Raises
    ------
    ValueError
        If it is nested too deeply.
    """
    if type(value) in _SAME:
        return value
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, (list, tuple)):
        return tuple([with_tuples(item, depth=depth + 1) for item in value])
    if isinstance(value, Mapping):
        return {key: with_tuples(item, depth=depth + 1) for key, item in value.items()}
    return value


def class_text(cls: type) -> str:
    """The name of a class of one's own, as specifications have it: ``module:Class``."""
    return f"{cls.__module__}:{cls.__qualname__}"
