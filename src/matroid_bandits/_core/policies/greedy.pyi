from typing import TYPE_CHECKING

from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.policies.memory.base import Memory

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class GreedyKernel(PolicyKernel):
    def __init__(
        self,
        matroid: Matroid,
        index: IndexKernel,
        counts_pending: bool = False,
        memory: Memory | None = None,
    ) -> None: ...
