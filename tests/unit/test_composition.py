"""Compositions: numbering, classes of the results, messages, lists."""

import pickle
from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits.matroids.random_parts import random_part

from ..seeds import seeds

K4 = mb.GraphicMatroid.complete(4)
TRIANGLE = mb.GraphicMatroid([("a", "b"), ("b", "c"), ("c", "a")])


def independent_sets(matroid: mb.Matroid) -> set[frozenset[int]]:
    return {
        frozenset(elements)
        for length in range(matroid.size + 1)
        for elements in combinations(range(matroid.size), length)
        if matroid.is_independent(elements)
    }


def composed(rng: np.random.Generator, size: int, depth: int) -> mb.Matroid:
    """A random composition, by classes and by methods."""
    if depth == 0:
        return random_part(rng, size)
    kind = rng.choice(["sum", "minor", "union", "dual", "truncated"])
    by_class = rng.random() < 0.5
    if kind == "sum":
        first = int(rng.integers(0, size + 1))
        return composed(rng, first, depth - 1) + composed(rng, size - first, depth - 1)
    if kind == "minor":
        return _minor(rng, size, depth, by_class)
    matroid = composed(rng, size, depth - 1)
    if kind == "union":
        return matroid.truncate(2) | composed(rng, size, depth - 1).truncate(2)
    if kind == "dual":
        return mb.DualMatroid(matroid) if by_class else matroid.dual()
    limit = int(rng.integers(0, matroid.rank + 1))
    return mb.TruncatedMatroid(matroid, limit) if by_class else matroid.truncate(limit)


def _minor(rng: np.random.Generator, size: int, depth: int, by_class: bool) -> mb.Matroid:
    extra = int(rng.integers(0, 4))
    order = rng.permutation(size + extra)
    matroid = composed(rng, size + extra, depth - 1)
    if by_class:
        return mb.MinorMatroid(matroid, order[:size], order[size:][: int(rng.integers(4))])
    away = order[size:]
    return matroid.contract(away) if rng.random() < 0.5 else matroid.delete(away)


class AtMostTwo(mb.GraphicMatroid):
    """A built-in class with another independence test: methods of the class no longer fit."""

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


class AtMostTwoOfGroups(mb.PartitionMatroid):
    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


# ---- nested as deep as you like ----


def test_compositions_of_compositions_are_matroids() -> None:
    for seed in seeds(25):
        rng = np.random.default_rng(seed)
        mb.check_matroid(composed(rng, int(rng.integers(0, 8)), 3))


def test_definitions() -> None:
    for seed in seeds(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 6))
        first, second = composed(rng, n, int(rng.integers(0, 3))), composed(rng, n, 1)
        ours, theirs = independent_sets(first), independent_sets(second)
        bases = {s for s in ours if len(s) == first.rank}
        everything = frozenset(range(n))
        avoided = {s for s in _subsets(everything) if any(not s & basis for basis in bases)}
        assert independent_sets(first.dual()) == independent_sets(mb.DualMatroid(first)) == avoided
        assert independent_sets(first.truncate(2)) == {s for s in ours if len(s) <= 2}
        assert independent_sets(first | second) == {s | t for s in ours for t in theirs}
        assert independent_sets(first + second) == {
            s | {n + e for e in t} for s in ours for t in theirs
        }
        assert first.bases().tolist() == sorted(map(sorted, bases))
        assert first.n_bases() == first.dual().n_bases() == len(bases)
        circuits = [
            sorted(s) for s in _subsets(everything) - ours if all(s - {e} in ours for e in s)
        ]
        assert [c.tolist() for c in first.circuits()] == sorted(circuits, key=lambda c: (len(c), c))


def _subsets(elements: frozenset[int]) -> set[frozenset[int]]:
    return {
        frozenset(s)
        for length in range(len(elements) + 1)
        for s in combinations(sorted(elements), length)
    }


