import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class LaminarKernel(MatroidKernel):
    def __init__(
        self,
        homes: npt.NDArray[np.intp],
        parents: npt.NDArray[np.intp],
        ends: npt.NDArray[np.intp],
        capacities: npt.NDArray[np.intp],
    ) -> None: ...
