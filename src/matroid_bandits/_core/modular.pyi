import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroid import MatroidKernel

class ModularKernel(MatroidKernel):
    def __init__(
        self, residues: npt.NDArray[np.uint64], primes: npt.NDArray[np.uint64]
    ) -> None: ...
