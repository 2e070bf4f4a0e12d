"""Sanity tests of the reference itself: known counts, hand-worked runs, known identities."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from . import matroids
from .change import ChangingMAUB, Restart
from .indices import (
    KLUCB,
    UCB,
    UCBV,
    BetaThompson,
    GaussianThompson,
    Index,
    Mean,
    NormalUCB,
    largest_within,
)
from .large_graphs import LargeGraphMAUB
from .large_partitions import LargePartitionMAUB
from .osub import ReferenceOSUB
from .policies import (
    Exchanges,
    ReferenceEpsilonGreedy,
    ReferenceGreedy,
    ReferenceMAUB,
    ReferenceOMM,
    ReferenceRandomBasis,
)
from .streams import (
    basis_value,
    bernoulli_rewards,
    gaussian_rewards,
    policy_generator,
    reference_run,
)

K4 = list(combinations("abcd", 2))
# The seven nonzero vectors of GF(2)^3: the Fano plane.
FANO = [vector for vector in product([0, 1], repeat=3) if any(vector)]
# Vertex pairs with two parallel edges (0, 1), a self-loop (2) and a pendant edge (6).
MULTIGRAPH = [(0, 1), (1, 0), (2, 2), (1, 2), (2, 0), (2, 3), (3, 4), (3, 0)]
NEIGHBORS: list[set[int]] = [{0, 1}, {0}, {0, 1}, {2, 3}, set(), {3}, {1, 3}]
# Rank 4 on four pairs: five of the six unions of two pairs are planes.
VAMOS = [{0, 1, 2, 3}, {0, 1, 4, 5}, {0, 1, 6, 7}, {2, 3, 4, 5}, {4, 5, 6, 7}]
# Two ways from "s" to "t", which meet in "m"; "u" has a way of its own, "x" has none.
ARCS = [("s", "m"), ("a", "m"), ("m", "t"), ("s", "u"), ("u", "v"), ("m", "x")]
NESTED: list[set[int]] = [{0, 1, 2, 3}, {0, 1}, {4, 5}, {3}]

EXAMPLES: dict[str, tuple[int, matroids.Independence]] = {
    "empty": (0, matroids.uniform(2)),
    "all loops": (3, matroids.uniform(0)),
    "free": (4, matroids.uniform(4)),
    "uniform": (6, matroids.uniform(3)),
    "partition": (7, matroids.partition("aabbbcd", {"a": 1, "b": 2, "c": 0, "d": 3})),
    "graphic": (8, matroids.graphic(MULTIGRAPH)),
    "linear": (7, matroids.linear(FANO)),
    "linear mod 2": (7, matroids.linear_mod(FANO, 2)),
    "transversal": (7, matroids.transversal(NEIGHBORS)),
    "cographic": (8, matroids.cographic(MULTIGRAPH)),
    "laminar": (7, matroids.laminar(NESTED, [2, 1, 1, 0])),
    "paving": (8, matroids.paving(4, VAMOS)),
    "gammoid": (7, matroids.gammoid(ARCS, {"t", "v"}, "samtuvx")),
    "dual": (7, matroids.dual(7, matroids.transversal(NEIGHBORS))),
    "truncation": (8, matroids.truncation(matroids.graphic(MULTIGRAPH), 2)),
    "minor": (5, matroids.minor(matroids.linear(FANO), [0, 2, 3, 4, 6], [1])),
    "minor by a loop": (6, matroids.minor(matroids.graphic(MULTIGRAPH), range(2, 8), [0, 2])),
    "direct sum": (7, matroids.direct_sum([(6, matroids.graphic(K4)), (1, matroids.uniform(0))])),
    "union": (
        7,
        matroids.union([matroids.linear_mod(FANO, 2), matroids.laminar(NESTED, [2, 1, 1, 0])]),
    ),
}
INDICES: dict[str, Callable[[], Index]] = {
    "Mean": Mean,
    "UCB": UCB,
    "UCB with little noise": lambda: UCB(noise=0.3, constant=1.5),
    "KLUCB": KLUCB,
    "UCBV": UCBV,
    "NormalUCB": NormalUCB,
    "BetaThompson": BetaThompson,
    "GaussianThompson": GaussianThompson,
}
each_index = pytest.mark.parametrize("index_class", INDICES.values(), ids=INDICES.keys())
each_example = pytest.mark.parametrize("size, oracle", EXAMPLES.values(), ids=EXAMPLES.keys())


# --- Matroids ------------------------------------------------------------------------------------


def test_k4_has_16_spanning_trees_and_38_forests() -> None:
    oracle = matroids.graphic(K4)
    assert len(matroids.bases(6, oracle)) == 16
    assert len(matroids.independent_sets(6, oracle)) == 38
    assert matroids.rank(6, oracle) == 3


def test_circuits_of_u24_are_the_triples() -> None:
    oracle = matroids.uniform(2)
    for basis in combinations(range(4), 2):
        for e in set(range(4)) - set(basis):
            circuit = matroids.fundamental_circuit(4, oracle, basis, e)
            assert circuit == {*basis, e}


def test_self_loops_and_parallel_edges() -> None:
    oracle = matroids.graphic(MULTIGRAPH)
    assert matroids.loops(8, oracle) == {2}
    assert matroids.fundamental_circuit(8, oracle, (0, 3, 5, 6), 1) == {0, 1}
    assert matroids.fundamental_circuit(8, oracle, (0, 3, 5, 6), 2) == {2}
    assert matroids.fundamental_circuit(8, oracle, (0, 3, 5, 6), 7) == {0, 3, 5, 7}


def test_fundamental_circuit_needs_an_element_outside() -> None:
    with pytest.raises(ValueError, match="outside"):
        matroids.fundamental_circuit(4, matroids.uniform(2), (0, 1), 1)


def test_fano_plane_depends_on_the_field() -> None:
    # 35 triples; 7 lines over GF(2), one of which is no line over the rationals.
    assert len(matroids.bases(7, matroids.linear_mod(FANO, 2))) == 28
    assert len(matroids.bases(7, matroids.linear(FANO))) == 29


@pytest.mark.parametrize("p", [2, 3, 5])
def test_linear_mod_by_trying_all_combinations(p: int) -> None:
    vectors = np.random.default_rng([7, p]).integers(0, p, size=(6, 3))
    oracle = matroids.linear_mod(vectors.tolist(), p)
    for elements in _all_subsets(6, largest=4):
        vanishing = [
            coefficients
            for coefficients in product(range(p), repeat=len(elements))
            if not (np.array(coefficients, dtype=int) @ vectors[list(elements)] % p).any()
        ]
        only_the_trivial_one = len(vanishing) == 1
        assert oracle(frozenset(elements)) == only_the_trivial_one


def test_linear_by_gram_determinants() -> None:
    vectors = np.random.default_rng(8).integers(-2, 3, size=(7, 4))
    oracle = matroids.linear(vectors.tolist())
    for elements in _all_subsets(7, largest=5):
        rows = vectors[list(elements)]
        # The Gram determinant of small integers is an integer: far from zero unless zero.
        determinant = np.linalg.det((rows @ rows.T).astype(float))
        assert oracle(frozenset(elements)) == (abs(determinant) > 0.5)


def test_linear_is_exact() -> None:
    # The rows differ from multiples of each other by one part in 10^30.
    big = 10**30
    assert matroids.linear([[1, big], [1, big + 1]])(frozenset({0, 1}))
    assert not matroids.linear([[0.5, 0.25], [2, 1]])(frozenset({0, 1}))


def test_transversal_by_trying_all_assignments() -> None:
    oracle = matroids.transversal(NEIGHBORS)
    for elements in _all_subsets(7, largest=7):
        matchable = any(
            all(slot in NEIGHBORS[e] for e, slot in zip(elements, slots, strict=True))
            for slots in permutations(range(4), len(elements))
        )
        assert oracle(frozenset(elements)) == matchable


def test_circuits_of_known_matroids() -> None:
    # K4: four triangles, three squares. Fano plane: seven lines and their complements.
    assert Counter(map(len, matroids.circuits(6, matroids.graphic(K4)))) == {3: 4, 4: 3}
    assert Counter(map(len, matroids.circuits(7, matroids.linear_mod(FANO, 2)))) == {3: 7, 4: 7}
    assert matroids.circuits(3, matroids.uniform(0)) == {frozenset({e}) for e in range(3)}
    assert matroids.circuits(4, matroids.uniform(4)) == set()


@each_example
def test_dependent_sets_are_those_with_a_circuit(size: int, oracle: matroids.Independence) -> None:
    circuits = matroids.circuits(size, oracle)
    for elements in map(frozenset, _all_subsets(size, largest=size)):
        assert oracle(elements) == (not any(circuit <= elements for circuit in circuits))


def test_disjoint_sets_make_a_partition() -> None:
    laminar = matroids.laminar([{0, 1}, {2, 3, 4}, {5}], [1, 2, 0])
    _assert_equal(7, laminar, EXAMPLES["partition"][1])


def test_laminar_by_hand() -> None:
    oracle = matroids.laminar([{0, 1, 2, 3}, {0, 1}], [2, 1])
    assert matroids.bases(5, oracle) == {
        frozenset({4, *pair}) for pair in ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    }


def test_paving_of_the_fano_plane() -> None:
    lines = [c for c in matroids.circuits(7, matroids.linear_mod(FANO, 2)) if len(c) == 3]
    _assert_equal(7, matroids.paving(3, lines), matroids.linear_mod(FANO, 2))


def test_vamos_has_65_bases() -> None:
    # 70 sets of four elements, five of which are circuits.
    assert len(matroids.bases(8, matroids.paving(4, VAMOS))) == 65


def test_gammoid_by_hand() -> None:
    # "t" and "v" are targets; s, a and m share "m" on the way to "t".
    oracle = matroids.gammoid(ARCS, {"t", "v"}, "samtuvx")
    number = {vertex: e for e, vertex in enumerate("samtuvx")}
    pairs = {"".join(pair) for pair in combinations("samtuvx", 2)}
    independent = {p for p in pairs if oracle(frozenset(number[v] for v in p))}
    # From "s" and "t": one goes by "u", the other stays. From "a" and "m": "m" is in the way.
    assert independent == {"sa", "sm", "st", "su", "sv", "au", "av", "mu", "mv", "tu", "tv"}
    assert matroids.rank(7, oracle) == 2
    assert matroids.loops(7, oracle) == {number["x"]}


def test_gammoid_into_neighbors_is_transversal() -> None:
    arcs = [(e, "abcd"[slot]) for e, slots in enumerate(NEIGHBORS) for slot in slots]
    gammoid = matroids.gammoid(arcs, set("abcd"), range(7))
    _assert_equal(7, gammoid, matroids.transversal(NEIGHBORS))


def test_gammoid_paths_may_run_in_circles() -> None:
    gammoid = matroids.gammoid([(0, 1), (1, 0), (1, 2), (2, 2)], [2], range(3))
    _assert_equal(3, gammoid, matroids.uniform(1))


@pytest.mark.parametrize("edges", [K4, MULTIGRAPH], ids=["K4", "multigraph"])
def test_cographic_is_dual_to_graphic(edges: list[tuple[int, int]]) -> None:
    dual = matroids.dual(len(edges), matroids.graphic(edges))
    _assert_equal(len(edges), matroids.cographic(edges), dual)


@each_example
def test_bases_of_the_dual_are_the_complements(size: int, oracle: matroids.Independence) -> None:
    everything = frozenset(range(size))
    dual = matroids.dual(size, oracle)
    assert matroids.bases(size, dual) == {everything - b for b in matroids.bases(size, oracle)}
    _assert_equal(size, matroids.dual(size, dual), oracle)


@each_example
def test_deleting_from_the_dual_is_contracting(size: int, oracle: matroids.Independence) -> None:
    dual = matroids.dual(size, oracle)
    for gone in ([0], [1, 3], [2, 3, 4]):
        kept = [e for e in range(size) if e not in gone]
        contracted = matroids.minor(oracle, kept, [e for e in gone if e < size])
        deleted = matroids.minor(dual, kept, ())
        _assert_equal(len(kept), contracted, matroids.dual(len(kept), deleted))


def test_contracting_an_edge_joins_its_ends() -> None:
    joined = [("a" if u == "b" else u, "a" if v == "b" else v) for u, v in K4[1:]]
    contracted = matroids.minor(matroids.graphic(K4), range(1, 6), [0])
    _assert_equal(5, contracted, matroids.graphic(joined))


def test_contracting_loops_deletes_them() -> None:
    kept = [0, 1, 3, 4, 5, 6, 7]
    oracle = matroids.graphic(MULTIGRAPH)
    _assert_equal(7, matroids.minor(oracle, kept, [2]), matroids.minor(oracle, kept, []))


@each_example
def test_truncation_has_the_small_sets(size: int, oracle: matroids.Independence) -> None:
    for largest in range(size + 1):
        small = {s for s in matroids.independent_sets(size, oracle) if len(s) <= largest}
        truncated = matroids.truncation(oracle, largest)
        assert matroids.independent_sets(size, truncated) == small


def test_sums_of_uniform_matroids_are_partitions() -> None:
    parts = [(2, matroids.uniform(1)), (3, matroids.uniform(2)), (1, matroids.uniform(0))]
    oracle = matroids.direct_sum([*parts, (1, matroids.uniform(1))])
    _assert_equal(7, oracle, EXAMPLES["partition"][1])


def test_unions_of_single_slots_are_transversal() -> None:
    slots = [
        matroids.partition([slot in near for near in NEIGHBORS], {True: 1, False: 0})
        for slot in range(4)
    ]
    _assert_equal(7, matroids.union(slots), matroids.transversal(NEIGHBORS))


def test_k4_is_two_spanning_trees() -> None:
    # Nash-Williams: the six edges of K4 divide into two trees, those of K4 with a doubled edge
    # do not divide into two forests.
    both = matroids.union([matroids.graphic(K4)] * 2)
    assert matroids.rank(6, both) == 6
    doubled = [*K4, K4[0]]
    assert matroids.rank(7, matroids.union([matroids.graphic(doubled)] * 2)) == 6


def test_a_union_of_one_is_itself_and_of_none_is_empty() -> None:
    _assert_equal(6, matroids.union([matroids.graphic(K4)]), matroids.graphic(K4))
    _assert_equal(4, matroids.union([]), matroids.uniform(0))


@each_example
def test_examples_satisfy_the_matroid_axioms(size: int, oracle: matroids.Independence) -> None:
    independent = matroids.independent_sets(size, oracle)
    assert frozenset() in independent
    for larger in independent:
        assert all(larger - {e} in independent for e in larger)
        for smaller in independent:
            if len(smaller) < len(larger):
                assert any(smaller | {e} in independent for e in larger - smaller)


@each_example
def test_best_basis_has_the_largest_total(size: int, oracle: matroids.Independence) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        # Small integers: many ties, exact sums.
        weights = rng.integers(-2, 3, size).tolist()
        best = matroids.best_basis(size, oracle, weights)
        totals = [sum(weights[e] for e in basis) for basis in matroids.bases(size, oracle)]
        assert sum(weights[e] for e in best) == max(totals)


def test_best_basis_breaks_ties_for_the_lowest_element() -> None:
    assert matroids.best_basis(4, matroids.uniform(2), [1.0, 2.0, 1.0, 1.0]) == (0, 1)
    # Greedy takes 1 and then cannot take 0: element 2 is next.
    oracle = matroids.partition("aab", {"a": 1, "b": 1})
    assert matroids.best_basis(3, oracle, [0.5, 2.0, 0.1]) == (1, 2)


def _assert_equal(size: int, one: matroids.Independence, other: matroids.Independence) -> None:
    for elements in map(frozenset, _all_subsets(size, largest=size)):
        assert one(elements) == other(elements), elements


def _all_subsets(size: int, largest: int) -> list[tuple[int, ...]]:
    return [s for count in range(largest + 1) for s in combinations(range(size), count)]


# --- Indices -------------------------------------------------------------------------------------


def _observed(index: Index, rewards: Sequence[float], element: int = 0) -> tuple[int, float]:
    """Let the index observe rewards of an element; return their number and their mean."""
    mean = 0.0
    for count, reward in enumerate(rewards):
        before, mean = mean, (count * mean + reward) / (count + 1)
        index.observe(element, reward, before, mean)
    return len(rewards), mean


def test_index_of_the_mean() -> None:
    assert Mean().value(0, 3, 0.25, 100) == 0.25


def test_ucb_by_hand() -> None:
    # Before the second round there is no optimism: ln 1 = 0.
    assert UCB().value(0, 1, 0.25, 1) == 0.25
    assert UCB().value(0, 4, 0.25, 8) == pytest.approx(0.25 + 1.0197, abs=1e-4)
    # A quarter of the observations or twice the noise: twice the optimism.
    assert UCB().value(0, 1, 0.25, 8) == pytest.approx(0.25 + 2.0393, abs=1e-4)
    assert UCB(noise=2.0).value(0, 4, 0.25, 8) == pytest.approx(0.25 + 2.0393, abs=1e-4)
    assert UCB(constant=0.5).value(0, 4, 0.25, 8) == pytest.approx(0.25 + 0.5098, abs=1e-4)


def test_klucb_by_hand() -> None:
    # t = 8: ln 8 = 2.0794, ln ln 8 = .7321, budget 4.2757.
    # Mean 0, one observation: 1 - exp(-4.2757). Mean 1: nothing is better.
    assert KLUCB().value(0, 1, 0.0, 8) == pytest.approx(0.98610, abs=1e-5)
    assert KLUCB().value(0, 7, 1.0, 8) == 1.0
    # Without c the budget is ln 8: 1 - 8^(-1/3) = 1/2 after three observations.
    assert KLUCB(c=0.0).value(0, 3, 0.0, 8) == pytest.approx(0.5, abs=1e-15)
    # ln ln 2 < 0 counts as 0: 1 - exp(-ln 2).
    assert KLUCB().value(0, 1, 0.0, 2) == pytest.approx(0.5, abs=1e-15)
    # No budget at all in round 1.
    assert [KLUCB().value(0, 1, m, 1) for m in (0.0, 0.3, 1.0)] == [0.0, 0.3, 1.0]


def test_klucb_of_means_a_hair_outside() -> None:
    for count, time in [(1, 2), (50, 1000)]:
        inside = KLUCB().value(0, count, 0.0, time)
        assert KLUCB().value(0, count, -1e-17, time) == inside
        assert KLUCB().value(0, count, 1 + 2**-52, time) == 1.0


@pytest.mark.parametrize("bound", [1e-9, 1e-4, 0.01, 0.3, 1.0, 5.0, 17.0])
def test_kl_bound_of_one_half(bound: float) -> None:
    # kl(1/2, q) = -ln(4 q (1 - q)) / 2 has an inverse.
    q = (1 + math.sqrt(-math.expm1(-2 * bound))) / 2
    assert largest_within(0.5, bound) == pytest.approx(q, rel=0, abs=1e-15)


def _exact_kl(p: Decimal, q: Decimal) -> Decimal:
    return p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()


@pytest.mark.parametrize("p", [1e-300, 1e-12, 1e-3, 0.1, 0.3, 0.5, 0.9, 1 - 1e-6, 1 - 2**-53])
@pytest.mark.parametrize("bound", [1e-12, 1e-7, 1e-3, 0.1, 1.0, 4.0, 20.0, 700.0])
def test_kl_bound_with_many_digits(p: float, bound: float) -> None:
    q = largest_within(p, bound)
    assert p <= q <= 1
    with localcontext(prec=400):
        # Rounding costs the last bit or two of q, not more.
        slack = 4 * Decimal(math.ulp(q))
        exact_p, exact_q, exact_bound = Decimal(p), Decimal(q), Decimal(bound)
        if exact_q - slack > exact_p:
            assert _exact_kl(exact_p, exact_q - slack) < exact_bound
        if exact_q + slack < 1:
            assert _exact_kl(exact_p, exact_q + slack) > exact_bound


def test_kl_bound_grows() -> None:
    for p in (0.0, 1e-9, 0.2, 0.5, 0.77, 0.999):
        bounds = [largest_within(p, 1.1**k) for k in range(-200, 60)]
        assert all(lower <= upper for lower, upper in pairwise(bounds))
        assert bounds[0] == pytest.approx(p, abs=1e-3)
        assert bounds[-1] == 1.0


@pytest.mark.parametrize("index_class", [UCBV, NormalUCB])
def test_variance(index_class: type[UCBV | NormalUCB]) -> None:
    rewards = np.random.default_rng(0).normal(1000, 0.1, 500)
    index = index_class()
    _observed(index, [5.0, 7.0], element=1)
    count, _ = _observed(index, rewards.tolist())
    assert index.variance(0, count) == pytest.approx(rewards.var(), rel=1e-9)
    assert index.variance(1, 2) == 1.0


@pytest.mark.parametrize("index_class", [UCBV, NormalUCB])
def test_variance_is_not_negative(index_class: type[UCBV | NormalUCB]) -> None:
    # The tenth reward is one float below the mean of the other nine, the new mean is two below.
    before, reward = float.fromhex("0x1.f0249a9e8fb68p-2"), float.fromhex("0x1.f0249a9e8fb67p-2")
    after = (9 * before + reward) / 10
    assert after < reward < before
    index = index_class()
    index.observe(0, reward, before, after)
    assert index.squares[0] < 0
    assert index.variance(0, 10) == 0.0
    assert index.value(0, 10, after, 1) == after


def test_ucbv_by_hand() -> None:
    # Rewards 0 and 1: variance 1/4. t = 8: sqrt(2 / 4 ln 8 / 2) + 3 / 2 ln 8.
    index = UCBV()
    count, mean = _observed(index, [0.0, 1.0])
    assert index.value(0, count, mean, 8) == pytest.approx(0.5 + 0.72102 + 3.11916, abs=1e-5)
    assert index.value(0, count, mean, 1) == 0.5


def test_normal_ucb_by_hand() -> None:
    # Rewards 0, 1, 2: variance 2/3. t = 4: 4^2 - 1 = 15. 1 + sqrt(2/3 * 15).
    index = NormalUCB()
    count, mean = _observed(index, [0.0, 1.0, 2.0])
    assert index.value(0, count, mean, 4) == pytest.approx(1 + math.sqrt(10), abs=1e-14)
    assert index.value(0, count, mean, 1) == 1.0
    # Rewards 0, 1, 2, 1: variance 1/2. t = 4: 4^1 - 1 = 3.
    index = NormalUCB()
    count, mean = _observed(index, [0.0, 1.0, 2.0, 1.0])
    assert index.value(0, count, mean, 4) == pytest.approx(1 + math.sqrt(1.5), abs=1e-14)


def test_beta_thompson_draws_in_order() -> None:
    index = BetaThompson(seed=5)
    rng = policy_generator(5)
    # No coin for 0 and 1.
    _observed(index, [1.0, 0.0, 1.0], element=2)
    assert (index.successes[2], index.failures[2]) == (2, 1)
    # A coin for each of the others.
    coins = [rng.random() < reward for reward in (0.9, 0.5, 0.2, 0.7)]
    _observed(index, [0.9, 0.5, 0.2, 0.7], element=4)
    assert (index.successes[4], index.failures[4]) == (sum(coins), 4 - sum(coins))
    assert 0 < sum(coins) < 4
    # Samples from the same generator; an element that was never seen has the uniform prior.
    assert index.value(2, 3, 2 / 3, 9) == rng.beta(3, 2)
    assert index.value(2, 3, 2 / 3, 9) == rng.beta(3, 2)
    assert index.value(0, 0, 0.0, 9) == rng.beta(1, 1)


def test_beta_thompson_has_the_right_moments() -> None:
    index = BetaThompson()
    _observed(index, [1.0] * 6 + [0.0] * 2)
    samples = [index.value(0, 8, 0.75, 1) for _ in range(10_000)]
    # Beta(7, 3): mean .7, variance .21 / 11. The margins are more than four standard errors.
    assert np.mean(samples) == pytest.approx(0.7, abs=0.006)
    assert np.std(samples) == pytest.approx(math.sqrt(0.21 / 11), abs=0.005)
    # A thousand coins of .3: 300 successes, standard deviation 14.5.
    _observed(index, [0.3] * 1000, element=1)
    assert abs(index.successes[1] - 300) < 60


def test_gaussian_thompson_draws() -> None:
    index = GaussianThompson(noise=0.5, seed=5)
    rng = policy_generator(5)
    _observed(index, [0.3, 0.4])
    assert [index.value(0, 2, 0.35, 9) for _ in range(3)] == [
        rng.normal(0.35, 0.5 * (1 / math.sqrt(2))) for _ in range(3)
    ]
    samples = [index.value(0, 25, 2.0, 9) for _ in range(10_000)]
    assert np.mean(samples) == pytest.approx(2.0, abs=0.005)
    assert np.std(samples) == pytest.approx(0.1, abs=0.005)


def test_what_indices_need() -> None:
    needs = {name: (i.min_count, i.low, i.high) for name, make in INDICES.items() for i in [make()]}
    anything = (-math.inf, math.inf)
    assert needs == {
        "Mean": (1, *anything),
        "UCB": (1, *anything),
        "UCB with little noise": (1, *anything),
        "KLUCB": (1, 0.0, 1.0),
        "UCBV": (1, 0.0, 1.0),
        "NormalUCB": (3, *anything),
        "BetaThompson": (0, 0.0, 1.0),
        "GaussianThompson": (1, *anything),
    }


# --- MAUB ----------------------------------------------------------------------------------------


def test_maub_by_hand() -> None:
    """Eight rounds on the partition matroid {0, 1}, {2, 3}, one of each: n = 4, D = 2.

    L is played by force whenever (l-1) mod 3 == 0. Partners always take 3 oracle calls: the lower
    x of L is tried with both outside elements and fits one of them, the upper x with the other.
    """
    policy = ReferenceMAUB(4, matroids.partition("aabb", {"a": 1, "b": 1}))

    def expect(play: tuple[int, int], leader: tuple[int, int] | None, *calls: int) -> None:
        assert policy.select() == play
        assert policy.leader == leader
        assert calls == (policy.greedy_calls, policy.neighborhood_updates, policy.oracle_calls)

    # Round 1, order 0 1 2 3: 0 fits, 1 does not, 2 fits; 3 calls.
    expect((0, 2), None, 1, 0, 3)
    policy.update((0, 2), (1.0, 0.75))

    # Round 2, order 1 3 0 2: 1 and 3 fit; 2 calls.
    expect((1, 3), None, 2, 0, 5)
    policy.update((1, 3), (0.5, 0.25))

    # Round 3, means 1 .5 .75 .25: greedy takes 0 and 2 (2 calls), partners from the order 2 0
    # (3 calls). l = 1: forced.
    expect((0, 2), (0, 2), 3, 0, 10)
    assert policy.partners == {1: 0, 3: 2}
    policy.update((0, 2), (0.0, 0.75))

    # Round 4, means .5 .5 .75 .25, counts 2 1 2 1. m_1 > m_0 fails by a tie: the leader stays.
    # The order is 0 2 now: update, 3 calls. l = 2, sqrt(2 ln 2) = 1.177.
    # Element 1 for 0: 0 + 1.177 (1 - .707) = .345; 3 for 2: -.5 + .345 < 0. Play 1 for 0.
    assert policy.means == [0.5, 0.5, 0.75, 0.25]
    expect((1, 2), (0, 2), 3, 1, 13)
    policy.update((1, 2), (1.5, 0.75))

    # Round 5, means .5 1 .75 .25: m_1 > m_0. Greedy takes 1 and 2 (2 calls), partners (3 calls).
    # l = 1 for the new leader: forced.
    expect((1, 2), (1, 2), 4, 1, 18)
    assert policy.partners == {0: 1, 3: 2}
    policy.update((1, 2), (-1.25, 0.75))

    # Round 6, means .5 .25 .75 .25, counts 2 3 4 1: m_0 > m_1. Greedy takes 2 and 0, back to the
    # leader of rounds 3 and 4, so l = 3 and nothing is forced. sqrt(2 ln 3) = 1.482.
    # Element 1 for 0: -.25 + 1.482 (.577 - .707) < 0; 3 for 2: -.5 + 1.482 (1 - .5) = .241.
    assert policy.means == [0.5, 0.25, 0.75, 0.25]
    expect((0, 3), (0, 2), 5, 1, 23)
    policy.update((0, 3), (0.5, 1.0))

    # Round 7, means .5 .25 .75 .625, counts 3 3 4 2: same leader, same order. l = 4: forced,
    # although 3 for 2 has the value -.125 + 1.665 (.707 - .5) = .220.
    assert policy.means == [0.5, 0.25, 0.75, 0.625]
    expect((0, 2), (0, 2), 5, 1, 23)
    policy.update((0, 2), (0.5, 3.25))

    # Round 8, means .5 .25 1.25 .625, counts 4 3 5 2, l = 5, not forced. sqrt(2 ln 5) = 1.794.
    # Element 1 for 0: -.25 + 1.794 (.577 - .5) = -.111;
    # 3 for 2: -.625 + 1.794 (.707 - .447) = -.159. No exchange is positive: play L.
    assert policy.means == [0.5, 0.25, 1.25, 0.625]
    assert policy.counts == [4, 3, 5, 2]
    expect((0, 2), (0, 2), 5, 1, 23)


def test_maub_tests_the_leader_with_old_partners() -> None:
    policy = ReferenceMAUB(3, matroids.uniform(2))
    policy.update((0, 1, 2), (1.0, 2.0, 0.5))
    assert policy.select() == policy.leader == (0, 1)
    assert policy.partners == {2: 0}

    # Means 1 0 .5: greedy would take 0 and 2, but the old partner of 2 is 0, which is not worse.
    policy.update((1,), (-2.0,))
    assert policy.select() == (0, 2)
    assert policy.leader == (0, 1)
    assert policy.partners == {2: 1}
    assert (policy.greedy_calls, policy.neighborhood_updates) == (1, 1)

    # One round later the new partner shows it.
    policy.update((), ())
    policy.select()
    assert policy.leader == (0, 2)
    assert (policy.greedy_calls, policy.neighborhood_updates) == (2, 1)


def test_maub_breaks_ties_for_the_lowest_exchange() -> None:
    policy = ReferenceMAUB(4, matroids.uniform(1))
    policy.update((0, 0, 1, 2, 3), (1.0, 1.0, 0.5, 0.9, 0.9))
    assert policy.select() == (0,)
    policy.update((), ())
    # l = 2: elements 2 and 3 tie at -.1 + 1.177 (1 - .707), more than element 1.
    assert policy.select() == (2,)


def test_select_again_changes_nothing() -> None:
    policy = ReferenceMAUB(4, matroids.partition("aabb", {"a": 1, "b": 1}))
    policy.update((0, 0, 1, 2, 3), (1.0, 1.0, 0.9, 1.0, 0.9))
    # l = 1: forced. If l advanced with every select, 1 for 0 would be played at l = 2.
    first = policy.select()
    assert first == (0, 2)
    calls = policy.oracle_calls
    assert [policy.select() for _ in range(5)] == [first] * 5
    assert (policy.oracle_calls, policy.greedy_calls) == (calls, 1)


def test_rounds_without_select_add_no_leader_time() -> None:
    policy = ReferenceMAUB(2, matroids.uniform(1))
    policy.update((0, 0, 1), (1.0, 1.0, 0.9))
    for _ in range(5):
        policy.update((), ())
    # l = 1: forced.
    assert policy.select() == (0,)
    policy.update((), ())
    # l = 2: -.1 + 1.177 (1 - .707) = .245 > 0.
    assert policy.select() == (1,)


class _Script(Index):
    """Fixed values; records what it observes and which values are computed."""

    def __init__(self, values: Sequence[float], min_count: int = 1) -> None:
        self.values = values
        self.min_count = min_count
        self.heard: list[tuple[int, float, float, float]] = []
        self.evaluated: list[tuple[int, int, float, int]] = []

    def observe(self, element: int, reward: float, before: float, after: float) -> None:
        self.heard.append((element, reward, before, after))

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        self.evaluated.append((element, count, mean, time))
        return self.values[element]


def test_maub_with_another_index() -> None:
    """The partition matroid {0, 1}, {2, 3} with one of each: period 3. Element 4 is a loop."""
    index = _Script([5.0, 6.0, 1.0, 3.0, 99.0])
    policy = ReferenceMAUB(5, matroids.partition("aabbc", {"a": 1, "b": 1, "c": 0}), index)
    policy.update((0, 1, 2, 3, 4), (1.0, 0.5, 1.0, 0.5, 9.0))
    # l = 1: forced, and no value is computed.
    assert policy.select() == (0, 2)
    assert index.evaluated == []
    policy.update((), ())
    # l = 2: 1 for 0 gains 1, 3 for 2 gains 2. All values at local time 2, upwards, once.
    assert policy.select() == policy.select() == (0, 3)
    assert index.evaluated == [(0, 1, 1.0, 2), (1, 1, 0.5, 2), (2, 1, 1.0, 2), (3, 1, 0.5, 2)]
    policy.update((0, 3), (1.0, 0.5))
    # l = 3: equal gains, the lowest element.
    index.values = [5.0, 6.0, 1.0, 2.0, 99.0]
    assert policy.select() == (1, 2)
    assert index.evaluated[4:] == [(0, 2, 1.0, 3), (1, 1, 0.5, 3), (2, 1, 1.0, 3), (3, 2, 0.5, 3)]
    policy.update((), ())
    # l = 4: forced.
    assert policy.select() == (0, 2)
    policy.update((), ())
    # l = 5: no exchange gains anything.
    index.values = [6.0, 6.0, 1.0, 0.0, 99.0]
    assert policy.select() == (0, 2)
    assert len(index.evaluated) == 12


def test_maub_with_other_noise() -> None:
    # As in the test of ties above, l = 2, and -.1 + noise sqrt(constant ln 2) (1 - .707) must be
    # positive: sqrt(ln 2) = .833, so noise sqrt(constant) must be more than .410.
    for noise, constant, play in [(0.3, 2.0, 2), (0.28, 2.0, 0), (0.9, 0.25, 2), (0.9, 0.2, 0)]:
        policy = ReferenceMAUB(4, matroids.uniform(1), UCB(noise, constant))
        policy.update((0, 0, 1, 2, 3), (1.0, 1.0, 0.5, 0.9, 0.9))
        assert policy.select() == (0,)
        policy.update((), ())
        assert policy.select() == (play,)


def test_maub_needs_every_mean() -> None:
    # Beta posteriors could do without a first observation, the leader cannot.
    policy = ReferenceMAUB(3, matroids.uniform(1), BetaThompson())
    plays = []
    for _ in range(3):
        plays.append(policy.select())
        assert policy.leader is None
        policy.update(plays[-1], (0.0,))
    assert plays == [(0,), (1,), (2,)]
    policy.select()
    assert policy.leader == (0,)


@pytest.mark.parametrize("n, d", [(5, 2), (6, 3), (7, 1), (7, 5), (10, 4)])
def test_call_counts_of_uniform_matroids(n: int, d: int) -> None:
    # In a uniform matroid greedy needs D calls and partners n-D calls, since the lowest x fits
    # every e. Every greedy call but the ceil(n/D) initial rounds comes with new partners.
    means = np.random.default_rng([n, d]).uniform(0.5, 1, n)
    for seed in range(3):
        rewards = [gaussian_rewards(seed, e, means[e], 0.5, 600) for e in range(n)]
        policy = ReferenceMAUB(n, matroids.uniform(d))
        reference_run(policy, rewards, means, 0.0, 600)
        changes = policy.greedy_calls - math.ceil(n / d) + policy.neighborhood_updates
        assert policy.greedy_calls > math.ceil(n / d) + 1
        assert policy.oracle_calls == d * policy.greedy_calls + (n - d) * changes


@each_example
def test_partners_are_the_lowest_of_the_circuit(size: int, oracle: matroids.Independence) -> None:
    policy = ReferenceMAUB(size, oracle)
    rewards = [gaussian_rewards(1, e, 0.1 * e, 1.0, 60) for e in range(size)]
    pulls = [0] * size
    outside_loops = set(range(size)) - matroids.loops(size, oracle)
    for _ in range(60):
        means = list(policy.means)
        computed = policy.greedy_calls + policy.neighborhood_updates
        play = policy.select()
        newly = policy.greedy_calls + policy.neighborhood_updates > computed
        if policy.leader is not None and newly:
            assert set(policy.partners) == outside_loops - set(policy.leader)
            for e, x in policy.partners.items():
                circuit = matroids.fundamental_circuit(size, oracle, policy.leader, e)
                assert (means[x], x) == min((means[y], y) for y in circuit - {e})
        policy.update(play, [rewards[e][pulls[e]] for e in play])
        for e in play:
            pulls[e] += 1


# --- MAUB with several exchanges -----------------------------------------------------------------

SEVERAL: list[Exchanges] = ["all", 1, 2, 3]


def _second_round(
    size: int,
    oracle: matroids.Independence,
    means: Sequence[float],
    values: Sequence[float],
    exchanges: Exchanges,
    offer: Sequence[int] | None = None,
) -> tuple[tuple[int, ...], int]:
    """What is played at l = 2 with these means and indices, and how many calls that takes.

    No element is a loop, and some are outside the leader: only the first round is forced.
    """
    index = _Script(values)
    policy = ReferenceMAUB(size, oracle, index, exchanges)
    policy.update(range(size), means)
    policy.decide(1, offer)
    assert index.evaluated == []
    greedy_calls, oracle_calls = policy.greedy_calls, policy.oracle_calls
    if offer is not None:
        # Every round with an offer finds its leader and its partners anew.
        greedy_calls, oracle_calls = 2 * greedy_calls, 2 * oracle_calls
    play = policy.decide(2, offer)
    # Every value is computed once, upwards, at local time 2.
    available = range(size) if offer is None else offer
    assert index.evaluated == [(e, 1, means[e], 2) for e in available]
    assert policy.compared == {e: values[e] for e in available}
    assert (policy.greedy_calls, policy.neighborhood_updates) == (greedy_calls, 0)
    return play, policy.oracle_calls - oracle_calls


def test_several_exchanges_on_a_graph() -> None:
    """K4 with the leader a-b-c-d, the edges 0, 3 and 5; D = 3.

    Edge 1 (a-c) closes a circuit with 0 and 3, edge 2 (a-d) with 0, 3 and 5, edge 4 (b-d) with 3
    and 5. By the means the partners are 3, 5 and 5. The differences are 4 - 1, 7 - 3 and 5 - 3.
    """
    means = [0.9, 0.1, 0.2, 0.8, 0.3, 0.7]
    values = [9.0, 4.0, 7.0, 1.0, 5.0, 3.0]

    def played(exchanges: Exchanges) -> tuple[tuple[int, ...], int]:
        return _second_round(6, matroids.graphic(K4), means, values, exchanges)

    # Edge 2 for its partner.
    assert played("one") == ((0, 2, 3), 0)
    # Edge 2; the lowest index of its circuit is that of 3, not that of the partner 5.
    assert played(1) == ((0, 2, 5), 3)
    # Edges 2 and 1: order 0 2 1.
    assert played(2) == ((0, 1, 2), 3)
    # All three: order 0 2 4 1, where 4 closes a circuit with 0 and 2.
    assert played(3) == played(6) == played("all") == ((0, 1, 2), 4)


def test_several_exchanges_on_a_partition() -> None:
    """One of 0, 1, 2 and two of 3, 4, 5. The leader is 0 3 4, the partners are 0, 0 and 4.

    The differences are 3 - 1, 4 - 1 and 6 - 5.
    """
    oracle = matroids.partition("aaabbb", {"a": 1, "b": 2})
    means = [0.9, 0.5, 0.4, 0.9, 0.8, 0.3]
    values = [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]

    def played(exchanges: Exchanges) -> tuple[tuple[int, ...], int]:
        return _second_round(6, oracle, means, values, exchanges)

    assert played("one") == ((2, 3, 4), 0)
    # Order 4 2 3.
    assert played(1) == ((2, 3, 4), 3)
    # 1 does not fit beside 2: order 4 2 1 3.
    assert played(2) == ((2, 3, 4), 4)
    # Order 5 4 2. Element 5 has the partner 4, but it comes in for 3.
    assert played(3) == played("all") == ((2, 4, 5), 3)


def test_several_exchanges_on_a_uniform_matroid() -> None:
    """Two of five; the leader is 3 4, and 4 is everybody's partner."""
    means = [0.5, 0.5, 0.5, 1.0, 0.9]

    def played(values: Sequence[float], exchanges: Exchanges) -> tuple[tuple[int, ...], int]:
        return _second_round(5, matroids.uniform(2), means, values, exchanges)

    # 0 and 1 have the same difference: the lowest element is the first candidate. Level with 3 in
    # the order, lower elements are taken before it.
    values = [2.0, 2.0, 0.0, 2.0, 1.0]
    assert played(values, "one") == ((0, 3), 0)
    assert played(values, 1) == ((0, 3), 2)
    assert played(values, 2) == played(values, "all") == ((0, 1), 2)
    # The largest difference comes first, whatever its number.
    values = [2.0, 3.0, 4.0, 5.0, 1.0]
    assert played(values, "one") == ((2, 3), 0)
    assert played(values, 1) == played(values, 2) == played(values, "all") == ((2, 3), 2)
    # A candidate beats its partner, here 4, and yet only the other element of the leader leaves.
    values = [3.0, 0.0, 0.0, 1.0, 2.0]
    assert played(values, "one") == ((0, 3), 0)
    assert played(values, 1) == played(values, "all") == ((0, 4), 2)
    # A difference of 0 is not enough: no candidates, no calls.
    values = [1.0, 0.5, 1.0, 1.0, 1.0]
    for exchanges in ("one", *SEVERAL):
        assert played(values, exchanges) == ((3, 4), 0)