def test_minors_by_every_route() -> None:
    for seed in seeds(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 7))
        matroid = composed(rng, n, int(rng.integers(0, 3)))
        order = rng.permutation(n).tolist()
        i, j = sorted(rng.integers(0, n + 1, 2).tolist())
        kept, contracted, deleted = sorted(order[:i]), sorted(order[i:j]), sorted(order[j:])
        sets = independent_sets(matroid)
        granted = max((s for s in sets if s <= set(contracted)), key=len)
        expected = {
            frozenset(kept.index(e) for e in s)
            for s in _subsets(frozenset(kept))
            if s | granted in sets
        }
        staying = sorted({*kept, *contracted})
        left = sorted({*kept, *deleted})
        for minor in (
            mb.MinorMatroid(matroid, kept, contracted),
            matroid.delete(deleted).contract([staying.index(e) for e in contracted]),
            matroid.contract(contracted).restrict([left.index(e) for e in kept]),
            # What is deleted is contracted in the dual.
            mb.MinorMatroid(matroid.dual(), kept, deleted).dual(),
        ):
            assert independent_sets(minor) == expected


def test_greedy_counts_what_it_tests() -> None:
    for seed in seeds(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 8))
        matroid = composed(rng, n, int(rng.integers(1, 4)))
        kernel = matroid._new_kernel()
        order = rng.permutation(n)[: int(rng.integers(0, n + 1))]
        limit = int(rng.integers(0, n + 2))
        chosen: list[int] = []
        tested = 0
        for e in order.tolist():
            if len(chosen) == limit:
                break
            tested += 1
            if matroid.is_independent([*chosen, e]):
                chosen.append(e)
        assert kernel.greedy_basis(order, limit).tolist() == chosen
        assert kernel.tested == tested


def test_symmetric_elements_have_the_same_circuits() -> None:
    seen = 0
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        matroid = composed(rng, int(rng.integers(2, 8)), int(rng.integers(0, 3)))
        kernel = matroid._new_kernel()
        classes = kernel.symmetry_classes()
        basis = rng.permutation(kernel.greedy_basis(rng.permutation(matroid.size), matroid.size))
        outside = np.setdiff1d(np.arange(matroid.size), basis)
        for x in basis.tolist():
            for e in outside[classes[outside] == classes[x]].tolist():
                # After exchanging x for e, a policy passes x and means e.
                circuit = kernel.replaceable(basis, e).tolist()
                assert x in circuit
                assert kernel.replaceable(basis, x).tolist() == circuit
                assert kernel.first_replaceable(basis, x) == kernel.first_replaceable(basis, e)
                seen += 1
    assert seen > 50


# ---- numbering and structure ----


def test_restriction_numbers_in_ascending_order() -> None:
    assert TRIANGLE.restrict([2, 0]).edges == [("a", "b"), ("c", "a")]
    assert TRIANGLE.delete([1]).edges == [("a", "b"), ("c", "a")]
    minor = mb.MinorMatroid(K4, [5, 1, 3], contracted=[4, 0])
    assert minor.elements.tolist() == [1, 3, 5]
    assert minor.contracted.tolist() == [0, 4]
    minor.elements[:] = 0
    assert minor.elements.tolist() == [1, 3, 5]


def test_nothing_to_do_gives_the_matroid_itself() -> None:
    assert K4.truncate(3) is K4
    assert K4.truncate(100) is K4
    assert K4.restrict(range(6)) is K4
    assert K4.delete([]) is K4
    assert K4.contract(()) is K4


def test_uniform_matroids_stay_uniform() -> None:
    matroid = mb.UniformMatroid(3, 7)
    assert repr(matroid.dual()) == "UniformMatroid(rank=4, size=7)"
    assert repr(matroid.truncate(2)) == "UniformMatroid(rank=2, size=7)"
    assert repr(matroid.delete([0, 6])) == "UniformMatroid(rank=3, size=5)"
    assert repr(matroid.restrict([4, 5])) == "UniformMatroid(rank=2, size=2)"
    assert repr(matroid.contract([0, 6])) == "UniformMatroid(rank=1, size=5)"
    assert repr(matroid.contract([0, 1, 2, 3])) == "UniformMatroid(rank=0, size=3)"


def test_partition_matroids_stay_partition_matroids() -> None:
    matroid = mb.PartitionMatroid(list("aaabbc"), {"a": 2, "b": 1, "c": 5})
    minor = matroid.contract([0, 3, 4])
    assert isinstance(minor, mb.PartitionMatroid)
    assert minor.bases().tolist() == [[0, 2], [1, 2]]
    assert isinstance(matroid.dual(), mb.PartitionMatroid)
    assert matroid.dual().loops.tolist() == [5]
    assert matroid.dual().rank == 2


