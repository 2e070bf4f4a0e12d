"""Our matroids against the textbook: enumeration, definitions, other representations."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import catalog

from ..reference import matroids as reference
from ..strategies import MAX_SIZE, Instance, graphic, instances, transversal

families = pytest.mark.parametrize("family", catalog.MATROIDS)


def _sets(size: int) -> list[tuple[int, ...]]:
    return [s for k in range(size + 1) for s in combinations(range(size), k)]


def _assert_equal(one: mb.Matroid, other: mb.Matroid) -> None:
    assert one.size == other.size
    for elements in _sets(one.size):
        assert one.is_independent(elements) == other.is_independent(elements), elements


@families
@given(data=st.data())
def test_independence_is_the_textbooks(family: str, data: st.DataObject) -> None:
    instance: Instance = data.draw(instances(family))
    matroid = instance.matroid
    for elements in _sets(instance.size):
        assert matroid.is_independent(elements) == instance.is_independent(frozenset(elements))
    assert matroid.rank == reference.rank(instance.size, instance.is_independent)
    assert set(matroid.loops.tolist()) == reference.loops(instance.size, instance.is_independent)


@families
@given(data=st.data())
def test_max_weight_basis_by_enumeration(family: str, data: st.DataObject) -> None:
    instance: Instance = data.draw(instances(family))
    weights = data.draw(
        st.lists(st.integers(-2, 2), min_size=instance.size, max_size=instance.size)
    )
    found = instance.matroid.max_weight_basis(weights)
    assert tuple(found.tolist()) == reference.best_basis(
        instance.size, instance.is_independent, weights
    )


@families
@given(data=st.data())
def test_circuits_by_definition(family: str, data: st.DataObject) -> None:
    instance: Instance = data.draw(instances(family))
    for basis in reference.bases(instance.size, instance.is_independent):
        for e in set(range(instance.size)) - basis:
            found = instance.matroid.fundamental_circuit(basis, e)
            assert set(found.tolist()) == reference.fundamental_circuit(
                instance.size, instance.is_independent, basis, e
            )


@given(st.integers(0, MAX_SIZE), st.integers(0, MAX_SIZE))
def test_uniform_is_a_partition_with_one_group(rank: int, size: int) -> None:
    rank = min(rank, size)
    _assert_equal(mb.UniformMatroid(rank, size), mb.PartitionMatroid(["all"] * size, rank))


@given(graphic())
def test_graphic_is_linear_over_gf2_on_the_incidence_matrix(instance: Instance) -> None:
    assert isinstance(instance.matroid, mb.GraphicMatroid)
    incidence = np.zeros((instance.size, 5), dtype=int)
    for e, ends in enumerate(instance.matroid.edges):
        for vertex in ends:
            incidence[e, vertex] ^= 1
    _assert_equal(instance.matroid, mb.LinearMatroid(incidence, field=2))


@given(graphic(), st.sampled_from([None, 3, 7]))
def test_graphic_is_linear_over_every_field_with_signs(
    instance: Instance, field: int | None
) -> None:
    assert isinstance(instance.matroid, mb.GraphicMatroid)
    incidence = np.zeros((instance.size, 5), dtype=int)
    for e, (tail, head) in enumerate(instance.matroid.edges):
        incidence[e, tail] += 1
        incidence[e, head] -= 1
    _assert_equal(instance.matroid, mb.LinearMatroid(incidence, field=field))


@given(transversal())
def test_transversal_rank_is_a_maximum_matching(instance: Instance) -> None:
    # Koenig: a maximum matching has as many edges as a minimum vertex cover has vertices.
    neighbors = [{y for y in range(5) if _is_edge(instance, e, y)} for e in range(instance.size)]
    covers = (len(right) + sum(not nb <= set(right) for nb in neighbors) for right in _sets(5))
    assert instance.matroid.rank == min(covers)


def _is_edge(instance: Instance, e: int, y: int) -> bool:
    matroid = instance.matroid
    assert isinstance(matroid, mb.TransversalMatroid)
    return y in matroid.neighbors[e]


def test_partition_with_capacity_one_is_transversal() -> None:
    groups = [0, 1, 1, 2, 0, 2]
    _assert_equal(
        mb.PartitionMatroid(groups, 1), mb.TransversalMatroid([[group] for group in groups])
    )