def test_several_exchanges_among_available_elements() -> None:
    # The graph of above without edge 3. The leader is 0 4 5; 1 and 2 have the partner 4, which is
    # the lowest mean of both circuits. Differences 4 - 1 and 7 - 1.
    means = [0.9, 0.1, 0.2, 0.8, 0.3, 0.7]
    values = [9.0, 4.0, 7.0, 99.0, 1.0, 3.0]

    def played(exchanges: Exchanges) -> tuple[tuple[int, ...], int]:
        return _second_round(6, matroids.graphic(K4), means, values, exchanges, [0, 1, 2, 4, 5])

    assert played("one") == ((0, 2, 5), 0)
    assert played(1) == ((0, 2, 5), 3)
    assert played(2) == played("all") == ((0, 1, 2), 3)
    # Without edges 0, 1 and 2 vertex a is out of reach: a smaller basis, and 3 calls at most. The
    # leader is 3 5, edge 4 has the partner 5.
    values = [99.0, 99.0, 99.0, 2.0, 4.0, 3.0]
    for exchanges in SEVERAL:
        play = _second_round(6, matroids.graphic(K4), means, values, exchanges, [3, 4, 5])
        assert play == ((4, 5), 2)


def test_several_exchanges_with_upper_confidence_bounds() -> None:
    """Two pairs, one of each. At l = 2 both exchanges gain -.1 + 1.177 (1 - .707) = .245."""
    plays: dict[Exchanges, tuple[int, ...]] = {"one": (1, 2), "all": (1, 3), 1: (1, 2), 2: (1, 3)}
    for exchanges, play in plays.items():
        policy = ReferenceMAUB(4, matroids.partition("aabb", {"a": 1, "b": 1}), exchanges=exchanges)
        policy.update((0, 0, 1, 2, 2, 3), (1.0, 1.0, 0.9, 1.0, 1.0, 0.9))
        assert policy.select() == policy.select() == (0, 2)
        calls = policy.oracle_calls
        policy.update((), ())
        assert policy.select() == policy.select() == play
        # Both candidates: order 1 3, as each has .9 + 1.177 and the leader 1 + .832. With k = 1 the
        # order is 1 0 2, and 0 does not fit.
        tested = {"one": 0, "all": 2, 1: 3, 2: 2}[exchanges]
        assert (policy.oracle_calls - calls, policy.greedy_calls) == (tested, 1)
        policy.update((), ())
        # l = 3: not forced either. l = 4: forced.
        assert policy.select() == play
        policy.update((), ())
        assert policy.select() == (0, 2)


