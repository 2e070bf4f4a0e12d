import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class PartitionKernel(MatroidKernel):
    def __init__(self, groups: npt.NDArray[np.intp], capacities: npt.NDArray[np.intp]) -> None: ...
