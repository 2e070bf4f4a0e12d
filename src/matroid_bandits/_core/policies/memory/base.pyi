from typing import Any

from matroid_bandits._types import FloatArray

class Memory:
    size: int
    longest_time: int
    accepts_statistics: bool
    is_past_initial: bool
    restarted_at: int
    def __init__(self, size: int) -> None: ...
    def effective_counts(self) -> FloatArray: ...
    def state(self, rounds: int) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any], rounds: int) -> None: ...
