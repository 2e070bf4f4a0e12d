from typing import TYPE_CHECKING, Any

from matroid_bandits._types import CountArray, FloatArray, IntArray

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
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
    def merge(
        self, elements: IntArray, means: FloatArray, counts: CountArray, state: dict[str, Any]
    ) -> None: ...

class PythonIndexKernel(IndexKernel):
    def __init__(self, index: Index) -> None: ...
