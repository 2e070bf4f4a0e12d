"""Check the axioms of a matroid, and its other methods against its independence test."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from matroid_bandits._arguments import integer
from matroid_bandits.matroids import Matroid

__all__ = ["check_matroid"]

# 2**12 sets are tested in well under a second.
_EXHAUSTIVE = 12
# Sets whose rank and closure are tested.
_SAMPLED = 64


def check_matroid(matroid: Matroid, *, seed: int = 0) -> None:
    """Check the axioms and every method of a matroid against its independence test.

    Up to 12 elements all sets are tested. For a larger matroid, all sets of 10 random elements are
    tested, five times, and the methods on random weights and bases.

    Parameters
    ----------
    matroid : Matroid
        The instance to check. Small ones with loops, parallel elements and coloops are best.
    seed : int, default 0
        Seed of the random weights and restrictions.

    Raises
    ------
    AssertionError
        The message names the sets that contradict an axiom, or the call that is wrong.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.check_matroid(mb.GraphicMatroid.complete(4))
    >>> wrong = mb.OracleMatroid(3, lambda s: s <= {0} or s <= {1, 2})
    >>> mb.check_matroid(wrong)
    Traceback (most recent call last):
    ...
    AssertionError: augmentation fails: {0} and {1, 2} are independent, but nothing of the larger \
