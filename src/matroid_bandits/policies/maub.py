"""MAUB [DG25], Algorithm 1: Delage & Gaudel, Efficient Matroid Bandit Linear Optimization
Leveraging Unimodality (2025).

Assumes rewards whose noise is about that of a unit Gaussian or less. Deviations: none. Where the
paper is silent: ties between elements go to the lowest index, everywhere.
"""

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.maub import MAUBKernel
from matroid_bandits.policies.base import CompiledPolicy

__all__ = ["MAUB"]


class MAUB(CompiledPolicy):
    """Plays near a leader and asks the matroid O(log log T) times, not every round.

    It plays near a *leader*, the basis that looks best, and explores by single exchanges: element
    e comes in for its *partner*, the weakest leader element it can replace. The matroid is asked
    only when the leader, or the order of its elements by mean, changes.

    Parameters
    ----------
    matroid : Matroid
        What may be played.

    Notes
    -----
    A round costs O(size); a change of leader one greedy run and new partners. Loops are never
    played.

    References
    ----------
    .. [DG25] R. Delage and R. Gaudel, Efficient Matroid Bandit Linear Optimization Leveraging
       Unimodality, 2025, arXiv 2512.00605.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.GraphicMatroid.complete(4))
    >>> rng = np.random.default_rng(0)
    >>> latency = np.array([1.0, 5.0, 2.0, 4.0, 3.0, 6.0])
    >>> for _ in range(2000):
    ...     tree = policy.select()
    ...     policy.update(tree, -rng.normal(latency[tree], 0.1))
    >>> policy.leader
    array([0, 2, 3])
    """

    name = "MAUB"
    _kernel_class = MAUBKernel
    _kernel: MAUBKernel

    @property
    def leader(self) -> npt.NDArray[np.intp] | None:
        """The basis that leads, ascending; None in the first rounds."""
        return self._kernel.leader_copy()
