"""Bernoulli rewards: a click, or none."""

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.rewards import BernoulliRewards, RewardKernel
from matroid_bandits.environments.base import Environment

__all__ = ["BernoulliEnvironment"]


class BernoulliEnvironment(Environment):
    """Rewards of 0 or 1, the mean of each element being the probability of 1.

    Parameters
    ----------
    means : array_like of float
        The mean of every element, from 0 to 1.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.BernoulliEnvironment([0.0, 1.0]).rewards(seed=0).draw([0, 1])
    array([0., 1.])
    """

    def __init__(self, means: npt.ArrayLike) -> None:
        super().__init__(means)
        outside = np.flatnonzero((self.means < 0) | (self.means > 1))
        if outside.size:
            raise ValueError(
                f"the mean of element {outside[0]} must be from 0 to 1, "
                f"got {self.means[outside[0]]}"
            )

    def _sample(self, rng: "np.random.Generator", element: int, count: int) -> npt.ArrayLike:
        rewards: npt.NDArray[np.float64] = (rng.random(count) < self.means[element]).astype(float)
        return rewards

    def _rewards(self, seed: int) -> RewardKernel:
        return BernoulliRewards(seed, self.means)
