"""Best challenger.

After the top-two rules of [JDBK22]: Jourdan, Degenne, Baudry, de Heide & Kaufmann, Top Two
Algorithms Revisited (NeurIPS 2022). Departures: pairs of a matroid; of a pair the less observed
element comes first, in place of a coin; an element is never observed less often than about half of
the root of its share, which keeps an unlucky first reward from being the last one.
"""

from matroid_bandits._core.identification.challengers import BestChallengerKernel
from matroid_bandits.identification.base import CompiledRule

__all__ = ["BestChallenger"]


class BestChallenger(CompiledRule):
    """Compares each element of the best basis with the challenger that is hardest to tell apart.

    The pairs with the smallest statistic come first; of a pair, the less observed element.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import BestChallenger
    >>> environment = mb.BernoulliEnvironment([0.9, 0.7, 0.1, 0.3])
    >>> mb.identify(BestChallenger(mb.UniformMatroid(2, 4)), environment, seed=1).basis
    array([0, 1])
    """

    name = "best challenger"

    def _new_kernel(self) -> BestChallengerKernel:
        return BestChallengerKernel()
