"""MOSS [AB09]: Audibert & Bubeck, Minimax Policies for Adversarial and Stochastic Bandits (COLT
2009); without a horizon MOSS-anytime [DP16]: Degenne & Perchet, Anytime Optimal Algorithms in
Stochastic Multi-armed Bandits (ICML 2016).

Both are for rewards in [0, 1], whose standard deviation is at most 1/2. Here `noise` is a standard
deviation, as everywhere: with 0.5, the default, the formulas are those of the papers. Departures:
the papers play one of n arms. On a matroid, n is the number of elements that are no loops, and an
element is observed in many more than 1 / n of the rounds; the minimax bounds are not proved there.
In MAUB, the time of MOSS-anytime is the leader's local time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer, real
from matroid_bandits._core.indices.moss import MOSSKernel
from matroid_bandits.indices.base import Index
from matroid_bandits.indices.ucb import LARGEST

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray

__all__ = ["MOSS"]

# [DP16] has (1 + alpha) / 2 in front of the logarithm, with alpha = 1.35.
ANYTIME = (1 + 1.35) / 2


@dataclass(frozen=True)
class MOSS(Index):
    """A confidence width that vanishes for elements observed more often than ``horizon / n``.

    ``mean + 2 * noise * sqrt(max(0, ln(horizon / (n * count))) / count)``, where n is the number of
    elements of the policy's matroid that are no loops. Without a horizon, the time t takes its
    place, and the logarithm is multiplied by 1.175.

    Parameters
    ----------
    horizon : int, optional
        The number of rounds that will be played. If it is not given, the index holds for any
        number of rounds.
    noise : float, default 0.5
        Standard deviation of the rewards, or a bound on it; 0.5, the constant of the papers, holds
        for all rewards between 0 and 1.

    References
    ----------
    .. [AB09] J.-Y. Audibert and S. Bubeck, Minimax Policies for Adversarial and Stochastic Bandits,
       COLT 2009.
    .. [DP16] R. Degenne and V. Perchet, Anytime Optimal Algorithms in Stochastic Multi-armed
       Bandits, ICML 2016.

    Examples
    --------
    `values` takes the number of its means for n:

    >>> import matroid_bandits as mb
    >>> mb.MOSS(horizon=1000).values([0.5, 0.5], [10, 600], time=1).round(3)
    array([1.125, 0.5  ])
    >>> policy = mb.MAUB(mb.GraphicMatroid.complete(5), index="moss(horizon=10000)", noise=0.2)
    >>> policy.index
    MOSS(horizon=10000, noise=0.2)
    """

    horizon: int | None = None
    noise: float = 0.5

    name = "moss"
    _refused_memory: ClassVar = {
        "window": "it is tuned to the whole run; use UCB(noise=...)",
        "discount": "it is tuned to the whole run; use UCB(noise=...)",
    }

    def __post_init__(self) -> None:
        if self.horizon is not None:
            horizon = integer(self.horizon, "horizon", minimum=1, maximum=2**53)
            object.__setattr__(self, "horizon", horizon)
        object.__setattr__(self, "noise", real(self.noise, "noise", minimum=0, maximum=LARGEST))

    def values(self, means: npt.ArrayLike, counts: npt.ArrayLike, time: int) -> FloatArray:
        budget = log(time if self.horizon is None else self.horizon)
        centers = np.asarray(means, dtype=float)
        excess = budget - np.log(centers.size * np.asarray(counts, dtype=float))
        bounds: FloatArray = centers + self._scale * np.sqrt(np.maximum(0, excess) / counts)
        return bounds

    @property
    def _scale(self) -> float:
        """The factor of the root of the logarithm."""
        return 2 * self.noise * (sqrt(ANYTIME) if self.horizon is None else 1.0)

    def _compiled(self, seed: int) -> MOSSKernel:
        del seed
        return MOSSKernel(type(self).__name__, self._scale, self.horizon or 0)
