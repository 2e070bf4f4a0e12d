"""Cached exchange tests, compared with those of the matroid itself."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits._core.matroids.cached import CachedKernel

from ..seeds import FAMILIES, seeds


def _counted(matroid: mb.Matroid) -> tuple[mb.OracleMatroid, CachedKernel]:
    oracle = mb.OracleMatroid(matroid.size, matroid.is_independent)
    rank = oracle.rank
    return oracle, CachedKernel(oracle._new_kernel(), rank)


def _bases(matroid: mb.Matroid) -> list[tuple[int, ...]]:
    return [
        basis
        for basis in combinations(range(matroid.size), matroid.rank)
        if matroid.is_independent(basis)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_cached_answers_are_right_in_any_order_of_calls(family: str) -> None:
    for seed in seeds(12):
        rng = np.random.default_rng([seed, 5])
        matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(3, 9)))
        _, kernel = _counted(matroid)
        others = _bases(matroid)
        ask = cache(matroid.is_independent)
        basis = list(others[0])
        for _ in range(60):
            kernel_basis = rng.permutation(basis).astype(np.intp)
            for e in rng.permutation(matroid.size).tolist():
                if e in basis or rng.random() < 0.4:
                    continue
                circuit = [x for x in basis if ask(frozenset({*basis, e} - {x}))]
                order = kernel_basis.tolist()
                first = min(circuit, key=order.index, default=-1)
                assert kernel.first_replaceable(kernel_basis, e) == first
                if rng.random() < 0.3:
                    assert set(kernel.replaceable(kernel_basis, e).tolist()) == set(circuit)
            # Mostly to a neighboring basis, sometimes to any.
            near = [b for b in others if len(set(b) - set(basis)) == 1]
            pool = near if near and rng.random() < 0.8 else others
            basis = list(pool[int(rng.integers(len(pool)))])


def test_no_oracle_call_is_repeated_while_a_basis_stays_or_comes_back() -> None:
    graph = mb.GraphicMatroid.complete(5)
    oracle, kernel = _counted(graph)
    tree, other = np.array([0, 1, 2, 3]), np.array([0, 1, 5, 9])
    assert graph.is_independent(tree)
    assert graph.is_independent(other)
    outside = [e for e in range(10) if e not in tree]
    answers = [kernel.replaceable(tree, e).tolist() for e in outside]
    before = oracle.calls
    assert [sorted(kernel.replaceable(tree[::-1].copy(), e)) for e in outside] == answers
    assert oracle.calls == before
    kernel.replaceable(other, 2)
    assert oracle.calls > before
    before = oracle.calls
    assert [kernel.replaceable(tree, e).tolist() for e in outside] == answers
    assert oracle.calls == before


def test_most_answers_carry_over_an_exchange() -> None:
    graph = mb.GraphicMatroid.complete(6)
    oracle, kernel = _counted(graph)
    tree = graph.max_weight_basis(-np.arange(15.0))
    for e in set(range(15)) - set(tree.tolist()):
        kernel.replaceable(tree, e)
    before = oracle.calls
    e = next(e for e in range(15) if e not in tree)
    x = int(kernel.replaceable(tree, e)[0])
    following = np.sort([*(set(tree.tolist()) - {x}), e]).astype(np.intp)
    for f in set(range(15)) - set(following.tolist()):
        circuit = kernel.replaceable(following, f)
        expected = set(graph.fundamental_circuit(following, f).tolist()) - {f}
        assert set(circuit.tolist()) == expected
    # Of 50 pairs only those in two circuits at once need a new call.
    assert oracle.calls - before < 15


def test_lean_exchange_needs_a_fraction_of_the_oracle_calls() -> None:
    """Counts are exact, so they can be asserted; docs/benchmarks has the large ones."""
    for matroid, factor in ((mb.GraphicMatroid.complete(7), 15), (mb.UniformMatroid(15, 30), 15)):
        environment = mb.GaussianEnvironment(mb.random_means(matroid.size, 0))
        paper = mb.simulate(mb.MAUB(matroid, neighborhood="paper"), environment, 20_000)
        oracle = mb.OracleMatroid(matroid.size, matroid.is_independent)
        lean = mb.simulate(mb.MAUB(oracle), environment, 20_000)
        assert lean.regret.tolist() == paper.regret.tolist()
        assert factor * lean.counters["oracle_calls"] < paper.counters["oracle_calls"]
        structure = mb.simulate(mb.MAUB(matroid), environment, 20_000)
        assert structure.regret.tolist() == paper.regret.tolist()
        first_rounds = -(-matroid.size // matroid.rank) + 2
        assert structure.counters["oracle_calls"] <= first_rounds * matroid.size


@pytest.mark.parametrize("family", FAMILIES)
def test_symmetric_elements_are_interchangeable(family: str) -> None:
    for seed in seeds(10):
        matroid = catalog.MATROIDS[family].random(np.random.default_rng([seed, 6]), 7)
        classes = matroid._new_kernel().symmetry_classes()
        assert sorted(set(classes.tolist())) == list(range(classes.max(initial=-1) + 1))
        for a, b in combinations(range(matroid.size), 2):
            if classes[a] != classes[b]:
                continue
            for r in range(matroid.size):
                for rest in combinations([e for e in range(7) if e not in (a, b)], min(r, 5)):
                    assert matroid.is_independent([*rest, a]) == matroid.is_independent([*rest, b])


def test_unknown_neighborhoods_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown neighborhood 'papr'; did you mean paper\?"):
        mb.MAUB(mb.UniformMatroid(1, 2), neighborhood="papr")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown neighborhood None; allowed are lean, paper"):
        mb.MAUB(mb.UniformMatroid(1, 2), neighborhood=None)  # type: ignore[arg-type]
    assert mb.MAUB(mb.UniformMatroid(1, 2), neighborhood="paper").neighborhood == "paper"
