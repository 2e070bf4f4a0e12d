"""Messages and edges of the matroid classes."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

import matroid_bandits as mb

TRIANGLE = mb.GraphicMatroid([(0, 1), (1, 2), (2, 0)])


@pytest.mark.parametrize(
    "elements, message",
    [
        ([3], r"element 3 is not in the ground set 0\.\.2"),
        ([-1], r"element -1 is not in the ground set 0\.\.2"),
        ([0, 1, 1], "element 1 is given twice"),
        ([0.5], r"elements must be integers, got \[0\.5\]"),
        (["a"], r"elements must be integers, got \['a'\]"),
        ([True, False, True], "flatnonzero"),
        ([[0, 1]], r"one-dimensional list, got an array of shape \(1, 2\)"),
        ([[0, 1], [2]], "elements must be integers"),
        ("01", "elements must be a list"),
        (7, "elements must be a list"),
        (None, "elements must be a list"),
        ([2**70], "element 1180591620717411303424 is not in the ground set"),
        (np.array([2**64 - 1], dtype=np.uint64), "not in the ground set"),
        ([-(2**70), 0], "element -1180591620717411303424 is not in the ground set"),
        ([1e300], "element 1000000000000000052504760255204420248704.* is not in the ground set"),
        (np.array([0, 1.5], dtype=object), r"elements must be integers, got \[0, 1.5\]"),
        (np.array([0, True], dtype=object), r"elements must be integers, got \[0, True\]"),
        ([0, np.nan], r"elements must be integers, got \[0.0, nan\]"),
    ],
)
def test_bad_elements(elements, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TRIANGLE.is_independent(elements)


@pytest.mark.parametrize(
    "elements",
    [
        (0, 1),
        {0, 1},
        frozenset({0, 1}),
        np.array([1, 0], dtype=np.uint8),
        range(2),
        [0.0, 1.0],
        np.array([0, 1], dtype=object),
        np.array([0.0, np.int8(1)], dtype=object),
    ],
)
def test_elements_of_many_types(elements) -> None:
    assert TRIANGLE.is_independent(elements)
    assert TRIANGLE.closure(elements).tolist() == [0, 1, 2]
    assert mb.Problem(TRIANGLE).elements(elements).tolist() in ([0, 1], [1, 0])
    assert TRIANGLE.is_independent([])
    assert TRIANGLE.is_independent(())
    assert TRIANGLE.is_independent(np.array([]))


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 2], "one weight per element is needed: 3, got 2"),
        ([1, np.nan, 2], "the weight of element 1 is NaN"),
        ([1, "x", 2], "weights must be numbers"),
        (3.0, "weights must be a one-dimensional list, got 3.0"),
        (np.zeros((3, 1)), r"array of shape \(3, 1\)"),
    ],
)
def test_bad_weights(weights, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TRIANGLE.max_weight_basis(weights)


@pytest.mark.parametrize(
    "basis, element, message",
    [
        ([0, 1], 1, "element 1 is in the basis"),
        ([0], 1, r"\[0\] is not a basis: it has 1 elements, the rank is 2"),
        ([0, 1], 5, "element 5 is not in the ground set"),
        ([0, 1], "x", "element must be an integer"),
    ],
)
def test_bad_circuits(basis, element, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TRIANGLE.fundamental_circuit(basis, element)
    parallel = mb.GraphicMatroid([(0, 1), (0, 1), (1, 2)])
    with pytest.raises(ValueError, match=r"\[0, 1\] is not a basis: it is dependent"):
        parallel.fundamental_circuit([0, 1], 2)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mb.UniformMatroid(5, 3), "rank must be at most size = 3, got 5"),
        (lambda: mb.UniformMatroid(-1, 3), "rank must be at least 0, got -1"),
        (lambda: mb.UniformMatroid(1.5, 3), "rank must be an integer, got 1.5"),
        (lambda: mb.UniformMatroid(True, 3), "rank must be an integer, got True"),
        (lambda: mb.PartitionMatroid(["a"], {"b": 1}), "group 'a' has no capacity.*'b'"),
        (lambda: mb.PartitionMatroid([0, 2], [1, 1]), "group 2 has no capacity: 2 capacities"),
        (lambda: mb.PartitionMatroid(["a"], [1]), "group 'a' is not a number"),
        (lambda: mb.PartitionMatroid([0], [-1]), "capacity of group 0 must be at least 0, got -1"),
        (lambda: mb.PartitionMatroid({0: "a"}, 1), "groups must be a list, got {0: 'a'}"),
        (lambda: mb.PartitionMatroid([[1]], 1), r"group of element 0 must be .* got \[1\]"),
        (lambda: mb.PartitionMatroid([1.0, np.nan], 1), "group of element 1 must be .* got nan"),
        (lambda: mb.PartitionMatroid(3, 1), "groups must be a list, got 3"),
        (lambda: mb.GraphicMatroid(np.array(5)), r"edges must be a list, got array\(5\)"),
        (lambda: mb.GraphicMatroid(5), "edges must be a list, got 5"),
        (lambda: mb.TransversalMatroid(5), "neighbors must be a list, got 5"),
        (lambda: mb.LinearMatroid([[10**400, 1.5]]), "mix floats with integers too large"),
        (lambda: mb.LinearMatroid([[0.5]], tolerance=False), "tolerance must be"),
        (lambda: mb.PartitionMatroid([0], "1"), "capacity of group 0 must be an integer, got '1'"),
        (lambda: mb.GraphicMatroid([(0, 1), (1, 2, 3)]), r"edge 1 must be a pair.*\(1, 2, 3\)"),
        (lambda: mb.GraphicMatroid([5]), "edge 0 must be a pair of vertices, got 5"),
        (lambda: mb.GraphicMatroid([([], 1)]), "edge 0 must be hashable"),
        (lambda: mb.GraphicMatroid.complete(-1), "n must be at least 0"),
        (lambda: mb.GraphicMatroid.complete(10**30), "n must be at most 65536, got 1000000"),
        (
            lambda: mb.GraphicMatroid(nx.path_graph(3)),
            "a Graph; pass a NetworkX graph to from_",
        ),
        (lambda: mb.CographicMatroid(nx.path_graph(3)), "pass a NetworkX graph to from_networkx"),
        (lambda: mb.GammoidMatroid(nx.DiGraph([(0, 1)]), [1]), "arcs must .* or its edges"),
        (lambda: mb.UniformMatroid(1, 10**30), "size must be at most 2147483647, got 1000000"),
        (lambda: mb.OracleMatroid(10**30, len), "size must be at most 2147483647"),
        (lambda: mb.PavingMatroid(1, 2**31, []), "size must be at most 2147483647, got 2147483648"),
        (lambda: mb.LaminarMatroid([], 1, 10**30), "size must be at most 2147483647"),
        (lambda: mb.LinearMatroid([[1, 2], [3]]), "one row of equal length per element"),
        (lambda: mb.LinearMatroid([1, 2]), r"array of shape \(2,\)"),
        (lambda: mb.LinearMatroid([["a"]]), "vectors must be numbers"),
        (lambda: mb.LinearMatroid([[1.0, np.inf]]), "row 0 has the entry inf"),
        (lambda: mb.LinearMatroid([[1]], field=4), "field must be a prime.*got 4"),
        (lambda: mb.LinearMatroid([[1]], field=2**31), "field must be a prime"),
        (lambda: mb.LinearMatroid([[0.5]], field=3), r"over GF\(3\) entries must be integers"),
        (lambda: mb.LinearMatroid([[0.5]], tolerance=-1), "tolerance must be"),
        (lambda: mb.TransversalMatroid(["cook"]), r"neighbors\[0\] must list vertices"),
        (lambda: mb.TransversalMatroid([[1], 3]), r"neighbors\[1\] must list hashable"),
        (lambda: mb.TransversalMatroid([[[]]]), r"neighbors\[0\] must list hashable"),
        (lambda: mb.OracleMatroid(3, "x"), "is_independent must be a function, got 'x'"),
        (lambda: mb.OracleMatroid(-3, len), "size must be at least 0"),
    ],
)
def test_bad_arguments(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_empty_and_rank_zero() -> None:
    for matroid in (
        mb.UniformMatroid(0, 0),
        mb.PartitionMatroid([], 1),
        mb.GraphicMatroid([]),
        mb.GraphicMatroid.complete(1),
        mb.LinearMatroid([]),
        mb.LinearMatroid(np.zeros((0, 3))),
        mb.TransversalMatroid([]),
        mb.OracleMatroid(0, lambda s: True),
    ):
        assert (matroid.size, matroid.rank) == (0, 0)
        assert matroid.max_weight_basis([]).tolist() == []
        with pytest.raises(ValueError, match="it is empty"):
            matroid.is_independent([0])
    for matroid in (
        mb.UniformMatroid(0, 2),
        mb.PartitionMatroid([0, 0], 0),
        mb.GraphicMatroid([("a", "a"), ("b", "b")]),
        mb.LinearMatroid([[0, 0], [0, 0]]),
        mb.LinearMatroid(np.zeros((2, 0))),
        mb.LinearMatroid([[0.0], [0.0]]),
        mb.TransversalMatroid([[], []]),
        mb.OracleMatroid(2, lambda s: not s),
    ):
        assert (matroid.size, matroid.rank) == (2, 0)
        assert matroid.loops.tolist() == [0, 1]
        assert matroid.fundamental_circuit([], 1).tolist() == [1]
        assert mb.MAUB(matroid).select().tolist() == []


def test_large_capacities_and_numpy_tolerances() -> None:
    assert mb.PartitionMatroid([0, 0], 2**70).rank == 2
    assert mb.PartitionMatroid([0, 0], np.array(1)).rank == 1
    assert mb.LinearMatroid([[0.5]], tolerance=np.float32(1e-6)).rank == 1


class Series:
    """Like a column of a data frame: it has ``__array__`` and is no sequence."""

    def __init__(self, values) -> None:
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_columns_of_data_frames_are_lists() -> None:
    assert TRIANGLE.is_independent(Series([0, 1]))
    assert TRIANGLE.max_weight_basis(Series([1, 2, 3])).tolist() == [1, 2]
    policy = mb.OMM(TRIANGLE)
    policy.update(Series([0, 1]), Series([0.5, 0.25]))
    assert policy.counts.tolist() == [1, 1, 0]
    masked = np.ma.array([0, 1], mask=[False, True])
    with pytest.raises(ValueError, match="elements are a masked array"):
        policy.update(masked, [0.5, 0.5])
    with pytest.raises(ValueError, match="rewards are a masked array"):
        policy.update([0, 1], masked)


def test_subclasses_may_override_the_independence_test() -> None:
    class OnlyEven(mb.UniformMatroid):
        def _is_independent(self, elements: frozenset[int]) -> bool:
            return super()._is_independent(elements) and all(e % 2 == 0 for e in elements)

    matroid = OnlyEven(2, 6)
    assert not matroid.is_independent([1])
    assert matroid.loops.tolist() == [1, 3, 5]
    assert matroid.max_weight_basis(range(6)).tolist() == [2, 4]
    mb.check_matroid(matroid)
    policy = mb.MAUB(matroid)
    mb.simulate(policy, mb.GaussianEnvironment(np.arange(6.0), 0.1), 50)
    assert policy.counts[1::2].tolist() == [0, 0, 0]


def test_a_rank_that_is_not_the_matroids_is_noticed() -> None:
    class Truncated(mb.GraphicMatroid):
        @property
        def rank(self) -> int:
            return 3

    class Unmatched(mb.TransversalMatroid):
        @property
        def rank(self) -> int:
            return 1

    environment = mb.GaussianEnvironment(np.linspace(0, 1, 36), 0.2)
    with pytest.raises(mb.MatroidAxiomError, match="can replace none of the basis"):
        mb.simulate(mb.MAUB(Truncated.complete(9)), environment, 2000)
    two = Unmatched([["a"], ["b"]])
    with pytest.raises(mb.MatroidAxiomError, match="can replace none of the basis"):
        mb.simulate(mb.MAUB(two), mb.BernoulliEnvironment([0.5, 0.6]), 100)


def test_errors_do_not_need_the_rank_to_show_the_matroid() -> None:
    class Shy(mb.Matroid):
        def _is_independent(self, elements: frozenset[int]) -> bool:
            return False

        def __repr__(self) -> str:
            return f"Shy(rank={self.rank})"

    with pytest.raises(mb.MatroidAxiomError, match="calls the empty set dependent"):
        _ = Shy(3).rank


def test_copies_are_the_matroid_itself() -> None:
    assert copy.copy(TRIANGLE) is copy.deepcopy(TRIANGLE) is TRIANGLE
    again = pickle.loads(pickle.dumps(TRIANGLE))
    with pytest.raises(ValueError, match="read-only"):
        again._tails[0] = 5


def test_groups_may_be_numpy_numbers() -> None:
    matroid = mb.PartitionMatroid(np.array([1, 0, 1]), np.array([1, 2]))
    assert matroid.rank == 3
    assert mb.PartitionMatroid(list(np.array([1, 0, 1])), [1, 1]).rank == 2


def test_disconnected_graph_gives_forests() -> None:
    matroid = mb.GraphicMatroid([("a", "b"), ("c", "d"), ("d", "e"), ("e", "c")])
    assert matroid.rank == 3
    assert matroid.max_weight_basis([1, 1, 2, 3]).tolist() == [0, 2, 3]
    assert matroid.edges[3] == ("e", "c")


def test_complete_graph_is_in_lexicographic_order() -> None:
    assert mb.GraphicMatroid.complete(4).edges == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


class Partition(mb.Matroid):
    """A user's matroid: only the independence test."""

    def __init__(self, groups: list[int]) -> None:
        super().__init__(len(groups))
        self.groups = groups
        self.n_calls = 0

    def _is_independent(self, elements: frozenset[int]) -> bool:
        self.n_calls += 1
        return len({self.groups[e] for e in elements}) == len(elements)


