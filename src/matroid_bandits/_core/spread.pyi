from matroid_bandits._core.index import IndexKernel

class SpreadKernel(IndexKernel):
    def __init__(self, name: str, low: float, high: float, least: int) -> None: ...

class UCBVKernel(SpreadKernel):
    def __init__(self, name: str) -> None: ...

class NormalUCBKernel(SpreadKernel):
    def __init__(self, name: str) -> None: ...
