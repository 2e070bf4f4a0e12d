"""Gaussian rewards."""

from typing import Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import real_array
from matroid_bandits._core.rewards import GaussianRewards, RewardKernel
from matroid_bandits.environments.base import Environment

__all__ = ["GaussianEnvironment"]


class GaussianEnvironment(Environment):
    """Rewards ``mean + std * normal``.

    Parameters
    ----------
    means : array_like of float
        The mean of every element.
    std : float or array_like of float
        Standard deviation, one for all or one per element, not negative.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.GaussianEnvironment([0.5, 0.9], std=0.0).rewards(seed=0).draw([1])
    array([0.9])
    """

    def __init__(self, means: npt.ArrayLike, std: npt.ArrayLike) -> None:
        super().__init__(means)
        spread = real_array([std] * self.size if np.ndim(std) == 0 else std, "std").copy()
        if len(spread) != self.size:
            raise ValueError(
                f"std must be one number, or one per element: {self.size}, got {len(spread)}"
            )
        unfit = np.flatnonzero(~(np.isfinite(spread) & (spread >= 0)))
        if unfit.size:
            raise ValueError(f"std must be finite and not negative, got {spread[unfit[0]]}")
        spread.flags.writeable = False
        self._std = spread

    @property
    def std(self) -> npt.NDArray[np.float64]:
        """Standard deviation of every element (read-only)."""
        return self._std

    def _sample(self, rng: "np.random.Generator", element: int, count: int) -> npt.ArrayLike:
        rewards: npt.NDArray[np.float64] = self.means[element] + self._std[
            element
        ] * rng.standard_normal(count)
        return rewards

    def _rewards(self, seed: int) -> RewardKernel:
        return GaussianRewards(seed, self.means, self._std)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        return cls(rng.uniform(0.5, 1, size), std=0.2)
