"""Exactness of linear matroids."""

from fractions import Fraction
from itertools import combinations, islice
from math import prod

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.matroids.linear.modular import ModularKernel, independent_columns
from matroid_bandits.matroids._primes import large_primes

from ..reference import matroids as reference


def test_integers_are_exact_where_floats_are_not() -> None:
    big = 10**20
    rows = [[big, big + 1], [big + 1, big + 2], [2 * big, 2 * big + 2]]
    matroid = mb.LinearMatroid(rows)
    assert matroid.is_independent([0, 1])  # determinant -1
    assert not mb.LinearMatroid([[big, 2 * big], [1, 2]]).is_independent([0, 1])
    assert mb.LinearMatroid([[2**62, 1], [2**62 + 1, 1]]).rank == 2
    assert mb.LinearMatroid(np.array([[2**64 - 1, 1], [2**64 - 1, 1]], dtype=np.uint64)).rank == 1
    assert mb.LinearMatroid([[-(2**63), 3], [2**63 - 1, 3]]).rank == 2


def test_fractions_are_exact() -> None:
    third = Fraction(1, 3)
    matroid = mb.LinearMatroid([[third, 2 * third], [1, 2], [Fraction(1, 7), 1]])
    assert not matroid.is_independent([0, 1])
    assert matroid.is_independent([0, 2])


def test_determinants_that_a_prime_divides() -> None:
    # The first prime the package uses divides this determinant; the rationals do not care.
    p = 268435399
    assert mb.LinearMatroid([[p, 0], [0, 1]]).rank == 2  # common factors are removed
    matroid = mb.LinearMatroid([[p, 1], [0, p], [1, 0]])
    assert matroid.rank == 2
    assert matroid.is_independent([0, 1])
    assert mb.LinearMatroid([[1, 1], [1, 1 + p]]).rank == 2


@pytest.mark.parametrize("seed", range(20))
def test_many_small_primes_agree_with_the_rationals(seed: int) -> None:
    """Primes so small that they often divide a basis' determinant: the rare route, made common."""
    primes = np.array([2, 3, 5, 7, 11, 13, 17], dtype=np.uint64)  # product 510510
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, (7, 3))  # minors at most (4 sqrt 3)**3 < 333
    residues = np.ascontiguousarray([rows % int(p) for p in primes], dtype=np.uint64)
    kernel = ModularKernel(primes, *independent_columns(residues, primes))
    exact = reference.linear(rows.tolist())
    for k in range(4):
        for elements in combinations(range(7), k):
            array = np.array(elements, dtype=np.intp)
            assert kernel.is_independent(array) == exact(frozenset(elements))
    for basis in reference.bases(7, exact):
        order = rng.permutation(np.array(sorted(basis), dtype=np.intp))
        for e in set(range(7)) - basis:
            expected = [x for x in order.tolist() if exact(basis - {x} | {e})]
            assert kernel.replaceable(order, e).tolist() == expected
            assert kernel.first_replaceable(order, e) == (expected[0] if expected else -1)


def test_largest_field_does_not_overflow() -> None:
    p = 2**31 - 1
    rng = np.random.default_rng(0)
    rows = rng.integers(p - 5, p, (12, 9))
    matroid = mb.LinearMatroid(rows, field=p)
    exact = reference.linear_mod(rows.tolist(), p)
    for elements in combinations(range(12), 7):
        assert matroid.is_independent(elements) == exact(frozenset(elements))


def _rows_of_every_kind(rng: np.random.Generator, size: int, width: int) -> list[list[int]]:
    """Dense, sparse and zero rows, multiples of others, and few dimensions in many columns."""
    dense = rng.integers(-3, 4, (size, width))
    rows = np.where(rng.random((size, 1)) < 0.5, dense, dense * (rng.random((size, width)) < 0.3))
    if rng.random() < 0.5:
        rows = rows[:, :2] @ rng.integers(-2, 3, (2, width))
    rows[rng.integers(size)] = 0
    rows[rng.integers(size)] = -2 * rows[rng.integers(size)]
    listed: list[list[int]] = rows.tolist()
    return listed


