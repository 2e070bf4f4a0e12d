from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.index import IndexKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class PolicyKernel:
    matroid: Matroid
    size: int
    rank: int
    rounds: int
    index: IndexKernel | None
    is_bounded: bool
    least: int
    unready: int
    is_chosen: bool
    oracle_calls: int
    greedy_calls: int
    neighborhood_updates: int
    def __init__(
        self, matroid: Matroid, index: IndexKernel | None = None, least: int = 1
    ) -> None: ...
    def select(self) -> npt.NDArray[np.intp]: ...
    def update(self, elements: npt.NDArray[np.intp], rewards: npt.NDArray[np.float64]) -> None: ...
    def greedy_basis(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]: ...
    def counts_copy(self) -> npt.NDArray[np.int64]: ...
    def means_copy(self) -> npt.NDArray[np.float64]: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
