"""Random numbers by NumPy's public API alone, and a plain loop that plays a policy on them.

Every element has a stream of its own: its k-th reward depends on the seed, the element and k, and
not on what is played when. Different policies thus meet the same rewards. Every use of random
numbers has a domain of its own, so that no two share a stream.
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


def _generator(domain: bytes, *words: int) -> np.random.Generator:
    return np.random.default_rng([int.from_bytes(domain, "little"), *words])


def reward_generator(seed: int, element: int) -> np.random.Generator:
    """The random numbers behind the rewards of an element."""
    return _generator(b"bandits--rewards", seed, element)


def policy_generator(seed: int) -> np.random.Generator:
    """The random numbers of a policy and of its index."""
    return _generator(b"bandits-policies", seed)


def delay_generator(seed: int) -> np.random.Generator:
    """The random numbers behind the delays of a run."""
    return _generator(b"bandits---delays", seed)


def means_generator(seed: int) -> np.random.Generator:
    """The random numbers behind random means."""
    return _generator(b"bandits----means", seed)


def matroid_generator(seed: int) -> np.random.Generator:
    """The random numbers behind a random matroid that is named by its class and size."""
    return _generator(b"bandits-matroids", seed)


def gaussian_rewards(
    seed: int, element: int, mean: float, std: float, count: int
) -> NDArray[np.float64]:
    """The first ``count`` rewards of an element with normally distributed rewards."""
    return mean + std * reward_generator(seed, element).standard_normal(count)


def bernoulli_rewards(seed: int, element: int, mean: float, count: int) -> NDArray[np.float64]:
    """The first ``count`` rewards of an element whose rewards are 1 with probability ``mean``."""
    return (reward_generator(seed, element).random(count) < mean).astype(np.float64)


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