class FastPartition(Partition):
    def _greedy(self, order: tuple[int, ...], limit: int) -> list[int]:
        first: dict[int, int] = {}
        for e in order:
            first.setdefault(self.groups[e], e)
        return list(first.values())[:limit]

    def _fundamental_circuit(self, basis: frozenset[int], element: int) -> set[int]:
        return {e for e in basis if self.groups[e] == self.groups[element]} | {element}


def test_a_users_matroid_needs_only_the_independence_test() -> None:
    groups = [0, 1, 2, 0, 1, 2, 0]
    mb.check_matroid(Partition(groups))
    mb.check_matroid(FastPartition(groups))
    environment = mb.GaussianEnvironment(np.linspace(0, 1, 7), 0.3)
    results = []
    for matroid in (mb.PartitionMatroid(groups, 1), Partition(groups), FastPartition(groups)):
        for policy in (mb.MAUB(matroid, neighborhood="paper"), mb.OMM(matroid), mb.MAUB(matroid)):
            result = mb.simulate(policy, environment, 1000, checkpoints=range(1, 1001))
            results.append((result.regret.tolist(), result.counters))
    assert results[0] == results[3] == results[6]
    assert results[1] == results[4] == results[7]
    assert results[2][0] == results[5][0] == results[8][0] == results[0][0]
    # The one with an independence test alone is called more than the two that return circuits.
    n_calls = [counters["oracle_calls"] for _, counters in (results[2], results[5], results[8])]
    assert max(n_calls[0], n_calls[2]) < n_calls[1] < results[0][1]["oracle_calls"]


