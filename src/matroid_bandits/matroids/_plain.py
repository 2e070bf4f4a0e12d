"""Arrays as plain values: the same in every process and on every machine."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["plain_array"]


def plain_array(array: npt.NDArray[Any]) -> tuple[str, tuple[int, ...], bytes | tuple[int, ...]]:
    """The type, shape and entries of an array of integers or floats, as a hashable value.

    Integers of every width give the same value; so do 0.0 and -0.0.
    """
    if array.dtype == object:
        return "int", array.shape, tuple(map(int, array.flat))
    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    return kind, array.shape, (np.ascontiguousarray(array, dtype=kind) + 0).tobytes()
