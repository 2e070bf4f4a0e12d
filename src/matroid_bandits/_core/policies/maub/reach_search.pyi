from matroid_bandits._core.policies.maub.index_search import IndexSearch

class ReachSearch(IndexSearch):
    is_plain: bool
    def n_compared(self) -> int: ...
