from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.streams.random_stream import RandomStream

class ThompsonKernel(IndexKernel): ...

class BetaKernel(ThompsonKernel):
    def __init__(self, name: str, random_stream: RandomStream) -> None: ...

class GaussianKernel(ThompsonKernel):
    def __init__(self, name: str, noise: float, random_stream: RandomStream) -> None: ...
