from typing import TYPE_CHECKING

from matroid_bandits._core.chance import Chance
from matroid_bandits._core.policy import PolicyKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class RandomKernel(PolicyKernel):
    def __init__(self, matroid: Matroid, chance: Chance, least: int = 0) -> None: ...

class EpsilonGreedyKernel(RandomKernel):
    def __init__(self, matroid: Matroid, chance: Chance, epsilon: float) -> None: ...
