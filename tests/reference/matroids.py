"""Matroids from their definitions, and brute force over small ground sets.

A matroid on the elements ``0..size-1`` is given by its independence predicate, a callable on a
frozenset of elements. The functions in the second half enumerate subsets and are meant for ground
sets of about a dozen elements.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Independence = Callable[[frozenset[int]], bool]


# --- Independence predicates ---------------------------------------------------------------------


def uniform(rank: int) -> Independence:
    """Sets of at most ``rank`` elements."""

    def is_independent(elements: frozenset[int]) -> bool:
        return len(elements) <= rank

    return is_independent


def partition(groups: Sequence[Hashable], capacities: Mapping[Any, int]) -> Independence:
    """Sets with at most ``capacities[g]`` elements of each group g; e is in ``groups[e]``."""

    def is_independent(elements: frozenset[int]) -> bool:
        sizes = Counter(groups[e] for e in elements)
        return all(size <= capacities[group] for group, size in sizes.items())

    return is_independent


def graphic(edges: Sequence[tuple[Hashable, Hashable]]) -> Independence:
    """Sets of edges without a cycle; a self-loop is a cycle, so are two parallel edges."""

    def is_independent(elements: frozenset[int]) -> bool:
        # An edge that ends in a vertex of degree 1 lies on no cycle, so it may be removed. When
        # there is no such edge, every vertex that is left has degree 2 or more: either no edge is
        # left, or the graph has a cycle. A self-loop adds 2 to the degree of its vertex, hence it
        # is never removed.
        remaining = set(elements)
        while True:
            degree = Counter(vertex for e in remaining for vertex in edges[e])
            pendant = {e for e in remaining if any(degree[vertex] == 1 for vertex in edges[e])}
            if not pendant:
                return not remaining
            remaining -= pendant

    return is_independent


def linear(vectors: Sequence[Sequence[float | Fraction]]) -> Independence:
    """Linearly independent sets of vectors, exact over the rationals.

    The entries are plain Python numbers; a float stands for the rational number it stores.
    """
    exact = [[Fraction(entry) for entry in vector] for vector in vectors]

    def is_independent(elements: frozenset[int]) -> bool:
        rows = [exact[e] for e in sorted(elements)]
        return _rows_are_independent(rows, reduce=lambda a: a, inverse=lambda a: 1 / a)

    return is_independent


def linear_mod(vectors: Sequence[Sequence[int]], p: int) -> Independence:
    """Linearly independent sets of vectors over GF(p), p prime."""
    residues = [[int(entry) % p for entry in vector] for vector in vectors]

    def is_independent(elements: frozenset[int]) -> bool:
        rows = [residues[e] for e in sorted(elements)]
        return _rows_are_independent(rows, reduce=lambda a: a % p, inverse=lambda a: pow(a, -1, p))

    return is_independent


def _rows_are_independent(
    rows: Sequence[Sequence[Any]], reduce: Callable[[Any], Any], inverse: Callable[[Any], Any]
) -> bool:
    """Gaussian elimination: no row becomes zero after subtracting multiples of earlier rows."""
    pivots: list[tuple[int, list[Any]]] = []
    for original in rows:
        row = list(original)
        for column, pivot in pivots:
            factor = row[column]
            row = [reduce(a - factor * b) for a, b in zip(row, pivot, strict=True)]
        nonzero = [column for column, entry in enumerate(row) if entry != 0]
        if not nonzero:
            return False
        scale = inverse(row[nonzero[0]])
        pivots.append((nonzero[0], [reduce(scale * a) for a in row]))
    return True


def transversal(neighbors: Sequence[Collection[Hashable]]) -> Independence:
    """Sets of elements that can be matched, each to a neighbor of its own.

    By Hall's theorem such a matching exists exactly if every subset of k elements has, all
    together, at least k neighbors. All subsets are tried.
    """

    def is_independent(elements: frozenset[int]) -> bool:
        return all(
            len({slot for e in subset for slot in neighbors[e]}) >= len(subset)
            for subset in _subsets(elements)
        )

    return is_independent


# --- Brute force ---------------------------------------------------------------------------------


def _subsets(elements: Collection[int]) -> Iterator[frozenset[int]]:
    """All subsets, by ascending size."""
    for count in range(len(elements) + 1):
        for subset in combinations(sorted(elements), count):
            yield frozenset(subset)


def independent_sets(size: int, is_independent: Independence) -> set[frozenset[int]]:
    """All independent sets."""
    return {subset for subset in _subsets(range(size)) if is_independent(subset)}


def bases(size: int, is_independent: Independence) -> set[frozenset[int]]:
    """All bases: the independent sets to which no element can be added."""
    independent = independent_sets(size, is_independent)
    return {
        subset
        for subset in independent
        if not any(subset | {e} in independent for e in range(size) if e not in subset)
    }


def rank(size: int, is_independent: Independence) -> int:
    """The size of the largest independent set."""
    return max(len(subset) for subset in independent_sets(size, is_independent))


def loops(size: int, is_independent: Independence) -> frozenset[int]:
    """The elements that are in no basis."""
    in_some_basis = frozenset().union(*bases(size, is_independent))
    return frozenset(range(size)) - in_some_basis


def best_basis(
    size: int, is_independent: Independence, weights: Sequence[float]
) -> tuple[int, ...]:
    """The basis of maximum total weight, elements ascending; ties as greedy breaks them."""
    # Put the elements in the order of greedy: weight descending, index ascending. Write a basis as
    # the ascending sequence of its positions in that order. Greedy takes at every step the first
    # position that leaves the chosen set independent, and every independent set is part of a
    # basis, so greedy ends with the lexicographically smallest sequence.
    #
    # In a matroid this basis has maximum total weight, because its k-th position is the smallest
    # possible for every k. Suppose the k-th position of another basis were smaller. Its first k
    # elements all come before the k-th element of greedy, and by the exchange axiom one of them
    # can be added to the first k-1 elements of greedy: greedy would have taken it already.
    #
    # Comparing positions instead of sums also keeps rounding out of it.
    order = sorted(range(size), key=lambda e: (-weights[e], e))
    position = {e: place for place, e in enumerate(order)}

    def positions(basis: Iterable[int]) -> list[int]:
        return sorted(position[e] for e in basis)

    return tuple(sorted(min(bases(size, is_independent), key=positions)))


def fundamental_circuit(
    size: int, is_independent: Independence, basis: Collection[int], e: int
) -> frozenset[int]:
    """The unique minimal dependent subset of ``basis`` and e, for e outside the basis."""
    if e in basis or e not in range(size):
        raise ValueError(f"element {e} is not an element outside the basis")
    dependent = [s for s in _subsets({*basis, e}) if not is_independent(s)]
    minimal = [s for s in dependent if not any(other < s for other in dependent)]
    if len(minimal) != 1:
        raise ValueError(f"basis and element {e} contain {len(minimal)} circuits instead of one")
    return minimal[0]
