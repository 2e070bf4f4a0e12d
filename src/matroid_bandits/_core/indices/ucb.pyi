from matroid_bandits._core.indices.base import IndexKernel

class UCBKernel(IndexKernel):
    noise: float
    constant: float
    def __init__(self, name: str, noise: float, constant: float) -> None: ...
