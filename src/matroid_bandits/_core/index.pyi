from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matroid_bandits.indices import Index

class IndexKernel:
    name: str
    low: float
    high: float
    least: int
    def __init__(self, name: str, low: float = ..., high: float = ..., least: int = 1) -> None: ...

class UCBKernel(IndexKernel):
    noise: float
    constant: float
    def __init__(self, name: str, noise: float, constant: float) -> None: ...

class PythonIndexKernel(IndexKernel):
    def __init__(self, index: Index) -> None: ...
