"""OMM [KWAES14], Algorithm 1: Kveton, Wen, Ashkan, Eydgahi & Eriksson, Matroid Bandits: Fast
Combinatorial Optimization with Learning (UAI 2014).

Assumes rewards whose noise is about that of a unit Gaussian or less. Deviations: the paper writes
its confidence radius with the number of finished rounds, ours with the number of the present one,
as [DG25] compares it. Ties go to the lowest index.
"""

from matroid_bandits._core.omm import OMMKernel
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.base import CompiledPolicy

__all__ = ["OMM"]


class OMM(CompiledPolicy):
    """Optimistic Matroid Maximization: greedy on upper confidence bounds, every round.

    The bound of an element is ``mean + sqrt(2 ln t / count)`` in round t.

    Parameters
    ----------
    matroid : Matroid
        What may be played.

    Notes
    -----
    A round costs one sort of the ground set (cheap where little changed) and one greedy run,
    up to ``size`` independence questions. Loops are never played.

    References
    ----------
    .. [KWAES14] B. Kveton, Z. Wen, A. Ashkan, H. Eydgahi and B. Eriksson, Matroid Bandits: Fast
       Combinatorial Optimization with Learning, UAI 2014.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.OMM(mb.UniformMatroid(2, 5))
    >>> policy.select()
    array([0, 1])
    """

    name = "OMM"

    def _new_kernel(self, matroid: Matroid) -> OMMKernel:
        return OMMKernel(matroid)
