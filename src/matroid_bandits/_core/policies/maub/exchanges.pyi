from matroid_bandits._core.matroids.base import MatroidKernel

class Exchanges:
    def __init__(self, oracle: MatroidKernel, rank: int, size: int) -> None: ...
