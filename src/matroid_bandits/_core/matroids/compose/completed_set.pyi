from matroid_bandits._core.matroids.base import MatroidKernel

class CompletedSet:
    def __init__(self, kernel: MatroidKernel, rank: int) -> None: ...
