"""Names for types in annotations."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "BoolArray",
    "CountArray",
    "FloatArray",
    "IntArray",
    "Label",
    "Labels",
    "MatroidLike",
    "Selection",
]

#: Elements of the ground set, positions in a basis.
IntArray = npt.NDArray[np.intp]
#: How often something happened: observations, rounds, calls.
CountArray = npt.NDArray[np.int64]
#: Rewards, means, weights, values of an index.
FloatArray = npt.NDArray[np.float64]
#: Masks.
BoolArray = npt.NDArray[np.bool_]

if TYPE_CHECKING:
    from collections.abc import Hashable

    from typing_extensions import TypeVar

    #: The label of an element of a problem.
    Label = TypeVar("Label", bound=Hashable, default=Any)
    #: A set of elements of a problem: a list of labels, or an array where there are none.
    Labels = TypeVar("Labels", default=list[Label])
    #: A set of elements as a policy selects it: a list of labels, or an array of numbers.
    Selection = TypeVar("Selection", default=IntArray)
    Selection_co = TypeVar("Selection_co", covariant=True)
else:
    from typing import TypeVar

    Label, Labels, Selection = TypeVar("Label"), TypeVar("Labels"), TypeVar("Selection")
    Selection_co = TypeVar("Selection_co", covariant=True)


class MatroidLike(Protocol[Selection_co]):
    """A matroid, whose sets are arrays of numbers, or a problem, with sets in its own labels."""

    @property
    def size(self) -> int: ...

    @property
    def rank(self) -> int: ...

    def fundamental_circuit(self, basis: Any, element: Any, /) -> Selection_co: ...
