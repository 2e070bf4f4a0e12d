"""Means that change, written from their definitions, and rewards around them."""

import math
from collections.abc import Callable, Sequence

from .streams import Numbers, basis_value, reward_generator, walk_generator


def piecewise(rows: Sequence[Numbers], changes: Sequence[int], t: int) -> list[float]:
    """The means of round ``t``: those of the last piece that has begun."""
    begun = sum(first <= t for first in changes)
    return [float(mean) for mean in rows[begun]]


def reflected(x: float, low: float, high: float) -> float:
    """``x``, reflected at the bounds until it lies between them."""
    while not low <= x <= high:
        x = 2 * high - x if x > high else 2 * low - x
    return x


def walk(
    seed: int, element: int, start: float, step: float, low: float, high: float, rounds: int
) -> list[float]:
    """The mean of an element in the rounds 1, 2, ..., ``rounds``."""
    normals = walk_generator(seed, element).standard_normal(rounds)
    means = [start]
    for normal in normals.tolist()[: rounds - 1]:
        means.append(reflected(means[-1] + step * normal, low, high))
    return means


def seasonal(center: float, amplitude: float, period: float, phase: float, t: int) -> float:
    """The mean of an element in round ``t``."""
    return center + amplitude * math.sin(2 * math.pi * ((t - 1) / period + phase))


def changing_rewards(
    seed: int, means: Sequence[Numbers], std: Sequence[float] | None
) -> Callable[[int, int, int], float]:
    """The k-th reward of element e, played in round t; ``means[t - 1]`` are those of round t.

    Gaussian with these standard deviations; without any, Bernoulli.
    """
    count = len(means)
    noise: list[list[float]] = []
    for e in range(len(means[0])):
        rng = reward_generator(seed, e)
        noise.append((rng.random(count) if std is None else rng.standard_normal(count)).tolist())

    def reward(e: int, k: int, t: int) -> float:
        mean = float(means[t - 1][e])
        if std is None:
            return 1.0 if noise[e][k] < mean else 0.0
        return mean + std[e] * noise[e][k]

    return reward


def best_value(means: Numbers, is_independent: Callable[[frozenset[int]], bool]) -> float:
    """The value of the basis that greedy finds, ties to the lowest element."""
    basis: list[int] = []
    for e in sorted(range(len(means)), key=lambda e: (-float(means[e]), e)):
        if is_independent(frozenset([*basis, e])):
            basis.append(e)
    return basis_value(basis, means)
