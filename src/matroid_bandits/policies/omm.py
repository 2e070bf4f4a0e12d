"""OMM [KWAES14], Algorithm 1: Kveton, Wen, Ashkan, Eydgahi & Eriksson, Matroid Bandits: Fast
Combinatorial Optimization with Learning (UAI 2014).

Assumes rewards whose noise is about that of a unit Gaussian or less. Departures: the paper writes
its confidence radius with the number of finished rounds, ours with the number of the present one,
as [DG25] compares it. Ties go to the lowest index. Other indices and noise levels are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices.by_name import chosen_index
from matroid_bandits.policies.greedy import GreedyPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits.indices import Index
    from matroid_bandits.restarts import GLR

__all__ = ["OMM"]


class OMM(GreedyPolicy[Selection]):
    """Optimistic Matroid Maximization: greedy on upper confidence bounds, every round.

    The bound of an element is ``mean + sqrt(2 ln t / count)`` in round t.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    index : Index, str or dict, default "ucb"
        What takes the place of the bound: an index such as ``KLUCB()``, or its name.
    noise : float, optional
        Standard deviation of the rewards, for an index given by name that has such a level: 1 if
        not given, as in the paper.
    seed : int, default 0
        For an index that draws at random.
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
    >>> policy = mb.OMM(mb.UniformMatroid(2, 5), noise=0.2)
    >>> policy.select()
    array([0, 1])
    >>> policy.index
    UCB(noise=0.2, constant=2.0)
    """

    name = "OMM"

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        index: Index | str | Mapping[str, Any] = "ucb",
        noise: float | None = None,
        seed: int = 0,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            matroid,
            index=chosen_index(index, noise),
            seed=seed,
            pending=pending,
            window=window,
            discount=discount,
            restart=restart,
        )
