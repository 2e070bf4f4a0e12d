import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

def find_partners(
    kernel: MatroidKernel, basis: npt.NDArray[np.intp], elements: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]: ...
def find_replacements(
    kernel: MatroidKernel, basis: npt.NDArray[np.intp], elements: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]: ...
def find_circuits(
    kernel: MatroidKernel, basis: npt.NDArray[np.intp], elements: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]: ...