# Sums of 4 products are reduced with the largest, sums of 256 over the rationals, none over GF(2).
@pytest.mark.parametrize("field", [None, 2, 3, 5, 65537, 2**31 - 1])
@pytest.mark.parametrize("scale", [1, 10**9, 10**40])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_in_every_order_is_the_textbooks(field: int | None, scale: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, width = int(rng.integers(2, 9)), int(rng.integers(2, 12))
    # Entries near multiples of `scale`: many primes, the same few dimensions.
    rows = [
        [entry * scale + int(e % 2) for entry in row]
        for e, row in enumerate(_rows_of_every_kind(rng, size, width))
    ]
    matroid = mb.LinearMatroid(rows, field=field)
    exact = reference.linear(rows) if field is None else reference.linear_mod(rows, field)
    kernel = matroid._kernel()
    for _ in range(20):
        # One kernel for all: nothing of a set may be left when the next one starts to grow.
        order = rng.permutation(size).astype(np.intp)
        taken: list[int] = []
        for e in order.tolist():
            if exact(frozenset([*taken, e])):
                taken.append(e)
        assert kernel.greedy_basis(order, size).tolist() == taken
    assert matroid.rank == len(taken)
    loops = [e for e in range(size) if not exact(frozenset([e]))]
    assert matroid.loops.tolist() == loops
    assert matroid._are_loops(np.arange(size)).nonzero()[0].tolist() == loops


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 2)])
@pytest.mark.parametrize("field", [None, 2])
def test_nothing_but_zeros(shape: tuple[int, int], field: int | None) -> None:
    matroid = mb.LinearMatroid(np.zeros(shape, dtype=np.int64), field=field)
    assert matroid.rank == 0
    assert matroid.loops.tolist() == list(range(shape[0]))
    assert matroid.max_weight_basis(np.ones(shape[0])).tolist() == []
    assert matroid.is_independent([])
    assert not any(matroid.is_independent([e]) for e in range(shape[0]))


@pytest.mark.parametrize("field", [None, 7])
def test_multiples_are_symmetric(field: int | None) -> None:
    rows = [[1, 2, 0], [-3, -6, 0], [0, 0, 0], [1, 2, 1], [0, 0, 0], [5, 10, 5], [2, 1, 0]]
    first, *_ = classes = mb.LinearMatroid(rows, field=field)._kernel().symmetry_classes().tolist()
    assert [e for e in range(7) if classes[e] == first] == [0, 1]
    assert classes[2] == classes[4]
    assert classes[3] == classes[5]
    assert len(set(classes)) == 4


@pytest.mark.parametrize("p", [2, 3, 5, 257, 2**28 - 57, 2**31 - 1])
def test_inverses(p: int) -> None:
    """Row a of ``[[a, 1], [1, x]]`` is a multiple of the other if and only if x inverts a."""
    rng = np.random.default_rng(p)
    for a in {1, p - 1, *(1 + rng.integers(p - 1, size=50)).tolist()}:
        x = pow(a, -1, p)
        assert not mb.LinearMatroid([[a, 1], [1, x]], field=p).is_independent([0, 1])
        assert mb.LinearMatroid([[a, 1], [1, x + 1]], field=p).is_independent([0, 1])


def test_columns_that_depend_on_others_are_left_out() -> None:
    primes = np.array([3, 5], dtype=np.uint64)
    rows = np.array([[1, 1, 0], [2, 2, 1], [1, 1, 1]])
    residues = np.array([rows % 3, rows % 5], dtype=np.uint64)
    width, starts, columns, values, classes = independent_columns(residues, primes)
    assert width == 2
    assert starts.tolist() == [[0, 1, 3, 5], [5, 6, 8, 10]]
    assert columns.tolist() == [0, 0, 1, 0, 1] * 2
    assert values.tolist() == [1, 2, 1, 1, 1] * 2
    assert len(set(classes.tolist())) == 3


def test_few_dimensions_need_few_primes() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, (40, 3)) @ rng.integers(-2, 3, (3, 60))
    matroid = mb.LinearMatroid(rows)
    assert matroid.rank == 3
    assert np.size(matroid._primes) == 1  # minors of 3 rows in 3 columns, each below 13
    exact = reference.linear(rows.tolist())
    for elements in combinations(range(14), 3):
        assert matroid.is_independent(elements) == exact(frozenset(elements))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rank_that_the_first_primes_do_not_see(n: int) -> None:
    # A determinant that the first n primes the package uses divide: modulo each the rank is 1.
    product = prod(islice(large_primes(), n))
    rows = [[1, 1, 2], [1, 1 + product, 2 + product], [2, 2 + product, 4 + product]]
    matroid = mb.LinearMatroid(rows)
    assert matroid.rank == 2
    assert [matroid.is_independent(pair) for pair in combinations(range(3), 2)] == [True] * 3


def test_fano_plane_needs_characteristic_two() -> None:
    points = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    line = [2, 4, 5]  # 011, 101, 110
    assert not mb.LinearMatroid(points, field=2).is_independent(line)
    assert mb.LinearMatroid(points).is_independent(line)
    assert mb.LinearMatroid(points, field=3).is_independent(line)


