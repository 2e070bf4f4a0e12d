"""Bernoulli rewards: 0 or 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.streams.rewards import BernoulliRewards, RewardKernel
from matroid_bandits.environments.base import Environment

__all__ = ["BernoulliEnvironment", "probabilities"]


class BernoulliEnvironment(Environment):
    """Rewards of 0 or 1; the mean of an element is the probability of 1.

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
        probabilities(self.means)

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> npt.ArrayLike:
        rewards: npt.NDArray[np.float64] = (rng.random(count) < self.means[element]).astype(float)
        return rewards

    def _divergence(
        self, elements: npt.NDArray[np.intp], means: npt.NDArray[np.float64]
    ) -> npt.ArrayLike:
        outside = np.flatnonzero((means < 0) | (means > 1))
        if outside.size:
            raise ValueError(
                f"no rewards of 0 and 1 have the mean {means[outside[0]]}; allowed is 0 to 1"
            )
        own = self.means[elements]
        change = means - own
        # Rounding can make tiny divergences negative.
        return np.maximum(_term(own, change) + _term(1 - own, -change), 0.0)

    def _reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _rewards(self, seed: int) -> RewardKernel:
        return BernoulliRewards(seed, self.means)


def probabilities(means: npt.NDArray[np.float64], where: str = "") -> npt.NDArray[np.float64]:
    """`means`, one per element; raise a ValueError if one is not from 0 to 1.

    `where` follows the number of the element in the message.
    """
    outside = np.flatnonzero(~((means >= 0) & (means <= 1)))
    if outside.size:
        raise ValueError(
            f"the mean of element {outside[0]}{where} must be from 0 to 1, got {means[outside[0]]}"
        )
    return means


def _term(
    share: npt.NDArray[np.float64], change: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """One half of kl: share * ln(share / (share + change)), exact for small changes."""
    with np.errstate(divide="ignore"):
        relative = np.divide(change, share, out=np.zeros_like(share), where=share > 0)
        return -share * np.log1p(relative)
