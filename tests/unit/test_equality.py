"""Matroids of built-in classes are equal if their data are."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

Rng = np.random.Generator


def pair_of_uniform(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    rank = int(rng.integers(1, 20))
    return mb.UniformMatroid(rank, 20), mb.UniformMatroid(rank - 1, 20)


def pair_of_partition(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    groups = rng.integers(0, 4, 30)
    capacities = [2, 2, 2, 2]
    changed = groups.copy()
    if rng.random() < 0.5:
        changed[rng.integers(30)] += 4  # a group of its own
        return (
            mb.PartitionMatroid(groups, capacities),
            mb.PartitionMatroid(changed, [*capacities, *capacities]),
        )
    capacities[groups[rng.integers(30)]] = 1
    return mb.PartitionMatroid(groups, 2), mb.PartitionMatroid(groups, capacities)


def pair_of_laminar(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    sets = [list(range(20)), list(range(10)), list(range(10, 20)), [0, 1, 2, 3]]
    capacities = [9, 5, 5, 2]
    matroid = mb.LaminarMatroid(sets, capacities, 20)
    changed = int(rng.integers(4))
    if rng.random() < 0.5:
        capacities[changed] -= 1
    else:
        sets[3] = rng.choice(np.arange(4, 10), 4, replace=False).tolist()
    return matroid, mb.LaminarMatroid(sets, capacities, 20)


def pair_of_graphic(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    # With a cycle through all vertices: an end that is moved from a vertex of its own to another
    # such vertex would leave the matroid as it is.
    edges = [[v, (v + 1) % 12] for v in range(12)] + rng.integers(0, 12, (18, 2)).tolist()
    matroid = mb.GraphicMatroid(edges)
    edges[int(rng.integers(30))][int(rng.integers(2))] = 12
    return matroid, mb.GraphicMatroid(edges)


def pair_of_cographic(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = (pair.edges for pair in pair_of_graphic(rng))  # type: ignore[attr-defined]
    return mb.CographicMatroid(one), mb.CographicMatroid(other)


def pair_of_transversal(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    neighbors = [[e % 10, *rng.choice(10, 3, replace=False).tolist()] for e in range(20)]
    matroid = mb.TransversalMatroid(neighbors)
    neighbors[int(rng.integers(20))][0] = 10
    return matroid, mb.TransversalMatroid(neighbors)


def pair_of_gammoid(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    arcs = [(v, v) for v in range(15)] + list(map(tuple, rng.integers(0, 15, (30, 2)).tolist()))
    targets = rng.choice(15, 5, replace=False).tolist()
    matroid = mb.GammoidMatroid(arcs, targets, elements=range(10))
    match int(rng.integers(3)):
        case 0:
            new = next((u, v) for u in rng.permutation(15) for v in range(15) if (u, v) not in arcs)
            arcs.append(new)
        case 1:
            targets.pop()
        case 2:
            return matroid, mb.GammoidMatroid(arcs, targets, elements=range(1, 11))
    return matroid, mb.GammoidMatroid(arcs, targets, elements=range(10))


def pair_of_paving(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = rng.choice(30, (2, 3), replace=False)
    return mb.PavingMatroid(3, 30, [one]), mb.PavingMatroid(3, 30, [other])


def pair_of_linear(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    rows = rng.integers(-1, 2, (20, 6))
    field = [None, 5][int(rng.integers(2))]
    changed = rows.copy()
    # Coprime with the entry 1 that follows, so that no common factor hides the change.
    rows[:, 1] = changed[:, 1] = 1
    changed[rng.integers(20), rng.choice([0, 2, 3, 4, 5])] += 2
    if field is None and rng.random() < 0.5:
        return mb.LinearMatroid(rows / 3), mb.LinearMatroid(changed / 3)
    return mb.LinearMatroid(rows, field=field), mb.LinearMatroid(changed, field=field)


def pair_of_dual(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = pair_of_transversal(rng)
    return mb.DualMatroid(one), mb.DualMatroid(other)


def pair_of_truncated(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = pair_of_graphic(rng)
    if rng.random() < 0.5:
        return mb.TruncatedMatroid(one, 3), mb.TruncatedMatroid(one, 4)
    return mb.TruncatedMatroid(one, 3), mb.TruncatedMatroid(other, 3)


def pair_of_minor(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = pair_of_graphic(rng)
    kept, contracted = range(20), [21, 22, 23]
    match int(rng.integers(3)):
        case 0:
            return (
                mb.MinorMatroid(one, kept, contracted=contracted),
                mb.MinorMatroid(other, kept, contracted=contracted),
            )
        case 1:
            return (
                mb.MinorMatroid(one, kept, contracted=contracted),
                mb.MinorMatroid(one, range(1, 21), contracted=contracted),
            )
    return mb.MinorMatroid(one, kept, contracted=[21]), mb.MinorMatroid(one, kept, contracted=[22])


def pair_of_direct_sum(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = pair_of_graphic(rng)
    uniform = mb.UniformMatroid(2, 5)
    return [(one + uniform, other + uniform), (one + uniform, uniform + one)][int(rng.integers(2))]


def pair_of_union(rng: Rng) -> tuple[mb.Matroid, mb.Matroid]:
    one, other = pair_of_graphic(rng)
    return one | mb.UniformMatroid(2, 30), other | mb.UniformMatroid(2, 30)


PAIRS: list[Callable[[Rng], tuple[mb.Matroid, mb.Matroid]]] = [
    pair_of_uniform,
    pair_of_partition,
    pair_of_laminar,
    pair_of_graphic,
    pair_of_cographic,
    pair_of_transversal,
    pair_of_gammoid,
    pair_of_paving,
    pair_of_linear,
    pair_of_dual,
    pair_of_truncated,
    pair_of_minor,
    pair_of_direct_sum,
    pair_of_union,
]
HAVE_DATA = [cls for cls in catalog.MATROIDS.values() if cls is not mb.OracleMatroid]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("seed", range(100))
def test_matroids_that_differ_in_one_place_are_not_equal(
    pair: Callable[[Rng], tuple[mb.Matroid, mb.Matroid]], seed: int
) -> None:
    one, other = pair(np.random.default_rng(seed))
    assert one != other
    assert one._content() != other._content()
    again, _ = pair(np.random.default_rng(seed))
    assert again is not one
    assert again == one
    assert hash(again) == hash(one)
    assert again._content() == one._content() is not None


def test_every_built_in_class_is_among_them() -> None:
    rng = np.random.default_rng(0)
    assert {type(matroid) for pair in PAIRS for matroid in pair(rng)} == set(HAVE_DATA)


@pytest.mark.parametrize("cls", HAVE_DATA)
def test_a_pickled_copy_is_equal(cls: type[mb.Matroid]) -> None:
    matroid = mb.GraphicMatroid.complete(5).truncate(2) | mb.PartitionMatroid(list("aabbbccccc"), 1)
    if cls is not mb.UnionMatroid:
        matroid = cls.random(np.random.default_rng(1), 10)
    if matroid._content() is None:  # it has a part that is an OracleMatroid
        matroid = cls.random(np.random.default_rng(4), 10)
    hash(matroid)
    copy = pickle.loads(pickle.dumps(matroid))
    assert copy == matroid
    assert hash(copy) == hash(matroid)
    assert copy._content() == matroid._content() is not None


def test_matroids_of_different_classes_are_not_equal() -> None:
    uniform = mb.UniformMatroid(2, 4)
    assert uniform != mb.PartitionMatroid(list("aaaa"), 2)
    assert uniform != mb.PavingMatroid(2, 4, [])
    assert mb.CographicMatroid([(0, 1)]) != mb.DualMatroid(mb.GraphicMatroid([(0, 1)]))
    assert uniform != "UniformMatroid(rank=2, size=4)"
    assert {uniform: 1}[mb.UniformMatroid(2, 4)] == 1


# ---- what counts as the same data ----


def test_groups_may_have_other_names() -> None:
    one = mb.PartitionMatroid(["shoes", "shoes", "hats"], {"hats": 1, "shoes": 1})
    assert one == mb.PartitionMatroid([7, 7, 0], 1)
    assert one == mb.PartitionMatroid([7, 7, 0], {0: 99, 7: 1})


def test_names_of_vertices_and_ends_of_an_edge_count_as_attributes_do() -> None:
    network = mb.GraphicMatroid([("a", "b"), ("b", "c")])
    renamed = mb.GraphicMatroid([("x", "y"), ("y", "z")])
    turned = mb.GraphicMatroid([("b", "a"), ("b", "c")])
    for other in (renamed, turned):
        assert network != other
        assert network._content() == other._content()
        assert hash(network) == hash(other)
        assert network.dual() != other.dual()
        assert network.dual()._content() == other.dual()._content()


def test_the_order_of_lists_makes_no_difference_to_the_content() -> None:
    for one, other in (
        (
            mb.TransversalMatroid([["a", "b"], ["b", "c"]]),
            mb.TransversalMatroid([["b", "a"], ["c", "b"]]),
        ),
        (
            mb.PavingMatroid(3, 6, [[0, 1, 2], [3, 4, 5]]),
            mb.PavingMatroid(3, 6, [[3, 4, 5], [0, 1, 2]]),
        ),
        (
            mb.GammoidMatroid([("a", "s"), ("b", "s")], ["s"], elements=["a", "b"]),
            mb.GammoidMatroid([("b", "s"), ("a", "s")], ["s"], elements=["a", "b"]),
        ),
    ):
        assert one != other
        assert one._content() == other._content()


def test_sets_of_a_laminar_matroid_may_come_in_any_order() -> None:
    sets = {"all": range(6), "comedy": [0, 1, 2], "drama": [3, 4, 5], "Pixar": [0, 1]}
    capacities = {"all": 3, "comedy": 2, "drama": 2, "Pixar": 1}
    turned = dict(reversed(sets.items()))
    one = mb.LaminarMatroid(sets, capacities, 6)
    assert one == mb.LaminarMatroid(turned, capacities, 6)
    assert one != mb.LaminarMatroid({**sets, "again": [0, 1]}, {**capacities, "again": 1}, 6)


def test_rows_are_equal_as_exact_numbers() -> None:
    rows = [[1, 0, 2], [3, 1, 0]]
    exact = mb.LinearMatroid(rows)
    assert exact == mb.LinearMatroid(np.array(rows, dtype=np.int8))
    assert exact == mb.LinearMatroid([[Fraction(1, 2), 0, 1], [3, 1, 0]])
    assert exact == mb.LinearMatroid(rows, tolerance=1e-3)
    assert exact != mb.LinearMatroid(np.array(rows, dtype=float))
    assert exact != mb.LinearMatroid(rows, field=5)
    assert mb.LinearMatroid(rows, field=5) == mb.LinearMatroid([[6, 5, -3], [3, 1, 0]], field=5)
    assert mb.LinearMatroid(rows, field=5) != mb.LinearMatroid(rows, field=7)
    floats = np.array(rows, dtype=float)
    assert mb.LinearMatroid(floats) == mb.LinearMatroid(np.where(floats == 0, -0.0, floats))
    assert mb.LinearMatroid(floats) != mb.LinearMatroid(floats, tolerance=1e-3)
    huge = [[10**30, 1], [1, 1]]
    assert mb.LinearMatroid(huge) == mb.LinearMatroid(huge)
    assert mb.LinearMatroid(huge) != mb.LinearMatroid([[10**30 + 1, 1], [1, 1]])


def test_restrictions_of_equal_matroids_are_equal() -> None:
    rows = np.random.default_rng(0).integers(-2, 3, (8, 5))
    kept = [0, 2, 3, 7]
    for field in (None, 3):
        matroid = mb.LinearMatroid(rows, field=field)
        assert matroid.restrict(kept) == mb.LinearMatroid(rows[kept], field=field)


def test_no_prime_is_taken_for_another_number() -> None:
    # 2**28 - 57 is the first prime that rows are reduced by.
    p = 2**28 - 57
    assert mb.LinearMatroid([[5, 1, 0], [0, 1, 1]]) != mb.LinearMatroid([[5 - p, 1, 0], [0, 1, 1]])


# ---- identity ----


class AtMostTwo(mb.Matroid):
    def __init__(self) -> None:
        super().__init__(5)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


class Forests(mb.GraphicMatroid):
    """The same answers."""


class OtherForests(mb.GraphicMatroid):
    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 1


class AtMost(mb.Matroid):
    def __init__(self, limit: int) -> None:
        super().__init__(5)
        self.limit = limit

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= self.limit

    def _data(self) -> tuple[int]:
        return (self.limit,)


def test_matroids_written_in_python_are_equal_to_themselves_alone() -> None:
    one, other = AtMostTwo(), AtMostTwo()
    assert one == one  # noqa: PLR0124
    assert one != other
    assert one._content() is None
    assert len({one, other}) == 2
    assert mb.DualMatroid(one) == mb.DualMatroid(one)
    assert mb.DualMatroid(one) != mb.DualMatroid(other)
    assert mb.DualMatroid(one)._content() is None


def test_a_class_written_in_python_may_give_its_data() -> None:
    assert AtMost(2) == AtMost(2)
    assert hash(AtMost(2)) == hash(AtMost(2))
    assert AtMost(2) != AtMost(3)
    assert mb.DualMatroid(AtMost(2))._content() == mb.DualMatroid(AtMost(2))._content() is not None


def test_a_subclass_with_other_answers_is_equal_to_itself_alone() -> None:
    edges = [(0, 1), (1, 2)]
    assert Forests(edges) == Forests(edges)
    assert Forests(edges) != mb.GraphicMatroid(edges)
    assert OtherForests(edges) != OtherForests(edges)
    assert OtherForests(edges)._content() is None


def test_oracles_are_equal_if_they_call_the_same_function() -> None:
    forests = mb.GraphicMatroid.complete(3)
    one = mb.OracleMatroid(3, forests.is_independent)
    assert one == mb.OracleMatroid(3, forests.is_independent)
    assert hash(one) == hash(mb.OracleMatroid(3, forests.is_independent))
    assert one != mb.OracleMatroid(3, mb.GraphicMatroid.complete(3).is_independent)
    assert one != mb.OracleMatroid(2, forests.is_independent)
    assert one._content() is None
    assert (one | one) == (one | mb.OracleMatroid(3, forests.is_independent))


# ---- in another process ----

CONTENTS = """
import hashlib
import matroid_bandits as mb
names = ["b", "a", "t", "s", "long name"]
matroids = [
    mb.PartitionMatroid(["x", "y", "x"], {"x": 1, "y": 2}),
    mb.GraphicMatroid([frozenset(("b", "a")), frozenset(("a", "t")), frozenset(("b", "s"))]),
    mb.TransversalMatroid([{"a", "b", "s"}, {"t", "s"}, {"b"}]),
    mb.GammoidMatroid({("a", "u"), ("b", "u"), ("b", "v"), ("u", "s"), ("v", "t")}, {"s", "t"},
                      elements=["a", "b"]),
    mb.LaminarMatroid({"x": {0, 1}, "y": {0, 1, 2}}, {"x": 1, "y": 2}, 3),
    mb.LinearMatroid([[1, 2], [3, 4]]),
    mb.LinearMatroid([[1.5, 2], [3, 4]]),
]
matroids += [mb.DualMatroid(matroid) for matroid in matroids]
print([hashlib.sha256(repr(matroid._content()).encode()).hexdigest() for matroid in matroids])
"""


def test_the_content_is_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", CONTENTS],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