def test_several_exchanges_order_rounded_indices() -> None:
    # The difference is positive, but too small for indices of about a million: 0 and 1 are level,
    # and the lowest is played.
    cases: list[tuple[Exchanges, int, int]] = [("one", 1, 0), ("all", 0, 1), (1, 0, 1)]
    for exchanges, play, calls in cases:
        policy = ReferenceMAUB(2, matroids.uniform(1), UCB(noise=1e-12), exchanges)
        policy.update((0, 0, 1), (1e6, 1e6, 1e6))
        assert policy.select() == (0,)
        before = policy.oracle_calls
        policy.update((), ())
        assert policy.select() == (play,)
        assert policy.oracle_calls - before == calls


def _random_matroid(rng: np.random.Generator) -> tuple[int, matroids.Independence]:
    """A matroid on two to eight elements, often with loops."""
    size = int(rng.integers(2, 9))
    ends = [(a, b) for a, b in rng.integers(0, 5, (size, 2)).tolist()]
    vectors = matroids.linear_mod(rng.integers(0, 3, (size, 4)).tolist(), 3)
    capacities = rng.integers(0, 4, 3).tolist()
    near = [np.flatnonzero(rng.random(4) < 0.4).tolist() for _ in range(size)]
    kinds = [
        matroids.uniform(int(rng.integers(1, size + 1))),
        matroids.partition(rng.integers(0, 3, size).tolist(), dict(enumerate(capacities))),
        matroids.graphic(ends),
        matroids.cographic(ends),
        matroids.transversal(near),
        vectors,
        matroids.truncation(vectors, int(rng.integers(1, 4))),
    ]
    return size, kinds[rng.integers(0, len(kinds))]


