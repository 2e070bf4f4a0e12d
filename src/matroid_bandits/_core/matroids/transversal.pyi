import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class TransversalKernel(MatroidKernel):
    def __init__(
        self, start: npt.NDArray[np.intp], right: npt.NDArray[np.intp], n_right: int
    ) -> None: ...
