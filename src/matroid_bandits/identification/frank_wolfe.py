"""Frank-Wolfe sampling on pairs.

[WTP21]: Wang, Tzeng & Proutiere, Fast Pure Exploration via Frank-Wolfe (NeurIPS 2021), and
[TWPL23]: Tzeng, Wang, Proutiere & Lu, Closing the Computational-Statistical Gap in Best Arm
Identification for Combinatorial Semi-bandits (NeurIPS 2023). Departures: the statistic is exact, a
minimum over exchanges; the minimum is made smooth by exponential weights, not by subdifferentials
or random perturbations.
"""

from matroid_bandits._core.identification.frank_wolfe import FrankWolfeKernel
from matroid_bandits.identification.base import CompiledRule

__all__ = ["FrankWolfe"]


class FrankWolfe(CompiledRule):
    """Observes what makes the statistic grow fastest: greedy on the gradient of its soft minimum.

    In the long run, observations are in the proportions of the lower bound.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import FrankWolfe
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> mb.identify(FrankWolfe(mb.UniformMatroid(2, 4)), environment, seed=1).basis
    array([0, 1])
    """

    name = "Frank-Wolfe"

    def _new_kernel(self) -> FrankWolfeKernel:
        return FrankWolfeKernel()
