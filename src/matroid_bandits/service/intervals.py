"""Intervals for the means of elements, and the basis that looks best.

For rewards between two bounds: Chernoff's, by the Kullback-Leibler divergence of Bernoulli
distributions, which holds for all such rewards. For a known noise level s: the mean plus and minus
``s * sqrt(2 ln(2 / delta) / count)``. Each holds with probability 1 - delta at one moment that was
fixed beforehand, not for all times at once.
"""

from __future__ import annotations

from math import isfinite, log
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits.stopping import bernoulli_divergence

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.policies import Policy

__all__ = ["best_basis", "intervals", "leader_of", "method_of"]

# Halvings of an interval of length one: as exact as doubles are.
_HALVINGS = 54


def leader_of(policy: Policy[Any]) -> IntArray | None:
    """The basis that looks best: the policy's leader, if it has one, or that of largest mean.

    None as long as elements that could be played were never observed.
    """
    kernel: Any = policy._kernel
    if hasattr(kernel, "last_leader"):
        leader: IntArray | None = kernel.leader_copy()
        if leader is not None:
            return leader
    return best_basis(policy)


def best_basis(policy: Policy[Any]) -> IntArray | None:
    """The basis of largest mean, ascending; None as long as elements were never observed."""
    matroid, counts = policy.problem.matroid, policy.counts
    is_known = counts > 0
    is_known[matroid.loops] = True
    if not is_known.all():
        return None
    basis: IntArray = matroid.max_weight_basis(np.where(counts > 0, policy.mean_rewards, 0.0))
    return np.sort(basis)


def intervals(policy: Policy[Any], delta: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends for the mean of each element, in the user's units.

    NaN where an element was never observed, or where nothing is known about the noise.
    """
    counts, means = policy.counts, policy.mean_rewards
    level = log(2 / delta)
    bounds, noise = _bounds(policy), _noise(policy)
    with np.errstate(divide="ignore", invalid="ignore"):
        if bounds is not None:
            low, high = bounds
            scaled = np.clip((means - low) / (high - low), 0, 1)
            ends = [low + (high - low) * _chernoff(scaled, level / counts, up) for up in (0, 1)]
        elif noise is not None:
            width = noise * np.sqrt(2 * level / counts)
            ends = [means - width, means + width]
        else:
            ends = [np.full(len(means), np.nan)] * 2
    lower, upper = (np.where(counts > 0, end, np.nan) for end in ends)
    if policy.problem.sense == "min":
        lower, upper = upper, lower
    return policy._in_user_units(lower), policy._in_user_units(upper)


def method_of(policy: Policy[Any]) -> str:
    """How intervals are made, in words."""
    bounds, noise = _bounds(policy), _noise(policy)
    if bounds is not None:
        return f"Chernoff's bound for rewards between {bounds[0]:g} and {bounds[1]:g}"
    if noise is not None:
        return f"Gaussian noise of standard deviation {noise:g}"
    return "none: the policy knows neither the range nor the noise of the rewards"


def _bounds(policy: Policy[Any]) -> tuple[float, float] | None:
    low, high = policy.reward_range
    return (low, high) if isfinite(low) and isfinite(high) else None


def _noise(policy: Policy[Any]) -> float | None:
    noise: float | None = getattr(policy, "noise", None)
    return noise


def _chernoff(mean: FloatArray, level: FloatArray, up: int) -> FloatArray:
    """The end of the q with ``kl(mean, q) <= level``, above or below the mean."""
    near = mean.copy()
    far = np.full(len(mean), float(up))
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        is_inside = bernoulli_divergence(mean, middle) <= level
        near = np.where(is_inside, middle, near)
        far = np.where(is_inside, far, middle)
    return far