def test_faster_methods_are_used() -> None:
    fast = FastPartition([0, 1, 2, 0, 1, 2, 0])
    policy = mb.MAUB(fast)
    before = fast.n_calls
    for _ in range(100):
        basis = policy.select()
        policy.update(basis, np.cos(basis))
    assert fast.n_calls == before
    assert policy.oracle_calls > 0


def test_wrong_faster_methods_are_noticed() -> None:
    class TooMany(FastPartition):
        def _greedy(self, order: tuple[int, ...], limit: int) -> list[int]:
            return list(order)

    class Elsewhere(FastPartition):
        def _fundamental_circuit(self, basis: frozenset[int], element: int) -> set[int]:
            return set(range(5))

    with pytest.raises(mb.MatroidAxiomError, match="greedy of TooMany took"):
        TooMany([0, 0, 1]).max_weight_basis([1, 2, 3])
    with pytest.raises(mb.MatroidAxiomError, match=r"_fundamental_circuit.*not in the basis"):
        Elsewhere([0, 0, 0, 1, 1]).fundamental_circuit([0, 3], 1)


def test_a_forgotten_super_init_is_named() -> None:
    class Forgetful(mb.Matroid):
        def __init__(self) -> None:
            pass

        def _is_independent(self, elements: frozenset[int]) -> bool:
            return True

    with pytest.raises(TypeError, match=r"Forgetful.__init__ must call super\(\).__init__\(size\)"):
        _ = Forgetful().rank
