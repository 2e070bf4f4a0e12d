"""Between a user's labels and costs and the numbers and rewards of a kernel."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy.typing as npt

from matroid_bandits._arguments import real_array
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.problem import Problem

__all__ = ["Translation"]


class Translation:
    """Turns labels into numbers and costs into rewards, and back.

    Parameters
    ----------
    problem : Problem
        Labels, and whether rewards are to be large or costs small.
    bounds : tuple of float
        The smallest and the largest reward that the policy accepts.
    owner : str
        The name of the policy class, for messages.

    Attributes
    ----------
    pivot : float
        A cost c becomes the reward ``pivot - c``. So chosen that costs within `bounds` become
        rewards within `bounds`.
    """

    def __init__(self, problem: Problem[Any, Any], bounds: tuple[float, float], owner: str) -> None:
        self.problem = problem
        self.has_costs = problem.sense == "min"
        self.pivot = 0.0
        low, high = bounds
        if self.has_costs and low != -high:
            if not isfinite(low + high):
                raise ValueError(
                    f"{owner} is for rewards from {low:g} to {high:g}: costs cannot be turned into "
                    "such rewards; take an index with two bounds or none"
                )
            self.pivot = low + high

    def in_user_units(self, rewards: FloatArray) -> FloatArray:
        """Rewards as the user gives them: as costs, if costs are to be small."""
        return self.pivot - rewards if self.has_costs else rewards

    @property
    def kind(self) -> str:
        """What the user gives: "rewards" or "costs"."""
        return "costs" if self.has_costs else "rewards"

    def as_rewards(self, values: FloatArray) -> FloatArray:
        """Costs become rewards; rewards stay."""
        return self.pivot - values if self.has_costs else values

    def feedback(self, names: Iterable[Any], values: npt.ArrayLike) -> tuple[IntArray, FloatArray]:
        """Numbers and rewards; the kernel checks the rewards."""
        elements = self.problem.elements(names)
        return elements, self.as_rewards(real_array(values, self.kind))
