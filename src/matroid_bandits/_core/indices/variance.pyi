from matroid_bandits._core.indices.base import IndexKernel

class VarianceKernel(IndexKernel):
    def __init__(self, name: str, low: float, high: float, min_count: int) -> None: ...

class UCBVKernel(VarianceKernel):
    def __init__(self, name: str) -> None: ...

class NormalUCBKernel(VarianceKernel):
    def __init__(self, name: str) -> None: ...
