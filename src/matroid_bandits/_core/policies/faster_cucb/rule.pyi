from typing import TYPE_CHECKING

from matroid_bandits._core.policies.base import PolicyKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class FasterCUCBKernel(PolicyKernel):
    eps: float
    def __init__(self, matroid: Matroid, eps: float, counts_pending: bool = False) -> None: ...
