"""Matroids of SageMath from there and back."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sage.matroids import database_matroids
from sage.matroids.basis_matroid import BasisMatroid
from sage.matroids.constructor import Matroid
from sage.matroids.rank_matroid import RankMatroid
from sage.matroids.union_matroid import PartitionMatroid

import matroid_bandits as mb

from .. import recipes
from ..seeds import seeds
from .peers import peer


def _assert_equal(problem: mb.Problem, sage: Any) -> None:
    labels = problem.labels
    assert labels is not None
    assert frozenset(labels) == sage.groundset()
    for mask in range(2**problem.size):
        names = [x for e, x in enumerate(labels) if mask >> e & 1]
        assert problem.is_independent(names) == sage.is_independent(names), names


# --- from SageMath -------------------------------------------------------------------------------

# Ours, for each family as SageMath has it in peers.py.
COMPILED = {
    "uniform": mb.UniformMatroid,
    "graphic": mb.LinearMatroid,
    "linear": mb.LinearMatroid,
    "transversal": mb.TransversalMatroid,
    "paving": mb.PavingMatroid | mb.UniformMatroid,
}


@pytest.mark.parametrize("family", recipes.BASES)
def test_every_family_from_sage(family: str) -> None:
    for seed in seeds(15):
        rng = np.random.default_rng([seed, 22])
        make = recipes.BASES[family]
        sage = peer(make(recipes.by_chance(rng), int(rng.integers(0, 8))))
        problem = mb.from_sage(sage)
        _assert_equal(problem, sage)
        assert isinstance(problem.matroid, COMPILED.get(family, mb.Matroid))


def test_compositions_from_sage() -> None:
    for seed in seeds(40):
        rng = np.random.default_rng([seed, 23])
        sage = peer(recipes.random_recipe(rng, int(rng.integers(0, 7)), depth=2))
        _assert_equal(mb.from_sage(sage), sage)


@pytest.mark.parametrize(
    "name", ["Vamos", "Fano", "NonFano", "Pappus", "R10", "O7", "Whirl3", "Block_9_4"]
)
def test_the_catalog_of_sage(name: str) -> None:
    sage = database_matroids.Whirl(3) if name == "Whirl3" else getattr(database_matroids, name)()
    problem = mb.from_sage(sage)
    _assert_equal(problem, sage)
    assert problem.matroid.n_bases() == len(list(sage.bases()))


def test_graphs_keep_their_vertices() -> None:
    graph = mb.Problem(
        mb.GraphicMatroid([("u", "v"), ("v", "w"), ("w", "u"), ("w", "u")]), labels=list("dbca")
    )
    problem = mb.from_sage(mb.to_sage(graph))
    assert problem.labels == ("a", "b", "c", "d")
    assert isinstance(problem.matroid, mb.GraphicMatroid)
    assert [set(edge) for edge in problem.matroid.edges] == [
        {"u", "w"},
        {"v", "w"},
        {"u", "w"},
        {"u", "v"},
    ]


def test_partitions_are_ours() -> None:
    sage = PartitionMatroid([["a", "c"], ["b"], ["d", "e"]])
    problem = mb.from_sage(sage)
    assert isinstance(problem.matroid, mb.PartitionMatroid)
    _assert_equal(problem, sage)


def test_duals_are_duals_of_ours() -> None:
    sage = database_matroids.Uniform(2, 5).dual()
    assert repr(mb.from_sage(sage).matroid) == "UniformMatroid(rank=3, size=5)"


def test_others_become_oracles() -> None:
    sage = BasisMatroid(groundset="abc", bases=["ab", "ac"])
    problem = mb.from_sage(sage)
    assert isinstance(problem.matroid, mb.OracleMatroid)
    _assert_equal(problem, sage)
    _assert_equal(pickle.loads(pickle.dumps(problem)), sage)


@pytest.mark.parametrize(
    "labels, expected",
    [
        ([10, 9, 2], (2, 9, 10)),
        (["b", "a"], ("a", "b")),
        ([(1, "x"), (0, "z")], ((0, "z"), (1, "x"))),
        (["a", 2, (0, 1), 1], (1, 2, "a", (0, 1))),
        # Comparable, but in no order.
        (
            [frozenset("ab"), frozenset("b"), frozenset("a")],
            (frozenset("ab"), frozenset("a"), frozenset("b")),
        ),
    ],
)
def test_labels_are_in_order(labels: list[Any], expected: tuple[Any, ...]) -> None:
    sage = Matroid(groundset=labels, rank_function=lambda elements: min(len(elements), 1))
    assert mb.from_sage(sage).labels == expected


def test_sense_and_policies() -> None:
    problem = mb.from_sage(database_matroids.Vamos(), sense="min")
    assert problem.sense == "min"
    policy = mb.MAUB(problem)
    rng = np.random.default_rng(0)
    costs = dict(zip("abcdefgh", np.linspace(0, 1, 8), strict=True))
    for _ in range(2000):
        names = policy.select()
        policy.update({name: rng.normal(costs[name], 0.1) for name in names})
    # The four cheapest are a circuit.
    assert policy.leader == ["a", "b", "c", "e"]


# --- to SageMath ---------------------------------------------------------------------------------

SAGES = {
    "uniform": {"CircuitClosuresMatroid"},
    "graphic": {"GraphicMatroid", "RegularMatroid"},
    "cographic": {"DualMatroid", "RegularMatroid"},
    "transversal": {"TransversalMatroid"},
    "paving": {"CircuitClosuresMatroid"},
    "linear": {"LinearMatroid", "BinaryMatroid", "TernaryMatroid", "RankMatroid"},
}


@pytest.mark.parametrize("family", recipes.BASES)
def test_every_family_to_sage_and_back(family: str) -> None:
    for seed in seeds(15):
        rng = np.random.default_rng([seed, 24])
        recipe = recipes.BASES[family](recipes.by_chance(rng), int(rng.integers(0, 8)))
        labels = [f"element {e}" for e in range(recipe.size)]
        problem = mb.Problem(recipe.build(), labels)
        sage = mb.to_sage(problem)
        assert type(sage).__name__ in SAGES.get(family, {"RankMatroid", "PartitionMatroid"})
        _assert_equal(problem, sage)
        _assert_equal(mb.from_sage(sage), sage)


def test_compositions_to_sage() -> None:
    for seed in seeds(60):
        rng = np.random.default_rng([seed, 25])
        recipe = recipes.random_recipe(rng, int(rng.integers(0, 7)), depth=3)
        sage = mb.to_sage(recipe.build())
        assert sage.groundset() == frozenset(range(recipe.size))
        assert sage.full_rank() == recipe.rank
        for mask in range(2**recipe.size):
            elements = frozenset(e for e in range(recipe.size) if mask >> e & 1)
            assert sage.is_independent(elements) == recipe.is_independent(elements)


def test_overridden_tests_become_rank_matroids() -> None:
    class NoThree(mb.UniformMatroid):
        def _is_independent(self, elements: frozenset[int]) -> bool:
            return len(elements) <= 2 and 3 not in elements

    sage = mb.to_sage(NoThree(4, 4))
    assert isinstance(sage, RankMatroid)
    assert sage.loops() == {3}
    assert sage.full_rank() == 2


@pytest.mark.parametrize("field", [2, 3, 997, 10007, 2147483647])
def test_prime_fields(field: int) -> None:
    vectors = np.random.default_rng(field).integers(-(10**9), 10**9, (7, 3))
    problem = mb.Problem(mb.LinearMatroid(vectors, field=field), labels=list("abcdefg"))
    sage = mb.to_sage(problem)
    assert sage.base_ring().characteristic() == field
    _assert_equal(problem, sage)
    back = mb.from_sage(sage)
    assert repr(back.matroid) == repr(problem.matroid)
    _assert_equal(back, sage)


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0], [0, 1], [1, 1], [-1, 1], [0, 0]],
        [[Fraction(1, 3), 1], [1, 3], [Fraction(2, 7), 0], [0, 5], [1, 1]],
        [[10**25, 1], [10**25 + 1, 1], [2 * 10**25, 2], [0, 10**30], [1, 1]],
        # More than half of the prime by which it is reduced.
        [[2 * 10**8, 1], [1, 0], [0, 1], [1, 1], [2 * 10**8, 2]],
    ],
)
def test_the_rationals(rows: list[list[Any]]) -> None:
    problem = mb.Problem(mb.LinearMatroid(np.array(rows, dtype=object)), labels=list("abcde"))
    sage = mb.to_sage(problem)
    _assert_equal(problem, sage)
    _assert_equal(mb.from_sage(sage), sage)


def test_small_integers_stay_rational() -> None:
    sage = mb.to_sage(mb.LinearMatroid([[1, 0, 2], [0, 1, 1], [1, 1, 3], [-1, 4, 0]]))
    assert sage.base_ring().characteristic() == 0


def test_floats_become_rank_matroids() -> None:
    assert isinstance(mb.to_sage(mb.LinearMatroid([[0.5, 1.0], [1.0, 2.0]])), RankMatroid)
