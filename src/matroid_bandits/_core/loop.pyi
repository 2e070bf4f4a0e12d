import numpy as np
import numpy.typing as npt

from matroid_bandits._core.best_basis import BestBasis
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.streams.rewards import RewardKernel

def run(
    policy: PolicyKernel,
    rewards: RewardKernel,
    means: npt.NDArray[np.float64],
    best_value: float,
    checkpoints: npt.NDArray[np.int64],
    *,
    are_costs: bool = False,
    pivot: float = 0.0,
    best: BestBasis | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
