"""The number of bases: closed forms against known numbers, and against lists."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.matroids import _primes

from ..seeds import seeds


def test_complete_graphs() -> None:
    assert catalog.complete_graph(20).n_bases() == 20**18  # Cayley
    assert [catalog.complete_graph(n).n_bases() for n in range(5)] == [1, 1, 1, 3, 16]


@pytest.mark.parametrize("m, n", [(1, 5), (2, 2), (3, 4), (12, 17)])
def test_complete_bipartite_graphs(m: int, n: int) -> None:
    assert catalog.complete_bipartite(m, n).n_bases() == m ** (n - 1) * n ** (m - 1)


def _lucas(n: int) -> int:
    last, this = 2, 1
    for _ in range(n):
        last, this = this, last + this
    return last


@pytest.mark.parametrize("n", [3, 4, 5, 30, 200])
def test_wheels(n: int) -> None:
    assert catalog.wheel(n).n_bases() == _lucas(2 * n) - 2


def test_ladders_and_prisms() -> None:
    counts = [catalog.ladder(n).n_bases() for n in range(1, 41)]
    assert counts[:5] == [1, 4, 15, 56, 209]
    assert all(c == 4 * b - a for a, b, c in zip(counts, counts[1:], counts[2:], strict=False))
    # n/2 ((2 + sqrt 3)^n + (2 - sqrt 3)^n - 2), written with the ladder's numbers.
    for n in (3, 4, 10, 30):
        power_sum = counts[n] - counts[n - 2]
        assert 2 * catalog.prism(n).n_bases() == n * (power_sum - 2)


def test_disconnected_graphs_with_loops_and_parallel_edges() -> None:
    triangle = [(0, 1), (1, 2), (2, 0)]
    other = [("a", "b"), ("a", "b"), ("b", "a"), ("c", "c")]
    assert mb.GraphicMatroid([*triangle, *other]).n_bases() == 3 * 3
    assert mb.GraphicMatroid([*triangle, *triangle]).n_bases() == 3 * 2 * 2
    assert mb.GraphicMatroid([(0, 0)]).n_bases() == 1


def test_a_large_sparse_graph() -> None:
    # A chain of 150 triangles: one edge of each is left out. No component is small.
    corners = range(0, 301, 2)
    edges = [e for a, b in pairwise(corners) for e in ((a, a + 1), (a + 1, b), (a, b))]
    assert mb.GraphicMatroid(edges).n_bases() == 3**150


def test_pivots_that_vanish_modulo_a_prime(monkeypatch) -> None:
    # The elimination of K11 begins with a division by 10, and 5 is the first prime to be tried.
    small = [p for p in range(5, 400) if _primes.is_prime(p)]
    monkeypatch.setattr(
        "matroid_bandits.matroids._spanning_trees.large_primes", lambda: iter(small)
    )
    assert catalog.complete_graph(11).n_bases() == 11**9
    assert catalog.wheel(12).n_bases() == _lucas(24) - 2
    assert catalog.grid(4, 5).n_bases() == 4140081  # as listed at https://oeis.org/A003696


def test_too_many_vertices() -> None:
    path = mb.GraphicMatroid(pairwise(range(5_002)))
    with pytest.raises(ValueError, match="component of 5,002 vertices; spanning trees are counted"):
        path.n_bases()


@pytest.mark.parametrize("family", catalog.MATROIDS)
def test_counts_are_those_of_the_lists(family: str) -> None:
    for seed in seeds(20):
        rng = np.random.default_rng([seed, 11])
        matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(0, 11)))
        assert matroid.n_bases() == len(matroid.bases())


@pytest.mark.parametrize("family", catalog.MATROIDS)
def test_minors_and_truncations_count_likewise(family: str) -> None:
    for seed in seeds(10):
        rng = np.random.default_rng([seed, 12])
        matroid = catalog.MATROIDS[family].random(rng, 9)
        order = rng.permutation(9)
        contracted, deleted = order[: rng.integers(0, 4)], order[5 : rng.integers(5, 9)]
        left = np.setdiff1d(np.arange(9), contracted)
        minor = matroid.contract(contracted).delete(np.flatnonzero(np.isin(left, deleted)))
        plain = mb.OracleMatroid(9, cache(matroid.is_independent))
        kept = np.setdiff1d(left, deleted)
        same = mb.MinorMatroid(plain, kept, contracted)
        assert minor.bases().tolist() == same.bases().tolist()
        assert minor.n_bases() == len(same.bases())
        rank = int(rng.integers(0, matroid.rank + 1))
        cut = matroid.truncate(rank)
        assert cut.bases().tolist() == plain.truncate(rank).bases().tolist()
        assert cut.n_bases() == len(cut.bases())
        assert matroid.dual().n_bases() == matroid.n_bases()
