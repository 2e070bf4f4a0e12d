"""What the regret of a round is measured by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._core.best_basis import BestBasis
from matroid_bandits._core.streams.changing_rewards import ChangingRewards

if TYPE_CHECKING:
    from matroid_bandits._core.streams.rewards import RewardKernel
    from matroid_bandits._types import FloatArray
    from matroid_bandits.environments import Environment
    from matroid_bandits.problem import Problem

__all__ = ["best_basis", "total_of"]


def best_basis(
    problem: Problem[Any, Any], environment: Environment, rewards: RewardKernel
) -> tuple[BestBasis | None, FloatArray, float]:
    """What the regret is measured by: the best basis of every round if means change, or None.

    Also the true means, such that larger is better, and the value of the best basis; if means
    change, they are those of round 1, and the array of means becomes that of the present round.
    """
    if not isinstance(rewards, ChangingRewards):
        gains = np.ascontiguousarray(problem.gains(environment.means))
        return None, gains, total_of(gains[problem.matroid.max_weight_basis(gains)])
    matroid = problem.matroid
    best = BestBasis(matroid, matroid._new_kernel(), rewards.means, problem.sense == "min")
    value = best.at(1)
    return best, best.gains, value


def total_of(values: FloatArray) -> float:
    """Their sum from first to last, as the compiled loop adds: equal to the last bit."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total
