"""Our matroids against SageMath's, on small instances, exhaustively."""

from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from .. import recipes
from ..seeds import seeds
from .peers import peer


def _sets(sets: Any) -> list[list[int]]:
    """Sets of SageMath's in the order of `Matroid.circuits`: by length, then lexicographic."""
    return sorted((sorted(map(int, members)) for members in sets), key=lambda s: (len(s), s))


def _compare(matroid: mb.Matroid, sage: Any) -> None:
    assert matroid.size == len(sage.groundset())
    for mask in range(2**matroid.size):
        elements = frozenset(e for e in range(matroid.size) if mask >> e & 1)
        assert matroid.is_independent(elements) == sage.is_independent(elements), elements
    assert matroid.rank == sage.full_rank()
    assert matroid.loops.tolist() == sorted(sage.loops())
    bases = _sets(sage.bases())
    assert matroid.bases().tolist() == bases
    assert matroid.n_bases() == len(bases)
    assert [circuit.tolist() for circuit in matroid.circuits()] == _sets(sage.circuits())
    # SageMath has its own ways to circuits of a basis.
    for basis in bases[:5]:
        for e in set(range(matroid.size)) - set(basis):
            found = matroid.fundamental_circuit(basis, e).tolist()
            assert found == sorted(sage.fundamental_circuit(basis, e))


def _compare_with_dual(recipe: recipes.Recipe) -> None:
    matroid, sage = recipe.build(), peer(recipe)
    _compare(matroid, sage)
    dual, cobases = matroid.dual(), _sets(sage.dual().bases())
    assert dual.bases().tolist() == cobases
    assert dual.n_bases() == len(cobases)
    # A loop of the dual is in all bases.
    assert dual.loops.tolist() == sorted(sage.coloops())


@pytest.mark.parametrize("family", recipes.BASES)
def test_classes(family: str) -> None:
    for seed in seeds(40):
        rng = np.random.default_rng([seed, 20])
        make = recipes.BASES[family]
        _compare_with_dual(make(recipes.by_chance(rng), int(rng.integers(0, 9))))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_compositions(depth: int) -> None:
    for seed in seeds(150):
        rng = np.random.default_rng([seed, 21, depth])
        _compare_with_dual(recipes.random_recipe(rng, int(rng.integers(0, 8)), depth))


def test_every_class_of_ours_has_its_peer() -> None:
    compositions = {"directsum", "dual", "minor", "oracle", "truncated", "union"}
    assert {*recipes.BASES, *compositions} == set(mb.catalog.MATROIDS)
