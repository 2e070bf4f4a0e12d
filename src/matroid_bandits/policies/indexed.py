"""What policies share that are a structure with an index."""

from matroid_bandits._arguments import integer
from matroid_bandits.indices import Index
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.base import CompiledPolicy
from matroid_bandits.problem import Problem

__all__ = ["IndexPolicy"]


class IndexPolicy(CompiledPolicy):
    """A structure with an index."""

    def __init__(self, matroid: Matroid | Problem, index: Index, seed: int = 0) -> None:
        self._index = index
        self._seed = integer(seed, "seed", minimum=0)
        super().__init__(matroid)

    @property
    def index(self) -> Index:
        """How optimistic it is."""
        return self._index

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self._played!r}, index={self._index!r}) after {self.rounds} rounds"
