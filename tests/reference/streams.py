"""Random rewards by NumPy's public API alone, and a plain loop that plays a policy on them.

Every element has a stream of its own: its k-th reward depends on the seed, the element and k, and
not on what is played when. Different policies thus meet the same rewards.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]


class Policy(Protocol):
    """What the loop needs of a policy."""

    def select(self) -> Sequence[int]: ...

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> object: ...


def _generator(seed: int, element: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, element]))


def gaussian_rewards(
    seed: int, element: int, mean: float, std: float, count: int
) -> NDArray[np.float64]:
    """The first ``count`` rewards of an element with normally distributed rewards."""
    return mean + std * _generator(seed, element).standard_normal(count)


def bernoulli_rewards(seed: int, element: int, mean: float, count: int) -> NDArray[np.float64]:
    """The first ``count`` rewards of an element whose rewards are 1 with probability ``mean``."""
    return (_generator(seed, element).random(count) < mean).astype(np.float64)


def basis_value(basis: Sequence[int], means: Numbers) -> float:
    """The sum of the means of a basis, from left to right in ascending order of the elements."""
    # Not sum(): since Python 3.12 it compensates rounding errors, which gives other last digits.
    value = 0.0
    for e in sorted(basis):
        value += float(means[e])
    return value


def reference_run(
    policy: Policy,
    rewards: Sequence[Numbers],
    means: Numbers,
    best_value: float,
    horizon: int,
) -> list[float]:
    """Play ``horizon`` rounds; return the cumulative pseudo-regret after each of them.

    The k-th time element e is played (k = 0, 1, ...), it pays ``rewards[e][k]``; ``horizon``
    rewards per element are always enough. ``means`` are the true means and ``best_value`` is the
    `basis_value` of the best basis.
    """
    pulls = [0] * len(means)
    total = 0.0
    regret: list[float] = []
    for _ in range(horizon):
        basis = policy.select()
        observed: list[float] = []
        for e in basis:
            observed.append(float(rewards[e][pulls[e]]))
            pulls[e] += 1
        policy.update(basis, observed)
        total += best_value - basis_value(basis, means)
        regret.append(total)
    return regret
