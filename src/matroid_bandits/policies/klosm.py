"""KL-OSM [TP16], Algorithm 1: Talebi & Proutiere, An Optimal Algorithm for Stochastic Matroid
Bandit Optimization (AAMAS 2016).

Assumes rewards in [0, 1]; the analysis is for Bernoulli rewards. Departures: ln ln t is taken as 0
where it is negative. Ties go to the lowest index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matroid_bandits._arguments import real
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices import KLUCB
from matroid_bandits.policies.greedy import GreedyPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits.restarts import GLR

__all__ = ["KLOSM"]


class KLOSM(GreedyPolicy[Selection]):
    """KL-OSM: greedy on Bernoulli kl-UCB indices, every round; rewards from 0 to 1.

    Asymptotically optimal for Bernoulli rewards: its regret approaches `regret_lower_bound`.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    c : float, default 3.0
        The factor of ln ln t in the index; 3 in the paper, 0 does better in practice.
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
    .. [TP16] M. S. Talebi and A. Proutiere, An Optimal Algorithm for Stochastic Matroid Bandit
       Optimization, AAMAS 2016.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.KLOSM(mb.UniformMatroid(2, 5))
    >>> policy.update([0], [1.5])
    Traceback (most recent call last):
    ...
    ValueError: the reward of element 0 is 1.5, but KLUCB is for rewards from 0 to 1; rescale
    them, or take a policy for rewards without bounds, such as MAUB(noise=1.0) or
    CTS(prior="gaussian")
    """

    name = "KLOSM"

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        c: float = 3.0,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        self._c = real(c, "c", minimum=0, maximum=1e6)
        super().__init__(
            matroid,
            index=KLUCB(self._c),
            pending=pending,
            window=window,
            discount=discount,
            restart=restart,
        )

    @property
    def c(self) -> float:
        """The factor of ln ln t in the index."""
        return self._c
