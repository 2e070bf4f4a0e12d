"""CTS [WC18], Algorithm 1 with greedy as its exact oracle: Wang & Chen, Thompson Sampling for
Combinatorial Semi-Bandits (ICML 2018).

With the Beta prior: rewards in [0, 1], no initial rounds, every element begins with Beta(1, 1).
Departures: none. The normal prior is ours; it begins with one observation of every element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from matroid_bandits._arguments import choice
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices import BetaThompson, GaussianThompson, Index
from matroid_bandits.policies.greedy import GreedyPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits.restarts import GLR

__all__ = ["CTS"]

PRIORS = ("beta", "gaussian")


class CTS(GreedyPolicy[Selection]):
    """Combinatorial Thompson Sampling: greedy on posterior draws, every round.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    prior : {"beta", "gaussian"}, default "beta"
        "beta" is for rewards from 0 to 1 (those in between toss a coin), "gaussian" for noise of
        a known level.
    noise : float, optional
        That level, a standard deviation; 1 if not given. For "gaussian" only.
    seed : int, default 0
        Seed of the draws.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, which makes the posterior narrower.
    window : int, optional
        For means that change: only observations of the last so many rounds count.
    discount : float, optional
        For means that change: the weight of an observation shrinks by this factor with every round.
    restart : "glr", GLR or dict, optional
        For means that change: a test finds that a mean has changed, and everything is learned anew.
        At most one of the three is given; docs/howto/change.md compares them.

    References
    ----------
    .. [WC18] S. Wang and W. Chen, Thompson Sampling for Combinatorial Semi-Bandits, ICML 2018.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.CTS(mb.UniformMatroid(2, 5), prior="gaussian", noise=0.2).index
    GaussianThompson(noise=0.2)
    """

    name = "CTS"
    _check_exemptions: ClassVar = {
        "relabeling": "random numbers are drawn in the order of the elements"
    }

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        prior: Literal["beta", "gaussian"] = "beta",
        noise: float | None = None,
        seed: int = 0,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        self._prior = choice(prior, "prior", PRIORS)
        if prior == "beta" and noise is not None:
            raise ValueError('noise is for prior="gaussian"; a Beta prior has none')
        index: Index = BetaThompson()
        if prior == "gaussian":
            index = GaussianThompson() if noise is None else GaussianThompson(noise)
        super().__init__(
            matroid,
            index=index,
            seed=seed,
            pending=pending,
            window=window,
            discount=discount,
            restart=restart,
        )

    @property
    def prior(self) -> str:
        """The prior of the means: "beta" or "gaussian"."""
        return self._prior
