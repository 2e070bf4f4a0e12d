"""CUCB [CWY13], Algorithm 1 with greedy as its exact oracle: Chen, Wang & Yuan, Combinatorial
Multi-Armed Bandit: General Framework and Applications (ICML 2013).

Assumes rewards in [0, 1] or of no larger noise. Departures: initial rounds as for all policies
here, several unobserved elements at a time where the paper plays one set for each element. Bounds
above 1 are not cut: on a matroid, cutting would only make ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices import UCB
from matroid_bandits.policies.greedy import GreedyPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits.restarts import GLR

__all__ = ["CUCB"]


class CUCB(GreedyPolicy[Selection]):
    """Combinatorial UCB: greedy on ``mean + sqrt(1.5 ln t / count)``, every round.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, so that visitors at the same time explore different elements.
    window : int, optional
        For means that change: only observations of the last so many rounds count.
    discount : float, optional
        For means that change: the weight of an observation shrinks by this factor with every round.
    restart : "glr", GLR or dict, optional
        For means that change: a test finds that a mean has changed, and everything is learned anew.
        At most one of the three is given; docs/howto/change.md compares them.

    References
    ----------
    .. [CWY13] W. Chen, Y. Wang and Y. Yuan, Combinatorial Multi-Armed Bandit: General Framework
       and Applications, ICML 2013.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.CUCB(mb.UniformMatroid(2, 5)).index
    UCB(noise=1.0, constant=1.5)
    """

    name = "CUCB"

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            matroid,
            index=UCB(constant=1.5),
            pending=pending,
            window=window,
            discount=discount,
            restart=restart,
        )