def test_graphic_matroids_stay_graphic() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    minor = mb.GraphicMatroid(edges).contract([0])
    assert isinstance(minor, mb.GraphicMatroid)
    assert minor.edges == [("a", "c"), ("c", "a"), ("c", "d")]
    assert mb.GraphicMatroid(edges).contract([0, 1]).loops.tolist() == [0]


@pytest.mark.parametrize(
    "vectors, field",
    [
        ([[1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [10**20, 0, 3]], None),
        ([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 2, 2]], 3),
        ([[0.5, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]], None),
        ([[3**40, 2**60], [5**30, 7**20], [1, 3**41], [0, 0]], None),
    ],
)
def test_restricted_linear_matroids_stay_linear(vectors: list, field: int | None) -> None:
    rows = np.array(vectors, dtype=None if isinstance(vectors[0][0], float) else object)
    matroid = mb.LinearMatroid(rows, field=field)
    for length in range(len(vectors)):
        for kept in combinations(range(len(vectors)), length):
            part = matroid.restrict(kept)
            assert isinstance(part, mb.LinearMatroid)
            expected = mb.LinearMatroid(rows[list(kept)], field=field)
            assert independent_sets(part) == independent_sets(expected)
            assert part.loops.tolist() == expected.loops.tolist()
            mb.check_matroid(part)
            mb.check_matroid(pickle.loads(pickle.dumps(part)))


def test_restricted_transversal_matroids_stay_transversal() -> None:
    matroid = mb.TransversalMatroid([["x"], ["x", "y"], [], ["z"]])
    part = matroid.restrict([1, 3])
    assert isinstance(part, mb.TransversalMatroid)
    assert part.neighbors == [["x", "y"], ["z"]]
    # One of two equal vertices used up leaves a matroid that is transversal no more.
    assert isinstance(matroid.contract([0]), mb.MinorMatroid)


def test_wrappers_do_not_pile_up() -> None:
    linear = mb.LinearMatroid([[1, 0], [0, 1], [1, 1], [1, 2]])
    assert linear.dual().dual() is linear
    assert repr(linear.truncate(1).truncate(0)) == repr(mb.TruncatedMatroid(linear, 0))
    minor = linear.contract([0]).contract([0]).delete([0])
    assert isinstance(minor, mb.MinorMatroid)
    assert minor.matroid is linear
    assert (minor.elements.tolist(), minor.contracted.tolist()) == ([3], [0, 1])
    shorter = linear.truncate(1).delete([0])
    assert isinstance(shorter, mb.TruncatedMatroid)
    assert isinstance(shorter.matroid, mb.LinearMatroid)
    assert linear.truncate(1).contract([0]).rank == 0


def test_duals_of_minors_are_minors_of_duals() -> None:
    dual = mb.MinorMatroid(mb.UniformMatroid(2, 5), [0, 1, 2], contracted=[3]).dual()
    assert repr(dual) == "UniformMatroid(rank=2, size=3)"
    # Contracting in the dual is deleting: the graph inside stays a graph.
    cographic = mb.DualMatroid(K4).contract([0, 1])
    assert cographic.dual().edges == K4.delete([0, 1]).edges


def test_direct_sums_go_part_by_part() -> None:
    both = K4 + mb.UniformMatroid(2, 4)
    three = both + TRIANGLE
    assert [part.size for part in three.parts] == [6, 4, 3]
    assert mb.DirectSumMatroid(TRIANGLE, three).parts[0] is TRIANGLE
    assert repr(both.delete(range(6))) == "UniformMatroid(rank=2, size=4)"
    minor = three.delete([0, 12]).contract([5])
    assert [type(part) for part in minor.parts] == [type(part) for part in three.parts]
    assert [part.size for part in minor.parts] == [5, 3, 2]
    assert minor.parts[1].rank == 1
    assert [type(part) for part in both.dual().parts][1] is mb.UniformMatroid
    assert both.restrict([]).size == 0
    assert both.n_bases() == 16 * 6


def test_unions_of_unions_and_their_restrictions() -> None:
    union = mb.UnionMatroid(K4, mb.UniformMatroid(1, 6)) | K4
    assert [type(part) for part in union.parts] == [
        mb.GraphicMatroid,
        mb.UniformMatroid,
        mb.GraphicMatroid,
    ]
    assert isinstance(union.delete([0]), mb.UnionMatroid)
    assert [part.size for part in union.delete([0]).parts] == [5, 5, 5]
    mb.check_matroid(union.contract([0, 3]))


