from matroid_bandits._core.chance import Chance
from matroid_bandits._core.index import IndexKernel

class BetaKernel(IndexKernel):
    def __init__(self, name: str, chance: Chance) -> None: ...

class GaussianKernel(IndexKernel):
    def __init__(self, name: str, noise: float, chance: Chance) -> None: ...
