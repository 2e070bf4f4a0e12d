"""Numbers as other libraries store them."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["whole_as_integers"]

# Larger floats are all whole numbers, so being whole means nothing.
_LARGEST_WHOLE = 2**53


def whole_as_integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`values` as integers if all are whole numbers, so that linear matroids are exact.

    Tables and matrices often hold counts, or 0 and 1, as floats.
    """
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        return values
    whole = np.all((values == np.round(values)) & (np.abs(values) < _LARGEST_WHOLE))
    return values.astype(np.int64) if whole else values
