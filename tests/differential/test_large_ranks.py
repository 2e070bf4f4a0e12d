"""MAUB on graphs where partners are found when they are needed
(docs/explanation/large-ranks.md)."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.policies.maub import rule

from .. import feedback
from ..reference import indices as slow
from ..reference.large_graphs import LargeGraphMAUB
from ..seeds import seeds
from .changes import CHANGES, is_level


@pytest.fixture
def every_rank_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "LARGE_RANK", 1)


def _random_graph(rng: np.random.Generator, vertices: int, edges: int) -> mb.GraphicMatroid:
    """Connected or not, with parallel edges and loops."""
    return mb.GraphicMatroid([tuple(pair) for pair in rng.integers(0, vertices, (edges, 2))])


def _compare(
    graph: mb.GraphicMatroid,
    rng: np.random.Generator,
    rounds: int,
    kind: str,
    *,
    copied: bool = False,
    **options: object,
) -> None:
    """Every round, the published algorithm plays the same."""
    late = mb.MAUB(graph, **options)  # type: ignore[arg-type]
    paper = mb.MAUB(graph, neighborhood="paper", **options)  # type: ignore[arg-type]
    means = rng.uniform(0, 1, graph.size)
    for t in range(rounds):
        basis = late.select()
        assert basis.tolist() == paper.select().tolist(), t
        if late.leader is not None:
            assert late.leader.tolist() == paper.leader.tolist()
        elements = basis
        if kind == "partial":
            elements = feedback.observed(rng, basis, graph.size, part=0.1, foreign=0.1)
        rewards = feedback.rewards(kind, rng, means[elements])
        late.update(elements, rewards)
        paper.update(elements, rewards)
        if copied and t % 7 == 0:
            late = pickle.loads(pickle.dumps(late))
    assert late.neighborhood_updates == paper.neighborhood_updates


@pytest.mark.usefixtures("every_rank_is_large")
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "rare", "few values", "partial"])
@pytest.mark.parametrize("exchanges", ["one", "all", 3])
def test_small_graphs(kind: str, exchanges: str | int) -> None:
    for seed in seeds(20):
        rng = np.random.default_rng([seed, 20])
        graph = _random_graph(rng, int(rng.integers(1, 12)), int(rng.integers(0, 40)))
        noise = [1.0, 0.2][seed % 2]
        _compare(graph, rng, 200, kind, exchanges=exchanges, noise=noise)


@pytest.mark.parametrize("exchanges", ["one", "all"])
@pytest.mark.parametrize("seed", seeds(3))
def test_large_graphs(exchanges: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 21])
    graph = _random_graph(rng, 150 + 100 * seed, 600)
    assert graph.rank >= rule.LARGE_RANK
    _compare(graph, rng, 400, "gaussian", exchanges=exchanges, noise=0.2)


def test_a_forest_of_large_rank_after_a_restart() -> None:
    """No element is outside the leader."""
    rng = np.random.default_rng(25)
    policy = mb.MAUB(mb.GraphicMatroid([(i, i + 1) for i in range(120)]), noise=0.05, restart="glr")
    for t in range(60):
        basis = policy.select()
        assert basis.tolist() == list(range(120))
        policy.update(basis, rng.normal(float(t < 30), 0.05, 120))
    assert policy.n_restarts > 0


@pytest.mark.usefixtures("every_rank_is_large")
def test_copies_go_on() -> None:
    for seed in seeds(10):
        rng = np.random.default_rng([seed, 22])
        graph = _random_graph(rng, 12, 40)
        _compare(graph, rng, 150, "gaussian", copied=True, noise=0.3)


@pytest.mark.parametrize("exchanges", ["one", "all"])
def test_some_elements_are_not_available(exchanges: str) -> None:
    rng = np.random.default_rng(23)
    graph = _random_graph(rng, 130, 500)
    late = mb.MAUB(graph, noise=0.2, exchanges=exchanges)
    paper = mb.MAUB(graph, noise=0.2, exchanges=exchanges, neighborhood="paper")
    means = rng.uniform(0, 1, graph.size)
    for t in range(200):
        some = {}
        if t % 3 == 2:
            some = {"available": rng.random(graph.size) < 0.9, "allow_smaller": True}
        basis = late.select(**some)
        assert basis.tolist() == paper.select(**some).tolist()
        rewards = rng.normal(means[basis], 0.2)
        late.update(basis, rewards)
        paper.update(basis, rewards)


# By name: an index, and its definition. Only UCB without a discount has a leader that finds
# partners late; the others are searched by bounds.
INDICES: dict[str, tuple[Any, Any]] = {
    "ucb": (partial(mb.UCB, 0.2), partial(slow.UCB, 0.2)),
    "kl": (mb.KLUCB, slow.KLUCB),
    "moss 1000": (partial(mb.MOSS, 1000, 0.2), partial(slow.MOSS, 1000, 0.2)),
}
# What is forgotten, how many exchanges a round makes, and the index.
MEMORIES: list[tuple[str, Any, str]] = [
    ("none", "one", "ucb"),
    ("none", "all", "ucb"),
    ("none", "one", "moss 1000"),
    ("window 100", "one", "ucb"),
    ("window 17", 3, "ucb"),
    ("restart", "one", "ucb"),
    ("restart", "all", "ucb"),
    ("restart by dict", 3, "ucb"),
    ("restart", "one", "kl"),
    ("restart of elements", "one", "ucb"),
    ("restart of elements, 50", "all", "ucb"),
    ("discount 0.99", "one", "ucb"),
    ("discount 0.9", "all", "ucb"),
]


@pytest.mark.parametrize(("change", "exchanges", "index"), MEMORIES)
@pytest.mark.parametrize("seed", seeds(2))
def test_means_that_change(change: str, exchanges: str | int, index: str, seed: int) -> None:
    """Against the reference and as published: with rounds in which some elements are missing, with
    partial feedback, and saved now and then.
    """
    rng = np.random.default_rng([seed, 24, MEMORIES.index((change, exchanges, index))])
    ours, theirs = ({}, {}) if change == "none" else CHANGES[change]()
    graph = _random_graph(rng, int(rng.integers(125, 160)), 500)
    assert 100 <= graph.rank <= 300
    make, make_slow = INDICES[index]
    late = mb.MAUB(graph, index=make(), exchanges=exchanges, **ours)
    paper = mb.MAUB(graph, index=make(), exchanges=exchanges, neighborhood="paper", **ours)
    plain = LargeGraphMAUB(graph.edges, make_slow(), exchanges, **theirs)
    kind = "bernoulli" if late.reward_range == (0, 1) else "gaussian"
    for t in range(180):
        if t % 45 == 0:
            means = rng.choice([0.1, 0.9], graph.size) * rng.uniform(0.9, 1, graph.size)
        if t % 13 == 12:
            some = np.flatnonzero(rng.random(graph.size) < 0.9)
            basis = late.select(available=some, allow_smaller=True)
            published = paper.select(available=some, allow_smaller=True)
            expected = plain.select_among(frozenset(some.tolist()))
        else:
            basis, published, expected = late.select(), paper.select(), plain.select()
        assert basis.tolist() == published.tolist(), t
        if tuple(basis.tolist()) != expected:
            # Discounted sums and kl-UCB differ in the last bits.
            assert change.startswith("discount") or index == "kl", t
            assert is_level(plain, basis.tolist(), expected), t
            return
        elements = feedback.observed(rng, basis, graph.size, part=0.03, foreign=0.03)
        rewards = feedback.rewards(kind, rng, means[elements])
        for policy in (late, paper):
            policy.update(elements, rewards)
        plain.update(elements.tolist(), rewards.tolist())
        if t % 31 == 30:
            late = pickle.loads(pickle.dumps(late))
    assert late.counts.tolist() == plain.counts
    assert (late.n_restarts > 0) == change.startswith("restart")
