"""CombLinUCB [WKA15], Algorithm 2 with greedy as its oracle: Wen, Kveton & Ashkan, Efficient
Learning in Large-Scale Combinatorial Semi-Bandits (ICML 2015).

Departures: none in what is played. The posterior is kept as a triangular root of the precision and
not as a covariance, for its numbers (docs/decisions/0018-features.md). Features may come with the
round, and feedback late, which is not in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matroid_bandits._arguments import real
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.linear import LinearPolicy

if TYPE_CHECKING:
    from matroid_bandits._core.policies.linear import LinearKernel
    from matroid_bandits.features import LinearFeatures
    from matroid_bandits.matroids import Matroid

__all__ = ["CombLinUCB"]


class CombLinUCB(LinearPolicy[Selection]):
    """Combinatorial linear UCB: greedy on upper confidence bounds of a linear model of features.

    What is learned about one element holds for others with similar features, so the regret depends
    on the number of features and not on that of the elements. There are no initial rounds: the
    prior says what is known about an element that was never played.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    features : LinearFeatures
        The features of the elements, the noise and the prior.
    c : float, default 1.0
        How many standard deviations the index of an element is above its estimate. Larger values
        explore more; for the proven bound on the regret see [WKA15], Theorem 2.

    References
    ----------
    .. [WKA15] Z. Wen, B. Kveton and A. Ashkan, Efficient Learning in Large-Scale Combinatorial
       Semi-Bandits, ICML 2015.

    Examples
    --------
    Two elements with the same feature: the reward of one says what to expect of the other.

    >>> import matroid_bandits as mb
    >>> features = mb.LinearFeatures([[1, 0], [1, 0], [0, 1]], noise=0.1)
    >>> policy = mb.CombLinUCB(mb.UniformMatroid(1, 3), features=features)
    >>> policy.update([0], [0.7])
    >>> policy.estimates.round(2)
    array([0.69, 0.69, 0.  ])
    """

    name = "CombLinUCB"

    def __init__(
        self, matroid: MatroidLike[Selection], *, features: LinearFeatures, c: float = 1.0
    ) -> None:
        super().__init__(matroid, features)
        self._c = real(c, "c", minimum=0.0, maximum=1e10)

    def _new_kernel(self, matroid: Matroid) -> LinearKernel:
        return self._new_linear_kernel(matroid, self._c, None)

    @property
    def c(self) -> float:
        """How many standard deviations the index is above the estimate."""
        return self._c
