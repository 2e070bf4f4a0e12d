"""Graphs that have a name; the bases of their matroids are their spanning trees."""

from itertools import combinations, product

from matroid_bandits._arguments import integer
from matroid_bandits.catalog._sizes import check_size
from matroid_bandits.matroids import GraphicMatroid

__all__ = [
    "complete_bipartite",
    "complete_graph",
    "grid",
    "ladder",
    "petersen",
    "prism",
    "wheel",
]


def complete_graph(n: int) -> GraphicMatroid:
    """The complete graph on n vertices.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.complete_graph(4)
    GraphicMatroid(size=6, vertices=4, rank=3)
    """
    n = integer(n, "n", minimum=0)
    check_size(f"K{n}", n * (n - 1) // 2)
    return GraphicMatroid.complete(n)


def complete_bipartite(m: int, n: int) -> GraphicMatroid:
    """The complete bipartite graph: m vertices, each joined to each of n others.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.complete_bipartite(2, 2).edges
    [(0, 2), (0, 3), (1, 2), (1, 3)]
    """
    m, n = integer(m, "m", minimum=0), integer(n, "n", minimum=0)
    check_size(f"K({m},{n})", m * n)
    return GraphicMatroid(product(range(m), range(m, m + n)))


def wheel(n: int) -> GraphicMatroid:
    """The wheel with n spokes; the rim comes after them.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.wheel(3).edges
    [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 1)]
    """
    n = integer(n, "n", minimum=3)
    check_size(f"wheel({n})", 2 * n)
    spokes = [(0, i) for i in range(1, n + 1)]
    return GraphicMatroid([*spokes, *((i, i % n + 1) for i in range(1, n + 1))])


def prism(n: int) -> GraphicMatroid:
    """The prism over a polygon with n corners; that over a square is the cube.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.prism(4)
    GraphicMatroid(size=12, vertices=8, rank=7)
    """
    n = integer(n, "n", minimum=3)
    check_size(f"prism({n})", 3 * n)
    around = [(i, (i + 1) % n) for i in range(n)]
    return GraphicMatroid(
        [*around, *((n + i, n + j) for i, j in around), *((i, n + i) for i in range(n))]
    )


def grid(m: int, n: int) -> GraphicMatroid:
    """The grid of m by n vertices, each joined to its neighbors.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.grid(2, 2).edges
    [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1)), ((1, 0), (1, 1))]
    """
    m, n = integer(m, "m", minimum=1), integer(n, "n", minimum=1)
    check_size(f"grid({m},{n})", m * (n - 1) + n * (m - 1))
    return GraphicMatroid(
        ((i, j), end)
        for i, j in product(range(m), range(n))
        for end in ((i, j + 1), (i + 1, j))
        if end[0] < m and end[1] < n
    )


def ladder(n: int) -> GraphicMatroid:
    """The ladder with n rungs.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.ladder(3)
    GraphicMatroid(size=7, vertices=6, rank=5)
    """
    n = integer(n, "n", minimum=1)
    check_size(f"ladder({n})", 3 * n - 2)
    return grid(2, n)


def petersen() -> GraphicMatroid:
    """The Petersen graph: pairs from five things, joined where they have nothing in common.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.petersen()
    GraphicMatroid(size=15, vertices=10, rank=9)
    """
    pairs = list(combinations(range(5), 2))
    return GraphicMatroid(
        (one, other) for one, other in combinations(pairs, 2) if not {*one} & {*other}
    )