can be added to the smaller
    """
    if not isinstance(matroid, Matroid):
        raise TypeError(f"check_matroid needs an instance of a Matroid, got {matroid!r}")
    rng = np.random.default_rng(integer(seed, "seed", minimum=0))
    everything = list(range(matroid.size))
    if matroid.size <= _EXHAUSTIVE:
        _check_sets(matroid, everything, rng)
        bases = _all_bases(matroid, everything)
    else:
        for _ in range(5):
            some = sorted(rng.choice(matroid.size, 10, replace=False).tolist())
            _check_sets(matroid, some, rng)
        bases = [_greedy(matroid, rng.permutation(matroid.size).tolist()) for _ in range(10)]
    _check_rank_and_loops(matroid, bases)
    _check_max_weight_basis(matroid, rng)
    _check_exchange(matroid, bases, rng)


def _check_sets(matroid: Matroid, elements: list[int], rng: "np.random.Generator") -> None:
    """The axioms on all subsets of `elements`, by means of the rank function, and its methods."""
    if not matroid.is_independent([]):
        raise AssertionError("the empty set is dependent")
    n = len(elements)

    def named(mask: int) -> set[int]:
        return {elements[i] for i in range(n) if mask >> i & 1}

    independent = [matroid.is_independent(sorted(named(mask))) for mask in range(2**n)]
    for mask in range(2**n):
        for i in range(n):
            smaller = mask & ~(1 << i)
            if independent[mask] and not independent[smaller]:
                raise AssertionError(
                    f"heredity fails: {named(mask)} is independent, its subset {named(smaller)} "
                    "is not"
                )
    # A largest independent subset of every set.
    largest = [0] * 2**n
    for mask in range(1, 2**n):
        subsets = (largest[mask & ~(1 << i)] for i in range(n) if mask >> i & 1)
        largest[mask] = mask if independent[mask] else max(subsets, key=int.bit_count)
    # Augmentation holds if and only if the rank is submodular, for which adding two elements to a
    # set is enough: if neither raises the rank, both together must not.
    for mask in range(2**n):
        rank = largest[mask].bit_count()
        for i, j in combinations((k for k in range(n) if not mask >> k & 1), 2):
            with_i, with_j = mask | 1 << i, mask | 1 << j
            if largest[with_i].bit_count() == largest[with_j].bit_count() == rank:
                both = largest[with_i | with_j]
                if both.bit_count() != rank:
                    raise AssertionError(
                        f"augmentation fails: {named(largest[mask])} and {named(both)} are "
                        "independent, but nothing of the larger can be added to the smaller"
                    )
    ranks = [mask.bit_count() for mask in largest]
    masks = rng.permutation(2**n)[:_SAMPLED].tolist()
    _check_set_methods(matroid, elements, ranks, masks)


def _check_set_methods(
    matroid: Matroid, elements: list[int], ranks: list[int], masks: list[int]
) -> None:
    """`rank_of`, `closure` and `is_basis` of the subsets `masks` of `elements`, by definition."""
    n = len(elements)
    for mask in masks:
        chosen = [elements[i] for i in range(n) if mask >> i & 1]
        if matroid.rank_of(chosen) != ranks[mask]:
            raise AssertionError(
                f"rank_of({chosen}) is {matroid.rank_of(chosen)}, the largest independent subset "
                f"has {ranks[mask]} elements"
            )
        expected = [elements[i] for i in range(n) if ranks[mask | 1 << i] == ranks[mask]]
        closure = [e for e in matroid.closure(chosen).tolist() if e in set(elements)]
        if closure != expected:
            raise AssertionError(f"closure({chosen}) is {closure}, by rank it is {expected}")
        is_basis = len(chosen) == ranks[mask] == matroid.rank
        if matroid.is_basis(chosen) != is_basis:
            raise AssertionError(f"is_basis({chosen}) is {not is_basis}")


def _greedy(matroid: Matroid, order: Iterable[int]) -> list[int]:
    """Greedy by the independence test alone."""
    chosen: list[int] = []
    for e in order:
        if matroid.is_independent([*chosen, e]):
            chosen.append(e)
    return sorted(chosen)


def _all_bases(matroid: Matroid, elements: list[int]) -> list[list[int]]:
    rank = len(_greedy(matroid, elements))
    return [list(b) for b in combinations(elements, rank) if matroid.is_independent(b)]


def _check_rank_and_loops(matroid: Matroid, bases: list[list[int]]) -> None:
    for basis in bases:
        if len(basis) != matroid.rank:
            raise AssertionError(f"rank is {matroid.rank}, but {basis} is a basis")
    loops = [e for e in range(matroid.size) if not matroid.is_independent([e])]
    if matroid.loops.tolist() != loops:
        raise AssertionError(f"loops are {loops}, not {matroid.loops.tolist()}")


def _check_max_weight_basis(matroid: Matroid, rng: "np.random.Generator") -> None:
    for weights in (
        rng.normal(size=matroid.size),
        rng.integers(-1, 2, matroid.size).astype(float),
        np.zeros(matroid.size),
        np.where(rng.random(matroid.size) < 0.5, np.inf, rng.normal(size=matroid.size)),
    ):
        order = sorted(range(matroid.size), key=lambda e: (-weights[e], e))
        expected = _greedy(matroid, order)
        found = matroid.max_weight_basis(weights).tolist()
        if found != expected:
            raise AssertionError(
                f"max_weight_basis({weights.tolist()}) is {found}, greedy by is_independent finds "
                f"{expected}"
            )


def _check_exchange(matroid: Matroid, bases: list[list[int]], rng: "np.random.Generator") -> None:
    """Circuits, and the first element that another can replace, against the definition."""
    if len(bases) > 30:
        bases = [bases[i] for i in rng.choice(len(bases), 30, replace=False)]
    for basis in bases:
        outside = np.setdiff1d(np.arange(matroid.size), basis)
        for e in rng.permutation(outside)[:30].tolist():
            replaceable = [
                x for x in basis if matroid.is_independent([y for y in basis if y != x] + [e])
            ]
            found = matroid.fundamental_circuit(basis, e).tolist()
            if found != sorted([*replaceable, e]):
                raise AssertionError(
                    f"fundamental_circuit({basis}, {e}) is {found}, by is_independent it is "
                    f"{sorted([*replaceable, e])}"
                )
            order = rng.permutation(np.array(basis, dtype=np.intp))
            partner = matroid._new_kernel().first_replaceable(order, e)
            expected = next((x for x in order.tolist() if x in replaceable), -1)
            if partner != expected:
                raise AssertionError(
                    f"the first of {order.tolist()} that {e} can replace is {expected}, "
                    f"the kernel returns {partner}"
                )
