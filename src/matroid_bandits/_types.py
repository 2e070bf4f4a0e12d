"""Names for the array types in annotations."""

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "CountArray", "FloatArray", "IntArray"]

#: Elements of the ground set, positions in a basis.
IntArray = npt.NDArray[np.intp]
#: How often something happened: observations, rounds, calls.
CountArray = npt.NDArray[np.int64]
#: Rewards, means, weights, values of an index.
FloatArray = npt.NDArray[np.float64]
#: Masks.
BoolArray = npt.NDArray[np.bool_]
