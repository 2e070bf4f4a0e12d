"""A matroid from any Python function."""

from collections.abc import Callable
from types import MethodType
from typing import Self

import numpy as np

from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.graphic import GraphicMatroid

__all__ = ["OracleMatroid"]


class OracleMatroid(Matroid):
    """A matroid given by a membership oracle: your own function that tests independence.

    The function must satisfy the matroid axioms; :func:`~matroid_bandits.check_matroid` tests them.
    If an algorithm meets a contradiction, it raises :class:`~matroid_bandits.MatroidAxiomError`
    before anything is played.

    Parameters
    ----------
    size : int
        Number of elements.
    is_independent : callable
        Takes a ``frozenset`` of elements, returns True or False: always the same for the same set.

    Attributes
    ----------
    calls : int
        How often the function has been called. Rank and loops cost at most ``2 * size + 2`` calls,
        once, when they are first needed; a policy counts only its own calls
        (``policy.oracle_calls``).

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> even_or_odd = mb.OracleMatroid(4, lambda s: len({e % 2 for e in s}) == len(s))
    >>> even_or_odd.rank
    2
    """

    def __init__(self, size: int, is_independent: Callable[[frozenset[int]], bool]) -> None:
        super().__init__(size)
        if not callable(is_independent):
            raise ValueError(f"is_independent must be a function, got {is_independent!r}")
        self._function = is_independent
        self.calls = 0

    def _is_independent(self, elements: frozenset[int]) -> bool:
        self.calls += 1
        return self._function(elements)

    def __eq__(self, other: object) -> bool:
        """Whether `other` has the same size and calls the very same function."""
        if type(self) is OracleMatroid and type(other) is OracleMatroid:
            return self._function_identity() == other._function_identity()
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self._function_identity())

    def _function_identity(self) -> tuple[int, ...]:
        function = self._function
        if isinstance(function, MethodType):
            # Python makes a new object whenever a method is looked up.
            return self.size, id(function.__self__), id(function.__func__)
        return self.size, id(function)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(size, GraphicMatroid.random(rng, size).is_independent)
