import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class PavingKernel(MatroidKernel):
    def __init__(
        self,
        rank: int,
        n_planes: int,
        start: npt.NDArray[np.intp],
        planes: npt.NDArray[np.intp],
    ) -> None: ...
