from matroid_bandits._core.policies.memory.base import Memory

class Discount(Memory):
    factor: float
    unit: float
    def __init__(self, size: int, factor: float) -> None: ...