def _best_by_trying_all(
    oracle: matroids.Independence, among: set[int], rank: int, value: dict[int, float]
) -> tuple[int, ...]:
    """The basis of the largest sum; among equals the one whose elements come first in the order."""
    bases = [basis for basis in combinations(sorted(among), rank) if oracle(frozenset(basis))]
    # Exact sums: rounding makes no ties and breaks none.
    total = {basis: sum(Fraction(value[e]) for e in basis) for basis in bases}
    largest = [basis for basis in bases if total[basis] == max(total.values())]
    return min(largest, key=lambda basis: sorted((-value[e], e) for e in basis))


def _check_play(
    policy: ReferenceMAUB,
    oracle: matroids.Independence,
    play: tuple[int, ...],
    exchanges: Exchanges,
    value: Callable[[int, int], float],
) -> int:
    """Check a play by the definition; answers how many oracle calls it takes."""
    assert policy.leader is not None
    leader, local_time = set(policy.leader), policy._leader_rounds[policy.leader]
    if (local_time - 1) % (len(policy.partners) + 1) == 0:
        assert play == policy.leader
        return 0
    values = {e: value(e, local_time) for e in [*leader, *policy.partners]}
    difference = {e: values[e] - values[x] for e, x in policy.partners.items()}
    if isinstance(policy._index, UCB):
        width = policy._index.width(local_time)
        root = {e: 1 / math.sqrt(policy.counts[e]) for e in values}
        difference = {
            e: (policy.means[e] - policy.means[x]) + width * (root[e] - root[x])
            for e, x in policy.partners.items()
        }
    candidates = sorted((-gain, e) for e, gain in difference.items() if gain > 0)
    if isinstance(exchanges, int):
        candidates = candidates[:exchanges]
    among = leader | {e for _, e in candidates}
    assert play == _best_by_trying_all(oracle, among, len(leader), values)
    # Greedy tests everything down to the last element that it takes.
    last = max((-values[e], e) for e in play)
    return sum((-values[e], e) <= last for e in among) if candidates else 0