def test_floats_have_a_tolerance() -> None:
    rows = [[0.1, 0.2], [0.3, 0.6], [0.1, 0.2 + 1e-6]]
    matroid = mb.LinearMatroid(rows)
    assert not matroid.is_independent([0, 1])
    assert matroid.is_independent([0, 2])
    assert not mb.LinearMatroid(rows, tolerance=1e-3).is_independent([0, 2])
    assert mb.LinearMatroid([[1e-300, 0], [0, 1e300]]).rank == 2


def test_a_prime_that_divides_the_basis_may_be_the_one_that_decides() -> None:
    # Two primes; the basis is singular modulo the only one that shows 2 can replace 0 or 1.
    matroid = mb.LinearMatroid([[13421, -15399], [1, 20000], [13421, -15367]])
    assert matroid.fundamental_circuit([0, 1], 2).tolist() == [0, 1, 2]


def test_sums_of_products_do_not_overflow() -> None:
    # With p near 2**31 only four products fit into 64 bits, and 25 are added.
    p = 2**31 - 1
    rng = np.random.default_rng(0)
    rows = rng.integers(p - 1000, p, (25, 25)).tolist()
    combination = [sum(column) % p for column in zip(*rows[:24], strict=True)]
    matroid = mb.LinearMatroid([*rows, combination], field=p)
    exact = reference.linear_mod([*rows, combination], p)
    assert matroid.is_independent(range(25)) == exact(frozenset(range(25)))
    assert matroid.is_independent(range(1, 26)) == exact(frozenset(range(1, 26)))
    assert not matroid.is_independent([*range(24), 25])


def test_distance_decides_for_floats_not_the_coordinate() -> None:
    # e is 1e-12 from x, nothing to the tolerance, though its coordinate at y is 1e-7.
    matroid = mb.LinearMatroid([[1.0, 0.0], [1.0, 1e-5], [1.0, 1e-12]])
    assert not matroid.is_independent([0, 2])
    assert matroid.fundamental_circuit([0, 1], 2).tolist() == [0, 2]


def test_nearly_parallel_floats() -> None:
    # The plane of x and a point 1e-4 away is known to about 1e-12: far within the tolerance.
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, direction = rng.normal(size=(2, 8))
        rows = [x, x + 1e-4 * direction, x + 5e-5 * direction, x - 2 * direction]
        matroid = mb.LinearMatroid(rows)
        assert matroid.rank == 2
        mb.check_matroid(matroid)


def test_floats_at_the_tolerance_are_named() -> None:
    matroid = mb.LinearMatroid([[1, 0], [1, 0.9e-9], [1, 1.8e-9]])
    with pytest.raises(
        mb.MatroidAxiomError, match="nearly dependent, at about the tolerance 1e-09"
    ):
        matroid.max_weight_basis([0, 1, 0])


def test_float_vectors_in_many_dimensions() -> None:
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(12, 30))
    vectors = np.vstack([basis, rng.normal(size=(20, 12)) @ basis])
    matroid = mb.LinearMatroid(vectors)
    assert matroid.rank == 12
    mb.check_matroid(matroid)


def test_whole_floats_over_a_field() -> None:
    assert mb.LinearMatroid(np.eye(3), field=2).rank == 3
    assert mb.LinearMatroid([[2.0, 4.0]], field=2).loops.tolist() == [0]
    assert mb.LinearMatroid([[1e30, 1.0]], field=3).rank == 1
    assert mb.LinearMatroid([[10**400, Fraction(4, 2)]], field=2).rank == 0
    for entry in (0.5, np.nan, np.inf):
        with pytest.raises(ValueError, match="entries must be integers"):
            mb.LinearMatroid([[1.0, entry]], field=2)


def test_mixed_and_boolean_entries() -> None:
    assert mb.LinearMatroid([[True, False], [True, True]]).rank == 2
    assert mb.LinearMatroid([[1, 0.5], [2, 1.0]]).rank == 1


@pytest.mark.parametrize("field", [None, 5])
@pytest.mark.parametrize("dtype", [int, float, object])
def test_the_order_in_memory_does_not_matter(field: int | None, dtype: type) -> None:
    rows = np.array([[1, 2, 3], [2, 4, 6], [0, 1, 1], [1, 3, 4]], dtype=dtype)
    for matrix in (rows, np.asfortranarray(rows), rows[::-1][::-1], rows.T.copy().T):
        assert mb.LinearMatroid(matrix, field=field).rank == 2
