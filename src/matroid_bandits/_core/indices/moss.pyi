from matroid_bandits._core.indices.base import IndexKernel

class MOSSKernel(IndexKernel):
    scale: float
    horizon: float
    def __init__(self, name: str, scale: float, horizon: float) -> None: ...
