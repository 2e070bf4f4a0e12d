from matroid_bandits._core.matroids.base import MatroidKernel

class DualKernel(MatroidKernel):
    n_steps: int
    def __init__(
        self, growing: MatroidKernel, exchanging: MatroidKernel, inner_rank: int
    ) -> None: ...
