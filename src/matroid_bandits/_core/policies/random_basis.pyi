from typing import TYPE_CHECKING

from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.streams.random_stream import RandomStream

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class RandomKernel(PolicyKernel):
    def __init__(
        self, matroid: Matroid, random_stream: RandomStream, min_count: int = 0
    ) -> None: ...
