"""What policies that run greedy on an index every round share."""

from matroid_bandits._core.policies.greedy import GreedyKernel
from matroid_bandits._types import Selection
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.indexed import IndexPolicy

__all__ = ["GreedyPolicy"]


class GreedyPolicy(IndexPolicy[Selection]):
    """Greedy on an index, every round."""

    def _new_kernel(self, matroid: Matroid) -> GreedyKernel:
        return GreedyKernel(
            matroid,
            self._index._new_kernel(self._seed),
            self._pending == "count",
            self._new_memory(matroid.size, self._index),
        )