@pytest.mark.parametrize("exchanges", SEVERAL)
@pytest.mark.parametrize("seed", range(30))
def test_several_exchanges_by_trying_all_bases(seed: int, exchanges: Exchanges) -> None:
    rng = np.random.default_rng([seed, 1])
    size, oracle = _random_matroid(rng)
    script = _Script([])
    for index in (script, UCB(noise=0.5)):
        policy = ReferenceMAUB(size, oracle, index, exchanges)
        one = ReferenceMAUB(size, oracle, index)
        calls = 0

        def value(e: int, time: int, index: Index = index, policy: ReferenceMAUB = policy) -> float:
            return index.value(e, policy.counts[e], policy.means[e], time)

        for _ in range(60):
            # Few different values and rewards: many ties.
            script.values = (rng.integers(0, 5, size) / 4).tolist()
            play, single = policy.select(), one.select()
            assert (one.leader, one.partners) == (policy.leader, policy.partners)
            if policy.leader is not None:
                more = _check_play(policy, oracle, play, exchanges, value)
                calls += more
                # One exchange is made exactly if there are candidates.
                assert (more > 0) == (single != one.leader)
                # With k = 1 the same element comes in, unless rounding makes bounds level.
                if exchanges == 1 and index is script:
                    assert set(play) - set(policy.leader) == set(single) - set(policy.leader)
            # Finding leaders and partners costs the same, however many exchanges.
            assert policy.greedy_calls == one.greedy_calls
            assert policy.neighborhood_updates == one.neighborhood_updates
            assert policy.oracle_calls == one.oracle_calls + calls
            rewards = (rng.integers(0, 5, len(play)) / 4).tolist()
            for other in (policy, one):
                other.update(play, rewards)


