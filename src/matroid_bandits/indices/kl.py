"""kl-UCB [GC11]: Garivier & Cappe, The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond
(COLT 2011), in the form that KL-OSM [TP16] and OSUB [CP14] use.

For rewards in [0, 1]. Departure: the papers' ln ln t, which is negative or undefined for small t,
is taken as 0 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import real
from matroid_bandits._core.indices.kl import KLKernel, kl_ucb
from matroid_bandits.indices.base import Index

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray

__all__ = ["KLUCB"]


@dataclass(frozen=True)
class KLUCB(Index):
    """Bernoulli kl-UCB, for rewards from 0 to 1.

    The largest q with ``count * kl(mean, q) <= ln t + c ln ln t``, where kl is the divergence of
    two Bernoulli distributions. It accounts for the small variance of rewards near 0 or 1, and is
    asymptotically optimal for Bernoulli rewards.

    Parameters
    ----------
    c : float, default 3.0
        The papers prove their theorems with 3; 0 does better in practice.

    References
    ----------
    .. [GC11] A. Garivier and O. Cappe, The KL-UCB Algorithm for Bounded Stochastic Bandits and
       Beyond, COLT 2011.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.KLUCB(c=0).values([0.0, 0.5, 1.0], [10, 10, 10], time=100).round(3)
    array([0.369, 0.888, 1.   ])
    """

    c: float = 3.0

    name = "kl"
    low = 0.0
    high = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", real(self.c, "c", minimum=0, maximum=1e6))

    def values(self, means: npt.ArrayLike, counts: npt.ArrayLike, time: int) -> FloatArray:
        log_time = np.log(time)
        budget = log_time + self.c * np.log(max(1.0, log_time))
        mean, level = np.broadcast_arrays(
            np.asarray(means, dtype=float), budget / np.asarray(counts)
        )
        unfit = mean[~((mean >= 0) & (mean <= 1))]
        if unfit.size:
            raise ValueError(f"means must be from 0 to 1, got {unfit[0]:g}")
        flat = kl_ucb(mean.ravel().astype(float), level.ravel().astype(float))
        return flat.reshape(mean.shape)

    def _compiled(self, seed: int) -> KLKernel:
        del seed
        return KLKernel(type(self).__name__, self.c)
