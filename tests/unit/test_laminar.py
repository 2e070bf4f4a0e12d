"""Laminar matroids: messages, counts, and what stays in the family."""

import re

import numpy as np
import pytest

import matroid_bandits as mb

SLATE = mb.LaminarMatroid(
    {"all": range(6), "comedy": [0, 1, 2], "drama": [3, 4, 5], "Pixar": [0, 1]},
    {"all": 3, "comedy": 2, "drama": 2, "Pixar": 1},
    size=6,
)


@pytest.mark.parametrize(
    "sets, capacities, message",
    [
        (
            {"genre": [0, 1, 2], "studio": [2, 3]},
            1,
            "sets 'genre' and 'studio' cross: element 2 is in both, 0 only in 'genre', 3 only in",
        ),
        ([[0, 1], [1, 2]], 1, "sets 0 and 1 cross: element 1 is in both, 0 only in 0, 2 only in 1"),
        ([[0, 1], [1, 2]], 1, "2 only in 1; sets must be nested or disjoint"),
        # Around the smallest set there is one that is crossed by none.
        ([range(4), [0, 1], [2, 3], [1, 2]], 1, "cross: element"),
        ({"a": [0, 9]}, 1, "set 'a': element 9 is not in the ground set 0..3"),
        ({"a": [0, 0]}, 1, "set 'a': element 0 is given twice"),
        ({"a": "01"}, 1, "set 'a': elements must be a list"),
        ({"a": [0], "b": [1]}, {"a": 1}, "set 'b' has no capacity; capacities are given for 'a'"),
        ({"drama": [0]}, {"drama": 1, "dram": 2}, "unknown; did you mean drama? allowed are drama"),
        ([], {"a": 2}, "a capacity is given for set 'a', unknown; there are no sets"),
        ([[0], [1]], [1], "one capacity per set is needed: 2, got 1"),
        ([[0], [1]], -1, "the capacity of set 0 must be at least 0, got -1"),
        ({"a": [0]}, {"a": 1.5}, "the capacity of set 'a' must be an integer, got 1.5"),
        ([[0]], None, "the capacity of set 0 must be an integer, got None"),
        (5, 1, "sets must be a list, got 5"),
        ("abc", 1, "sets must be a list, got 'abc'"),
    ],
)
def test_mistakes(sets, capacities, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        mb.LaminarMatroid(sets, capacities, 4)


def test_capacities_in_all_forms() -> None:
    sets = [[0, 1, 2], np.array([0, 1])]
    for capacities in ([2, 1], (2, 1), np.array([2, 1]), {0: 2, 1: 1}):
        matroid = mb.LaminarMatroid(sets, capacities, 4)
        assert matroid.bases().tolist() == [[0, 2, 3], [1, 2, 3]]
    assert mb.LaminarMatroid(iter(sets), 1, 4).bases().tolist() == [[0, 3], [1, 3], [2, 3]]
    by_name = mb.LaminarMatroid({"a": [0, 1, 2], "b": [0, 1]}, [2, 1], 4)
    assert by_name.bases().tolist() == [[0, 2, 3], [1, 2, 3]]


def test_of_equal_sets_the_smaller_capacity_counts() -> None:
    for capacities in ([3, 1], [1, 3]):
        matroid = mb.LaminarMatroid([[0, 1, 2], [2, 1, 0]], capacities, 3)
        assert matroid.rank == 1


def test_sets_that_say_nothing() -> None:
    empty_or_large = mb.LaminarMatroid([[], [0, 1], range(3)], [0, 2, 10**30], 3)
    assert empty_or_large.rank == 3
    assert repr(empty_or_large) == "LaminarMatroid(size=3, sets=3, rank=3)"
    # Elements stay alike where only such a set would tell them apart.
    around = mb.LaminarMatroid([range(4), [0, 1]], [2, 2], 4)
    assert len(set(around._kernel().symmetry_classes().tolist())) == 1
    assert mb.LaminarMatroid([], 1, 0).rank == 0


def test_partition_matroids_are_those_without_sets_in_sets() -> None:
    groups = [0, 1, 1, 2, 0, 1, 2]
    sets = [np.flatnonzero(np.array(groups) == g) for g in range(3)]
    laminar = mb.LaminarMatroid(sets, [1, 2, 0], 7)
    partition = mb.PartitionMatroid(groups, [1, 2, 0])
    assert laminar.bases().tolist() == partition.bases().tolist()


def test_a_deep_nest() -> None:
    # Element k is in the sets 0..k, the last of which is the smallest: two of the last, and one
    # more for every fourth set around it.
    n = 400
    sets = [range(k, n) for k in range(n)]
    matroid = mb.LaminarMatroid(sets, [2 + (n - 1 - k) // 4 for k in range(n)], n)
    basis = matroid.max_weight_basis(np.arange(n))
    assert len(basis) == matroid.rank == 2 + (n - 1) // 4
    kept = set(basis.tolist())
    assert all(len(kept.intersection(s)) <= 2 + (n - 1 - k) // 4 for k, s in enumerate(sets))


def test_counts() -> None:
    # Two comedies, in 2 ways, with a drama, or one with two dramas.
    assert SLATE.n_bases() == len(SLATE.bases()) == 2 * 3 + 3 * 3
    # So many that no list could be made: 1 of each 100 within 5 of all 10 hundreds.
    hundreds = [range(100 * k, 100 * k + 100) for k in range(10)]
    matroid = mb.LaminarMatroid([range(1000), *hundreds], [5] + [1] * 10, 1000)
    assert matroid.n_bases() == 252 * 100**5


def test_minors_and_truncations_are_laminar() -> None:
    minor = SLATE.contract([0]).restrict([0, 1, 2])  # 1, 2 and 3 without 0
    assert isinstance(minor, mb.LaminarMatroid)
    assert minor.loops.tolist() == [0]  # the other one of the studio
    assert minor.bases().tolist() == [[1, 2]]
    assert isinstance(SLATE.truncate(1), mb.LaminarMatroid)
    assert SLATE.truncate(1).n_bases() == 6
    # A dependent set contracts like a basis of it.
    assert (
        SLATE.contract([0, 1]).bases().tolist() == SLATE.contract([0]).delete([0]).bases().tolist()
    )
