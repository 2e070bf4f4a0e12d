from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matroid_bandits.indices import Index

class IndexKernel:
    name: str
    low: float
    high: float
    min_count: int
    def __init__(
        self, name: str, low: float = ..., high: float = ..., min_count: int = 1
    ) -> None: ...

class PythonIndexKernel(IndexKernel):
    def __init__(self, index: Index) -> None: ...
