"""Indices that estimate the variance of the rewards: one for bounded rewards, one for Gaussian.

UCB-V [AMS09]: Audibert, Munos & Szepesvari, Exploration-exploitation tradeoff using variance
estimates in multi-armed bandits (2009). For rewards in [0, 1], of whatever distribution. Departure:
its exploration function is ln t, where the theorems have 1.2 ln t.

NormalUCB [CHK18]: Cowan, Honda & Katehakis, Normal Bandits of Unknown Means and Variances (JMLR
2018). For Gaussian rewards. It needs no range, is the same in any unit, and is asymptotically
optimal. UCB-V needs only the range and has the extra term 3 ln t / count for it. With a noise of
0.2 that term is the larger one for the first thousand observations.
"""

from dataclasses import dataclass
from typing import ClassVar

from matroid_bandits._core.indices.variance import NormalUCBKernel, UCBVKernel
from matroid_bandits.indices.base import Index

__all__ = ["UCBV", "NormalUCB"]


@dataclass(frozen=True)
class UCBV(Index):
    """UCB-V: estimated variance, for rewards from 0 to 1.

    ``mean + sqrt(2 variance ln t / count) + 3 ln t / count``. Holds for every distribution on
    [0, 1]; useful where the variance is small and there are many observations.

    References
    ----------
    .. [AMS09] J.-Y. Audibert, R. Munos and C. Szepesvari, Exploration-exploitation tradeoff using
       variance estimates in multi-armed bandits, Theoretical Computer Science 2009.
    """

    name = "ucbv"
    low = 0.0
    high = 1.0

    def _compiled(self, seed: int) -> UCBVKernel:
        del seed
        return UCBVKernel(type(self).__name__)


@dataclass(frozen=True)
class NormalUCB(Index):
    """Estimated variance, for Gaussian rewards whose noise is not known.

    ``mean + deviation * sqrt(t ** (2 / (count - 2)) - 1)`` with the standard deviation of the
    sample, so every element is observed three times first. It is asymptotically optimal for
    Gaussian rewards. For others the deviation may be 0 (after three equal Bernoulli rewards, say),
    and the element is then never played again: use UCBV or KLUCB there.

    References
    ----------
    .. [CHK18] W. Cowan, J. Honda and M. N. Katehakis, Normal Bandits of Unknown Means and
       Variances, Journal of Machine Learning Research 18, 2018.
    """

    name = "normal"
    _refused_memory: ClassVar = {
        "discount": "it needs a whole number of observations; use window=",
        "restart": "the test for changes needs a known noise; take UCB(noise=...)",
    }
    min_count = 3

    def _compiled(self, seed: int) -> NormalUCBKernel:
        del seed
        return NormalUCBKernel(type(self).__name__)
