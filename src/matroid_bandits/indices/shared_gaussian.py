"""CL-SG [HPH26]: Hu, Pan & Huang, Worst-Case Regret Bounds for Combinatorial Thompson Sampling in
Sleeping Semi-Bandits (INFOCOM 2026): one Gaussian draw a round, shared by all elements.

[JZTG26] does the same with other posteriors. Of [HPH26] we know the abstract and the formula, not
the text: constants may differ. Departures: rewards of any range, with a `noise`; every element is
observed once before it has a value; in MAUB, which is not in the paper, t is the leader's local
time.
"""

from dataclasses import dataclass
from typing import ClassVar

from matroid_bandits._arguments import real
from matroid_bandits._core.indices.shared_gaussian import SharedGaussianKernel
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits.indices.base import Index
from matroid_bandits.indices.ucb import LARGEST

__all__ = ["SharedGaussian"]


@dataclass(frozen=True)
class SharedGaussian(Index):
    """A confidence width that is drawn once a round, for all elements.

    ``mean + noise * Z * sqrt(ln t / (count + 1))`` with a standard Gaussian Z, the same for all
    elements. If Z is positive, the round explores; if it is negative, it prefers what it knows.

    Parameters
    ----------
    noise : float, default 1.0
        Standard deviation of the rewards, or a bound on it; 1 is the constant of the paper, for
        rewards between 0 and 1.

    References
    ----------
    .. [HPH26] B. Hu, J. Pan and Z. Huang, Worst-Case Regret Bounds for Combinatorial Thompson
       Sampling in Sleeping Semi-Bandits, INFOCOM 2026, arXiv 2605.09277.
    .. [JZTG26] T. Jin, H. Zhao, V. Y. F. Tan and Q. Gu, Avoiding exp(k*) Scaling for Thompson
       Sampling in Combinatorial Semi-Bandits: From Multiple Seeds to a Single Seed, COLT 2026.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.OMM(mb.UniformMatroid(2, 5), index="shared-gaussian", noise=0.5, seed=1)
    >>> environment = mb.BernoulliEnvironment([0.1, 0.3, 0.5, 0.7, 0.9])
    >>> result = mb.simulate(policy, environment, horizon=2000)
    >>> int(policy.counts.argmax())
    4
    """

    noise: float = 1.0

    name = "shared-gaussian"
    _refused_memory: ClassVar = {
        "discount": "it needs whole numbers of observations; use window=",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", real(self.noise, "noise", minimum=0, maximum=LARGEST))

    def _compiled(self, seed: int) -> SharedGaussianKernel:
        return SharedGaussianKernel(type(self).__name__, self.noise, RandomStream(seed))
