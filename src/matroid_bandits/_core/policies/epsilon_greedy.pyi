from typing import TYPE_CHECKING

from matroid_bandits._core.policies.random_basis import RandomKernel
from matroid_bandits._core.streams.random_stream import RandomStream

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class EpsilonGreedyKernel(RandomKernel):
    def __init__(self, matroid: Matroid, random_stream: RandomStream, epsilon: float) -> None: ...
