"""The regret of every policy on a fixed instance, and what its index is good for.

Margins were worked out beforehand, from 200 runs with seeds 1000 to 1199: the mean of 20 other runs
must lie within 4.5 standard errors of the difference, sd * sqrt(1/20 + 1/200). By chance that fails
once in a hundred thousand; the seeds are fixed, so it fails when the regret has changed.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

import matroid_bandits as mb

HORIZON = 10_000
RUNS = 20
MATROID = mb.GraphicMatroid.complete(5)
MEANS = np.linspace(0.5, 0.95, 10)[np.random.default_rng(5).permutation(10)]
GAUSSIAN = mb.GaussianEnvironment(MEANS, 0.2)
BERNOULLI = mb.BernoulliEnvironment(MEANS)

Maker = Callable[[int], mb.Policy]

# Policy for a seed, mean regret, its standard deviation over runs.
WITH_GAUSSIAN: dict[str, tuple[Maker, float, float]] = {
    "OMM": (lambda _: mb.OMM(MATROID), 394.88, 17.05),
    "OMM(noise=0.2)": (lambda _: mb.OMM(MATROID, noise=0.2), 25.24, 4.81),
    "CUCB": (lambda _: mb.CUCB(MATROID), 316.86, 16.31),
    "MAUB": (lambda _: mb.MAUB(MATROID), 387.08, 16.66),
    "MAUB(noise=0.2)": (lambda _: mb.MAUB(MATROID, noise=0.2), 25.23, 4.81),
    "MAUB(index=normal)": (lambda _: mb.MAUB(MATROID, index="normal"), 36.89, 4.63),
    "MAUB(index=gaussian)": (
        lambda seed: mb.MAUB(MATROID, index="gaussian", noise=0.2, seed=seed),
        18.80,
        5.58,
    ),
    "CTS(prior=gaussian)": (
        lambda seed: mb.CTS(MATROID, prior="gaussian", noise=0.2, seed=seed),
        19.24,
        5.06,
    ),
    "MAUB(index=imed)": (lambda _: mb.MAUB(MATROID, index="imed", noise=0.2), 19.10, 3.80),
    "MAUB(index=moss)": (lambda _: mb.MAUB(MATROID, index=mb.MOSS(HORIZON, 0.2)), 23.97, 4.06),
    "OMM(index=moss)": (lambda _: mb.OMM(MATROID, index="moss", noise=0.2), 26.35, 5.39),
    "MAUB(index=shared-gaussian)": (
        lambda seed: mb.MAUB(MATROID, index="shared-gaussian", noise=0.2, seed=seed),
        55.93,
        6.21,
    ),
    "OMM(index=shared-gaussian)": (
        lambda seed: mb.OMM(MATROID, index="shared-gaussian", noise=0.2, seed=seed),
        68.71,
        6.45,
    ),
    "ESCB(noise=0.2)": (lambda _: mb.ESCB(MATROID, noise=0.2), 87.17, 7.67),
    "FasterCUCB": (lambda _: mb.FasterCUCB(MATROID), 299.83, 17.46),
    "FasterCUCB(eps=0.01)": (lambda _: mb.FasterCUCB(MATROID, eps=0.01), 317.54, 16.65),
    "OSUB(noise=0.1)": (lambda _: mb.OSUB(MATROID, index="ucb", noise=0.1), 228.11, 39.54),
    "EpsilonGreedy": (lambda seed: mb.EpsilonGreedy(MATROID, seed=seed), 603.96, 19.25),
    "RandomBasis": (lambda seed: mb.RandomBasis(MATROID, seed=seed), 6000.20, 22.46),
}
WITH_BERNOULLI: dict[str, tuple[Maker, float, float]] = {
    "KLOSM": (lambda _: mb.KLOSM(MATROID), 145.59, 24.59),
    "CTS": (lambda seed: mb.CTS(MATROID, seed=seed), 65.55, 43.72),
    "MAUB(index=kl)": (lambda _: mb.MAUB(MATROID, index="kl"), 144.83, 24.58),
    "MAUB(index=beta)": (lambda seed: mb.MAUB(MATROID, index="beta", seed=seed), 65.37, 53.52),
    "MAUB(index=ucbv)": (lambda _: mb.MAUB(MATROID, index="ucbv"), 349.53, 26.16),
    "MAUB(noise=0.5)": (lambda _: mb.MAUB(MATROID, noise=0.5), 123.82, 22.79),
    "MAUB(index=imed)": (lambda _: mb.MAUB(MATROID, index="imed"), 65.02, 15.15),
    "MAUB(index=moss)": (lambda _: mb.MAUB(MATROID, index=mb.MOSS(HORIZON)), 93.83, 17.17),
    "MAUB(index=shared-gaussian)": (
        lambda seed: mb.MAUB(MATROID, index="shared-gaussian", noise=0.5, seed=seed),
        169.84,
        19.91,
    ),
    "ESCB": (lambda _: mb.ESCB(MATROID), 346.46, 31.33),
    "OSUB": (lambda _: mb.OSUB(MATROID), 1816.32, 177.94),
}


def _mean_regret(make: Maker, environment: mb.Environment) -> float:
    return float(
        np.mean(
            [
                mb.simulate(make(seed), environment, HORIZON, seed=seed).total_regret
                for seed in range(RUNS)
            ]
        )
    )


@pytest.mark.parametrize("name", WITH_GAUSSIAN)
def test_regret_with_gaussian_rewards(name: str) -> None:
    make, expected, deviation = WITH_GAUSSIAN[name]
    margin = 4.5 * deviation * sqrt(1 / RUNS + 1 / 200)
    assert _mean_regret(make, GAUSSIAN) == pytest.approx(expected, abs=margin)


@pytest.mark.parametrize("name", WITH_BERNOULLI)
def test_regret_with_bernoulli_rewards(name: str) -> None:
    make, expected, deviation = WITH_BERNOULLI[name]
    margin = 4.5 * deviation * sqrt(1 / RUNS + 1 / 200)
    assert _mean_regret(make, BERNOULLI) == pytest.approx(expected, abs=margin)


def test_following_the_leader_is_a_matter_of_luck() -> None:
    # From 2 to 4,000 in 200 runs: linear in the runs that settle on a wrong tree.
    regrets = [
        mb.simulate(mb.FollowTheLeader(MATROID), GAUSSIAN, HORIZON, seed=seed).total_regret
        for seed in range(RUNS)
    ]
    assert min(regrets) < 50
    assert max(regrets) > 500


@pytest.mark.parametrize(
    "matroid",
    [mb.UniformMatroid(15, 30), mb.GraphicMatroid.complete(15)],
    ids=["U(15,30)", "K15"],
)
def test_a_known_noise_and_the_lower_bound(matroid: mb.Matroid) -> None:
    # Of 20 runs with seeds from 1000 on: paper / noise 0.2 is 11.3 (sd 3.1 a run) on U(15,30) and
    # 10.3 (sd 2.0) on K15; regret / bound is 0.75 (0.30) and 0.68 (0.24) with the noise known, 0.89
    # (0.43) and 1.00 (0.29) with kl. The margin is four standard errors of five runs.
    ratios, near, near_kl = [], [], []
    for seed in range(5):
        means = mb.random_means(matroid.size, seed)
        gaussian = mb.GaussianEnvironment(means, 0.2)
        bernoulli = mb.BernoulliEnvironment(means)

        def regret(policy: mb.Policy, environment: mb.Environment, seed: int = seed) -> float:
            return mb.simulate(policy, environment, 100_000, seed=seed).total_regret

        known = regret(mb.MAUB(matroid, noise=0.2), gaussian)
        ratios.append(regret(mb.MAUB(matroid), gaussian) / known)
        near.append(known / mb.regret_lower_bound(matroid, gaussian, 100_000))
        with_kl = regret(mb.MAUB(matroid, index="kl"), bernoulli)
        near_kl.append(with_kl / mb.regret_lower_bound(matroid, bernoulli, 100_000))
    assert np.mean(ratios) > 11.3 - 4 * 3.1 / sqrt(5)
    assert np.mean(near) < 0.75 + 4 * 0.30 / sqrt(5)
    assert np.mean(near_kl) < 1.00 + 4 * 0.43 / sqrt(5)
