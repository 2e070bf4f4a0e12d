"""CLUCB.

[CLKLC14]: Chen, Lin, King, Lyu & Chen, Combinatorial Pure Exploration of Multi-Armed Bandits (NIPS
2014), Algorithm 1, for rewards of a known noise. Departures: in the basis model all elements in
which the two bases differ are wanted, the widest interval first; by default it stops by the
threshold of all rules, and as in the paper with ``threshold="own"``.
"""

from matroid_bandits._core.identification.clucb import CLUCBKernel
from matroid_bandits.identification.base import CompiledRule

__all__ = ["CLUCB"]


class CLUCB(CompiledRule):
    """Compares the best basis by the means with the best one by confidence bounds against it.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import CLUCB
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> mb.identify(CLUCB(mb.UniformMatroid(2, 4)), environment, threshold="own", seed=1).basis
    array([0, 1])
    """

    name = "CLUCB"
    can_stop = True

    def _new_kernel(self) -> CLUCBKernel:
        return CLUCBKernel()
