from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.policies.maub.thinned import ThinnedSearch
from matroid_bandits._core.policies.memory.base import Memory

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

ONE: int
ALL: int
MAX_FORMER_LEADERS: int
MAX_FORMER_ELEMENTS: int
LARGE_RANK: int

class MAUBKernel(PolicyKernel):
    lean: bool
    exchanges: int
    thinned: ThinnedSearch | None
    def __init__(
        self,
        matroid: Matroid,
        index: IndexKernel,
        lean: bool,
        counts_pending: bool = False,
        exchanges: int = ...,
        memory: Memory | None = None,
    ) -> None: ...
    def search_fully(self) -> None: ...
    def n_within_reach(self) -> int: ...
    def positive_exchanges(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]: ...
    def symmetry_classes(self) -> npt.NDArray[np.int32]: ...
    def round_leader(self) -> npt.NDArray[np.intp] | None: ...
    def last_leader(self) -> npt.NDArray[np.intp] | None: ...
    def leader_copy(self) -> npt.NDArray[np.intp] | None: ...
