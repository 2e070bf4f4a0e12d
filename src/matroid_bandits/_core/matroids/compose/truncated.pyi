from matroid_bandits._core.matroids.base import MatroidKernel

class TruncatedKernel(MatroidKernel):
    def __init__(self, inner: MatroidKernel, inner_rank: int, rank: int) -> None: ...
