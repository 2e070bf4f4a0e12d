from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.policies.maub.search import Search
from matroid_bandits._types import FloatArray, IntArray

class IndexSearch:
    def __init__(
        self, search: Search, index: IndexKernel, playable: IntArray, all_values: FloatArray
    ) -> None: ...

class FullSearch(IndexSearch): ...
