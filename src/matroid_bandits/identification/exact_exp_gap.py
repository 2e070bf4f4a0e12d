"""Exact-ExpGap.

[CGL16]: Chen, Gupta & Li, Pure Exploration of Multi-armed Bandit under Matroid Constraints (COLT
2016). Departures: the estimates of a round are made by observing all active elements equally often;
the paper's sampling stage saves observations only above about 20,000 elements.
"""

from matroid_bandits._core.identification.eliminating import ExactExpGapKernel
from matroid_bandits.identification.base import CompiledRule

__all__ = ["ExactExpGap"]


class ExactExpGap(CompiledRule):
    """Rounds of growing precision, in which elements with a clear gap are accepted or rejected.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import ExactExpGap
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> mb.identify(ExactExpGap(mb.UniformMatroid(2, 4)), environment, seed=1).basis
    array([0, 1])
    """

    name = "Exact-ExpGap"
    can_stop = True
    only_stops_itself = True

    def _new_kernel(self) -> ExactExpGapKernel:
        return ExactExpGapKernel()