def test_loops_of_a_union_are_loops_of_all_parts() -> None:
    first, second = mb.PartitionMatroid([0, 0, 1], [0, 1]), mb.PartitionMatroid([0, 1, 1], [0, 1])
    assert (first | second).loops.tolist() == [0]


@pytest.mark.parametrize(
    "matroid",
    [
        AtMostTwo(K4.edges),
        AtMostTwoOfGroups(list("aabbcc"), {"a": 1, "b": 2, "c": 3}),
    ],
)
def test_changed_answers_are_not_forgotten(matroid: mb.Matroid) -> None:
    uniform = mb.UniformMatroid(2, 6)
    assert independent_sets(matroid.dual()) == independent_sets(uniform.dual())
    assert independent_sets(matroid.restrict([0, 1, 2])) == independent_sets(
        uniform.restrict([0, 1, 2])
    )
    assert independent_sets(matroid.contract([1])) == independent_sets(uniform.contract([1]))
    assert independent_sets(matroid.truncate(1)) == independent_sets(uniform.truncate(1))
    assert independent_sets(matroid + matroid) == independent_sets(uniform + uniform)
    assert independent_sets(matroid | matroid) == independent_sets(uniform | uniform)
    assert matroid.n_bases() == (matroid + matroid).restrict(range(6)).n_bases() == 15


def test_repr() -> None:
    assert repr(mb.DualMatroid(K4)) == "DualMatroid(GraphicMatroid(size=6, vertices=4, rank=3))"
    assert repr(mb.TruncatedMatroid(mb.UniformMatroid(3, 4), 2)) == (
        "TruncatedMatroid(UniformMatroid(rank=3, size=4), rank=2)"
    )
    minor = mb.MinorMatroid(mb.UniformMatroid(3, 6), [0, 1], contracted=[2, 3])
    assert repr(minor) == "MinorMatroid(UniformMatroid(rank=3, size=6), size=2, contracted=2)"
    assert repr(TRIANGLE + TRIANGLE).startswith("DirectSumMatroid(GraphicMatroid(")
    assert repr(TRIANGLE | TRIANGLE).startswith("UnionMatroid(GraphicMatroid(")


def test_pickled_compositions_go_on() -> None:
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        matroid = composed(rng, 6, 3)
        matroid._new_kernel()
        copy = pickle.loads(pickle.dumps(matroid))
        assert repr(copy) == repr(matroid)
        assert independent_sets(copy) == independent_sets(matroid)


