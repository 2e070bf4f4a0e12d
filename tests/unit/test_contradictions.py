"""Matroids written in Python that change, or return nonsense: an error in words, and no crash."""

import random
import threading
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.matroids.cached import CachedKernel

COMPOSE = {
    "itself": lambda m: m,
    "dual": mb.DualMatroid,
    "truncated": lambda m: mb.TruncatedMatroid(m, 2),
    "minor": lambda m: mb.MinorMatroid(m, range(1, 6), contracted=[0]),
    "sum": lambda m: m + mb.UniformMatroid(1, 3),
    "union": lambda m: m | mb.UniformMatroid(1, 6),
    "union of duals": lambda m: mb.DualMatroid(m) | mb.DualMatroid(m),
    "dual of union": lambda m: mb.DualMatroid(m.truncate(2) | mb.UniformMatroid(1, 6)),
}


def try_all(matroid: mb.Matroid, rng: random.Random) -> list[BaseException]:
    """Call everything once; return the errors."""
    errors = []
    calls = [
        lambda: matroid.rank,
        lambda: matroid.loops,
        lambda: matroid.is_independent([0, 1]),
        lambda: matroid.is_basis([0, 1]),
        lambda: matroid.rank_of([0, 1, 2]),
        lambda: matroid.closure([0, 1]),
        lambda: matroid.max_weight_basis([rng.random() for _ in range(matroid.size)]),
        lambda: matroid.fundamental_circuit(matroid.max_weight_basis([0.0] * matroid.size), 4),
        matroid.bases,
        matroid.circuits,
        matroid.n_bases,
        lambda: repr(matroid),
    ]
    rng.shuffle(calls)
    for call in calls:
        try:
            call()
        except (ValueError, TypeError) as error:
            errors.append(error)
    return errors


class Changing(mb.Matroid):
    """At most two elements; size and rank are read from a list that somebody changes."""

    def __init__(self, sizes: list[int], ranks: list[int]) -> None:
        super().__init__(6)
        self.sizes = sizes
        self.ranks = ranks

    @property
    def size(self) -> int:
        return self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]

    @property
    def rank(self) -> int:
        return self.ranks.pop(0) if len(self.ranks) > 1 else self.ranks[0]

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


