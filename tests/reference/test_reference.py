"""Sanity tests of the reference itself: known counts, hand-worked runs, known identities."""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from . import matroids
from .policies import ReferenceMAUB, ReferenceOMM
from .streams import basis_value, bernoulli_rewards, gaussian_rewards, reference_run

K4 = list(combinations("abcd", 2))
# The seven nonzero vectors of GF(2)^3: the Fano plane.
FANO = [vector for vector in product([0, 1], repeat=3) if any(vector)]
# Vertex pairs with two parallel edges (0, 1), a self-loop (2) and a pendant edge (6).
MULTIGRAPH = [(0, 1), (1, 0), (2, 2), (1, 2), (2, 0), (2, 3), (3, 4), (3, 0)]
NEIGHBORS: list[set[int]] = [{0, 1}, {0}, {0, 1}, {2, 3}, set(), {3}, {1, 3}]

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
}
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


def _all_subsets(size: int, largest: int) -> list[tuple[int, ...]]:
    return [s for count in range(largest + 1) for s in combinations(range(size), count)]


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

    # One round later the new partner tells.
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


@pytest.mark.parametrize("n, d", [(5, 2), (6, 3), (7, 1), (7, 5), (10, 4)])
def test_call_counts_of_uniform_matroids(n: int, d: int) -> None:
    # In a uniform matroid greedy needs D calls and partners n-D calls, since the lowest x fits
    # every e. Every greedy call but the ceil(n/D) first rounds comes with new partners.
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


# --- Both policies -------------------------------------------------------------------------------


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
