import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.streams.means import MeansKernel
from matroid_bandits.matroids import Matroid

class BestBasis:
    value: float
    gains: npt.NDArray[np.float64]
    def __init__(
        self, matroid: Matroid, kernel: MatroidKernel, means: MeansKernel, are_costs: bool
    ) -> None: ...
    def at(self, round: int) -> float: ...  # noqa: A002
