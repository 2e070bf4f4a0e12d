from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.policies.base import PolicyKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class ESCBKernel(PolicyKernel):
    noise: float
    bound: float
    def __init__(self, matroid: Matroid, noise: float, counts_pending: bool = False) -> None: ...
    def value(self, basis: npt.NDArray[np.intp]) -> float: ...

class ExchangeKernel(ESCBKernel): ...
