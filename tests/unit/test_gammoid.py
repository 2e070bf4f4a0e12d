"""Gammoids and cographic matroids: messages, and what networkx says."""

import re
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.matroids.compose.dual import DualKernel
from matroid_bandits._core.matroids.partners import find_partners, find_replacements

from ..seeds import seeds

ARCS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("x", "s"), ("y", "t")]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([("a", "b", "c")], []), "arc 0 must be a pair of hashable vertices, got ('a', 'b', 'c')"),
        (([("a", "b"), 5], []), "arc 1 must be a pair of hashable vertices, got 5"),
        (([("a", [])], []), "arc 0 must be a pair of hashable vertices"),
        ((7, []), "arcs must be a list, got 7"),
        ((ARCS, "s"), "targets must be a list, got 's'"),
        ((ARCS, [["s"]]), "targets must be hashable vertices, got ['s']"),
        ((ARCS, ["s", "s"]), "targets have the vertex 's' twice"),
        ((ARCS, ["s"], ["a", "a"]), "elements have the vertex 'a' twice"),
        ((ARCS, ["s"], ["a", "q"]), "element 1, 'q', is neither in an arc nor a target"),
    ],
)
def test_mistakes(arguments, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        mb.GammoidMatroid(*arguments)


def test_what_was_given_is_given_back() -> None:
    matroid = mb.GammoidMatroid(iter(ARCS), iter(["s", "t"]), iter(["c", "x", "a"]))
    assert matroid.vertices == ["c", "x", "a"]
    assert matroid.arcs == ARCS
    assert matroid.targets == ["s", "t"]
    assert matroid.restrict([0, 2]).vertices == ["c", "a"]
    assert repr(matroid) == "GammoidMatroid(size=3, arcs=6, targets=2, rank=2)"
    assert matroid.bases().tolist() == [[0, 1], [0, 2]]
    assert mb.GammoidMatroid([], []).size == 0
    assert mb.GammoidMatroid([], ["s"]).rank == 1


def _n_disjoint_paths(matroid: mb.GammoidMatroid, starts: list) -> int:
    """By flows: every vertex is an arc that takes one path."""
    network = nx.DiGraph()
    for v in {*matroid.vertices, *matroid.targets, *(end for arc in matroid.arcs for end in arc)}:
        network.add_edge((v, "in"), (v, "out"), capacity=1)
    for u, v in matroid.arcs:
        network.add_edge((u, "out"), (v, "in"), capacity=1)
    network.add_edges_from((("source", (v, "in")) for v in starts), capacity=1)
    network.add_edges_from((((v, "out"), "sink") for v in matroid.targets), capacity=1)
    network.add_nodes_from(["source", "sink"])
    return nx.maximum_flow_value(network, "source", "sink")


def test_independent_sets_are_those_with_enough_disjoint_paths() -> None:
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        matroid = mb.GammoidMatroid.random(rng, 20)
        assert matroid.rank == _n_disjoint_paths(matroid, matroid.vertices)
        answers = set()
        for _ in range(20):
            chosen = rng.choice(20, int(rng.integers(1, matroid.rank + 1)), replace=False)
            enough = _n_disjoint_paths(matroid, [matroid.vertices[e] for e in chosen])
            answers.add(enough == len(chosen))
            assert matroid.is_independent(chosen) == (enough == len(chosen))
        assert answers == {True, False}


def test_links_that_may_fail() -> None:
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        graph = nx.MultiGraph()
        pairs = rng.integers(0, 8, (20, 2)).tolist()
        graph.add_edges_from((u, v, e) for e, (u, v) in enumerate(pairs))
        matroid = mb.CographicMatroid(map(tuple, pairs))
        pieces = nx.number_connected_components(graph)
        for _ in range(20):
            failed = rng.choice(20, int(rng.integers(0, 8)), replace=False)
            left = graph.copy()
            left.remove_edges_from((*pairs[e], e) for e in failed)
            same = nx.number_connected_components(left) == pieces
            assert matroid.is_independent(failed) == same


def test_duals_and_minors_of_graphs() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]
    graph, links = mb.GraphicMatroid(edges), mb.CographicMatroid(edges)
    assert links.edges == edges
    assert isinstance(graph.dual(), mb.CographicMatroid)
    assert graph.dual().edges == edges
    assert isinstance(links.dual(), mb.GraphicMatroid)
    assert links.dual().edges == edges
    assert links.n_bases() == graph.n_bases() == len(links.bases()) == 8
    # What is deleted in the one is contracted in the other.
    assert isinstance(links.delete([1]), mb.CographicMatroid)
    assert links.delete([1]).bases().tolist() == graph.contract([1]).dual().bases().tolist()
    assert links.contract([1]).edges == graph.delete([1]).edges
    assert repr(links) == "CographicMatroid(size=5, vertices=4, rank=2)"


