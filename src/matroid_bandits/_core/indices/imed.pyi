from matroid_bandits._core.indices.base import IndexKernel

class IMEDKernel(IndexKernel):
    noise: float
    def __init__(self, name: str, noise: float) -> None: ...
