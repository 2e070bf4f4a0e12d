"""Means that drift slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from matroid_bandits._arguments import freeze, integer, real, real_array
from matroid_bandits._core.streams.means import DriftingMeans, MeansKernel
from matroid_bandits.environments.base import LARGEST
from matroid_bandits.environments.changing import ChangingEnvironment, Kind

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["DriftingEnvironment"]


class DriftingEnvironment(ChangingEnvironment):
    """Means that drift: a random walk of every mean, reflected at two bounds.

    The walk of an element depends on (`seed`, element, round) alone. Only the present means are
    kept, so reading rounds in their order is cheap, and going back begins again with round 1.

    Parameters
    ----------
    means : array_like of float
        The means of round 1, from `low` to `high`.
    step : float
        Standard deviation of a step, from 0 to ``high - low``; there is one step between two
        rounds.
    low, high : float
        Bounds of the means, by default 0 and 1.
    std : float or array_like of float, optional
        Standard deviation of Gaussian rewards, one for all or one per element; by default 0.2.
    kind : {"gaussian", "bernoulli"}
        How the rewards vary.
    seed : int, default 0
        Seed of the walks; the rewards have another one.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.DriftingEnvironment([0.5, 0.9], step=0.01, seed=3)
    >>> environment.means_at([1, 1000]).round(3)
    array([[0.5  , 0.9  ],
           [0.623, 0.41 ]])
    """

    def __init__(
        self,
        means: npt.ArrayLike,
        *,
        step: float,
        low: float = 0.0,
        high: float = 1.0,
        std: npt.ArrayLike | None = None,
        kind: Kind = "gaussian",
        seed: int = 0,
    ) -> None:
        start = freeze(np.array(real_array(means, "means")))
        super().__init__(len(start), std=std, kind=kind)
        self._low = real(low, "low", minimum=-LARGEST, maximum=LARGEST)
        self._high = real(high, "high", minimum=-LARGEST, maximum=LARGEST)
        if not self._low < self._high:
            raise ValueError(f"low must be below high, got {low} and {high}")
        if kind == "bernoulli" and not (self._low >= 0 and self._high <= 1):
            raise ValueError(
                f"means of Bernoulli rewards are from 0 to 1, but low is {low} and high is {high}"
            )
        self._step = real(step, "step", minimum=0.0, maximum=self._high - self._low)
        outside = np.flatnonzero(~((start >= self._low) & (start <= self._high)))
        if outside.size:
            raise ValueError(
                f"the mean of element {outside[0]} must be from low={low} to high={high}, got "
                f"{start[outside[0]]}"
            )
        self._start = start
        self._seed = integer(seed, "seed", minimum=0)

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance: means uniform in [0.5, 1], which drift between 0 and 1."""
        return cls(rng.uniform(0.5, 1, size), step=0.01, seed=int(rng.integers(2**32)))

    def _means_at(self, round: int) -> npt.ArrayLike:  # noqa: A002
        return self._means_kernel().at(round)

    def _means_kernel(self) -> MeansKernel:
        return DriftingMeans(self._seed, self._start, self._step, self._low, self._high)
