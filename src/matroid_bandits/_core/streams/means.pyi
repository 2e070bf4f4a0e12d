from collections.abc import Callable

import numpy as np
import numpy.typing as npt

class MeansKernel:
    size: int
    def __init__(self, size: int) -> None: ...
    def at(self, round: int) -> npt.NDArray[np.float64]: ...  # noqa: A002

class PiecewiseMeans(MeansKernel):
    def __init__(self, pieces: npt.NDArray[np.float64], changes: npt.NDArray[np.int64]) -> None: ...

class DriftingMeans(MeansKernel):
    def __init__(
        self, seed: int, start: npt.NDArray[np.float64], step: float, low: float, high: float
    ) -> None: ...

class SeasonalMeans(MeansKernel):
    def __init__(
        self,
        centers: npt.NDArray[np.float64],
        amplitudes: npt.NDArray[np.float64],
        phases: npt.NDArray[np.float64],
        period: float,
    ) -> None: ...

class FunctionMeans(MeansKernel):
    def __init__(self, size: int, function: Callable[[int], npt.NDArray[np.float64]]) -> None: ...
