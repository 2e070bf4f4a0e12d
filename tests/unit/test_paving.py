"""Paving matroids: messages, counts, and what stays in the family."""

import re
from math import comb

import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

TWO_LINES = mb.PavingMatroid(3, 6, [[3, 2, 1, 0], [3, 4, 5]])


@pytest.mark.parametrize(
    "rank, size, hyperplanes, message",
    [
        (3, 6, [[0, 1]], "hyperplane 0 has 2 elements; it must have at least rank = 3, and fewer"),
        (3, 6, [range(6)], "hyperplane 0 has 6 elements"),
        (
            3,
            6,
            [[0, 1, 2], [0, 1, 3]],
            "hyperplanes 0 and 1 have 2 elements in common, [0, 1]; two may have at most rank - 2",
        ),
        (3, 6, [[0, 1, 2], [3, 4, 5], [0, 1, 2]], "hyperplanes 0 and 2 have 3 elements in common"),
        (1, 3, [[0], [1]], "hyperplanes 0 and 1 have 0 elements in common, []"),
        (0, 3, [[0]], "a matroid of rank 0 has no hyperplanes"),
        (3, 6, [[0, 1, 6]], "hyperplane 0: element 6 is not in the ground set 0..5"),
        (3, 6, [[0, 1, 1]], "hyperplane 0: element 1 is given twice"),
        (3, 6, 5, "hyperplanes must be a list, got 5"),
        (7, 6, [], "rank must be at most size = 6, got 7"),
        (-1, 6, [], "rank must be at least 0, got -1"),
    ],
)
def test_mistakes(rank, size, hyperplanes, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        mb.PavingMatroid(rank, size, hyperplanes)


def test_hyperplanes_are_given_back() -> None:
    assert TWO_LINES.hyperplanes == [[0, 1, 2, 3], [3, 4, 5]]
    assert mb.PavingMatroid(2, 4, []).hyperplanes == []
    assert repr(TWO_LINES) == "PavingMatroid(rank=3, size=6, hyperplanes=2)"


def test_a_hyperplane_of_rank_one_is_the_loops() -> None:
    assert mb.PavingMatroid(1, 3, [[0, 2]]).loops.tolist() == [0, 2]


def test_without_hyperplanes_it_is_uniform() -> None:
    matroid = mb.PavingMatroid(3, 6, [])
    assert matroid.bases().tolist() == mb.UniformMatroid(3, 6).bases().tolist()


def test_counts() -> None:
    assert TWO_LINES.n_bases() == len(TWO_LINES.bases()) == comb(6, 3) - comb(4, 3) - 1
    large = mb.PavingMatroid(20, 60, [range(25), range(20, 50)])
    assert large.n_bases() == comb(60, 20) - comb(25, 20) - comb(30, 20)


def test_truncations_and_minors() -> None:
    assert repr(TWO_LINES.truncate(2)) == "UniformMatroid(rank=2, size=6)"
    assert TWO_LINES.restrict([0, 1, 2, 4]).hyperplanes == [[0, 1, 2]]
    assert repr(TWO_LINES.restrict([0, 1, 2])) == "UniformMatroid(rank=2, size=3)"
    assert repr(TWO_LINES.restrict([0, 5])) == "UniformMatroid(rank=2, size=2)"
    # From the point on both lines, what is on a line looks the same.
    assert TWO_LINES.contract([3]).hyperplanes == [[0, 1, 2], [3, 4]]
    assert TWO_LINES.contract([0, 1]).hyperplanes == [[0, 1]]
    assert TWO_LINES.contract([0, 1, 2]).loops.tolist() == [0]
    assert TWO_LINES.contract([0, 1, 4]).rank == 0


def test_vamos_is_its_own_dual_but_for_the_names() -> None:
    # The complement of two pairs is two pairs: of the six, five are dependent either way.
    dual = catalog.vamos().dual()
    assert dual.n_bases() == 65
    assert dual.is_independent([0, 1, 2, 3])
    assert not dual.is_independent([4, 5, 6, 7])