@pytest.mark.parametrize("exchanges", SEVERAL)
@pytest.mark.parametrize("seed", range(15))
def test_several_exchanges_among_available_elements_by_trying_all_bases(
    seed: int, exchanges: Exchanges
) -> None:
    rng = np.random.default_rng([seed, 2])
    size, oracle = _random_matroid(rng)
    index = _Script([])
    policy = ReferenceMAUB(size, oracle, index, exchanges)
    policy.update(range(size), (rng.integers(0, 5, size) / 4).tolist())
    for t in range(60):
        index.values = (rng.integers(0, 5, size) / 4).tolist()
        # Few different offers, so that the same leader comes back.
        offer = frozenset(range(size)) - {t % 2, size - 1 - t % 3}
        # Another policy for which everything else is a loop, with the same statistics.
        fresh = ReferenceMAUB(
            size,
            lambda s: s <= offer and oracle(s),  # noqa: B023
            index,
            exchanges,
        )
        fresh.counts, fresh.means = list(policy.counts), list(policy.means)
        fresh._leader_rounds = dict(policy._leader_rounds)
        play = policy.decide(t, offer)
        assert fresh.decide(t, None) == play
        assert fresh.compared == policy.compared
        _check_play(fresh, oracle, play, exchanges, lambda e, _: index.values[e])
        policy.observe(play, (rng.integers(0, 5, len(play)) / 4).tolist())


@pytest.mark.parametrize("exchanges", SEVERAL)
@pytest.mark.parametrize("seed", range(15))
def test_without_optimism_the_best_leader_is_played(seed: int, exchanges: Exchanges) -> None:
    rng = np.random.default_rng([seed, 3])
    size, oracle = _random_matroid(rng)
    for index in (Mean(), UCB(noise=0.0)):
        policy = ReferenceMAUB(size, oracle, index, exchanges)
        policy.update(range(size), rng.random(size).tolist())
        for _ in range(60):
            play = policy.select()
            assert policy.leader is not None
            best = matroids.best_basis(size, oracle, policy.means)
            # The test with old partners may keep another leader. Unless it is played by force, all
            # exchanges together make the best basis of it.
            if policy.leader == best or (exchanges == "all" and play != policy.leader):
                assert play == best
            observed = [e for e in range(size) if rng.random() < 0.5]
            policy.update(observed, rng.normal(0, 2, len(observed)).tolist())


@pytest.mark.parametrize("exchanges", ["one", *SEVERAL])
@pytest.mark.parametrize("seed", range(8))
def test_large_partitions_with_numpy(seed: int, exchanges: Exchanges) -> None:
    rng = np.random.default_rng([seed, 4])
    groups = rng.integers(0, 3, 12).tolist()
    # A capacity of 0 makes loops.
    capacities = rng.integers(0, 4, 3).tolist()
    large = LargePartitionMAUB(groups, capacities, 0.7, exchanges)
    oracle = matroids.partition(groups, dict(enumerate(capacities)))
    policy = ReferenceMAUB(12, oracle, UCB(0.7), exchanges)
    for _ in range(150):
        play = policy.select()
        assert tuple(large.select().tolist()) == play
        rewards = rng.integers(0, 3, len(play)) / 2
        large.update(np.array(play, dtype=np.intp), rewards)
        policy.update(play, rewards.tolist())
    assert large.neighborhood_updates == policy.neighborhood_updates


