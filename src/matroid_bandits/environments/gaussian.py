"""Gaussian rewards."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import freeze, real_array
from matroid_bandits._core.streams.rewards import GaussianRewards, RewardKernel
from matroid_bandits.environments.base import LARGEST, Environment

__all__ = ["GaussianEnvironment", "standard_deviations"]


class GaussianEnvironment(Environment):
    """Gaussian rewards around the mean of each element.

    Parameters
    ----------
    means : array_like of float
        The mean of every element.
    std : float or array_like of float, default 0.2
        Standard deviation, one for all or one per element, not negative. The default is that of
        the experiments of [DG25].

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.GaussianEnvironment([0.5, 0.9], std=0.0).rewards(seed=0).draw([1])
    array([0.9])
    """

    def __init__(self, means: npt.ArrayLike, std: npt.ArrayLike = 0.2) -> None:
        super().__init__(means)
        self._std = standard_deviations(std, self.size)

    @property
    def std(self) -> npt.NDArray[np.float64]:
        """Standard deviation of every element (read-only)."""
        return self._std

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> npt.ArrayLike:
        normals = rng.standard_normal(count)
        rewards: npt.NDArray[np.float64] = self.means[element] + self._std[element] * normals
        return rewards

    def _divergence(
        self, elements: npt.NDArray[np.intp], means: npt.NDArray[np.float64]
    ) -> npt.ArrayLike:
        distance = np.abs(self.means[elements] - means)
        # Without noise any distance is infinitely many standard deviations.
        with np.errstate(divide="ignore", over="ignore"):
            scaled = np.divide(
                distance, self._std[elements], out=np.zeros_like(distance), where=distance > 0
            )
            values: npt.NDArray[np.float64] = scaled**2 / 2
        return values

    def _reward_range(self) -> tuple[float, float]:
        if np.any(self._std > 0):
            return -inf, inf
        return self.means.min(initial=inf), self.means.max(initial=-inf)

    def _rewards(self, seed: int) -> RewardKernel:
        return GaussianRewards(seed, self.means, self._std)


def standard_deviations(std: npt.ArrayLike, size: int) -> npt.NDArray[np.float64]:
    """One standard deviation per element, read-only, from one for all or one per element."""
    one_for_all = np.ndim(std) == 0
    spread = np.array(real_array([std] if one_for_all else std, "std"))
    if not one_for_all and len(spread) != size:
        raise ValueError(f"std must be one number, or one per element: {size}, got {len(spread)}")
    unfit = np.flatnonzero(~((spread >= 0) & (spread <= LARGEST)))
    if unfit.size:
        raise ValueError(f"std must be from 0 to {LARGEST:g}, got {spread[unfit[0]]}")
    return freeze(np.full(size, spread[0]) if one_for_all else spread)
