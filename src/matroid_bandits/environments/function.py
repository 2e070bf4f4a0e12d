"""Means from a function of the round."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from matroid_bandits._arguments import abbreviated, freeze
from matroid_bandits.environments.changing import ChangingEnvironment, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from matroid_bandits._types import IntArray

__all__ = ["FunctionEnvironment"]


class FunctionEnvironment(ChangingEnvironment):
    """Means that a function of the round and the elements returns.

    Parameters
    ----------
    function : callable
        ``function(round, elements)`` returns the mean of each of the elements in a round, counted
        from 1. It is called once a round with all elements, and must return the same means
        whenever it is called for a round.
    size : int
        Number of elements.
    std : float or array_like of float, optional
        Standard deviation of Gaussian rewards, one for all or one per element; by default 0.2.
    kind : {"gaussian", "bernoulli"}
        How the rewards vary.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> def fading(round, elements):
    ...     return 1 / (1 + elements * round / 1000)
    >>> mb.FunctionEnvironment(fading, 3).means_at(1000).round(3)
    array([1.   , 0.5  , 0.333])
    """

    def __init__(
        self,
        function: Callable[[int, IntArray], npt.ArrayLike],
        size: int,
        *,
        std: npt.ArrayLike | None = None,
        kind: Kind = "gaussian",
    ) -> None:
        if not callable(function):
            raise TypeError(
                "function must be a function of the round and the elements, got "
                f"{abbreviated(function)}"
            )
        _check_signature(function)
        super().__init__(size, std=std, kind=kind)
        self._function = function
        self._elements: IntArray = freeze(np.arange(self.size))

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance: means that alternate between two rows, uniform in [0.5, 1]."""
        rows = rng.uniform(0.5, 1, (2, size))
        return cls(lambda t, elements: rows[t % 2, elements], size)

    def _means_at(self, round: int) -> npt.ArrayLike:  # noqa: A002
        return self._function(round, self._elements)


def _check_signature(function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with the round and the elements."""
    try:
        known = signature(function)
    except (ValueError, TypeError):
        # Some compiled functions do not tell.
        return
    try:
        known.bind(1, [])
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            "function must take the round and the elements, as in function(round, elements), got "
            f"{name}{known}"
        ) from None
