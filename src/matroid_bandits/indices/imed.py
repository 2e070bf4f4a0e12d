"""IMED [HT15]: Honda & Takemura, Non-asymptotic Analysis of a New Bandit Algorithm for
Semi-bounded Rewards (JMLR 2015).

For single arms IMED plays the arm with the lowest ``count * kl(mean, best mean) + ln count``; that
of the best arm is ln of its count. On a graph of arms [SMM20] compares the neighbors of the best
arm only. Departures: in MAUB the neighbors of the leader are its exchanges, an element e is
compared with its partner x, the weakest element of the leader that it can replace, and the leader
is also played once in every n - rank + 1 rounds, as [DG25] has it. Divergences are those of
Bernoulli or Gaussian distributions, [HT15] has those of all distributions with an upper bound.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from matroid_bandits._arguments import real
from matroid_bandits._core.indices.imed import IMEDKernel
from matroid_bandits.indices.base import Index
from matroid_bandits.indices.ucb import LARGEST

__all__ = ["IMED"]

# Squares of smaller numbers are not exact.
SMALLEST = 1e-100


@dataclass(frozen=True)
class IMED(Index):
    """Indexed minimum empirical divergence, for MAUB only.

    An element e takes the place of its partner x if
    ``count_e * kl(mean_e, mean_x) + ln count_e < ln count_x``; of several such elements, the one
    for which the left side is lowest. There is no time and nothing to tune. An element has no value
    of its own, so other policies than MAUB refuse it, and it makes one exchange a round.

    Parameters
    ----------
    noise : float, optional
        Standard deviation of Gaussian rewards; kl is ``(mean_x - mean_e)**2 / (2 * noise**2)``. If
        it is not given, rewards are from 0 to 1, and kl is that of Bernoulli distributions.

    References
    ----------
    .. [HT15] J. Honda and A. Takemura, Non-asymptotic Analysis of a New Bandit Algorithm for
       Semi-bounded Rewards, JMLR 16, 2015.
    .. [SMM20] H. Saber, P. Menard and O.-A. Maillard, Forced-exploration Free Strategies for
       Unimodal Bandits, 2020, arXiv 2006.16569.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.UniformMatroid(2, 5), index="imed")
    >>> environment = mb.BernoulliEnvironment([0.1, 0.3, 0.5, 0.7, 0.9])
    >>> result = mb.simulate(policy, environment, horizon=2000)
    >>> policy.leader
    array([3, 4])
    """

    noise: float | None = None

    name = "imed"
    _refused_memory: ClassVar = {
        "discount": "it needs whole numbers of observations; use window=",
    }
    low = 0.0
    high = 1.0
    _needs_partners = True

    def __post_init__(self) -> None:
        if self.noise is not None:
            noise = real(self.noise, "noise", minimum=SMALLEST, maximum=LARGEST)
            object.__setattr__(self, "noise", noise)
            object.__setattr__(self, "low", -inf)
            object.__setattr__(self, "high", inf)

    def _compiled(self, seed: int) -> IMEDKernel:
        del seed
        return IMEDKernel(type(self).__name__, self.noise or 0.0)
