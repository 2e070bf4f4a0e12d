"""Sanity tests of the reference of identification: pairs and bases, known values, known runs."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import zeta

from . import identification as reference
from . import matroids

Matroid = tuple[int, matroids.Independence]
Make = Callable[[np.random.Generator], Matroid]


def _uniform(rng: np.random.Generator) -> Matroid:
    size = int(rng.integers(1, 8))
    return size, matroids.uniform(int(rng.integers(0, size + 1)))


def _partition(rng: np.random.Generator) -> Matroid:
    size = int(rng.integers(1, 9))
    capacities = dict(enumerate(rng.integers(0, 4, 3).tolist()))
    return size, matroids.partition(rng.integers(0, 3, size).tolist(), capacities)


def _graphic(rng: np.random.Generator) -> Matroid:
    size = int(rng.integers(1, 9))
    return size, matroids.graphic([(a, b) for a, b in rng.integers(0, 5, (size, 2)).tolist()])


def _linear(rng: np.random.Generator) -> Matroid:
    size = int(rng.integers(1, 8))
    return size, matroids.linear(rng.integers(-1, 2, (size, 3)).tolist())


def _transversal(rng: np.random.Generator) -> Matroid:
    size = int(rng.integers(1, 8))
    return size, matroids.transversal([np.flatnonzero(rng.random(4) < 0.4) for _ in range(size)])


KINDS = {
    "uniform": _uniform,
    "partition": _partition,
    "graphic": _graphic,
    "linear": _linear,
    "transversal": _transversal,
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def _observed(rng: np.random.Generator, size: int) -> tuple[list[int], list[float]]:
    """Counts and means; some are equal, some are 0 or 1."""
    counts = rng.integers(1, [3, 40, 10_000][rng.integers(3)], size)
    means = rng.random(size)
    if rng.random() < 0.5:
        means = rng.integers(0, counts + 1) / counts
    return counts.tolist(), means.tolist()


# --- the statistic -------------------------------------------------------------------------------


def _compare_with_all_bases(
    make: Make,
    family: reference.Family,
    tolerance: float,
    count: int,
) -> None:
    for seed in range(count):
        rng = np.random.default_rng([seed, 21])
        size, is_independent = make(rng)
        is_independent = cache(is_independent)
        counts, means = _observed(rng, size)
        judged = reference.judge(
            reference.Ground(size, is_independent),
            counts,
            means,
            family,
            rounds=100,
            delta=0.1,
            threshold="proven",
        )
        expected = reference.statistic_of_all_bases(size, is_independent, counts, means, family)
        assert judged.statistic == pytest.approx(expected, rel=tolerance, abs=1e-12), seed


@each_kind
def test_pairs_are_enough_for_gaussian_rewards(make: Make) -> None:
    _compare_with_all_bases(make, reference.Gaussian(0.3), 1e-12, 150)


@each_kind
def test_pairs_are_enough_for_bernoulli_rewards(make: Make) -> None:
    _compare_with_all_bases(make, reference.Bernoulli(), 1e-9, 80)


@each_kind
def test_pairs_are_the_fundamental_circuits(make: Make) -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, 22])
        size, is_independent = make(rng)
        ground = reference.Ground(size, is_independent)
        basis = ground.best_basis(rng.random(size).tolist())
        expected = [
            (x, e)
            for e in range(size)
            if e not in basis
            for x in sorted(matroids.fundamental_circuit(size, is_independent, basis, e) - {e})
        ]
        assert ground.pairs(basis) == expected
        assert ground.rank == matroids.rank(size, is_independent)


def test_sets_of_bernoulli_rewards_by_a_general_minimizer() -> None:
    family = reference.Bernoulli()
    rng = np.random.default_rng(23)
    for _ in range(20):
        k = int(rng.integers(1, 4))
        means, counts = rng.uniform(0.1, 0.9, 2 * k), rng.integers(1, 30, 2 * k)
        means[::-1].sort()
        seen = list(zip(means.tolist(), counts.tolist(), strict=True))
        side = np.repeat([1.0, -1.0], k)

        def cost(others: Sequence[float], seen: list[reference.Seen] = seen) -> float:
            return math.fsum(
                n * family.divergence(m, u) for (m, n), u in zip(seen, others, strict=True)
            )

        found = minimize(
            cost,
            np.full(2 * k, means.mean()),
            method="SLSQP",
            bounds=[(1e-6, 1 - 1e-6)] * (2 * k),
            constraints={"type": "eq", "fun": lambda others, side=side: side @ others},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert family.statistic_of_sets(seen[:k], seen[k:]) == pytest.approx(found.fun, rel=1e-5)


@pytest.mark.parametrize("family", [reference.Gaussian(0.7), reference.Bernoulli()])
def test_pairs_with_a_margin_by_a_general_minimizer(family: reference.Family) -> None:
    rng = np.random.default_rng(24)
    for _ in range(200):
        m_e, m_x = np.sort(rng.choice([0, 0.2, 0.5, 0.9, 1, *rng.random(3)], 2)).tolist()
        n_x, n_e = rng.integers(1, 50, 2).tolist()
        eps = float(rng.choice([0.01, 0.1, 0.4]))

        def cost(
            a: float,
            x: reference.Seen = (m_x, n_x),
            e: reference.Seen = (m_e, n_e),
            eps: float = eps,
        ) -> float:
            return x[1] * family.divergence(x[0], a) + e[1] * family.divergence(e[0], a + eps)

        found = minimize_scalar(
            cost, bounds=(1e-12, 1 - eps - 1e-12), method="bounded", options={"xatol": 1e-13}
        )
        is_bernoulli = isinstance(family, reference.Bernoulli)
        z = family.statistic((m_x, n_x), (m_e, n_e), eps)
        if is_bernoulli or 0 <= family.meeting_point((m_x, n_x), (m_e, n_e), eps) <= 1 - eps:
            # At 0 and at 1 the minimizer stops a little early.
            assert z == pytest.approx(found.fun, rel=1e-6, abs=1e-9)
            assert z <= found.fun * (1 + 1e-12) + 1e-12
        # The gradient: what one more observation of each adds, at the same meeting point.
        by_x, by_e = family.gradient((m_x, n_x), (m_e, n_e), eps)
        assert n_x * by_x + n_e * by_e == pytest.approx(z, rel=1e-9, abs=1e-12)


def test_ties_have_no_evidence() -> None:
    for family in (reference.Gaussian(1.0), reference.Bernoulli()):
        for mean in (0.0, 0.1, 1 / 3, 1.0):
            assert family.statistic((mean, 3), (mean, 7), 0.0) == 0


# --- thresholds ----------------------------------------------------------------------------------


def test_c_by_another_minimizer() -> None:
    for y in (0.0, 0.1, 1.0, 3.0, 10.0, 100.0):

        def value(x: float, y: float = y) -> float:
            g = 2 * x - 2 * x * math.log(4 * x) + math.log(zeta(2 * x)) - math.log(1 - x) / 2
            return (g + y) / x

        found = minimize_scalar(value, bounds=(0.5 + 1e-9, 1 - 1e-9), method="bounded")
        assert reference.c_of(y) <= found.fun * (1 + 1e-15)
        assert reference.c_of(y) == pytest.approx(found.fun, rel=1e-8)
        xs = np.linspace(0.5, 1, 20_001)[1:-1]
        assert reference.c_of(y) == pytest.approx(min(map(value, xs.tolist())), rel=1e-6)


def test_h_is_inverted() -> None:
    for y in (1.001, 1.5, 2, 3.7, 10, 100, 699, 701, 5000):
        u = reference.inverse_h(y)
        assert u >= 1
        assert u - math.log(u) == pytest.approx(y, rel=1e-12)
    assert reference.inverse_h(1.0) == 1


def test_t_has_no_jump_and_is_above_its_argument() -> None:
    ys = np.linspace(0.5, 20, 4000)
    values = np.array([reference.t_of(float(y)) for y in ys])
    # Continuous and rising, also where its definition changes.
    assert (np.diff(values) > 0).all()
    assert np.diff(values).max() < 4 * np.diff(values)[-1]
    assert (values > ys).all()


def test_customary() -> None:
    assert reference.customary(0, 0.5) == reference.customary(1, 0.5) == math.log(2)
    assert reference.customary(100, 0.05) == math.log((1 + math.log(100)) / 0.05)


# --- rules ---------------------------------------------------------------------------------------

RULES: dict[str, Callable[[], reference.Rule]] = {
    "Uniform": reference.Uniform,
    "LUCBExchange": reference.LUCBExchange,
    "BestChallenger": reference.BestChallenger,
    "CLUCB": reference.CLUCB,
    "FrankWolfe": reference.FrankWolfe,
    "CSAR": lambda: reference.CSAR(300),
    "ExactExpGap": reference.ExactExpGap,
}
each_rule = pytest.mark.parametrize("name", RULES)


@each_rule
@pytest.mark.parametrize("model", ["basis", "element"])
def test_every_rule_finds_the_best_tree(name: str, model: str) -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 1), (0, 1)]
    is_independent = cache(matroids.graphic(edges))
    means = np.array([0.9, 0.2, 0.7, 0.1, 0.8, 1.0, 0.3])
    rng = np.random.default_rng(25)

    def draw(elements: list[int]) -> list[float]:
        return [float(rng.normal(means[e], 0.1)) for e in elements]

    run = reference.identify(
        7, is_independent, RULES[name](), draw, reference.Gaussian(0.1), model=model
    )
    assert run.basis == {0, 2, 4}
    assert run.settled == (name != "CSAR")
    assert len(run.plays) == run.rounds
    assert run.counts == [sum(e in play for play in run.plays) for e in range(7)]
    # The self-loop is never played.
    assert run.counts[5] == 0
    for play in run.plays:
        assert len(play) == (3 if model == "basis" else 1)
        assert is_independent(frozenset(play))
    if name not in {"CSAR", "ExactExpGap"}:
        assert run.judgement.settled
    if name == "CSAR":
        assert 250 < run.rounds <= 300


@each_rule
@pytest.mark.parametrize("limit, size", [(0, 0), (2, 2), (0, 3)])
def test_a_single_basis_needs_no_rounds(name: str, limit: int, size: int) -> None:
    run = reference.identify(
        size, matroids.uniform(limit), RULES[name](), lambda _: [], reference.Bernoulli()
    )
    assert run.rounds == 0
    assert run.settled
    assert run.basis == frozenset(range(limit))
    assert run.judgement.statistic == math.inf


def test_uniform_sampling_by_hand() -> None:
    run = reference.identify(
        4,
        matroids.uniform(2),
        reference.Uniform(),
        lambda elements: [float(e) for e in elements],
        reference.Gaussian(1000.0),
        limit=5,
    )
    assert run.plays == [(0, 1), (2, 3), (0, 1), (2, 3), (0, 1)]
    assert not run.settled
    assert run.basis == {2, 3}


def test_the_phases_of_csar_by_hand() -> None:
    # 3 elements: 1 + 1/2 + 1/3 = 11/6; T = ceil(9 / (11/6 * (3, 2, 1))) = 2, 3, 5.
    run = reference.identify(
        3,
        matroids.uniform(1),
        reference.CSAR(12),
        lambda elements: [[0.5, 0.9, 0.0][e] for e in elements],
        reference.Gaussian(0.1),
        model="element",
    )
    # 3 * 2 rounds of all, then 2 is rejected; 2 * 1 of the others, then 0 is rejected; 1 * 2 of 1.
    assert run.plays == [(0,), (1,), (2,)] * 2 + [(0,), (1,)] + [(1,)] * 2
    assert run.basis == {1}
    assert not run.settled


@pytest.mark.parametrize("model", ["basis", "element"])
def test_csar_keeps_to_its_budget(model: str) -> None:
    for size in (2, 3, 7):
        for budget in (size, size + 1, 2 * size, 50, 199):
            run = reference.identify(
                size,
                matroids.uniform(size // 2),
                reference.CSAR(budget),
                lambda elements: [e / 10 for e in elements],
                reference.Gaussian(0.1),
                model=model,
            )
            assert run.rounds <= budget
            assert all(run.counts)
            assert run.basis == frozenset(range(size - size // 2, size))


def test_the_first_round_of_exactexpgap_by_hand() -> None:
    # eps = 1/8: every element needs ceil(2 * 0.01 * ln(4 * 50 / 0.05) * 64) = 11 observations.
    run = reference.identify(
        2,
        matroids.uniform(1),
        reference.ExactExpGap(),
        lambda elements: [[0.5, 0.9][e] for e in elements],
        reference.Gaussian(0.1),
    )
    assert run.counts == [11, 11]
    assert run.basis == {1}
    assert run.settled


def test_close_calls_are_noticed() -> None:
    rewards = [iter(r) for r in ([1, 1, 0, 1] * 20, [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20)]
    run = reference.identify(
        3,
        matroids.uniform(1),
        reference.FrankWolfe(),
        lambda elements: [next(rewards[e]) for e in elements],
        reference.Bernoulli(),
        limit=40,
    )
    # Means that are complementary give the same numbers, by other computations.
    assert run.close_call is not None
