import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class MinorKernel(MatroidKernel):
    def __init__(
        self,
        inner: MatroidKernel,
        elements: npt.NDArray[np.intp],
        contracted: npt.NDArray[np.intp],
        completion: npt.NDArray[np.intp],
    ) -> None: ...
    def complete_by(self, completion: npt.NDArray[np.intp]) -> None: ...
