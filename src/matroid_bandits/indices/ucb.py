"""Upper confidence bounds for noise of a known level.

With Gaussian (or sub-Gaussian) noise of standard deviation s, the mean of N observations is off by
more than ``s * sqrt(2 ln t / N)`` with a probability of at most 1 / t. [DG25] and [KWAES14] write
it for s = 1, which is safe for all rewards in [0, 1] and far from tight. If the noise is known and
smaller, passing it divides the regret by up to the square of the ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import real
from matroid_bandits._core.indices.ucb import UCBKernel
from matroid_bandits.indices.base import Index

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray

__all__ = ["UCB", "Mean"]

LARGEST = 1e100


@dataclass(frozen=True)
class UCB(Index):
    """Mean and confidence width: ``mean + noise * sqrt(constant * ln t / count)``.

    Parameters
    ----------
    noise : float, default 1.0
        Standard deviation of the rewards, or a bound on it; 1 is the constant of MAUB's and OMM's
        papers, 0.5 holds for all rewards between 0 and 1.
    constant : float, default 2.0
        The factor inside the root: 2 in MAUB's and OMM's papers, 1.5 in CUCB's.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.UCB(noise=0.2).values([0.5, 0.5], [1, 100], time=1000).round(3)
    array([1.243, 0.574])
    """

    noise: float = 1.0
    constant: float = 2.0

    name = "ucb"

    def __post_init__(self) -> None:
        for parameter in ("noise", "constant"):
            value = real(getattr(self, parameter), parameter, minimum=0, maximum=LARGEST)
            object.__setattr__(self, parameter, value)

    def values(self, means: npt.ArrayLike, counts: npt.ArrayLike, time: int) -> FloatArray:
        width = self.noise * np.sqrt(self.constant * np.log(time))
        bounds: FloatArray = np.asarray(means, dtype=float) + width * (1 / np.sqrt(counts))
        return bounds

    def _compiled(self, seed: int) -> UCBKernel:
        del seed
        return UCBKernel(type(self).__name__, self.noise, self.constant)


@dataclass(frozen=True)
class Mean(Index):
    """The mean itself, without optimism.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.Mean().values([0.25, 0.5], [1, 100], time=1000)
    array([0.25, 0.5 ])
    """

    name = "mean"
    uses_counts = False

    def values(self, means: npt.ArrayLike, counts: npt.ArrayLike, time: int) -> FloatArray:
        del counts, time
        return np.array(means, dtype=float)

    def _compiled(self, seed: int) -> UCBKernel:
        del seed
        return UCBKernel(type(self).__name__, 0.0, 2.0)
