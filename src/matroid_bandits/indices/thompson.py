"""Thompson sampling [T33]: a value drawn from the posterior distribution of the mean."""

from dataclasses import dataclass

from matroid_bandits._arguments import real
from matroid_bandits._core.indices.thompson import BetaKernel, GaussianKernel
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits.indices.base import Index
from matroid_bandits.indices.ucb import LARGEST

__all__ = ["BetaThompson", "GaussianThompson"]

_DRAWS = {"relabeling": "elements draw one after the other, in the order of their numbers"}


@dataclass(frozen=True)
class BetaThompson(Index):
    """Thompson sampling from Beta posteriors, for rewards from 0 to 1.

    A draw from Beta(1 + successes, 1 + failures). A reward strictly between 0 and 1 counts as a
    success with that probability, by the toss of a coin (Agrawal & Goyal 2012).
    """

    name = "beta"
    low = 0.0
    high = 1.0
    min_count = 0
    _check_exemptions = _DRAWS

    def _compiled(self, seed: int) -> BetaKernel:
        return BetaKernel(type(self).__name__, RandomStream(seed))


@dataclass(frozen=True)
class GaussianThompson(Index):
    """Thompson sampling from normal posteriors, for noise of a known level.

    A draw from the normal distribution with the mean so far and the standard deviation
    ``noise / sqrt(count)``: the posterior of a flat prior.

    Parameters
    ----------
    noise : float, default 1.0
        Standard deviation of the rewards, or a bound on it.
    """

    noise: float = 1.0

    name = "gaussian"
    _check_exemptions = _DRAWS

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", real(self.noise, "noise", minimum=0, maximum=LARGEST))

    def _compiled(self, seed: int) -> GaussianKernel:
        return GaussianKernel(type(self).__name__, self.noise, RandomStream(seed))
