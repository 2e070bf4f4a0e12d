from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.best_basis import BestBasis
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.streams.rewards import RewardKernel

class LostFeedback:
    def __init__(self, policy: PolicyKernel) -> None: ...
    def lose(self, identifier: str | int, element: int) -> None: ...
    def close_if_settled(self, identifier: str | int) -> None: ...
    def end(self) -> None: ...

def run_late(
    policy: PolicyKernel,
    rewards: RewardKernel,
    delays: Any,
    means: npt.NDArray[np.float64],
    best_value: float,
    checkpoints: npt.NDArray[np.int64],
    *,
    are_costs: bool = False,
    pivot: float = 0.0,
    best: BestBasis | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
