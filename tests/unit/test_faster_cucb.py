"""FasterCUCB: its basis is a best one for rounded weights, and nearly so for true ones."""

import copy
import math
import pickle
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import feedback
from ..seeds import FAMILIES, seeds

KINDS = ["gaussian", "bernoulli", "rare", "few values", "negative", "foreign"]
SLACK = 1e-9


def _rewards(kind: str, rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    if kind == "negative":
        return rng.normal(means - 0.5, 0.4)
    return np.abs(feedback.rewards(kind, rng, means))


def _best(matroid: mb.Matroid, ask, weights: np.ndarray) -> list[int]:
    """A basis of largest weight: greedy as in the textbook."""
    chosen: frozenset[int] = frozenset()
    playable = set(range(matroid.size)) - set(matroid.loops.tolist())
    for e in sorted(playable, key=lambda e: -weights[e]):
        if len(chosen) < matroid.rank and ask(chosen | {e}):
            chosen |= {e}
    return sorted(chosen)


def _features(policy: mb.FasterCUCB) -> tuple[np.ndarray, np.ndarray]:
    """Rounded means and rounded 1/sqrt(count), as the policy has them; NaN for loops."""
    state = policy._kernel.state()
    line_of_block = np.repeat(
        np.arange(len(state["features"])), state["blocks_of_line"].sum(axis=1)
    )
    features = np.full((policy.matroid.size, 2), np.nan)
    lines = np.repeat(line_of_block, state["block_lengths"])
    features[state["elements"]] = state["features"][lines, :2]
    return features[:, 0], features[:, 1]


def _check_features(policy: mb.FasterCUCB, alpha: np.ndarray, beta: np.ndarray) -> None:
    """Against the definition: powers, next to what they stand for, rounded down."""
    eps = policy.eps
    least_width = math.sqrt(1.5 * math.log(2))
    for m, n, a, b in zip(policy.means, policy.counts, alpha, beta, strict=True):
        if np.isnan(a):
            continue
        assert b <= 1 / math.sqrt(n) < b * (1 + eps / 2) * (1 + 1e-12)
        exponent = math.log(b) / math.log(1 + eps / 2)
        assert exponent == pytest.approx(round(exponent), abs=1e-5)
        if a == 0:
            assert abs(m) <= eps / 2 * least_width * b
            continue
        assert a > 0 or m < 0
        assert min(a, a * (1 + eps)) * (1 - 1e-12) <= max(m, m * (1 + eps)) if a < 0 else a <= m
        assert abs(m) < abs(a) * (1 + eps) * (1 + 1e-12)
        assert abs(a) < abs(m) * (1 + eps) * (1 + 1e-12)
        exponent = math.log(abs(a)) / math.log(1 + eps)
        assert exponent == pytest.approx(round(exponent), abs=1e-5)


def _check_chains(policy: mb.FasterCUCB) -> None:
    """Lines are linked from the heaviest to the lightest, none is empty, the heap is one."""
    state = policy._kernel.state()
    alpha, beta = state["features"].T[:2]
    weights = alpha + state["scale"] * beta
    crossings = np.full(len(alpha), np.inf)
    start = 0
    for end in np.cumsum(state["chain_lengths"]).tolist():
        for s in range(start + 1, end):
            assert weights[s - 1] >= weights[s] - 1e-12 * (1 + abs(weights[s]))
            if beta[s] > beta[s - 1]:
                crossings[s] = (alpha[s - 1] - alpha[s]) / (beta[s] - beta[s - 1])
        start = end
    assert (state["blocks_of_line"].sum(axis=1) > 0).all()
    assert (state["block_lengths"] > 0).all()
    playable = np.setdiff1d(np.arange(policy.matroid.size), policy.matroid.loops)
    assert np.array_equal(np.sort(state["elements"]), playable if len(alpha) else [])
    heap = state["heap"]
    assert sorted(heap.tolist()) == list(range(len(alpha)))
    for i in range(1, len(heap)):
        assert crossings[heap[(i - 1) // 2]] <= crossings[heap[i]]


def _check_round(policy: mb.FasterCUCB, ask, *, thoroughly: bool) -> None:
    matroid = policy.matroid
    basis = policy.select()
    alpha, beta = _features(policy)
    width = math.sqrt(1.5 * math.log(policy.rounds + 1))
    rounded = alpha + width * beta
    scale = 1 + np.abs(rounded[basis]).sum()
    assert rounded[basis].sum() >= rounded[_best(matroid, ask, rounded)].sum() - SLACK * scale
    means = policy.means
    with np.errstate(divide="ignore"):
        spread = width / np.sqrt(policy.counts)
    true = means + spread
    best = _best(matroid, ask, true)
    if (means[~np.isnan(means)] >= 0).all():
        assert true[basis].sum() * (1 + policy.eps) >= true[best].sum() - SLACK * scale
    else:
        size = np.abs(means) + spread
        lost = policy.eps * (size[best].sum() + size[basis].sum() / 2)
        assert true[basis].sum() >= true[best].sum() - lost - SLACK * scale
    if thoroughly:
        _check_features(policy, alpha, beta)
        _check_chains(policy)


def _observed(kind: str, rng: np.random.Generator, basis: np.ndarray, size: int) -> np.ndarray:
    if kind != "foreign":
        return basis
    return feedback.observed(rng, basis, size, part=0.1, foreign=0.2)


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.5, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_basis_is_a_best_one_in_every_round(family: str, kind: str, eps: float) -> None:
    # 6 kinds x 4 values of eps x 2 seeds: 48 random instances of every family.
    for seed in seeds(2):
        rng = np.random.default_rng([seed, KINDS.index(kind), int(100 * eps)])
        matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(2, 15)))
        ask = cache(matroid.is_independent)
        policy = mb.FasterCUCB(matroid, eps=eps)
        means = rng.uniform(0, 1, matroid.size)
        playable = np.setdiff1d(np.arange(matroid.size), matroid.loops)
        for t in range(250):
            basis = policy.select()
            if matroid.rank and (policy.counts[playable] > 0).all():
                _check_round(policy, ask, thoroughly=t % 16 == 0)
            elements = _observed(kind, rng, basis, matroid.size)
            policy.update(elements, _rewards(kind, rng, means[elements]))
            # Rounds without a select: lambda jumps, and several changes come at once.
            if kind == "foreign" and rng.random() < 0.1:
                elements = rng.permutation(matroid.size)[:3]
                policy.update(elements, _rewards(kind, rng, means[elements]))


def test_with_a_tiny_eps_it_is_cucb_and_numbers_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    edges = mb.GraphicMatroid.complete(5).edges
    new_name = rng.permutation(len(edges))  # element e becomes new_name[e]
    renamed = [edges[e] for e in np.argsort(new_name)]
    policy = mb.FasterCUCB(mb.GraphicMatroid(edges), eps=1e-9)
    other = mb.FasterCUCB(mb.GraphicMatroid(renamed), eps=1e-9)
    ask = cache(policy.matroid.is_independent)
    first = rng.normal(size=len(edges))
    policy.update(np.arange(len(edges)), first)
    other.update(new_name, first)
    for _ in range(1000):
        basis = policy.select()
        width = math.sqrt(1.5 * math.log(policy.rounds + 1))
        index = policy.means + width / np.sqrt(policy.counts)
        assert basis.tolist() == _best(policy.matroid, ask, index)
        assert other.select().tolist() == np.sort(new_name[basis]).tolist()
        drawn = rng.normal(size=len(basis))
        policy.update(basis, drawn)
        other.update(new_name[basis], drawn)


@pytest.mark.parametrize("groups", [1, 20, 400])
def test_many_elements_in_classes(groups: int) -> None:
    # 2,000 elements; the textbook's greedy on groups is sorting.
    rng = np.random.default_rng(groups)
    group_of = rng.permutation(2000) % groups
    matroid = mb.PartitionMatroid(group_of.tolist(), 1 + 20 // groups)
    policy = mb.FasterCUCB(matroid, eps=0.05)
    means = rng.uniform(0.2, 1, 2000)
    for t in range(1500):
        basis = policy.select()
        if t % 7 == 0 and (policy.counts > 0).all():
            alpha, beta = _features(policy)
            rounded = alpha + math.sqrt(1.5 * math.log(t + 1)) * beta
            for g in range(groups):
                held = np.sort(rounded[basis[group_of[basis] == g]])
                best = np.sort(rounded[group_of == g])[-len(held) :]
                assert held.tolist() == pytest.approx(best.tolist(), rel=1e-12)
            if t % 100 == 0:
                _check_features(policy, alpha, beta)
                _check_chains(policy)
        elements = basis if t % 50 else np.arange(2000)
        policy.update(elements, np.abs(rng.normal(means[elements], 0.2)))
    # Few features for many elements: lines are shared.
    assert len(policy._kernel.state()["heap"]) < (600 if groups == 1 else 2000)


def _numbered_by_class(edges: set[tuple[int, int]]) -> mb.GraphicMatroid:
    """A graph without parallel edges whose element e is symmetry class e, as in a matroid written
    in Python: ties depend on the numbers of classes.
    """
    graph = mb.GraphicMatroid(sorted(edges))
    for _ in range(graph.size):
        classes = graph._new_kernel().symmetry_classes()
        if np.array_equal(classes, np.arange(graph.size)):
            return graph
        graph = mb.GraphicMatroid([graph.edges[e] for e in np.argsort(classes)])
    raise AssertionError("no such order was found")


@pytest.mark.parametrize("shape", ["random", "path", "star", "dense", "two parts"])
def test_graphs_play_as_by_single_exchange_tests(shape: str) -> None:
    """A graph has searches of its own; a matroid written in Python is asked test by test."""
    for seed in seeds(6):
        rng = np.random.default_rng(seed)
        pairs = {
            "random": rng.integers(0, 14, (30, 2)).tolist(),
            "path": [[i, i + 1] for i in range(14)] + rng.integers(0, 15, (12, 2)).tolist(),
            "star": [[0, i] for i in range(1, 15)] + rng.integers(0, 15, (12, 2)).tolist(),
            "dense": rng.integers(0, 8, (60, 2)).tolist(),
            "two parts": [[u + k, v + k] for u, v in rng.integers(0, 7, (15, 2)) for k in (0, 7)],
        }[shape]
        graph = _numbered_by_class({(min(p), max(p)) for p in pairs if p[0] != p[1]})
        asked = mb.OracleMatroid(graph.size, graph.is_independent)
        eps = [0.01, 0.1, 0.5][seed % 3]
        policies = mb.FasterCUCB(graph, eps=eps), mb.FasterCUCB(asked, eps=eps)
        means = rng.random(graph.size)
        for t in range(150):
            basis, other = (policy.select() for policy in policies)
            assert np.array_equal(basis, other), (seed, t)
            rewards = np.abs(rng.normal(means[basis], 0.3))
            for policy in policies:
                policy.update(basis, rewards)
            if t == 70:
                policies = pickle.loads(pickle.dumps(policies[0])), policies[1]


def test_first_rounds_are_those_of_omm() -> None:
    rng = np.random.default_rng(1)
    for cls in catalog.MATROIDS.values():
        matroid = cls.random(rng, 12)
        policy, omm = mb.FasterCUCB(matroid), mb.OMM(matroid)
        while (policy.counts == 0)[np.setdiff1d(np.arange(12), matroid.loops)].any():
            basis = policy.select()
            assert basis.tolist() == omm.select().tolist()
            assert policy.greedy_calls == omm.greedy_calls
            rewards = rng.random(len(basis))
            policy.update(basis, rewards)
            omm.update(basis, rewards)


def test_greedy_runs_in_the_first_rounds_and_once_more() -> None:
    policy = mb.FasterCUCB(mb.GraphicMatroid.complete(6))
    mb.simulate(policy, mb.GaussianEnvironment(np.linspace(0.1, 0.9, 15), 0.2), 3000)
    # Five rounds until all of K6 has been observed.
    assert policy.greedy_calls == 6
    assert policy.oracle_calls <= 6 * 15


def test_greedy_for_somebody_else_in_between_changes_nothing() -> None:
    # The kernel of transversal matroids has one matching, for greedy and for questions of exchange.
    rng = np.random.default_rng(8)
    matroid = mb.TransversalMatroid([rng.permutation(6)[:2].tolist() for _ in range(14)])
    policy, other = mb.FasterCUCB(matroid, eps=0.01), mb.FasterCUCB(matroid, eps=0.01)
    for _ in range(300):
        basis = policy.select()
        assert other.select().tolist() == basis.tolist()
        rewards = rng.random(len(basis))
        policy.update(basis, rewards)
        other.update(basis, rewards)
        other.greedy_basis(rng.random(14))


# ---- saving ----


@pytest.mark.parametrize("family", FAMILIES)
def test_copies_go_on_alike(family: str) -> None:
    rng = np.random.default_rng(3)
    matroid = catalog.MATROIDS[family].random(rng, 12)
    policy = mb.FasterCUCB(matroid, eps=0.3)
    copies = [copy.deepcopy(policy)]
    for t in range(400):
        # Now and then before a selection, with changes not yet seen to, and now and then after it.
        if t % 40 == 0:
            copies.append(pickle.loads(pickle.dumps(policy)))
        basis = policy.select()
        if t % 40 == 20:
            copies.append(copy.deepcopy(policy))
        elements = _observed("foreign", rng, basis, 12)
        rewards = rng.integers(0, 4, len(elements)) / 3
        policy.update(elements, rewards)
        for other in copies:
            assert other.select().tolist() == basis.tolist()
            assert other.oracle_calls <= policy.oracle_calls
            other.update(elements, rewards)
    assert {other.oracle_calls for other in copies} == {policy.oracle_calls}
    assert {other.eps for other in copies} == {0.3}


# ---- matroids written in Python ----


def test_what_is_counted_is_what_is_asked() -> None:
    matroid = mb.OracleMatroid(10, mb.GraphicMatroid.complete(5).is_independent)
    policy = mb.FasterCUCB(matroid, eps=0.1)
    rng = np.random.default_rng(0)
    matroid.rank  # noqa: B018 - makes oracle calls of its own
    for _ in range(1000):
        before, counted = matroid.calls, policy.oracle_calls
        basis = policy.select()
        assert matroid.calls - before == policy.oracle_calls - counted
        policy.update(basis, rng.random(len(basis)))
    assert policy.greedy_calls == 5


@pytest.mark.parametrize("with_others", [False, True], ids=["alone", "with others"])
def test_a_matroid_that_raises_at_any_moment(with_others: bool) -> None:
    graph = mb.GraphicMatroid.complete(5)
    patience = [-1]

    def ask(elements: frozenset[int]) -> bool:
        if patience[0] == 0:
            raise ConnectionError("the line is dead")
        patience[0] -= 1
        return graph.is_independent(elements)

    policy = mb.FasterCUCB(mb.OracleMatroid(10, ask), eps=0.05)
    calm = mb.FasterCUCB(mb.OracleMatroid(10, graph.is_independent), eps=0.05)
    known = cache(graph.is_independent)
    rng = np.random.default_rng(5)
    failures = 0
    for t in range(600):
        # The line dies before the first question, then before the second, ...
        for questions in range(40):
            patience[0] = questions
            before = policy.counts.tolist(), policy.greedy_calls, policy.rounds
            try:
                policy.select()
                break
            except ConnectionError:
                failures += 1
                assert (policy.counts.tolist(), policy.greedy_calls, policy.rounds) == before
            if with_others and t % 5 == 0:
                policy.update(rng.permutation(10)[:4], rng.random(4))
        patience[0] = -1
        basis = policy.select()
        if (policy.counts > 0).all():
            _check_round(policy, known, thoroughly=t % 20 == 0)
        rewards = rng.random(4)
        policy.update(basis, rewards)
        if not with_others:
            # In the end as if nothing had happened.
            assert calm.select().tolist() == basis.tolist()
            calm.update(basis, rewards)
    assert failures > 100


# ---- parameters ----


def test_eps_comes_from_the_horizon() -> None:
    matroid = mb.UniformMatroid(1, 2)
    assert mb.FasterCUCB(matroid).eps == 1 / math.log(100_000)
    assert mb.FasterCUCB(matroid, horizon=1000).eps == 1 / math.log(1000)
    policy = mb.FasterCUCB(matroid, eps=np.float32(0.5), horizon=np.int64(10))
    assert (policy.eps, policy.horizon) == (0.5, 10)


@pytest.mark.parametrize("eps", [0, -0.1, 1.5, 1e-10, math.nan, math.inf, "0.1", True, [0.1], 1j])
def test_eps_out_of_range(eps) -> None:
    with pytest.raises(ValueError, match=r"eps must be a number from 1e-09 to 1, got"):
        mb.FasterCUCB(mb.UniformMatroid(1, 2), eps=eps)


@pytest.mark.parametrize(
    "horizon, message",
    [(2, "horizon must be at least 3, got 2"), (4.5, "horizon must be an integer, got 4.5")],
)
def test_horizon_out_of_range(horizon, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.FasterCUCB(mb.UniformMatroid(1, 2), horizon=horizon)


def test_rewards_of_any_size() -> None:
    rng = np.random.default_rng(2)
    policy = mb.FasterCUCB(mb.UniformMatroid(2, 6), eps=1e-3)
    values = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-200, -1e-5, 1.0, -1.0, 2.0, 1e300, -1.7e308])
    for _ in range(300):
        policy.select()
        elements = rng.permutation(6)[:3]
        # Some overflow their mean, and are refused.
        with suppress(ValueError):
            policy.update(elements, rng.choice(values, 3))
    assert policy.rounds > 100
    _check_chains(policy)


def test_powers_themselves_are_rounded_to_themselves() -> None:
    policy = mb.FasterCUCB(mb.UniformMatroid(4, 8), eps=1)
    means = [4.0, 2.0, 1.0, 3.999, -4.0, -2.0, -3.999, -4.001]
    policy.update(np.arange(8), means)
    policy.select()
    alpha, beta = _features(policy)
    assert alpha.tolist() == [4, 2, 1, 2, -4, -2, -4, -8]
    assert beta.tolist() == [1] * 8
