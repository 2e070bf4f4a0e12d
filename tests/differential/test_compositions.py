"""Matroids made of matroids against the textbook, and policies on them, round for round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb

from .. import recipes
from ..reference import matroids as reference
from ..seeds import seeds
from .test_policies import PAIRS, _compare


def _subsets(size: int) -> list[frozenset[int]]:
    return [frozenset(e for e in range(size) if mask >> e & 1) for mask in range(2**size)]


def _ascending(sets: set[frozenset[int]]) -> list[list[int]]:
    return sorted(sorted(members) for members in sets)


@given(recipes.recipes())
def test_independence_rank_and_loops(recipe: recipes.Recipe) -> None:
    matroid = recipe.build()
    assert matroid.size == recipe.size
    for elements in _subsets(recipe.size):
        assert matroid.is_independent(elements) == recipe.is_independent(elements), elements
    assert matroid.rank == recipe.rank
    assert set(matroid.loops.tolist()) == reference.loops(recipe.size, recipe.is_independent)


@given(recipes.recipes(), st.data())
def test_max_weight_basis(recipe: recipes.Recipe, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(-2, 2), min_size=recipe.size, max_size=recipe.size))
    found = recipe.build().max_weight_basis(weights)
    expected = reference.best_basis(recipe.size, recipe.is_independent, weights)
    assert tuple(found.tolist()) == expected


@given(recipes.recipes(max_size=6))
def test_fundamental_circuits(recipe: recipes.Recipe) -> None:
    matroid = recipe.build()
    for basis in reference.bases(recipe.size, recipe.is_independent):
        for e in set(range(recipe.size)) - basis:
            found = matroid.fundamental_circuit(basis, e)
            assert set(found.tolist()) == reference.fundamental_circuit(
                recipe.size, recipe.is_independent, basis, e
            )


@given(recipes.recipes())
def test_lists_of_bases_and_circuits(recipe: recipes.Recipe) -> None:
    matroid = recipe.build()
    expected = _ascending(reference.bases(recipe.size, recipe.is_independent))
    bases = matroid.bases()
    assert bases.shape == (len(expected), recipe.rank)
    assert bases.dtype == np.intp
    assert bases.tolist() == expected
    assert matroid.n_bases() == len(expected)
    circuits = _ascending(reference.circuits(recipe.size, recipe.is_independent))
    assert [circuit.tolist() for circuit in matroid.circuits()] == sorted(circuits, key=len)


@pytest.mark.parametrize("disguise", ["Oracle", "Plain", "Resourceful", "Overridden"])
@pytest.mark.parametrize("operation", recipes.OPERATIONS[:-1], ids=lambda make: make.__qualname__)
def test_parts_written_in_python(operation, disguise: str) -> None:
    # The same recipe with the disguise around every built-in matroid and without.
    for seed in seeds(6):
        choose = recipes.by_chance(np.random.default_rng([seed, 11]))
        recipe = operation(choose, 6, 1)
        matroid = recipes.disguised(recipe, disguise).build()
        for elements in _subsets(recipe.size):
            assert matroid.is_independent(elements) == recipe.is_independent(elements), recipe
        expected = _ascending(reference.bases(recipe.size, recipe.is_independent))
        assert matroid.bases().tolist() == expected
        assert matroid.n_bases() == len(expected)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("kind", ["gaussian", "rare", "few values", "partial"])
def test_round_for_round(name: str, kind: str) -> None:
    for seed in seeds(30):
        rng = np.random.default_rng([seed, 8])
        recipe = recipes.random_recipe(rng, int(rng.integers(0, 9)), depth=3)
        _compare(name, recipe.build(), recipe.is_independent, rng, rounds=150, kind=kind)


def test_a_part_receives_sets_of_its_own_elements() -> None:
    received: list[frozenset[int]] = []

    def at_most_two(elements: frozenset[int]) -> bool:
        received.append(elements)
        return len(elements) <= 2

    part = mb.OracleMatroid(4, at_most_two)
    matroid = (mb.UniformMatroid(1, 3) + part).contract([0, 4]).dual()
    policy = mb.MAUB(matroid)
    mb.simulate(policy, mb.GaussianEnvironment(np.linspace(0, 1, 5), 0.5), 200)
    assert received
    assert part.calls == len(received)
    assert all(type(s) is frozenset and s <= {0, 1, 2, 3} for s in received)
    assert all(type(e) is int for s in received for e in s)


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM, mb.ESCB, mb.FasterCUCB], ids=lambda c: c.name)
def test_a_part_that_fails_leaves_the_policy_as_it_was(cls: type[mb.Policy]) -> None:
    out_of_order = False

    def is_forest(elements: frozenset[int]) -> bool:
        if out_of_order:
            raise ConnectionError("no answer")
        return forests(elements)

    forests = mb.GraphicMatroid.complete(4).is_independent
    matroid = (mb.OracleMatroid(6, is_forest) + mb.UniformMatroid(1, 2)).truncate(3).dual()
    undisturbed, policy = cls(matroid), cls(matroid)
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(150):
        out_of_order = rng.random() < 0.3
        before = policy.counts.tolist(), policy.rounds, policy.oracle_calls, policy.greedy_calls
        try:
            policy.select()
        except ConnectionError:
            failures += 1
            after = policy.counts.tolist(), policy.rounds, policy.oracle_calls, policy.greedy_calls
            assert after == before
        out_of_order = False
        basis = policy.select()
        assert basis.tolist() == undisturbed.select().tolist()
        rewards = rng.random(len(basis))
        policy.update(basis, rewards)
        undisturbed.update(basis, rewards)
    assert failures
