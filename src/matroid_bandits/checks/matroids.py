"""Check that it is a matroid and that its faster routes agree with its independence test."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from matroid_bandits.matroids import Matroid

__all__ = ["check_matroid"]

# 2**12 sets are tried in well under a second.
_EXHAUSTIVE = 12


def check_matroid(matroid: Matroid, *, seed: int = 0) -> None:
    """Check the axioms and every method of a matroid against its independence test.

    Up to 12 elements all sets are tried. Of a larger matroid random restrictions to 10 elements
    are tried that way, and the methods on random weights and bases.

    Parameters
    ----------
    matroid : Matroid
        The instance to check; small ones with loops, parallel elements and coloops tell most.
    seed : int, default 0
        Seed of the random weights and restrictions.

    Raises
    ------
    AssertionError
        With the sets that break an axiom, or the call that disagrees.

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
    rng = np.random.default_rng(seed)
    everything = list(range(matroid.size))
    if matroid.size <= _EXHAUSTIVE:
        _check_axioms(matroid, everything)
        bases = _all_bases(matroid, everything)
    else:
        for _ in range(5):
            _check_axioms(matroid, sorted(rng.choice(matroid.size, 10, replace=False).tolist()))
        bases = [_greedy(matroid, rng.permutation(matroid.size).tolist()) for _ in range(10)]
    _check_rank_and_loops(matroid, bases)
    _check_max_weight_basis(matroid, rng)
    _check_exchange(matroid, bases, rng)


def _check_axioms(matroid: Matroid, elements: list[int]) -> None:
    """The axioms on all subsets of `elements`, by way of the rank function."""
    if not (matroid.is_independent([])):
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
    """Circuits, and the partner a policy would be given, against the definition."""
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
                    f"the kernel says {partner}"
                )
