"""Uniform sampling: the baseline."""

from matroid_bandits._core.identification.rule import RuleKernel
from matroid_bandits.identification.base import CompiledRule

__all__ = ["UniformSampling"]


class UniformSampling(CompiledRule):
    """The least observed elements first, whatever their means.

    Ties go to the element that was observed longest ago, and then to the lowest index.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import UniformSampling
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> mb.identify(UniformSampling(mb.UniformMatroid(2, 4)), environment, seed=1).settled
    True
    """

    name = "uniform"

    def _new_kernel(self) -> RuleKernel:
        return RuleKernel()
