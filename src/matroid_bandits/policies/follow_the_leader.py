"""Follow the leader: a baseline without exploration, whose regret grows with the horizon."""

from __future__ import annotations

from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices import Mean
from matroid_bandits.policies.greedy import GreedyPolicy

__all__ = ["FollowTheLeader"]


class FollowTheLeader(GreedyPolicy[Selection]):
    """Greedy on the means, every round: no exploration after the first look.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.FollowTheLeader(mb.UniformMatroid(1, 3))
    >>> policy.update([0, 1, 2], [0.3, 0.9, 0.5])
    >>> policy.select()
    array([1])
    """

    name = "FollowTheLeader"

    def __init__(self, matroid: MatroidLike[Selection]) -> None:
        super().__init__(matroid, index=Mean())