# ---- messages ----


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: K4.truncate(-1), "rank must be at least 0, got -1"),
        (lambda: K4.truncate(1.5), "rank must be an integer, got 1.5"),
        (lambda: K4.restrict([6]), r"element 6 is not in the ground set 0\.\.5"),
        (lambda: K4.delete([2, 2]), "element 2 is given twice"),
        (lambda: K4.contract([True, False, True]), "pass numpy.flatnonzero"),
        (lambda: mb.DualMatroid("K4"), r"a matroid is needed, got 'K4' \(str\)"),
        (lambda: mb.TruncatedMatroid(K4, -1), "rank must be at least 0, got -1"),
        (lambda: mb.MinorMatroid([0], [0]), r"a matroid is needed, got \[0\]"),
        (lambda: mb.MinorMatroid(K4, [0, 1], [1]), "element 1 is to be kept and contracted"),
        (mb.DirectSumMatroid, "DirectSumMatroid needs at least one matroid, got none"),
        (lambda: mb.DirectSumMatroid(K4, 3), r"a matroid is needed, got 3 \(int\)"),
        (mb.UnionMatroid, "UnionMatroid needs at least one matroid, got none"),
        (lambda: K4 | TRIANGLE, r"same elements, got sizes \[6, 3\].* first \+ second"),
    ],
)
def test_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("other", [3, "K4", None])
def test_sums_and_unions_with_something_else(other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        K4 + other
    with pytest.raises(TypeError, match="unsupported operand"):
        other | K4


# ---- lists ----


def test_lists_are_the_callers() -> None:
    K4.bases()[:] = 0
    K4.circuits()[0][:] = 0
    assert K4.bases()[-1].tolist() == [2, 4, 5]
    assert K4.circuits()[0].tolist() == [0, 1, 3]


def test_lists_of_matroids_without_elements_or_rank() -> None:
    assert mb.UniformMatroid(0, 0).bases().shape == (1, 0)
    assert mb.UniformMatroid(0, 0).circuits() == []
    nothing = mb.OracleMatroid(2, lambda s: not s)
    assert nothing.bases().shape == (1, 0)
    assert [c.tolist() for c in nothing.circuits()] == [[0], [1]]
    assert nothing.n_bases() == 1


def test_numbers_of_bases_too_many_to_list() -> None:
    assert mb.UniformMatroid(50, 100).n_bases() == 100891344545564193334812497256
    groups = mb.PartitionMatroid([e // 10 for e in range(100)], 3)
    assert groups.n_bases() == groups.dual().n_bases() == 120**10
    assert mb.DualMatroid(groups + groups).n_bases() == 120**20


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda m: m.bases(),
            r"bases\(\) lists all bases, 200,000 at most, and GraphicMatroid\(.*",
        ),
        (lambda m: m.circuits(), r"circuits\(\) lists all bases, 200,000 at most, and Graphic"),
        (lambda m: m.truncate(18).n_bases(), r"n_bases\(\) lists all bases, .* small matroids"),
    ],
)
def test_lists_that_would_be_too_long(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(mb.GraphicMatroid.complete(20))


def test_too_many_circuits_for_few_bases() -> None:
    # 54,740 bases, 916,895 circuits.
    with pytest.raises(
        ValueError, match=r"circuits\(\) lists all circuits, 200,000 at most, and U"
    ):
        mb.UniformMatroid(3, 70).circuits()


# ---- parts written in Python ----


def test_oracle_calls_of_python_parts_are_cached() -> None:
    matroid = mb.OracleMatroid(10, mb.GraphicMatroid.complete(5).is_independent)
    composition = (matroid + mb.UniformMatroid(2, 4)).truncate(5)
    assert composition._new_kernel().is_python
    assert not (K4 + K4).dual()._new_kernel().is_python
    policy = mb.MAUB(composition)
    rewards = mb.BernoulliEnvironment(np.linspace(0.4, 0.6, 14)).rewards(seed=1)
    calls = []
    updates = []
    for _ in range(2000):
        basis = policy.select()
        policy.update(basis, rewards.draw(basis))
        calls.append(matroid.calls)
        updates.append(policy.neighborhood_updates)
    # The order of the leader still changes, but all exchanges that are needed are cached by then.
    assert updates[-1] - updates[600] > 10
    assert calls[-1] == calls[600]


@pytest.mark.parametrize(
    "compose",
    [
        lambda m: m.dual(),
        lambda m: m.truncate(2),
        lambda m: m.contract([1]),
        lambda m: m + m,
        lambda m: m | m,
    ],
)
def test_a_part_that_is_no_matroid_is_noticed(compose) -> None:
    wrong = mb.OracleMatroid(6, lambda s: s <= {0, 1} or s <= {1, 2, 3} or s <= {4, 5})
    with pytest.raises((mb.MatroidAxiomError, AssertionError)):
        mb.check_matroid(compose(wrong))


def test_an_error_of_a_part_comes_through() -> None:
    def fails(elements: frozenset[int]) -> bool:
        if len(elements) > 1:
            raise ZeroDivisionError
        return True

    wrong = mb.OracleMatroid(4, fails)
    for matroid in (mb.DualMatroid(wrong), wrong + K4, wrong | wrong, mb.MinorMatroid(wrong, [1])):
        with pytest.raises(ZeroDivisionError):
            matroid.rank  # noqa: B018


# ---- kernels ----


def test_minors_with_loops_put_in() -> None:
    kernel = MinorKernel(
        mb.UniformMatroid(2, 3)._new_kernel(),
        np.array([2, -1, 0, -1]),
        np.empty(0, dtype=np.intp),
        np.empty(0, dtype=np.intp),
    )
    everything = np.arange(4)
    assert kernel.greedy_basis(everything, 4).tolist() == [0, 2]
    assert kernel.tested == 4
    assert not kernel.is_independent(np.array([1]))
    basis = np.array([2, 0])
    assert kernel.first_replaceable(basis, 1) == -1
    assert kernel.replaceable(basis, 3).tolist() == []
    assert (
        kernel.symmetry_classes()[1] == kernel.symmetry_classes()[3] != kernel.symmetry_classes()[0]
    )
