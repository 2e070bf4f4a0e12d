"""Compositions of compositions of compositions: what they cost, and how deep they may be."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import matroid_bandits as mb

SIZE = 12


def oracle() -> mb.OracleMatroid:
    """A graphic matroid with a loop and a coloop, by a function that counts its calls."""
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (0, 4), (1, 3), (0, 1), (5, 5), (0, 6)]
    graph = mb.GraphicMatroid([*edges, (1, 4)])
    return mb.OracleMatroid(SIZE, graph.is_independent)


STEPS: dict[str, Callable[[mb.Matroid], mb.Matroid]] = {
    "dual": mb.DualMatroid,
    "dual of sum": lambda m: mb.DualMatroid(mb.DirectSumMatroid(m)),
    "truncated": lambda m: mb.TruncatedMatroid(m, 4),
    "minor": lambda m: mb.MinorMatroid(m, range(SIZE)),
    "minor of dual": lambda m: mb.MinorMatroid(mb.DualMatroid(m), range(SIZE)),
    "union": lambda m: mb.UnionMatroid(m, mb.UniformMatroid(1, SIZE)).truncate(5),
}


def dual_of_union(matroid: mb.Matroid) -> mb.Matroid:
    return (matroid.truncate(3) | mb.UniformMatroid(2, matroid.size)).dual()


def composed(step: str, levels: int, innermost: mb.Matroid) -> mb.Matroid:
    matroid = innermost
    for _ in range(levels):
        matroid = STEPS[step](matroid)
    return matroid


def calls_for_a_basis(matroid: mb.Matroid, innermost: mb.OracleMatroid) -> int:
    """Calls of the innermost oracle for the rank, the loops and one basis."""
    before = innermost.calls
    _ = matroid.rank, matroid.loops
    assert matroid.max_weight_basis(np.arange(matroid.size)).size == matroid.rank
    return innermost.calls - before


@pytest.mark.parametrize("step", STEPS)
def test_oracle_calls_grow_linearly_with_the_depth(step: str) -> None:
    calls = []
    for levels in (8, 14):
        innermost = oracle()
        _ = innermost.rank, innermost.loops
        calls.append(calls_for_a_basis(composed(step, levels, innermost), innermost))
    # At most four calls per element for each of six more levels.
    assert calls[1] - calls[0] <= 6 * 4 * SIZE


def test_seven_levels_of_duals_of_unions() -> None:
    """Kernels once multiplied by four with every level: 54 seconds and 1.4 GB for a rank."""
    innermost = oracle()
    matroid: mb.Matroid = innermost
    for _ in range(7):
        matroid = dual_of_union(matroid)
    assert matroid._new_kernel().n_kernels <= 50
    assert calls_for_a_basis(matroid, innermost) <= 20_000


@pytest.mark.parametrize("step", STEPS)
def test_the_number_of_kernels_does_not_multiply_with_the_depth(step: str) -> None:
    counts = [composed(step, n, oracle())._new_kernel().n_kernels for n in (2, 8, 14)]
    assert counts[2] - counts[1] <= 60
    assert counts[2] <= 200


@pytest.mark.parametrize("levels", range(1, 6))
def test_deep_compositions_are_matroids(levels: int) -> None:
    """Large kernels are shared between two uses, and must be prepared anew when the use changes."""
    matroid: mb.Matroid = mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (3, 3)])
    for _ in range(levels):
        matroid = mb.DualMatroid(mb.TruncatedMatroid(matroid, 3) | mb.UniformMatroid(1, 6))
    mb.check_matroid(matroid)
    # The same kernel for all, in any order, against a new one each time.
    kernel = matroid._new_kernel()
    assert levels < 3 or kernel.n_kernels < 8 * 3 * levels
    bases = matroid.bases()
    rng = np.random.default_rng(levels)
    for _ in range(60):
        basis = rng.permutation(bases[rng.integers(len(bases))])
        outside = [e for e in range(6) if e not in basis]
        if rng.random() < 0.5:
            order = rng.permutation(6)
            fresh = matroid._new_kernel().greedy_basis(order, 6)
            assert kernel.greedy_basis(order, 6).tolist() == fresh.tolist()
        if rng.random() < 0.5:
            chosen = np.sort(rng.permutation(6)[:3])
            assert kernel.is_independent(chosen) == matroid.is_independent(chosen)
        for e in outside:
            circuit = set(matroid.fundamental_circuit(basis, e).tolist()) - {e}
            assert set(kernel.replaceable(basis, e).tolist()) == circuit


def test_dual_of_a_dual_is_the_matroid() -> None:
    innermost = oracle()
    matroid: mb.Matroid = innermost
    for _ in range(100):
        matroid = mb.DualMatroid(matroid)
    assert matroid.rank == innermost.rank
    assert matroid.loops.tolist() == innermost.loops.tolist()
    before = innermost.calls
    assert matroid.is_independent([0, 1])
    assert innermost.calls == before + 1


@pytest.mark.parametrize("step", STEPS)
def test_compositions_may_be_a_hundred_levels_deep(step: str) -> None:
    matroid: mb.Matroid = mb.GraphicMatroid([(e, e + 1) for e in range(SIZE)])
    while matroid._depth <= 98:
        matroid = STEPS[step](matroid)
    assert 98 < matroid._depth <= 100
    basis = matroid.max_weight_basis(np.arange(SIZE))
    assert matroid.is_basis(basis)
    assert matroid.rank_of(basis) == matroid.rank
    for e in set(range(SIZE)) - set(basis.tolist()):
        assert e in matroid.fundamental_circuit(basis, e)
    assert repr(matroid)
    copy = pickle.loads(pickle.dumps(matroid))
    assert copy == matroid
    assert hash(copy) == hash(matroid)
    assert copy._content() == matroid._content() is not None
    policy = mb.MAUB(matroid)
    mb.simulate(policy, mb.GaussianEnvironment(np.linspace(0, 1, SIZE)), 30)


def test_deeper_compositions_are_refused() -> None:
    matroid: mb.Matroid = mb.GraphicMatroid.complete(4)
    for _ in range(100):
        matroid = mb.DualMatroid(matroid)
    for step in (mb.DualMatroid, lambda m: m.truncate(1), lambda m: m | m, lambda m: m + m):
        with pytest.raises(ValueError, match="nested 100 levels deep, this is level 101"):
            step(matroid)
    # What stays in its class, or is simplified, gets no deeper.
    assert matroid.dual()._depth == 99
