"""MAUB's bounds on groups of elements, where they are most easily wrong
(docs/explanation/rounds.md).

Large symmetry classes, equal means and many leaders: groups are nearly level, every play hangs on
small differences, and bounds are carried from round to round. The rule with NumPy and the published
variant must play the same bases.
"""

from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference import matroids as textbook
from ..reference.large_partitions import LargePartitionMAUB
from ..reference.policies import ReferenceMAUB
from ..seeds import seeds

REWARDS = {
    "gaussian": lambda rng, size, noise: rng.normal(0.5, noise, size),
    "binary": lambda rng, size, noise: rng.integers(0, 2, size).astype(float),
    "three values": lambda rng, size, noise: rng.integers(0, 3, size) / 2,
}


def _first_difference(
    rng: np.random.Generator,
    groups: list[int],
    capacities: list[int],
    noise: float,
    kind: str,
    rounds: int,
    scale: float = 1.0,
    exchanges: Any = "one",
) -> tuple[int, str] | None:
    """The first round in which a policy plays otherwise than the rule with NumPy, and which."""
    matroid = mb.PartitionMatroid(groups, dict(enumerate(capacities)))
    plain = LargePartitionMAUB(groups, capacities, noise, exchanges)
    policies = {
        "lean": mb.MAUB(matroid, noise=noise, exchanges=exchanges),
        "paper": mb.MAUB(matroid, neighborhood="paper", noise=noise, exchanges=exchanges),
    }
    for t in range(rounds):
        basis = plain.select()
        for name, policy in policies.items():
            if not np.array_equal(policy.select(), basis):
                return t, name
        rewards = scale * REWARDS[kind](rng, len(basis), noise / scale)
        plain.update(basis, rewards)
        for policy in policies.values():
            policy.update(basis, rewards)
    for policy in policies.values():
        assert policy.neighborhood_updates == plain.neighborhood_updates
        assert policy.mean_rewards.tolist() == plain.means.tolist()
    return None


def _random_partition(rng: np.random.Generator, size: int) -> tuple[list[int], list[int]]:
    n_groups = int(rng.integers(1, 4))
    groups = rng.integers(0, n_groups, size).tolist()
    capacities = rng.integers(1, max(2, min(30, size // n_groups // 2)), n_groups).tolist()
    return groups, capacities


@pytest.mark.parametrize("seed", [47, 71, 111, 482])
def test_a_bound_that_ends_just_after_it_begins(seed: int) -> None:
    """The end of a bound may be the next number above its beginning: its slope was 1e15."""
    rng = np.random.default_rng([seed, 6])
    groups, capacities = _random_partition(rng, int(rng.integers(40, 700)))
    noise = [1.0, 0.3][rng.integers(0, 2)]
    assert _first_difference(rng, groups, capacities, noise, "gaussian", 500) is None


@pytest.mark.parametrize("kind", REWARDS)
@pytest.mark.parametrize("seed", seeds(6))
def test_equal_means(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 60])
    groups, capacities = _random_partition(rng, int(rng.integers(40, 400)))
    noise = [1.0, 0.3, 0.05][seed % 3]
    for exchanges in ("one", "all", 4):
        found = _first_difference(rng, groups, capacities, noise, kind, 400, exchanges=exchanges)
        assert found is None, exchanges


@pytest.mark.parametrize("kind", ["gaussian", "three values"])
@pytest.mark.parametrize(
    ("noise", "scale"),
    [
        (0.0, 1.0),
        (1e-300, 1e-300),
        (1e-300, 1.0),
        (1e-320, 1e-320),
        (1e-16, 1.0),
        (1e-8, 1.0),
        (1.0, 1e-8),
        (1.0, 1e8),
        (1e8, 1.0),
        (1e100, 1e100),
        (1e100, 1.0),
        (1.0, 1e300),
        (1.0, 1e305),
    ],
)
def test_every_width(kind: str, noise: float, scale: float) -> None:
    """Widths and rewards from the smallest to the largest that are allowed."""
    for seed in seeds(2):
        rng = np.random.default_rng([seed, 61])
        groups, capacities = _random_partition(rng, 150)
        found = _first_difference(rng, groups, capacities, noise, kind, 250, scale)
        assert found is None, f"seed {seed}: {found}"


@pytest.mark.parametrize("seed", [21, 32, 52])
def test_a_thousand_elements_in_two_groups(seed: int) -> None:
    """Many leaders, as the means differ by less than the noise."""
    rng = np.random.default_rng(seed)
    means = rng.random(1000)
    matroid = mb.PartitionMatroid([i % 2 for i in range(1000)], 50)
    lean = mb.MAUB(matroid, noise=0.3, exchanges="one")
    paper = mb.MAUB(matroid, neighborhood="paper", noise=0.3, exchanges="one")
    plain = LargePartitionMAUB([i % 2 for i in range(1000)], [50, 50], 0.3)
    for t in range(450):
        basis = plain.select()
        rewards = rng.normal(means[basis], 0.3)
        for policy in (lean, paper):
            assert policy.select().tolist() == basis.tolist(), f"round {t}"
            policy.update(basis, rewards)
        plain.update(basis, rewards)


@pytest.mark.parametrize("seed", seeds(5))
def test_the_rule_with_numpy_is_the_reference(seed: int) -> None:
    rng = np.random.default_rng([seed, 62])
    groups = rng.integers(0, 3, 12).tolist()
    # A capacity of 0 makes loops.
    capacities = rng.integers(0, 3, 3).tolist()
    plain = LargePartitionMAUB(groups, capacities)
    twin = ReferenceMAUB(12, textbook.partition(groups, dict(enumerate(capacities))))
    for _ in range(150):
        basis = plain.select()
        assert tuple(basis.tolist()) == twin.select()
        rewards = rng.integers(0, 3, len(basis)) / 2
        plain.update(basis, rewards)
        twin.update(basis.tolist(), rewards.tolist())
    assert plain.neighborhood_updates == twin.neighborhood_updates