@pytest.mark.parametrize("exchanges", ["one", *SEVERAL])
def test_large_graphs(exchanges: Exchanges) -> None:
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        # Connected or not, with parallel edges and loops.
        edges = [(int(a), int(b)) for a, b in rng.integers(0, 7, (20, 2))]
        restart = Restart(delta=0.3)
        large = LargeGraphMAUB(edges, UCB(0.2), exchanges, restart=restart)
        oracle = matroids.graphic(edges)
        policy = ChangingMAUB(20, oracle, UCB(0.2), exchanges, restart=restart)
        for t in range(120):
            play = policy.select()
            assert large.select() == play
            assert large.partners == policy.partners
            rewards = rng.normal(0.1 * np.array(play) * (-1) ** (t // 40), 0.2).tolist()
            large.update(play, rewards)
            policy.update(play, rewards)
        assert policy.restarted_at > 0


@each_index
@each_example
def test_several_exchanges_with_any_index(
    size: int, oracle: matroids.Independence, index_class: Callable[[], Index]
) -> None:
    bases = matroids.bases(size, oracle)
    # With k = n nothing is left out.
    everything = ReferenceMAUB(size, oracle, index_class(), "all")
    n_many = ReferenceMAUB(size, oracle, index_class(), max(size, 1))
    one = ReferenceMAUB(size, oracle, index_class())
    for k in range(40):
        play = everything.select()
        assert frozenset(play) in bases
        assert everything.select() == n_many.select() == play
        one.select()
        for policy in (everything, n_many, one):
            policy.update(play, [(1 + math.sin(k + e)) / 2 for e in play])
    assert everything.oracle_calls == n_many.oracle_calls
    assert everything.greedy_calls == one.greedy_calls
    # The same number of random draws, however many exchanges there are at once.
    if hasattr(one._index, "_rng"):
        draws = [p._index._rng.random() for p in (everything, n_many)]  # type: ignore[attr-defined]
        assert draws[0] == draws[1]


@pytest.mark.parametrize("exchanges", SEVERAL)
def test_several_exchanges_learn(exchanges: Exchanges) -> None:
    oracle = matroids.graphic(K4)
    means = [0.9, 0.2, 0.8, 0.3, 0.7, 0.1]
    best_value = basis_value(matroids.best_basis(6, oracle, means), means)
    rewards = [bernoulli_rewards(5, e, means[e], 2000) for e in range(6)]
    policy = ReferenceMAUB(6, oracle, exchanges=exchanges)
    regret = reference_run(policy, rewards, means, best_value, 2000)
    # The second half costs less than the first.
    assert 0 < regret[-1] - regret[999] < regret[999]


# --- OMM -----------------------------------------------------------------------------------------


def test_omm_by_hand() -> None:
    """U(1, 2) where element 0 always pays 1 and element 1 always pays 0.

    From round 3 on element 0 has index 1 + w / sqrt(N_0), element 1 has w, with w = sqrt(2 ln t):
    t = 3: 2.482 and 1.482; t = 4: 2.177 and 1.665; t = 5: 2.036 and 1.794; t = 6: 1.947 and 1.893;
    t = 7: 1.882 and 1.973.
    """
    policy = ReferenceOMM(2, matroids.uniform(1))
    plays = []
    for _ in range(7):
        (e,) = policy.select()
        plays.append(e)
        policy.update((e,), (1.0 if e == 0 else 0.0,))
    assert plays == [0, 1, 0, 0, 0, 0, 1]
    assert policy.oracle_calls == policy.greedy_calls == 7
    assert policy.neighborhood_updates == 0


# --- Greedy on an index --------------------------------------------------------------------------


def test_omm_is_greedy_on_ucb() -> None:
    oracle = matroids.graphic(K4)
    omm, greedy = ReferenceOMM(6, oracle), ReferenceGreedy(6, oracle, UCB())
    for k in range(200):
        play = omm.select()
        assert greedy.select() == play
        rewards = [math.sin(k + e) for e in play]
        omm.update(play, rewards)
        greedy.update(play, rewards)


def test_greedy_computes_every_value_once() -> None:
    # Element 1 is a loop.
    oracle = matroids.partition("abaa", {"a": 2, "b": 0})
    index = _Script([1.0, 99.0, 3.0, 2.0])
    policy = ReferenceGreedy(4, oracle, index)
    policy.update((0, 1, 2, 3, 3), (0.1, 0.2, 0.3, 0.2, 0.6))
    assert policy.select() == policy.select() == (2, 3)
    assert index.evaluated == [(0, 1, 0.1, 2), (2, 1, 0.3, 2), (3, 2, 0.4, 2)]


def test_initial_rounds_of_an_index_that_needs_more_observations() -> None:
    # Undersampled elements come first, in their order, whatever their counts.
    policy = ReferenceGreedy(4, matroids.uniform(2), _Script([0.0, 1.0, 2.0, 3.0], min_count=3))
    plays = []
    for k in range(7):
        plays.append(policy.select())
        # The second time, only element 0 is observed.
        observed = plays[-1][:1] if k == 1 else plays[-1]
        policy.update(observed, [0.0] * len(observed))
    assert plays == [(0, 1), (0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (0, 3)]
    assert policy.counts == [4, 3, 3, 3]
    assert policy.select() == (2, 3)


def test_an_index_that_needs_no_observation_has_no_initial_rounds() -> None:
    index = _Script([0.0, 1.0, 2.0, 3.0], min_count=0)
    policy = ReferenceGreedy(4, matroids.uniform(2), index)
    assert policy.select() == (2, 3)
    assert index.evaluated == [(e, 0, 0.0, 1) for e in range(4)]


def test_greedy_on_samples() -> None:
    # Element 1 is a loop: it takes no sample, but a coin when it is observed.
    oracle = matroids.partition("abaa", {"a": 1, "b": 0})
    policy = ReferenceGreedy(4, oracle, BetaThompson(seed=3))
    rng = policy_generator(3)
    best = max((rng.beta(1, 1), e) for e in (0, 2, 3))[1]
    assert policy.select() == policy.select() == (best,)
    policy.update((best, 1), (1.0, 0.5))
    rng.random()
    samples = {e: rng.beta(2 if e == best else 1, 1) for e in (0, 2, 3)}
    assert policy.select() == (max(samples, key=lambda e: samples[e]),)


def test_update_passes_every_reward_to_the_index() -> None:
    for policy_class in (ReferenceGreedy, ReferenceMAUB):
        index = _Script([0.0, 0.0])
        policy = policy_class(2, matroids.partition("ab", {"a": 1, "b": 0}), index)
        policy.update((1, 0, 1), (0.5, 1.0, 0.25))
        assert index.heard == [(1, 0.5, 0.0, 0.5), (0, 1.0, 0.0, 1.0), (1, 0.25, 0.5, 0.375)]


# --- Random bases --------------------------------------------------------------------------------


def test_random_basis_draws() -> None:
    # Element 1 is a loop and takes no weight.
    oracle = matroids.partition("abaa", {"a": 2, "b": 0})
    policy = ReferenceRandomBasis(4, oracle, seed=8)
    rng = policy_generator(8)
    for _ in range(20):
        weights = [(rng.random(), e) for e in (0, 2, 3)]
        expected = tuple(sorted(e for _, e in sorted(weights)[1:]))
        assert policy.select() == policy.select() == expected
        policy.update(expected, (0.0, 0.0))


def test_random_bases_of_a_uniform_matroid_are_equally_likely() -> None:
    policy = ReferenceRandomBasis(4, matroids.uniform(2), seed=0)
    counts = dict.fromkeys(combinations(range(4), 2), 0)
    for _ in range(6000):
        counts[policy.select()[0], policy.select()[1]] += 1
        policy.update((), ())
    # 1000 each, standard deviation 29.
    assert all(abs(count - 1000) < 150 for count in counts.values())


def test_epsilon_greedy_draws() -> None:
    policy = ReferenceEpsilonGreedy(3, matroids.uniform(1), 0.4, seed=8)
    rng = policy_generator(8)
    for e in range(3):
        # Initial rounds draw nothing.
        assert policy.select() == (e,)
        policy.update((e,), ([0.2, 0.9, 0.5][e],))
    explored = 0
    for _ in range(100):
        expected = 1
        if rng.random() < 0.4:
            expected = max((rng.random(), e) for e in range(3))[1]
            explored += 1
        assert policy.select() == policy.select() == (expected,)
        policy.update((), ())
    assert 20 < explored < 60


def test_epsilon_greedy_at_both_ends() -> None:
    for epsilon, elements in [(0.0, {1}), (1.0, {0, 1, 2})]:
        policy = ReferenceEpsilonGreedy(3, matroids.uniform(1), epsilon, seed=1)
        policy.update((0, 1, 2), (0.2, 0.9, 0.5))
        played: set[int] = set()
        for _ in range(50):
            played.update(policy.select())
            policy.update((), ())
        assert played == elements


# --- OSUB ----------------------------------------------------------------------------------------

LINE = [[1], [0, 2], [1, 3], [2]]


def test_osub_by_hand() -> None:
    """Arms 0 - 1 - 2 - 3 in a line, one element each: gamma = 2, forced if (l-1) mod 3 == 0."""
    policy = ReferenceOSUB([(0,), (1,), (2,), (3,)], LINE, UCB())

    def expect(play: int, leader: int, leader_rounds: int, reward: float) -> None:
        assert policy.select() == policy.select() == (play,)
        assert policy.leader == leader
        assert policy.leader_rounds[leader] == leader_rounds
        policy.update((play,), (reward,))

    # All means are 0: arm 0 leads, and is played by force.
    expect(0, 0, 1, 0.5)
    # l = 2: arm 1 was never played.
    expect(1, 0, 2, 0.5)
    # Means .5 .5, the lowest arm leads. l = 3, both at .5 + 1.482: the leader.
    expect(0, 0, 3, 0.25)
    # Means .375 .5: arm 1 leads, l = 1, forced.
    expect(1, 1, 1, 0.5)
    # l = 2: of its neighbors 0 and 2, arm 2 was never played.
    expect(2, 1, 2, 0.0)
    # Means .375 .5 0, counts 2 2 1; l = 3, width sqrt(2 ln 3) = 1.482:
    # .375 + 1.048 = 1.423, .5 + 1.048 = 1.548, 1.482.
    expect(1, 1, 3, 0.5)
    # l = 4: forced, although 1.665 / sqrt(N) would give 1.552, 1.461, 1.665.
    expect(1, 1, 4, 0.5)
    # l = 5: 1.794 / sqrt(N) gives .375 + 1.269 = 1.644, .5 + .897 = 1.397, 1.794. Arm 3, never
    # played, is no neighbor.
    expect(2, 1, 5, 1.0)
    # Mean of arm 2 now .5, arm 1 still leads; counts 2 4 2; l = 6: arm 2 has .5 + 1.339, arm 0
    # .375 + 1.339, arm 1 .5 + .947.
    expect(2, 1, 6, 1.0)
    # Means .375 .5 .667: arm 2 leads for the first time.
    expect(2, 2, 1, 0.0)
    # Means .375 .5 .5: arm 1 leads again and goes on counting. l = 7: forced.
    expect(1, 1, 7, 0.5)
    assert policy.plays == [2, 5, 4, 0]
    assert policy.arm_means == [0.375, 0.5, 0.5, 0.0]


def test_osub_breaks_ties() -> None:
    # A star: the leader 2 in the middle, all with the same statistics.
    star = [[2], [2], [0, 1, 3], [2]]
    index = _Script([1.0, 1.0, 1.0, 1.0])
    policy = ReferenceOSUB([(e,) for e in range(4)], star, index)
    for e in (0, 1, 2, 3):
        policy.update((e,), (0.75 if e == 2 else 0.5,))
    plays = []
    for values in ([0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 1, 2], [1, 3, 1, 3], [9, 9, 1, 9], [0] * 4):
        index.values = values
        plays.append(policy.select())
        policy.update((), ())
    # l = 1 and 5 are forced. Among equals the leader, else the lowest arm.
    assert plays == [(2,), (2,), (0,), (1,), (2,), (2,)]
    # The time is that of the leader, and only values of its neighborhood are computed.
    assert index.evaluated[:4] == [(2, 1, 0.75, 2), (0, 1, 0.5, 2), (1, 1, 0.5, 2), (3, 1, 0.5, 2)]


def test_osub_on_bases() -> None:
    # U(2, 3), all bases next to each other.
    arms = [(0, 1), (0, 2), (1, 2)]
    index = _Script([0.0, 0.0, 0.0])
    policy = ReferenceOSUB(arms, [[1, 2], [0, 2], [0, 1]], index)
    # An arm pays the mean of its elements, in whatever order they are told.
    policy.update((2, 0), (0.25, 0.5))
    assert (policy.plays, policy.arm_means) == ([0, 1, 0], [0.0, 0.375, 0.0])
    # Neither a part of an arm, nor more than an arm, nor an element told twice.
    for elements in [(), (0,), (0, 1, 2), (0, 0), (0, 1, 1)]:
        policy.update(elements, [1.0] * len(elements))
    assert (policy.plays, policy.arm_means) == ([0, 1, 0], [0.0, 0.375, 0.0])
    assert policy.select() == (0, 2)
    policy.update((0, 2), (1.0, 0.75))
    assert (policy.plays, policy.arm_means) == ([0, 2, 0], [0.0, 0.625, 0.0])
    assert index.heard == [(1, 0.375, 0.0, 0.375), (1, 0.875, 0.375, 0.625)]
    # l = 2: of the two that were never played, the lowest.
    assert policy.select() == (0, 1)


def test_osub_adds_rewards_upwards() -> None:
    policy = ReferenceOSUB([(0, 1, 2)], [[]], UCB())
    policy.update((2, 0, 1), (1.0, 1e16, -1e16))
    assert policy.arm_means == [1 / 3]
    policy = ReferenceOSUB([(0, 1, 2)], [[]], UCB())
    policy.update((1, 0, 2), (1.0, 1e16, -1e16))
    assert policy.arm_means == [0.0]


def test_osub_of_a_single_empty_basis() -> None:
    policy = ReferenceOSUB([()], [[]])
    for k in range(3):
        assert policy.select() == ()
        assert policy.plays == [k]
        policy.update((), ())
    assert policy.arm_means == [0.0]


def test_osub_with_an_index_that_needs_more() -> None:
    # A neighbor played less than three times has no value yet: it is played first.
    policy = ReferenceOSUB([(0,), (1,)], [[1], [0]], NormalUCB())
    plays = []
    for _ in range(8):
        (e,) = policy.select()
        plays.append(e)
        policy.update((e,), ([0.75, 0.5][e],))
    # gamma = 1: every other round is forced. In round 2, both have no value: the leader; from
    # round 4 on the leader has one (.75, no variance), and arm 1 comes until it has one too.
    assert plays == [0, 0, 0, 1, 0, 1, 0, 1]
    assert policy.select() == (0,)
    policy.update((0,), (0.75,))
    assert policy.select() == (0,)


@pytest.mark.parametrize("name", ["UCB with little noise", "KLUCB", "UCBV", "NormalUCB"])
def test_osub_learns(name: str) -> None:
    means = [0.1, 0.3, 0.5, 0.9, 0.6]
    neighbors = [[1], [0, 2], [1, 3], [2, 4], [3]]
    policy = ReferenceOSUB([(e,) for e in range(5)], neighbors, INDICES[name]())
    # Each index with rewards that it is made for: those of 0 and 1 have a noise of up to 0.5.
    if name in ("KLUCB", "UCBV"):
        rewards = [bernoulli_rewards(2, e, means[e], 4000) for e in range(5)]
    else:
        rewards = [gaussian_rewards(2, e, means[e], 0.2, 4000) for e in range(5)]
    regret = reference_run(policy, rewards, means, 0.9, 4000)
    assert policy.leader == 3
    # The second half costs less than the first.
    assert 0 < regret[-1] - regret[1999] < regret[1999]


# --- All policies --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy_class", [ReferenceMAUB, ReferenceOMM])
@each_example
def test_plays_are_bases(
    size: int, oracle: matroids.Independence, policy_class: type[ReferenceMAUB | ReferenceOMM]
) -> None:
    policy = policy_class(size, oracle)
    bases = matroids.bases(size, oracle)
    for k in range(50):
        play = policy.select()
        assert frozenset(play) in bases
        assert list(play) == sorted(play)
        policy.update(play, [math.sin(k + e) for e in play])
    played = {e for e in range(size) if policy.counts[e] > 0}
    assert played == set(range(size)) - matroids.loops(size, oracle)


@pytest.mark.parametrize("policy_class", [ReferenceMAUB, ReferenceOMM])
def test_greedy_breaks_ties_for_the_lowest_element(
    policy_class: type[ReferenceMAUB | ReferenceOMM],
) -> None:
    policy = policy_class(5, matroids.uniform(2))
    policy.update(range(5), (0.5, 1.0, 1.0, 1.0, 0.5))
    assert policy.select() == (1, 2)


@pytest.mark.parametrize("size", [0, 3])
def test_only_loops(size: int) -> None:
    maub = ReferenceMAUB(size, matroids.uniform(0))
    omm = ReferenceOMM(size, matroids.uniform(0))
    for policy in (maub, omm):
        for _ in range(4):
            assert policy.select() == ()
            policy.update((), ())
        assert policy.oracle_calls == policy.neighborhood_updates == 0
    # MAUB finds its leader once, OMM runs greedy every round.
    assert (maub.leader, maub.greedy_calls, omm.greedy_calls) == ((), 1, 4)


def test_rewards_of_loops_are_kept_but_loops_are_not_played() -> None:
    policy = ReferenceMAUB(2, matroids.graphic([("a", "a"), ("a", "b")]))
    policy.update((0, 0), (3.0, 4.0))
    assert (policy.counts, policy.means) == ([2, 0], [3.5, 0.0])
    for _ in range(3):
        assert policy.select() == (1,)
        policy.update((1,), (0.0,))
    assert policy.partners == {}


@pytest.mark.parametrize("policy_class", [ReferenceMAUB, ReferenceOMM])
def test_policies_learn(policy_class: type[ReferenceMAUB | ReferenceOMM]) -> None:
    oracle = matroids.graphic(K4)
    means = [0.9, 0.2, 0.8, 0.3, 0.7, 0.1]
    best = matroids.best_basis(6, oracle, means)
    best_value = basis_value(best, means)
    rewards = [bernoulli_rewards(5, e, means[e], 2000) for e in range(6)]
    regret = reference_run(policy_class(6, oracle), rewards, means, best_value, 2000)
    assert len(regret) == 2000
    assert all(later >= earlier for earlier, later in pairwise(regret))
    # The second half costs less than the first.
    assert 0 < regret[-1] - regret[999] < regret[999]


@each_index
@each_example
def test_plays_with_any_index_are_bases(
    size: int, oracle: matroids.Independence, index_class: Callable[[], Index]
) -> None:
    bases = matroids.bases(size, oracle)
    for policy_class in (ReferenceGreedy, ReferenceMAUB):
        policy = policy_class(size, oracle, index_class())
        for k in range(40):
            play = policy.select()
            assert frozenset(play) in bases
            assert policy.select() == play
            policy.update(play, [(1 + math.sin(k + e)) / 2 for e in play])


# Without optimism there is no promise.
@pytest.mark.parametrize("name", [name for name in INDICES if name != "Mean"])
def test_policies_with_any_optimistic_index_learn(name: str) -> None:
    oracle = matroids.graphic(K4)
    means = [0.9, 0.2, 0.8, 0.3, 0.7, 0.1]
    best_value = basis_value(matroids.best_basis(6, oracle, means), means)
    rewards = [bernoulli_rewards(5, e, means[e], 2000) for e in range(6)]
    for policy_class in (ReferenceGreedy, ReferenceMAUB):
        policy = policy_class(6, oracle, INDICES[name]())
        regret = reference_run(policy, rewards, means, best_value, 2000)
        assert 0 <= regret[-1] - regret[999] < regret[999]


# --- Streams -------------------------------------------------------------------------------------


def test_streams_have_the_prefix_property() -> None:
    assert (gaussian_rewards(4, 2, 0.5, 2.0, 10) == gaussian_rewards(4, 2, 0.5, 2.0, 99)[:10]).all()
    assert (bernoulli_rewards(4, 2, 0.5, 10) == bernoulli_rewards(4, 2, 0.5, 99)[:10]).all()


def test_streams_have_the_right_moments() -> None:
    gaussian = gaussian_rewards(0, 0, 3.0, 0.5, 10_000)
    assert gaussian.mean() == pytest.approx(3.0, abs=0.03)
    assert gaussian.std() == pytest.approx(0.5, abs=0.03)
    bernoulli = bernoulli_rewards(0, 0, 0.3, 10_000)
    assert set(bernoulli.tolist()) == {0.0, 1.0}
    assert bernoulli.mean() == pytest.approx(0.3, abs=0.03)


def test_basis_value_adds_from_left_to_right() -> None:
    # A compensated sum would give 1.
    assert basis_value((2, 0, 1), [1e16, 1.0, -1e16]) == 0.0


def test_regret_of_fixed_plays() -> None:
    class Script:
        """Plays element 0, then 1, then 0, and remembers what it saw."""

        def __init__(self) -> None:
            self.plays = [0, 1, 0]
            self.seen: list[tuple[int, float]] = []

        def select(self) -> tuple[int, ...]:
            return (self.plays[len(self.seen)],)

        def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
            self.seen.append((elements[0], rewards[0]))

    policy = Script()
    regret = reference_run(policy, [[10.0, 11.0], [20.0]], [0.25, 1.0], 1.0, 3)
    assert regret == [0.75, 0.75, 1.5]
    assert policy.seen == [(0, 10.0), (1, 20.0), (0, 11.0)]
