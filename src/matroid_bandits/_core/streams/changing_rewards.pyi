import numpy as np
import numpy.typing as npt

from matroid_bandits._core.streams.means import MeansKernel
from matroid_bandits._core.streams.rewards import Streams

LATEST: int

class ChangingRewards(Streams):
    means: MeansKernel
    def __init__(self, seed: int, means: MeansKernel) -> None: ...
    @property
    def round(self) -> int: ...

class ChangingGaussianRewards(ChangingRewards):
    def __init__(self, seed: int, means: MeansKernel, stds: npt.NDArray[np.float64]) -> None: ...

class ChangingBernoulliRewards(ChangingRewards): ...
