"""The compiled reward streams against NumPy's own generators."""

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference.streams import bernoulli_rewards, gaussian_rewards

SEEDS = [0, 1, 12345, 2**32 - 1, 2**32, 2**64 + 17, 3**100, 2**160 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_gaussian_streams_are_numpys(seed: int) -> None:
    means, stds = np.linspace(-1, 1, 40), np.linspace(0, 2, 40)
    rewards = mb.GaussianEnvironment(means, stds).rewards(seed)
    drawn = np.array([rewards.draw(np.arange(40)) for _ in range(500)])
    for e in range(40):
        expected = gaussian_rewards(seed, e, means[e], stds[e], 500)
        assert drawn[:, e].tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_bernoulli_streams_are_numpys(seed: int) -> None:
    means = np.linspace(0, 1, 40)
    rewards = mb.BernoulliEnvironment(means).rewards(seed)
    drawn = np.array([rewards.draw(np.arange(40)) for _ in range(500)])
    for e in range(40):
        assert drawn[:, e].tolist() == bernoulli_rewards(seed, e, means[e], 500).tolist()


def test_elements_with_large_numbers() -> None:
    n = 1_000_000
    rewards = mb.GaussianEnvironment(np.zeros(n), 1.0).rewards(seed=9)
    for e in (0, 65_535, 65_536, n - 1):
        assert rewards.draw([e])[0] == gaussian_rewards(9, e, 0.0, 1.0, 1)[0]


def test_order_of_elements_does_not_matter() -> None:
    environment = mb.GaussianEnvironment(np.zeros(5), 1.0)
    one, other = environment.rewards(3), environment.rewards(3)
    assert one.draw([4, 0, 2])[::-1].tolist() == other.draw([2, 0, 4]).tolist()
