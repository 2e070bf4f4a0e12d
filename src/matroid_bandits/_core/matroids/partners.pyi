import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

def partners_of(
    kernel: MatroidKernel, basis: npt.NDArray[np.intp], elements: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]: ...
def replacements_of(
    kernel: MatroidKernel, basis: npt.NDArray[np.intp], elements: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]: ...
