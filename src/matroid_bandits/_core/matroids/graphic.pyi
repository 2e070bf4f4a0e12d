import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class GraphicKernel(MatroidKernel):
    def __init__(
        self, n_vertices: int, tails: npt.NDArray[np.intp], heads: npt.NDArray[np.intp]
    ) -> None: ...
