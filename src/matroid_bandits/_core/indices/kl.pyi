import numpy as np
import numpy.typing as npt

from matroid_bandits._core.indices.base import IndexKernel

def kl_ucb(
    means: npt.NDArray[np.float64], levels: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]: ...

class KLKernel(IndexKernel):
    c: float
    def __init__(self, name: str, c: float) -> None: ...
