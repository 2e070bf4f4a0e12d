from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.streams.random_stream import RandomStream

class SharedGaussianKernel(IndexKernel):
    noise: float
    def __init__(self, name: str, noise: float, random_stream: RandomStream) -> None: ...
