"""Numbers as other libraries keep them."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["whole_as_integers"]

# From here on floats skip whole numbers, so that a whole float says little.
_LARGEST_WHOLE = 2**53


def whole_as_integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Integers where all of `values` are whole: they can be decided exactly, whatever their type.

    Tables and matrices often hold counts, or 0 and 1, as floats.
    """
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        return values
    whole = np.all((values == np.round(values)) & (np.abs(values) < _LARGEST_WHOLE))
    return values.astype(np.int64) if whole else values
