from typing import Any

from matroid_bandits._core.policies.memory.base import Memory

class Window(Memory):
    length: int
    def __init__(self, size: int, length: int) -> None: ...
    def observations(self, rounds: int) -> dict[str, Any]: ...
