"""CombLinTS [WKA15], Algorithm 1 with greedy as its oracle: Wen, Kveton & Ashkan, Efficient
Learning in Large-Scale Combinatorial Semi-Bandits (ICML 2015).

Departures: none in distribution. The root of the covariance by which draws are made is the inverse
of the triangular root of the precision, as the posterior is kept (docs/decisions/0018-features.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from matroid_bandits._arguments import integer
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.linear import LinearPolicy

if TYPE_CHECKING:
    from matroid_bandits._core.policies.linear import LinearKernel
    from matroid_bandits.features import LinearFeatures
    from matroid_bandits.matroids import Matroid

__all__ = ["CombLinTS"]


class CombLinTS(LinearPolicy[Selection]):
    """Combinatorial linear Thompson sampling: greedy on one draw of the coefficients, every round.

    As :class:`CombLinUCB`, but the coefficients of the features are drawn from their posterior, and
    the elements are compared by them.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    features : LinearFeatures
        The features of the elements, the noise and the prior.
    seed : int, default 0
        Seed of the draws.

    References
    ----------
    .. [WKA15] Z. Wen, B. Kveton and A. Ashkan, Efficient Learning in Large-Scale Combinatorial
       Semi-Bandits, ICML 2015.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> features = mb.LinearFeatures([[1, 0], [1, 1], [0, 1]], noise=0.1)
    >>> policy = mb.CombLinTS(mb.UniformMatroid(1, 3), features=features, seed=1)
    >>> environment = mb.GaussianEnvironment([0.2, 0.9, 0.7], std=0.1)
    >>> mb.simulate(policy, environment, horizon=200).rounds[-1], policy.counts.argmax()
    (np.int64(200), np.int64(1))
    """

    name = "CombLinTS"
    _check_exemptions: ClassVar = {
        "relabeling": "random numbers are drawn in the order of the features"
    }

    def __init__(
        self, matroid: MatroidLike[Selection], *, features: LinearFeatures, seed: int = 0
    ) -> None:
        super().__init__(matroid, features)
        self._seed = integer(seed, "seed", minimum=0)

    def _new_kernel(self, matroid: Matroid) -> LinearKernel:
        return self._new_linear_kernel(matroid, 0.0, RandomStream(self._seed))

    @property
    def seed(self) -> int:
        """Seed of the draws."""
        return self._seed
