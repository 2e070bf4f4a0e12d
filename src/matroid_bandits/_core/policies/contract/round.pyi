from typing import TYPE_CHECKING

from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.policies.contract.feedback import Feedback
from matroid_bandits._core.policies.contract.guard import Guard
from matroid_bandits._core.policies.memory.base import Memory
from matroid_bandits._types import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class RoundKernel:
    matroid: Matroid
    guard: Guard
    feedback: Feedback
    size: int
    rank: int
    rounds: int
    index: IndexKernel | None
    min_count: int
    n_undersampled: int
    is_initial: bool
    is_forced: bool
    memory: Memory | None
    counts_pending: bool
    is_chosen: bool
    is_restricted: bool
    oracle_calls: int
    greedy_calls: int
    neighborhood_updates: int
    def __init__(
        self,
        matroid: Matroid,
        index: IndexKernel | None = None,
        min_count: int = 1,
        counts_pending: bool = False,
        memory: Memory | None = None,
    ) -> None: ...
    def own_rule(self) -> IntArray: ...
    def available_elements(self) -> IntArray | None: ...
    def greedy_basis(self, values: FloatArray) -> IntArray: ...
    def is_found(self, elements: IntArray) -> bool: ...
    def effective_counts(self) -> FloatArray: ...
    def earlier_means_copy(self) -> FloatArray: ...
    def counts_copy(self) -> CountArray: ...
    def means_copy(self) -> FloatArray: ...
