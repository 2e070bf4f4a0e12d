from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.matroids.bases import Sets
from matroid_bandits._core.policies.base import PolicyKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class Arms:
    sets: Sets
    count: int
    largest_degree: int
    def __init__(
        self,
        size: int,
        members: npt.NDArray[np.intp],
        starts: npt.NDArray[np.int64] | None = None,
        neighbors: npt.NDArray[np.int32] | None = None,
    ) -> None: ...
    def members_copy(self) -> npt.NDArray[np.intp]: ...
    def neighbors_copy(self, k: int) -> npt.NDArray[np.int32]: ...

class OSUBKernel(PolicyKernel):
    arms: Arms
    def __init__(
        self, matroid: Matroid, index: IndexKernel, arms: Arms, counts_pending: bool = False
    ) -> None: ...
    def count_calls(self, oracle_calls: int, greedy_calls: int) -> None: ...
    def leader_copy(self) -> npt.NDArray[np.intp]: ...
    def arm_counts_copy(self) -> npt.NDArray[np.int64]: ...
    def arm_means_copy(self) -> npt.NDArray[np.float64]: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
