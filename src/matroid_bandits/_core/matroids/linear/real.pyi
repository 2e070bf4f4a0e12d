import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class RealKernel(MatroidKernel):
    def __init__(self, vectors: npt.NDArray[np.float64], tolerance: float) -> None: ...
