from matroid_bandits._core.matroid import MatroidKernel

class CompletedSet:
    def __init__(self, kernel: MatroidKernel, rank: int) -> None: ...
