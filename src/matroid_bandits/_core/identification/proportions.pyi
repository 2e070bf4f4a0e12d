import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

def best_proportions(
    kernel: MatroidKernel,
    rank: int,
    elements: npt.NDArray[np.intp],
    inside: npt.NDArray[np.intp],
    outside: npt.NDArray[np.intp],
    means: npt.NDArray[np.float64],
    variances: npt.NDArray[np.float64],
    *,
    is_bernoulli: bool,
    by_element: bool,
    tolerance: float,
    max_steps: int,
    max_tests: int,
) -> tuple[float, float, npt.NDArray[np.float64]]: ...
