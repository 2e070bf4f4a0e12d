from matroid_bandits._core.matroids.base import MatroidKernel

class UnionKernel(MatroidKernel):
    def __init__(
        self, growing: list[MatroidKernel], exchanging: list[MatroidKernel], ranks: list[int]
    ) -> None: ...
