from matroid_bandits._core.matroids.base import MatroidKernel

class DualKernel(MatroidKernel):
    def __init__(
        self, growing: MatroidKernel, exchanging: MatroidKernel, inner_rank: int
    ) -> None: ...
