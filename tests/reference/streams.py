"""Random numbers by NumPy's public API alone, and a plain loop that plays a policy on them.

Every element has a stream of its own: its k-th reward depends on the seed, the element and k, and
not on what is played when. Different policies thus meet the same rewards. Every use of random
numbers has a domain of its own, so that no two share a stream.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]

#: The rewards of a run: by element and number of the play (0, 1, ...), or a function of element,
#: number of the play and round.
Rewards = Sequence[Numbers] | Callable[[int, int, int], float]
#: True means, the same in all rounds or by round; and the value of the best basis likewise.
Means = Numbers | Callable[[int], Numbers]
BestValue = float | Callable[[int], float]


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


def walk_generator(seed: int, element: int) -> np.random.Generator:
    """The random numbers behind the random walk of an element's mean."""
    return _generator(b"bandits----walks", seed, element)


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
    rewards: Rewards,
    means: Means,
    best_value: BestValue,
    horizon: int,
) -> list[float]:
    """Play ``horizon`` rounds; return the cumulative pseudo-regret after each of them.

    The k-th time element e is played (k = 0, 1, ...), it pays ``rewards[e][k]``; ``horizon``
    rewards per element are always enough. ``means`` are the true means and ``best_value`` is the
    `basis_value` of the best basis. Where means change, all three are functions; rounds are
    counted from 1.
    """
    pulls: dict[int, int] = {}
    total = 0.0
    regret: list[float] = []
    for t in range(1, horizon + 1):
        basis = policy.select()
        policy.update(basis, [next_reward(rewards, pulls, e, t) for e in basis])
        total += regret_of_round(basis, means, best_value, t)
        regret.append(total)
    return regret


def next_reward(rewards: Rewards, pulls: dict[int, int], element: int, t: int) -> float:
    """What an element pays in round ``t``; ``pulls`` counts its plays."""
    k = pulls.get(element, 0)
    pulls[element] = k + 1
    return float(rewards(element, k, t) if callable(rewards) else rewards[element][k])


def regret_of_round(basis: Sequence[int], means: Means, best_value: BestValue, t: int) -> float:
    """The value of the best basis of round ``t`` minus that of the basis played."""
    best = best_value(t) if callable(best_value) else best_value
    return best - basis_value(basis, means(t) if callable(means) else means)