@pytest.mark.parametrize("kind", COMPOSE)
@pytest.mark.parametrize("seed", range(30))
def test_size_and_rank_that_change_are_errors(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    matroid = Changing([6], [2])
    composition = COMPOSE[kind](matroid)
    matroid.sizes[:] = [rng.choice([0, 1, 5, 6, 7, 60]) for _ in range(40)]
    matroid.ranks[:] = [rng.choice([-1, 0, 1, 2, 3, 6, 50]) for _ in range(40)]
    try_all(composition, rng)


def test_a_size_that_changes_is_named() -> None:
    matroid = Changing([6], [2])
    union = matroid | mb.UniformMatroid(1, 6)
    matroid.sizes[:] = [9]
    with pytest.raises(mb.MatroidAxiomError, match="Changing had 6 elements and now has 9"):
        union.is_independent([0, 5])
    with pytest.raises(mb.MatroidAxiomError, match="had 6 elements and now has 7; the size of"):
        Changing([7, 6], [2]).is_independent([0])
    matroid.sizes[:], matroid.ranks[:] = [6], [7]
    with pytest.raises(ValueError, match="the rank of Changing must be at most 6, got 7"):
        _ = mb.DualMatroid(matroid).rank


@pytest.mark.parametrize("kind", COMPOSE)
@pytest.mark.parametrize("wrong", [1, 5, 6])
def test_a_wrong_rank_of_a_built_in_class_does_no_harm(kind: str, wrong: int) -> None:
    class WrongRank(mb.GraphicMatroid):
        rank = wrong  # type: ignore[assignment]

    errors = try_all(COMPOSE[kind](WrongRank.complete(4)), random.Random(0))
    # Truncations and unions need only a bound on the rank.
    if wrong > 3 and kind in ("itself", "dual", "minor", "sum", "union of duals"):
        assert errors


class Nonsense(mb.Matroid):
    """Answers at random, by every method it has."""

    def __init__(self, seed: int) -> None:
        super().__init__(6)
        self.rng = random.Random(seed)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return not elements or self.rng.random() < 0.6


class NonsenseInSets(Nonsense):
    def _greedy(self, order: tuple[int, ...], limit: int) -> Any:
        elements = [*order, -1, 6, 10**30, 0.5, "x", None]
        return self.rng.sample(elements, self.rng.randrange(len(elements)))

    def _fundamental_circuit(self, basis: frozenset[int], element: int) -> Any:
        return self.rng.choice([None, 7, [element], [-1], [10**30], list(basis), basis, [[]]])


@pytest.mark.parametrize("kind", COMPOSE)
@pytest.mark.parametrize("cls", [Nonsense, NonsenseInSets])
def test_nonsense_is_survived(kind: str, cls: type[Nonsense]) -> None:
    for seed in range(40):
        matroid = cls(seed)
        try:
            composition = COMPOSE[kind](matroid)
        except (ValueError, TypeError):
            continue
        try_all(composition, random.Random(seed))
        for make in (mb.MAUB, mb.OMM):
            try:
                policy = make(composition)
                mb.simulate(policy, mb.GaussianEnvironment(np.zeros(composition.size)), 20)
            except (ValueError, TypeError):
                continue


def test_what_methods_must_return_is_named() -> None:
    class NoElements(Nonsense):
        def _is_independent(self, elements: frozenset[int]) -> bool:
            return len(elements) <= 2

        def _greedy(self, order: tuple[int, ...], limit: int) -> Any:
            return None

    with pytest.raises(TypeError, match=r"NoElements\._greedy must return elements, got None"):
        _ = NoElements(0).rank


def test_cached_answers_need_a_basis_of_the_matroid() -> None:
    kernel = CachedKernel(mb.UniformMatroid(2, 4)._new_kernel(), 2)
    with pytest.raises(mb.MatroidAxiomError, match="a set of 1 elements was passed as a basis"):
        kernel.replaceable(np.array([1]), 0)
    with pytest.raises(mb.MatroidAxiomError, match="of a matroid of rank 2"):
        kernel.replaceable(np.array([1, 2, 3]), 0)
    assert kernel.replaceable(np.array([1, 2]), 0).tolist() == [1, 2]
    other = CachedKernel(mb.UniformMatroid(2, 5)._new_kernel(), 2)
    with pytest.raises(ValueError, match="those of another matroid"):
        other.restore(kernel.state())


# ---- used again while an oracle is running ----


@pytest.mark.parametrize("kind", COMPOSE)
def test_an_oracle_may_use_the_matroid_it_belongs_to(kind: str) -> None:
    depth = [0]

    def independent(elements: frozenset[int]) -> bool:
        if depth[0] < 2 and len(elements) > 1:
            depth[0] += 1
            composition.max_weight_basis(range(composition.size))
            composition.is_independent([0, 1])
            depth[0] -= 1
        return len(elements) <= 3

    matroid = mb.OracleMatroid(6, independent)
    composition: mb.Matroid = mb.UniformMatroid(1, 6)
    composition = COMPOSE[kind](matroid)
    plain = COMPOSE[kind](mb.UniformMatroid(3, 6))
    weights = [3, 1, 2, 5, 4, 0, 7, 8, 6][: composition.size]
    assert (
        composition.max_weight_basis(weights).tolist() == plain.max_weight_basis(weights).tolist()
    )


@pytest.mark.parametrize("kind", COMPOSE)
def test_threads_may_share_a_matroid(kind: str) -> None:
    composition = COMPOSE[kind](mb.OracleMatroid(6, lambda s: len(s) <= 3))
    weights = np.arange(composition.size)
    expected = composition.max_weight_basis(weights).tolist()
    found: list[list[int]] = []

    def work() -> None:
        found.extend(composition.max_weight_basis(weights).tolist() for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 200


@pytest.mark.parametrize(
    "neighborhood, available", [("paper", None), ("paper", [0, 1, 2, 3]), ("lean", [0, 1, 2, 3])]
)
def test_a_lie_while_several_exchanges_are_made(
    neighborhood: str, available: list[int] | None
) -> None:
    """Greedy on the leader and the elements that come in finds less than a basis."""

    class Oracle:
        n_calls = 0
        n_honest = 1000

        def __call__(self, elements: frozenset[int]) -> bool:
            self.n_calls += 1
            return len(elements) <= (2 if self.n_calls <= self.n_honest else 1)

    oracles = Oracle(), Oracle()
    liar, twin = (
        mb.MAUB(mb.OracleMatroid(5, one), index="kl", exchanges=2, neighborhood=neighborhood)
        for one in oracles
    )
    n_refused = 0
    for policy in (liar, twin):
        # The leader is {0, 1}. Of the others, few observations are known.
        policy.observe({0: (0.6, 1000), 1: (0.55, 10), 2: (0.5, 8), 3: (0.5, 8), 4: (0.5, 8)})
    for _ in range(60):
        for oracle in oracles:
            oracle.n_calls = 0
        selected = twin.select(available).tolist()
        if selected != [0, 1]:
            # The last question was about a whole basis.
            oracles[0].n_honest = oracles[1].n_calls - 1
            with pytest.raises(mb.MatroidAxiomError):
                liar.select(available)
            oracles[0].n_honest = 1000
            n_refused += 1
        assert liar.select(available).tolist() == selected
        for policy in (liar, twin):
            policy.update([], [])
    assert n_refused > 10
