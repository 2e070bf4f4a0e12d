"""The lower bound on the rounds of identification."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import matroid_bandits as mb
from matroid_bandits.identification import lower_bound


def test_two_elements() -> None:
    """By hand: half of the rounds for each, and 8 std^2 / gap^2 rounds for a unit."""
    environment = mb.GaussianEnvironment([0.9, 0.4], std=0.5)
    bound = mb.identification_lower_bound(
        mb.UniformMatroid(1, 2), environment, 0.05, tolerance=1e-8
    )
    assert bound.characteristic_time == pytest.approx(8 * 0.25 / 0.25, rel=1e-6)
    assert bound.proportions == pytest.approx([0.5, 0.5], abs=1e-3)
    assert bound.rounds == pytest.approx(8 * 0.9 * np.log(19), rel=1e-6)
    element = mb.identification_lower_bound(
        mb.UniformMatroid(1, 2), environment, 0.05, model="element", tolerance=1e-8
    )
    assert element.rounds == pytest.approx(bound.rounds)


def growth(matroid: mb.Matroid, environment: mb.Environment, weights: np.ndarray) -> float:
    """The least statistic of all bases for these proportions, per round; Gaussian rewards."""
    means, variances = environment.means, environment.std**2  # type: ignore[attr-defined]
    best = set(matroid.max_weight_basis(means).tolist())
    found = np.inf
    for other in combinations(range(matroid.size), matroid.rank):
        if set(other) == best or not matroid.is_independent(other):
            continue
        changed = sorted(best ^ set(other))
        gap = sum(means[e] for e in best) - sum(means[e] for e in other)
        found = min(found, gap**2 / (2 * np.sum(variances[changed] / weights[changed])))
    return found


@pytest.mark.parametrize("model", ["basis", "element"])
@pytest.mark.parametrize("seed", range(6))
def test_against_an_optimizer(seed: int, model: str) -> None:
    """All bases, and a general optimizer over convex combinations of them or of elements."""
    rng = np.random.default_rng(seed)
    matroid = [
        mb.UniformMatroid(2, 5),
        mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]),
        mb.PartitionMatroid([0, 0, 1, 1, 1], [1, 1]),
    ][seed % 3]
    environment = mb.GaussianEnvironment(rng.uniform(0, 1, 5), std=rng.uniform(0.5, 1, 5))
    bound = mb.identification_lower_bound(matroid, environment, 0.1, model=model)  # type: ignore[arg-type]
    assert bound.gap <= 1e-3
    # The proportions reach what they say, and are possible.
    assert growth(matroid, environment, bound.proportions) == pytest.approx(
        1 / bound.characteristic_time_high, rel=1e-9
    )
    sets = [b for b in combinations(range(5), matroid.rank) if matroid.is_independent(b)]
    corners = np.eye(5) if model == "element" else np.array([np.isin(range(5), b) for b in sets])
    corners = corners.astype(float)
    assert bound.proportions.sum() == pytest.approx(1 if model == "element" else matroid.rank)
    for n in range(1, 6):
        for part in combinations(range(5), n):
            most = 1 if model == "element" else matroid.rank_of(part)
            assert bound.proportions[list(part)].sum() <= most + 1e-9
    # Nothing else reaches more than the certificate says.
    best = 0.0
    for start in range(5):
        first = np.random.default_rng([seed, start]).dirichlet(np.ones(len(corners)))
        found = minimize(
            lambda x: -growth(matroid, environment, np.maximum(x @ corners, 1e-9)),
            first,
            bounds=[(0, 1)] * len(corners),
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
        )
        x = np.clip(found.x, 0, 1)
        best = max(best, growth(matroid, environment, np.maximum(x / x.sum() @ corners, 1e-9)))
    assert best <= (1 + 1e-9) / bound.characteristic_time


def test_bernoulli_rewards_and_costs() -> None:
    rewards = mb.BernoulliEnvironment([0.8, 0.6, 0.3])
    costs = mb.BernoulliEnvironment([0.2, 0.4, 0.7])
    matroid = mb.UniformMatroid(1, 3)
    one = mb.identification_lower_bound(matroid, rewards, 0.1)
    problem = mb.Problem(matroid, labels=[*"abc"], sense="min")
    other = mb.identification_lower_bound(problem, costs, 0.1)
    assert one.rounds == pytest.approx(other.rounds, rel=1e-9)
    # Pinsker's inequality: never more rounds than with Gaussian rewards of standard deviation 1/2.
    gaussian = mb.identification_lower_bound(
        matroid, mb.GaussianEnvironment(rewards.means, std=0.5), 0.1
    )
    assert one.rounds <= gaussian.rounds * 1.002


def test_no_gap_and_no_choice() -> None:
    environment = mb.GaussianEnvironment([0.5, 0.5])
    assert mb.identification_lower_bound(mb.UniformMatroid(1, 2), environment, 0.1).rounds == np.inf
    assert mb.identification_lower_bound(mb.UniformMatroid(2, 2), environment, 0.1).rounds == 0


def test_mistakes() -> None:
    environment = mb.GaussianEnvironment([0.5, 0.4])
    matroid = mb.UniformMatroid(1, 2)

    class Own(mb.Environment):
        def _sample(self, rng: np.random.Generator, element: int, count: int) -> np.ndarray:
            return rng.exponential(self.means[element], count)

    with pytest.raises(NotImplementedError, match="Own"):
        mb.identification_lower_bound(matroid, Own([1.0, 2.0]), 0.1)
    with pytest.raises(ValueError, match="delta must be between 0 and 1"):
        mb.identification_lower_bound(matroid, environment, 0)
    with pytest.raises(ValueError, match="every std must be above 0"):
        mb.identification_lower_bound(matroid, mb.GaussianEnvironment([0.5, 0.4], std=0.0), 0.1)
    with pytest.raises(ValueError, match="the environment has 3 elements, the matroid 2"):
        mb.identification_lower_bound(matroid, mb.GaussianEnvironment([0.5, 0.4, 0.3]), 0.1)
    with pytest.raises(TypeError, match="the bound is that of a matroid"):
        mb.identification_lower_bound([1], environment, 0.1)  # type: ignore[arg-type]


class Asked(mb.OracleMatroid):
    """Counts how often it is asked about each set."""

    def __init__(self, matroid: mb.Matroid) -> None:
        self.times: Counter[frozenset[int]] = Counter()
        super().__init__(matroid.size, matroid.is_independent)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        self.times[elements] += 1
        return super()._is_independent(elements)


@pytest.mark.parametrize(
    "compose",
    [
        lambda part: part,
        lambda part: part.truncate(3),
        lambda part: part.dual(),
        lambda part: part.delete([0]),
        lambda part: part + mb.UniformMatroid(1, 2),
        lambda part: part | mb.UniformMatroid(1, 10),
    ],
    ids=["alone", "truncated", "dual", "minor", "sum", "union"],
)
def test_a_matroid_in_python_is_asked_once(compose) -> None:
    part = mb.GraphicMatroid.complete(5)
    asked = Asked(part)
    matroid = compose(asked)
    environment = mb.GaussianEnvironment(mb.random_means(matroid.size, 1), std=0.5)
    found = mb.identification_lower_bound(matroid, environment, 0.1)
    expected = mb.identification_lower_bound(compose(part), environment, 0.1)
    assert found.rounds == expected.rounds
    assert found.proportions.tolist() == expected.proportions.tolist()
    # Thousands of steps. Before them, other kernels have asked a few things.
    assert max(asked.times.values()) < 10
    assert asked.times.total() < 1000


def test_the_work_is_bounded(monkeypatch) -> None:
    part = mb.GraphicMatroid.complete(7)
    environment = mb.GaussianEnvironment(mb.random_means(part.size, 1), std=0.5)
    best = mb.identification_lower_bound(part, environment, 0.1, tolerance=1e-5)
    # By questions to the matroid, where it is in Python.
    monkeypatch.setattr(lower_bound, "_MOST_TESTS", 500)
    asked = Asked(part)
    rough = mb.identification_lower_bound(asked, environment, 0.1, tolerance=1e-5)
    assert asked.times.total() < 1000
    same = mb.identification_lower_bound(part, environment, 0.1, tolerance=1e-5)
    assert same.rounds == best.rounds
    # By pairs, where there are many.
    monkeypatch.setattr(lower_bound, "_MOST_WORK", 5000)
    rougher = mb.identification_lower_bound(part, environment, 0.1, tolerance=1e-5)
    for one in (rough, rougher):
        # Less exact, and as valid.
        assert one.gap > best.gap
        assert 0 < one.characteristic_time <= best.characteristic_time_high
        assert one.characteristic_time_high >= best.characteristic_time
        ratio = one.characteristic_time / one.characteristic_time_high
        assert one.gap == pytest.approx(1 - ratio)


def test_large_matroids_take_fewer_steps(monkeypatch) -> None:
    def noted(*arguments, max_steps: int, **options):
        pairs = len(arguments[3])
        looks.append(max_steps * (pairs + 200))
        return 1.0, 1.0, np.zeros(200)

    looks: list[int] = []
    monkeypatch.setattr(lower_bound, "best_proportions", noted)
    environment = mb.GaussianEnvironment(np.linspace(1, 0, 200))
    for rank in (1, 50, 100):
        mb.identification_lower_bound(mb.UniformMatroid(rank, 200), environment, 0.1)
    assert max(looks) <= 300_000_000
