"""The engine against the slow reference: plays, leaders, statistics and counters, every round."""

from functools import cache, partial

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import feedback
from ..reference import matroids as textbook
from ..reference.policies import ReferenceMAUB, ReferenceOMM
from ..seeds import FAMILIES, seeds

PAIRS = {
    "MAUB": (mb.MAUB, ReferenceMAUB),
    "MAUB paper": (partial(mb.MAUB, neighborhood="paper"), ReferenceMAUB),
    "OMM": (mb.OMM, ReferenceOMM),
    **{
        f"MAUB{form} {exchanges}": (
            partial(mb.MAUB, neighborhood=form.strip() or "lean", exchanges=exchanges),
            partial(ReferenceMAUB, exchanges=exchanges),
        )
        for exchanges in ("all", 1, 2)
        for form in ("", " paper")
    },
}
# The others ask exactly what the paper's algorithm asks.
LEAN = [name for name in PAIRS if name.startswith("MAUB") and "paper" not in name]


def _compare(
    name: str,
    matroid: mb.Matroid,
    is_independent: textbook.Independence,
    rng: np.random.Generator,
    rounds: int,
    kind: str,
) -> None:
    cls, reference_cls = PAIRS[name]
    policy, reference = cls(matroid), reference_cls(matroid.size, is_independent)
    means = rng.uniform(0, 1, matroid.size)
    for _ in range(rounds):
        expected = reference.select()
        basis = policy.select()
        assert tuple(basis.tolist()) == expected
        if isinstance(policy, mb.MAUB):
            leader = policy.leader
            assert (None if leader is None else tuple(leader.tolist())) == reference.leader
        if name in LEAN:
            # The same plays with no more questions than the paper's, mostly far fewer. Several
            # exchanges may ask for circuits where greedy on few elements asks less.
            several = 1 if name == "MAUB" else 2
            assert policy.oracle_calls <= several * reference.oracle_calls
            assert policy.greedy_calls <= reference.greedy_calls
        else:
            assert policy.oracle_calls == reference.oracle_calls
            assert policy.greedy_calls == reference.greedy_calls
        assert policy.neighborhood_updates == reference.neighborhood_updates
        assert policy.counts.tolist() == reference.counts
        seen = policy.counts > 0
        assert policy.means[seen].tolist() == np.array(reference.means)[seen].tolist()
        elements = basis
        if kind == "partial":
            elements = feedback.observed(rng, basis, matroid.size, part=0.1, foreign=0.1)
        rewards = feedback.rewards(kind, rng, means[elements])
        policy.update(elements, rewards)
        reference.update(elements.tolist(), rewards.tolist())
        # An update without a select: the round of another policy.
        if kind == "partial" and rng.random() < 0.05 and matroid.size:
            policy.update([0], [0.5])
            reference.update([0], [0.5])


@cache
def _asked_once(family: str, *seed: int) -> textbook.Independence:
    """The independence test of an instance, which many tests ask: each answer is found once."""
    return cache(_instance(family, np.random.default_rng(seed)).is_independent)


def _instance(family: str, rng: np.random.Generator) -> mb.Matroid:
    return catalog.MATROIDS[family].random(rng, int(rng.integers(0, 13)))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "rare", "few values", "partial"])
def test_round_for_round(name: str, family: str, kind: str) -> None:
    # 6 matroids x 5 kinds x 15 seeds: 450 random instances of each policy.
    for seed in seeds(15):
        rng = np.random.default_rng([seed, 7])
        matroid = _instance(family, rng)
        _compare(name, matroid, _asked_once(family, seed, 7), rng, rounds=250, kind=kind)


@pytest.mark.parametrize("name", [name for name in PAIRS if name.startswith("MAUB")])
@pytest.mark.parametrize("family", FAMILIES)
def test_membership_oracles(name: str, family: str) -> None:
    # The same matroids, of which nothing is known but the answers of the oracle.
    for seed in seeds(6):
        rng = np.random.default_rng([seed, 8])
        matroid = _instance(family, rng)
        ask = _asked_once(family, seed, 8)
        oracle = mb.OracleMatroid(matroid.size, ask)
        _compare(name, oracle, ask, rng, rounds=150, kind="gaussian")


@pytest.mark.parametrize("name", PAIRS)
def test_a_longer_run_on_k7_with_the_textbooks_own_oracle(name: str) -> None:
    matroid = mb.GraphicMatroid.complete(7)
    ask = cache(textbook.graphic(matroid.edges))
    _compare(name, matroid, ask, np.random.default_rng(0), rounds=5000, kind="gaussian")


@pytest.mark.parametrize("name", PAIRS)
def test_a_longer_run_on_floats(name: str) -> None:
    vectors = np.random.default_rng(5).integers(-2, 3, (14, 5))
    ask = cache(textbook.linear(vectors.tolist()))
    matroid = mb.LinearMatroid(vectors.astype(float))
    _compare(name, matroid, ask, np.random.default_rng(1), rounds=2000, kind="gaussian")


@pytest.mark.parametrize("name", PAIRS)
def test_large_ground_sets_whose_order_is_shaken(name: str) -> None:
    # Large enough, and disturbed enough, for the merge sort behind greedy.
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 300).tolist()
    matroid = mb.PartitionMatroid(groups, 2)
    ask = textbook.partition(groups, dict.fromkeys(range(12), 2))
    cls, reference_cls = PAIRS[name]
    policy, reference = cls(matroid), reference_cls(300, ask)
    for t in range(60):
        elements = policy.select()
        assert tuple(elements.tolist()) == reference.select()
        if name not in LEAN:
            assert policy.oracle_calls == reference.oracle_calls
        if t % 4 == 0:
            elements = rng.permutation(300)
        # Few values: many ties.
        rewards = rng.integers(-20, 20, len(elements)).astype(float)
        policy.update(elements, rewards)
        reference.update(elements.tolist(), rewards.tolist())


def test_sorting() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 31, 64, 100, 1000):
        policy = mb.OMM(mb.UniformMatroid(size // 3, size))
        for values in (rng.random(size), rng.integers(0, 5, size), np.arange(size), np.zeros(size)):
            basis = np.sort(np.argsort(-values, kind="stable")[: size // 3])
            assert policy._kernel.greedy_basis(values.astype(float)).tolist() == basis.tolist()


def test_oracle_calls_are_those_really_made() -> None:
    matroid = mb.OracleMatroid(10, mb.GraphicMatroid.complete(5).is_independent)
    for cls, _ in PAIRS.values():
        policy = cls(matroid)
        before = matroid.calls
        mb.simulate(policy, mb.GaussianEnvironment(np.linspace(0, 1, 10), 0.5), 2000)
        # simulate() itself finds the best basis once, testing each element at most once.
        assert policy.oracle_calls <= matroid.calls - before <= policy.oracle_calls + 10
