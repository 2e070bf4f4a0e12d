"""Large symmetry classes: buckets, shortlists, initial rounds by class."""

import pickle
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference import matroids as textbook
from ..seeds import seeds
from .test_policies import _compare


def _uniform(rng: np.random.Generator) -> tuple[mb.Matroid, textbook.Independence]:
    return mb.UniformMatroid(4, 150), lambda s: len(s) <= 4


def _partition(rng: np.random.Generator) -> tuple[mb.Matroid, textbook.Independence]:
    groups = rng.integers(0, 3, 120).tolist()
    capacities = {0: 1, 1: 2, 2: 1}
    return mb.PartitionMatroid(groups, capacities), textbook.partition(groups, capacities)


def _parallel_edges(rng: np.random.Generator) -> tuple[mb.Matroid, textbook.Independence]:
    edges = [tuple(pair) for pair in rng.integers(0, 5, (120, 2)).tolist()]
    return mb.GraphicMatroid(edges), textbook.graphic(edges)


def _few_vectors(rng: np.random.Generator) -> tuple[mb.Matroid, textbook.Independence]:
    vectors = rng.integers(0, 2, (100, 3)) * rng.integers(1, 4, (100, 1))
    return mb.LinearMatroid(vectors), textbook.linear(vectors.tolist())


FAMILIES = [_uniform, _partition, _parallel_edges, _few_vectors]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "rare", "few values", "partial"])
def test_round_for_round(family: Callable, kind: str) -> None:
    for seed in seeds(1):
        rng = np.random.default_rng([seed, 11])
        matroid, ask = family(rng)
        for name in ("MAUB", "MAUB paper"):
            _compare(name, matroid, cache(ask), np.random.default_rng(seed), 600, kind)


@pytest.mark.parametrize("family", FAMILIES)
def test_pickled_in_mid_run(family: Callable) -> None:
    rng = np.random.default_rng(1)
    matroid, _ = family(rng)
    rewards = mb.BernoulliEnvironment(rng.random(matroid.size)).rewards(seed=1)
    straight, saved = mb.MAUB(matroid), mb.MAUB(matroid)
    for t in range(1500):
        basis = straight.select()
        assert saved.select().tolist() == basis.tolist()
        if t % 50 == 0:
            saved = pickle.loads(pickle.dumps(saved))
        drawn = rewards.draw(basis)
        straight.update(basis, drawn)
        saved.update(basis, drawn)
    assert saved.neighborhood_updates == straight.neighborhood_updates


def test_feedback_about_everything_at_once() -> None:
    """All elements change buckets in one update: blocks split, empty and are used again."""
    rng = np.random.default_rng(2)
    matroid = mb.UniformMatroid(5, 3000)
    lean, paper = mb.MAUB(matroid), mb.MAUB(matroid, neighborhood="paper")
    for t in range(40):
        elements = np.arange(3000) if t % 3 == 0 else rng.permutation(3000)[:1000]
        # Few values: long runs of equal means.
        rewards = rng.integers(0, 3, len(elements)) if t % 2 else rng.random(len(elements))
        for policy in (lean, paper):
            policy.update(elements, rewards.astype(float))
        assert lean.select().tolist() == paper.select().tolist()
        assert lean.neighborhood_updates == paper.neighborhood_updates


def test_initial_rounds_test_one_refused_element_per_class() -> None:
    # Fifty rounds: greedy takes one of the many, refuses the next of them, takes one of the few.
    policy = mb.MAUB(mb.PartitionMatroid(["many"] * 50 + ["few"] * 2, 1))
    for t in range(50):
        assert policy.select().tolist() == [t, 50 + (t == 1)]
        policy.update(policy.select(), [0.0, 0.0])
    assert (policy.greedy_calls, policy.oracle_calls) == (50, 150)
