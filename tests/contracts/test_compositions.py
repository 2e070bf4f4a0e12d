"""Matroids made of matroids keep the contracts, whatever they are made of."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import recipes
from ..seeds import seeds
from .playing import assert_copies_continue_alike, assert_every_playable_element_is_tried
from .specified import assert_specified

# Every operation, and parts written in Python; most have loops.
PLAYED: dict[str, Callable[[], mb.Matroid]] = {
    "sum of a dual": lambda: mb.GraphicMatroid.complete(4).dual() + mb.UniformMatroid(1, 3),
    "union with a dual": lambda: (
        mb.PartitionMatroid([0, 0, 0, 1, 1, 1, 2, 2], [1, 2, 0])
        | mb.TransversalMatroid([[0], [0], [1], [1], [], [0, 1], [2], []]).dual()
    ),
    "minor of a union": lambda: (
        (mb.GraphicMatroid.complete(5) | mb.UniformMatroid(1, 10)).delete([3]).contract([0])
    ),
    "truncated oracle": lambda: mb.OracleMatroid(8, Forests()).truncate(3),
    "oracle in a sum": lambda: (
        mb.OracleMatroid(8, Forests()).contract([1, 2]) + mb.UniformMatroid(2, 4)
    ),
    "overridden": lambda: Overridden().dual() + Overridden().delete([0]).truncate(2),
    "restricted gammoid": lambda: (
        mb.GammoidMatroid([(0, 3), (1, 3), (2, 4), (3, 5), (4, 6), (2, 3), (7, 7)], [5, 6])
        .restrict([0, 1, 2, 3, 4, 6, 7])
        .dual()
    ),
    "everything": lambda: (
        (
            (
                mb.LaminarMatroid([[0, 1, 2], [0, 1]], [2, 1], 5)
                | mb.PavingMatroid(3, 5, [[0, 1, 2], [2, 3, 4]]).truncate(1)
            )
            + mb.CographicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]).contract([1])
        )
        .dual()
        .truncate(4)
        .delete([2])
    ),
    "nothing": lambda: mb.UniformMatroid(0, 0) + mb.UniformMatroid(0, 0).dual(),
}
every_policy = pytest.mark.parametrize("cls", catalog.POLICIES.values(), ids=lambda cls: cls.name)
every_composition = pytest.mark.parametrize("name", PLAYED)


class Forests:
    """An independence test; of a class, so that it can be pickled."""

    def __call__(self, elements: frozenset[int]) -> bool:
        edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (3, 4), (4, 4), (3, 4)]
        return mb.GraphicMatroid([edges[e] for e in elements]).rank == len(elements)


class Overridden(mb.UniformMatroid):
    """A built-in matroid with other answers."""

    def __init__(self) -> None:
        super().__init__(5, 5)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 3 and 4 not in elements


@given(recipes.recipes())
def test_axioms_and_methods(recipe: recipes.Recipe) -> None:
    mb.check_matroid(recipe.build())


@given(recipes.recipes())
def test_pickle(recipe: recipes.Recipe) -> None:
    matroid = recipe.build()
    again = pickle.loads(pickle.dumps(matroid))
    assert repr(again) == repr(matroid)
    assert again.bases().tolist() == matroid.bases().tolist()
    assert again.loops.tolist() == matroid.loops.tolist()


@given(recipes.recipes())
def test_specifications_make_equal_matroids(recipe: recipes.Recipe) -> None:
    assert_specified(recipe.build())


@given(recipes.recipes())
def test_lists_given_out_are_the_callers(recipe: recipes.Recipe) -> None:
    matroid = recipe.build()
    bases, circuits = matroid.bases(), matroid.circuits()
    expected = bases.tolist(), [circuit.tolist() for circuit in circuits]
    bases[:] = -1
    for circuit in circuits:
        circuit[:] = -1
    found = matroid.bases().tolist(), [circuit.tolist() for circuit in matroid.circuits()]
    assert found == expected


def test_the_text_of_a_recipe_makes_the_same_matroid() -> None:
    for seed in seeds(100):
        recipe = recipes.random_recipe(np.random.default_rng(seed), 5, depth=3)
        matroid = eval(repr(recipe), {"mb": mb, "np": np, **recipes.DISGUISES})
        assert repr(matroid) == repr(recipe.build())
        assert matroid.bases().tolist() == recipe.build().bases().tolist()


@every_composition
def test_axioms_of_what_is_played(name: str) -> None:
    mb.check_matroid(PLAYED[name]())


LARGER: dict[str, Callable[[mb.Matroid, mb.Matroid], mb.Matroid]] = {
    "dual of a union": lambda graph, vectors: (graph | mb.UniformMatroid(2, 16)).dual(),
    "truncated contraction": lambda graph, vectors: vectors.contract([3, 5]).truncate(4),
    "restricted sum": lambda graph, vectors: (graph + vectors.dual()).restrict(range(6, 22)),
}


@pytest.mark.parametrize("name", LARGER)
def test_larger_ones(name: str) -> None:
    # Too large for all sets: restrictions and random bases.
    rng = np.random.default_rng(2)
    vectors = mb.LinearMatroid(rng.integers(-1, 2, (16, 8)))
    mb.check_matroid(LARGER[name](mb.GraphicMatroid.random(rng, 16), vectors))


@every_policy
@every_composition
def test_every_playable_element_is_tried(cls: type[mb.Policy], name: str) -> None:
    assert_every_playable_element_is_tried(cls._example(PLAYED[name]()))


@every_policy
@every_composition
def test_copies_go_on_alike(cls: type[mb.Policy], name: str) -> None:
    assert_copies_continue_alike(cls._example(PLAYED[name]()), rounds=120)
