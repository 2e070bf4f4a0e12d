from matroid_bandits._core.policies.memory.base import Memory
from matroid_bandits._types import FloatArray, IntArray

class Restart(Memory):
    delta: float
    period: int
    restarts_all: bool
    noise: float
    n_restarts: int
    def __init__(
        self, size: int, delta: float, period: int, restarts_all: bool, noise: float
    ) -> None: ...
    def splits(self) -> tuple[IntArray, FloatArray, IntArray]: ...