def _edges(rng: np.random.Generator, n_vertices: int, size: int) -> list[tuple[int, int]]:
    """A tree and random further edges, some of them parallel, some loops."""
    tree = [(int(rng.integers(0, v)), v) for v in range(1, n_vertices)]
    others = rng.integers(0, n_vertices, (size - len(tree), 2)).tolist()
    return [*tree, *map(tuple, others)]


def test_partners_of_all_elements_at_once() -> None:
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        edges = [*_edges(rng, int(rng.integers(2, 25)), 40), ("another", "component")]
        matroid = mb.CographicMatroid([edges[i] for i in rng.permutation(41)])
        basis = rng.permutation(matroid.max_weight_basis(rng.random(41)))
        outside = np.setdiff1d(np.arange(41), np.concatenate((basis, matroid.loops)))
        # By definition: e can replace x if the exchange leads to a basis.
        members = set(basis.tolist())
        expected = [
            next(x for x in basis if matroid.is_basis(members - {x} | {e})) for e in outside
        ]
        assert find_partners(matroid._new_kernel(), basis, outside).tolist() == expected
        kernel = matroid.dual()._new_kernel()
        tree = rng.permutation(np.setdiff1d(np.arange(41), basis))
        expected = [
            next((x for x in basis if x in matroid.fundamental_circuit(basis, e)), -1) for e in tree
        ]
        assert find_replacements(kernel, tree, basis).tolist() == expected


@pytest.fixture
def n_steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many elements the kernels made from now on have looked at."""
    kernels: list[DualKernel] = []
    make = mb.CographicMatroid._kernel

    def recorded(matroid: mb.CographicMatroid) -> DualKernel:
        kernels.append(make(matroid))
        return kernels[-1]

    monkeypatch.setattr(mb.CographicMatroid, "_kernel", recorded)
    return lambda: sum(kernel.n_steps for kernel in kernels)


@pytest.mark.parametrize("arguments", [{}, {"exchanges": "all"}, {"index": "kl"}])
@pytest.mark.parametrize("n_vertices", [20, 800, 1900])
def test_a_round_looks_at_every_link_a_few_times(n_vertices, arguments, n_steps) -> None:
    rng = np.random.default_rng(0)
    matroid = mb.CographicMatroid(_edges(rng, n_vertices, 2000))
    policy = mb.MAUB(matroid, **arguments)
    most = before = 0
    for _ in range(60):
        basis = policy.select()
        policy.update(basis, rng.random(len(basis)))
        most, before = max(most, n_steps() - before), n_steps()
    assert 0 < most <= 40 * matroid.size


def test_a_link_in_many_circuits_that_passes_many_others(n_steps) -> None:
    # A long cycle; its last link is the worst, and then the best, of those outside the tree.
    rng = np.random.default_rng(0)
    n = 2000
    chords = [(v, v + 2) for v in range(0, n - 2, 2)]
    matroid = mb.CographicMatroid([*((v, v + 1) for v in range(n - 1)), (n - 1, 0), *chords])
    means = np.concatenate((0.1 * rng.random(n - 1), [0.2], 0.5 + 0.4 * rng.random(len(chords))))
    policy = mb.MAUB(matroid)
    policy.update(np.arange(matroid.size), means)
    assert n - 1 in policy.select()
    before = n_steps()
    policy.update([n - 1], [3.0])
    policy.select()
    assert n_steps() - before <= 40 * matroid.size
