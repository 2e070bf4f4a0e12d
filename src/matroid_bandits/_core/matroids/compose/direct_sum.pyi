from matroid_bandits._core.matroids.base import MatroidKernel

class DirectSumKernel(MatroidKernel):
    def __init__(self, parts: list[MatroidKernel], ranks: list[int]) -> None: ...
