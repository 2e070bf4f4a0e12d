import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class ModularKernel(MatroidKernel):
    def __init__(
        self,
        primes: npt.NDArray[np.uint64],
        width: int,
        starts: npt.NDArray[np.intp],
        columns: npt.NDArray[np.intp],
        values: npt.NDArray[np.uint64],
        classes: npt.NDArray[np.int32],
    ) -> None: ...

def independent_columns(
    residues: npt.NDArray[np.uint64], primes: npt.NDArray[np.uint64]
) -> tuple[
    int,
    npt.NDArray[np.intp],
    npt.NDArray[np.intp],
    npt.NDArray[np.uint64],
    npt.NDArray[np.int32],
]: ...
def pivot_columns(vectors: npt.NDArray[np.uint64], p: int) -> npt.NDArray[np.intp]: ...
