"""OSUB: its graphs, its list of bases, and what the contracts cannot know."""

import copy
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..seeds import seeds
from ..states import assert_same

LINE = [(0, 1), (1, 2), (2, 3)]


def test_it_starts_with_the_first_arm_and_walks_along_the_graph() -> None:
    policy = mb.OSUB(mb.UniformMatroid(1, 4), LINE)
    assert policy.largest_degree == 2
    assert policy.leader.tolist() == [0]
    # gamma = 2, so rounds 1, 4, 7, ... of a leader are its own.
    for played, reward, leader in [
        (0, 0.0, 0),  # forced
        (1, 1.0, 1),  # never played
        (1, 1.0, 1),  # a new leader: forced
        (2, 0.0, 1),  # never played
        (1, 1.0, 1),  # the index of mean 1 is 1, the largest there is
        (1, 1.0, 1),  # forced
    ]:
        assert policy.select().tolist() == [played]
        policy.update([played], [reward])
        assert policy.leader.tolist() == [leader]
    assert policy.arm_counts.tolist() == [1, 4, 1, 0]
    assert policy.arm_means.tolist()[:3] == [0, 1, 0]
    assert np.isnan(policy.arm_means[3])


@pytest.mark.parametrize(
    "graph, message",
    [
        ("01", "graph must be a list, got '01'"),
        (7, "graph must be a list, got 7"),
        ([0, 1], "an edge of graph must be a list, got 0"),
        ([(0, 1, 2)], r"an edge of graph must be a pair of elements, got \(0, 1, 2\)"),
        ([(0, 0.5)], r"the edge \(0, 0.5\) of graph: elements must be integers, got \[0.0, 0.5\]"),
        ([(0, 1), (2, 2)], r"must join two different elements, got \(2, 2\)"),
        ([*LINE, (3, 4)], r"the edge \(3, 4\) of graph: element 4 is not in the ground set"),
        ([*LINE, (-1, 0)], r"the edge \(-1, 0\) of graph: element -1 is not in the ground set"),
        ([(0, 1), (2, 3)], "connected, but no path of its edges leads from arm 0 to 2"),
        ([], "connected, but no path of its edges leads from arm 0 to 1"),
    ],
)
def test_bad_graphs(graph: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.OSUB(mb.UniformMatroid(1, 4), graph)


def test_a_graph_is_for_rank_1_without_loops() -> None:
    with pytest.raises(ValueError, match=r"on a matroid of rank 1; .*has rank 2, and without a"):
        mb.OSUB(mb.UniformMatroid(2, 4), LINE)
    with pytest.raises(ValueError, match="has rank 0"):
        mb.OSUB(mb.UniformMatroid(0, 0), [])
    parallel = mb.GraphicMatroid([(0, 1), (5, 5), (0, 1)])
    with pytest.raises(ValueError, match=r"edge \(0, 1\) of graph: 1 is a loop of Graphic"):
        mb.OSUB(parallel, [(0, 1), (0, 2)])
    policy = mb.OSUB(parallel, [(2, 0)])
    assert policy.arms.tolist() == [[0], [2]]
    assert policy.graph == ((2, 0),)
    assert policy.neighbors(0).tolist() == [1]
    with pytest.raises(ValueError, match="arm must be at most 1, got 2"):
        policy.neighbors(2)
    assert mb.OSUB(mb.UniformMatroid(1, 1), []).select().tolist() == [0]


@pytest.mark.parametrize(
    "matroid, n_bases, degree",
    [
        # Cayley's formula. A path has the longest circuits: 2, 3, ... edges of it.
        (mb.GraphicMatroid.complete(5), 125, 3 * 2 + 2 * 3 + 4),
        (mb.GraphicMatroid.complete(7), 16_807, 5 * 2 + 4 * 3 + 3 * 4 + 2 * 5 + 6),
        (mb.UniformMatroid(7, 15), 6_435, 7 * 8),
        (mb.UniformMatroid(0, 3), 1, 0),
        (mb.UniformMatroid(3, 3), 1, 0),
    ],
)
def test_bases_and_degrees_of_known_matroids(
    matroid: mb.Matroid, n_bases: int, degree: int
) -> None:
    policy = mb.OSUB(matroid)
    assert policy.arms.shape == (n_bases, matroid.rank)
    assert policy.largest_degree == degree
    assert policy.graph is None
    assert policy.oracle_calls == 0


@pytest.mark.parametrize(
    "matroid, message",
    [
        (
            mb.GraphicMatroid.complete(20),
            r"all bases, 200,000 at most, and GraphicMatroid\(.* MAUB",
        ),
        (mb.UniformMatroid(500, 1000), r"all bases, 20,000 at most, and UniformMatroid\(.* MAUB"),
        (mb.UniformMatroid(1, 5000), r"neighbors of every basis, 20,000,000 at most.* MAUB"),
    ],
)
def test_too_many_bases_or_neighbors(matroid: mb.Matroid, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.OSUB(matroid)


class _Circuits(mb.Matroid):
    """A uniform matroid that tells its circuits."""

    def __init__(self) -> None:
        super().__init__(5)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2

    def _fundamental_circuit(self, basis: frozenset[int], element: int) -> Iterable[int]:
        return basis | {element}


def test_questions_are_counted_and_end_with_the_list() -> None:
    matroid = mb.OracleMatroid(10, mb.GraphicMatroid.complete(5).is_independent)
    assert matroid.rank == 4
    before = matroid.calls
    policy = mb.OSUB(matroid)
    assert policy.oracle_calls == matroid.calls - before
    # Greedy, then every pair of every basis.
    assert 125 * 4 * 6 < policy.oracle_calls <= 125 * 4 * 6 + 10
    assert policy.greedy_calls == 1
    before = matroid.calls
    for _ in range(300):
        basis = policy.select()
        policy.update(basis, np.full(4, 0.5))
    copy.deepcopy(policy).select()
    assert matroid.calls == before
    # Two elements tested by greedy, one question for each of 10 bases and 3 elements outside.
    assert mb.OSUB(_Circuits()).oracle_calls == 2 + 10 * 3


def test_no_matroid_is_noticed() -> None:
    # 0 and 1 can be played together, 2 with neither: not all maximal sets have the same size.
    odd = mb.OracleMatroid(3, lambda s: set(s) in ({0, 1}, {0}, {1}, {2}, set()))
    with pytest.raises(mb.MatroidAxiomError, match="element 2 is no loop"):
        mb.OSUB(odd)


# Greedy finds {0, 1, 2, 4}; exchanges lead from it to the last set, and to no other.
UNCONNECTED = [{0, 1, 4, 5}, {0, 2, 3, 5}, {0, 1, 2, 4}, {0, 1, 3, 4}]


def test_no_matroid_is_noticed_when_no_arm_is_available() -> None:
    policy = mb.OSUB(mb.OracleMatroid(6, lambda s: any(s <= whole for whole in UNCONNECTED)))
    before = policy._kernel.state()
    for _ in range(50):
        with pytest.raises(mb.MatroidAxiomError, match=r"\[0, 2, 3, 5\] is a basis of Oracle"):
            policy.select(available=[0, 2, 3, 5])
    assert_same(before, policy._kernel.state())
    assert policy.select(available=[0, 1, 3, 4]).tolist() == [0, 1, 3, 4]


def test_only_whole_arms_are_plays() -> None:
    policy = mb.OSUB(mb.UniformMatroid(2, 4))
    arms = [tuple(arm) for arm in policy.arms.tolist()]
    assert arms == sorted(arms)
    for elements in ([0], [0, 1, 2], [0, 1, 2, 3], []):
        policy.update(elements, np.full(len(elements), 1.0))
    assert policy.arm_counts.sum() == 0
    assert policy.counts.tolist() == [3, 2, 2, 1]
    policy.update([3, 1], [1.0, 0.5])
    assert policy.arm_counts[arms.index((1, 3))] == policy.arm_counts.sum() == 1
    assert policy.arm_means[arms.index((1, 3))] == 0.75
    assert policy.leader.tolist() == [1, 3]


def test_relabelled_elements_relabel_the_choices() -> None:
    # Without ties nothing depends on the numbering, once every basis was seen.
    rng = np.random.default_rng(0)
    edges = mb.GraphicMatroid.complete(5).edges
    new_name = rng.permutation(len(edges))  # element e becomes new_name[e]
    renamed = [edges[e] for e in np.argsort(new_name)]
    policy = mb.OSUB(mb.GraphicMatroid(edges))
    other = mb.OSUB(mb.GraphicMatroid(renamed))
    assert other.largest_degree == policy.largest_degree
    plays = 0
    for t in range(len(policy.arms) + 300):
        basis = policy.arms[t] if t < len(policy.arms) else policy.select()
        if t >= len(policy.arms):
            plays += len(np.setdiff1d(basis, policy.leader)) > 0
            assert other.select().tolist() == np.sort(new_name[basis]).tolist()
        drawn = rng.random(len(basis))
        policy.update(basis, drawn)
        other.update(new_name[basis], drawn)
    assert plays > 100


@pytest.mark.parametrize("index", ["kl", "ucb", "ucbv", "normal", "beta", "gaussian"])
@pytest.mark.parametrize("graph", [None, LINE])
def test_saved_and_continued_with_every_index(index: str, graph: Any) -> None:
    matroid = mb.UniformMatroid(1 if graph else 2, 4)
    policy = mb.OSUB(matroid, graph, index=index, seed=5)
    rng = np.random.default_rng(1)
    for t in range(400):
        if t % 50 == 0:
            other = pickle.loads(pickle.dumps(policy))
        basis = policy.select()
        if t % 50 == 25:
            other = copy.deepcopy(policy)
        assert other.select().tolist() == basis.tolist()
        rewards = rng.random(len(basis))
        policy.update(basis, rewards)
        other.update(basis, rewards)
    assert other.arm_counts.tolist() == policy.arm_counts.tolist()
    assert other.graph == policy.graph
    # The list of arms never changes: a copy shares it.
    assert copy.deepcopy(policy)._kernel.arms is policy._kernel.arms


class _Fragile(mb.Index):
    """Fails when told to."""

    fails = False

    def values(self, means: np.ndarray, counts: np.ndarray, time: int) -> np.ndarray:
        if _Fragile.fails:
            raise RuntimeError("told to")
        return means + time / counts


def test_an_index_that_raises_changes_nothing() -> None:
    policy, twin = (mb.OSUB(mb.UniformMatroid(2, 4), index=_Fragile()) for _ in range(2))
    raised = 0
    for t in range(100):
        _Fragile.fails = t % 3 == 0
        try:
            policy.select()
        except RuntimeError:
            raised += 1
        _Fragile.fails = False
        basis = policy.select()
        assert basis.tolist() == twin.select().tolist()
        for one in (policy, twin):
            one.update(basis, basis / 4)
    assert raised > 5


def test_rewards_whose_mean_overflows_are_refused() -> None:
    policy = mb.OSUB(mb.UniformMatroid(2, 3), index="ucb")
    with pytest.raises(ValueError, match=r"rewards of \[0, 1\] are too large: the mean of their"):
        policy.update([0, 1], [1.5e308, 1.5e308])
    assert policy.rounds == 0
    assert policy.counts.sum() == policy.arm_counts.sum() == 0
    with pytest.raises(ValueError, match="the reward of element 1 is inf; it must be finite"):
        policy.update([0, 1], [0.5, np.inf])


def test_index_arguments() -> None:
    matroid = mb.UniformMatroid(1, 3)
    assert mb.OSUB(matroid).index == mb.KLUCB(c=3)
    assert mb.OSUB(matroid).reward_range == (0, 1)
    assert mb.OSUB(matroid, index="ucb", noise=0.2).index == mb.UCB(noise=0.2)
    assert mb.OSUB(matroid, index="ucb").reward_range == (-np.inf, np.inf)
    with pytest.raises(ValueError, match=r"the reward of element 0 is 1\.5, but KLUCB is for"):
        mb.OSUB(matroid).update([0], [1.5])


def _mean_regret(make: Callable[[], mb.Policy], means: np.ndarray) -> float:
    environment = mb.BernoulliEnvironment(means)
    runs = [mb.simulate(make(), environment, 20_000, seed=seed) for seed in seeds(10)]
    return float(np.mean([run.total_regret for run in runs]))


def test_a_graph_saves_regret_on_unimodal_means() -> None:
    # The lower bound of [CP14] is a sum over the two neighbors of the best arm, whatever the number
    # of arms: (Delta / kl) ln T = 5.7 * 9.9 each, 113 in all. Without the graph it is one over nine
    # arms: 255. Seeds scatter by about 30 each, their mean by 10.
    means = 0.8 - 0.06 * abs(np.arange(10) - 6)
    matroid = mb.UniformMatroid(1, 10)
    line = [(e, e + 1) for e in range(9)]
    with_graph = _mean_regret(lambda: mb.OSUB(matroid, line), means)
    without = _mean_regret(lambda: mb.KLOSM(matroid), means)
    assert 80 < with_graph < 220
    assert with_graph < 0.7 * without
