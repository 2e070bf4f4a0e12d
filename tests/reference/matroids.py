"""Matroids from their definitions, and brute force over small ground sets.

A matroid on the elements ``0..size-1`` is given by its independence predicate, a callable on a
frozenset of elements. The functions in the second half enumerate subsets and are meant for ground
sets of about a dozen elements.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
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

    The entries are plain Python numbers; a float is the rational number it stores.
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


def cographic(edges: Sequence[tuple[Hashable, Hashable]]) -> Independence:
    """Sets of edges whose removal leaves the graph in as many pieces as before."""

    def is_independent(elements: frozenset[int]) -> bool:
        rest = [edge for e, edge in enumerate(edges) if e not in elements]
        vertices = {vertex for edge in edges for vertex in edge}
        return _number_of_pieces(vertices, rest) == _number_of_pieces(vertices, edges)

    return is_independent


def _number_of_pieces(
    vertices: Collection[Hashable], edges: Sequence[tuple[Hashable, Hashable]]
) -> int:
    """How many connected components a graph has."""
    unvisited = set(vertices)
    count = 0
    while unvisited:
        count += 1
        frontier = {unvisited.pop()}
        while frontier:
            touched = {vertex for edge in edges if frontier & set(edge) for vertex in edge}
            frontier = touched & unvisited
            unvisited -= frontier
    return count


def laminar(sets: Sequence[Collection[int]], capacities: Sequence[int]) -> Independence:
    """Sets with at most ``capacities[i]`` elements of every ``sets[i]``.

    Any two of the sets are disjoint or one is part of the other. An element of none is always
    allowed.
    """

    def is_independent(elements: frozenset[int]) -> bool:
        return all(
            len(elements & frozenset(members)) <= capacity
            for members, capacity in zip(sets, capacities, strict=True)
        )

    return is_independent


def paving(rank: int, hyperplanes: Sequence[Collection[int]]) -> Independence:
    """Sets of fewer than ``rank`` elements, and those of ``rank`` that lie in no hyperplane.

    Two hyperplanes have at most ``rank - 2`` elements in common. Hyperplanes of fewer than
    ``rank`` elements make no difference.
    """

    def is_independent(elements: frozenset[int]) -> bool:
        if len(elements) != rank:
            return len(elements) < rank
        return not any(elements <= frozenset(plane) for plane in hyperplanes)

    return is_independent


def gammoid(
    arcs: Collection[tuple[Hashable, Hashable]],
    targets: Collection[Hashable],
    elements: Sequence[Hashable],
) -> Independence:
    """Sets with paths to targets, one from each element, no two of which share a vertex.

    Element e is the vertex ``elements[e]``. A path follows the arcs; a target is a path by itself.
    All systems of paths are tried.
    """

    def is_independent(chosen: frozenset[int]) -> bool:
        return disjoint_paths_exist([elements[e] for e in sorted(chosen)], frozenset())

    def disjoint_paths_exist(sources: Sequence[Hashable], taken: frozenset[Hashable]) -> bool:
        if not sources:
            return True
        return any(
            disjoint_paths_exist(sources[1:], taken | path) for path in paths(sources[0], taken)
        )

    def paths(start: Hashable, taken: frozenset[Hashable]) -> Iterator[frozenset[Hashable]]:
        """The vertices of every path from `start` to a target that avoids those taken."""
        if start in taken:
            return
        if start in targets:
            yield frozenset({start})
        for tail, head in arcs:
            if tail == start:
                for rest in paths(head, taken | {start}):
                    yield rest | {start}

    return is_independent


# --- Matroids from matroids ----------------------------------------------------------------------


def dual(size: int, is_independent: Independence) -> Independence:
    """Sets that some basis does without."""
    all_bases = bases(size, is_independent)
    return lambda elements: any(not elements & basis for basis in all_bases)


def truncation(is_independent: Independence, largest: int) -> Independence:
    """Independent sets of at most ``largest`` elements."""
    return lambda elements: len(elements) <= largest and is_independent(elements)


def minor(
    is_independent: Independence, kept: Sequence[int], contracted: Collection[int]
) -> Independence:
    """What is left after contracting some elements and keeping some of the others.

    Element i is the old ``kept[i]``. A set is independent if it adds all of its elements to the
    rank of those contracted.
    """
    base = _rank_of(contracted, is_independent)

    def is_independent_in_minor(elements: frozenset[int]) -> bool:
        together = {kept[e] for e in elements} | set(contracted)
        return _rank_of(together, is_independent) == len(elements) + base

    return is_independent_in_minor


def _rank_of(elements: Collection[int], is_independent: Independence) -> int:
    """The size of the largest independent subset."""
    return max(len(subset) for subset in _subsets(elements) if is_independent(subset))


def direct_sum(parts: Sequence[tuple[int, Independence]]) -> Independence:
    """Sets that are independent in every part; the elements of a part follow those before it."""

    def is_independent(elements: frozenset[int]) -> bool:
        start = 0
        for size, independent_in_part in parts:
            if not independent_in_part(frozenset(range(size)) & {e - start for e in elements}):
                return False
            start += size
        return True

    return is_independent


def union(parts: Sequence[Independence]) -> Independence:
    """Sets that can be divided among the parts, so that each gets an independent one.

    All ways of dividing are tried.
    """

    def is_independent(elements: frozenset[int]) -> bool:
        members = sorted(elements)
        return any(
            all(
                independent_in_part(
                    frozenset(e for e, p in zip(members, owner, strict=True) if p == i)
                )
                for i, independent_in_part in enumerate(parts)
            )
            for owner in product(range(len(parts)), repeat=len(members))
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


def circuits(size: int, is_independent: Independence) -> set[frozenset[int]]:
    """All circuits: the dependent sets of which every part is independent."""
    return {
        subset
        for subset in _subsets(range(size))
        if not is_independent(subset) and all(is_independent(subset - {e}) for e in subset)
    }


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
