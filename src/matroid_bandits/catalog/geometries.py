"""Points, lines and planes that have a name; the appendix of [OXL11] shows most of them."""

from itertools import combinations, product

import numpy as np

from matroid_bandits._arguments import integer
from matroid_bandits.catalog._sizes import check_size
from matroid_bandits.matroids import LinearMatroid, PavingMatroid
from matroid_bandits.matroids._primes import is_prime

__all__ = [
    "affine_geometry",
    "affine_plane",
    "desargues",
    "fano",
    "non_fano",
    "non_pappus",
    "pappus",
    "projective_geometry",
    "projective_plane",
    "r10",
    "vamos",
    "whirl",
]

# Three points on each of two lines, and where the lines between them meet, which are on a ninth
# line if there are coordinates in a field.
_EIGHT_LINES = ("012", "345", "046", "057", "136", "158", "237", "248")
_NINTH_LINE = "678"


def projective_geometry(n: int, q: int) -> LinearMatroid:
    """The points of the projective space of dimension n over GF(q), q a prime.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.projective_geometry(3, 2)
    LinearMatroid(size=15, rank=4, over GF(2))
    """
    n, q = _checked(n, q, f"PG({n},{q})")
    # Every point once: vectors whose first entry other than 0 is 1.
    points = [
        [*[0] * (n - k), 1, *rest] for k in range(n + 1) for rest in product(range(q), repeat=k)
    ]
    return LinearMatroid(np.array(points), field=q)


def affine_geometry(n: int, q: int) -> LinearMatroid:
    """The points of the affine space of dimension n over GF(q), q a prime.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.affine_geometry(3, 2)
    LinearMatroid(size=8, rank=4, over GF(2))
    """
    n, q = _checked(n, q, f"AG({n},{q})")
    points = [[1, *rest] for rest in product(range(q), repeat=n)]
    return LinearMatroid(np.array(points), field=q)


def projective_plane(q: int) -> LinearMatroid:
    """The projective plane of prime order q, PG(2,q): lines have q + 1 points.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.projective_plane(3)
    LinearMatroid(size=13, rank=3, over GF(3))
    """
    return projective_geometry(2, q)


def affine_plane(q: int) -> LinearMatroid:
    """The affine plane of prime order q, AG(2,q): lines have q points.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.affine_plane(3)
    LinearMatroid(size=9, rank=3, over GF(3))
    """
    return affine_geometry(2, q)


def fano() -> LinearMatroid:
    """The Fano plane: seven points, seven lines of three.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.fano()
    LinearMatroid(size=7, rank=3, over GF(2))
    """
    return projective_plane(2)


def non_fano() -> LinearMatroid:
    """The Fano plane with one line less.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.non_fano()
    LinearMatroid(size=7, rank=3, over the rationals)
    """
    # The vectors of the Fano plane: over GF(2) alone 110, 101 and 011 are on a line.
    return LinearMatroid([v for v in product((0, 1), repeat=3) if any(v)])


def pappus() -> PavingMatroid:
    """The Pappus configuration: nine points, nine lines of three.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.pappus().is_independent([6, 7, 8])
    False
    """
    return _points_on_lines(9, *_EIGHT_LINES, _NINTH_LINE)


def non_pappus() -> PavingMatroid:
    """The Pappus configuration without its last line; no field has coordinates for it.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.non_pappus().is_independent([6, 7, 8])
    True
    """
    return _points_on_lines(9, *_EIGHT_LINES)


def desargues() -> PavingMatroid:
    """The Desargues configuration: ten points, ten lines of three.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.desargues()
    PavingMatroid(rank=3, size=10, hyperplanes=10)
    """
    # Points are pairs from five things, lines what three of the five have.
    pairs = list(combinations(range(5), 2))
    lines = [
        [pairs.index(pair) for pair in combinations(three, 2)]
        for three in combinations(range(5), 3)
    ]
    return PavingMatroid(3, 10, lines)


def vamos() -> PavingMatroid:
    """The Vamos matroid: four pairs, all but two of which are in a plane with each other.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.vamos().is_independent([4, 5, 6, 7])
    True
    """
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    *planes, _ = ([*one, *other] for one, other in combinations(pairs, 2))
    return PavingMatroid(4, 8, planes)


def whirl(n: int) -> LinearMatroid:
    """The whirl with n spokes: the wheel, with its rim independent.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.whirl(3).is_independent([3, 4, 5])
    True
    """
    n = integer(n, "n", minimum=2)
    check_size(f"whirl({n})", 2 * n * n, what="entries of its vectors")
    spokes = np.eye(n, dtype=np.int64)
    # The wheel's rim is a cycle of differences. One sum among them, and it is none, over GF(3) and
    # every field but GF(2).
    rim = spokes - np.roll(spokes, 1, axis=1)
    rim[-1, 0] = 1
    return LinearMatroid(np.concatenate([spokes, rim]), field=3)


def r10() -> LinearMatroid:
    """Regular, that is, over every field, and yet neither graphic nor cographic [SEY80].

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.r10()
    LinearMatroid(size=10, rank=5, over GF(2))
    """
    # All vectors of length 5 with three ones.
    vectors = [v for v in product((0, 1), repeat=5) if sum(v) == 3]
    return LinearMatroid(np.array(vectors), field=2)


def _checked(n: int, q: int, name: str) -> tuple[int, int]:
    """Dimension and order of a geometry."""
    n, q = integer(n, "n", minimum=1), integer(q, "q", minimum=2)
    # About q**n points; two to the 21st are too many already.
    check_size(name, q ** min(n, 21) * (n + 1), what="entries of its vectors")
    if not is_prime(q):
        raise ValueError(f"{name}: q must be a prime, got {q}")
    return n, q


def _points_on_lines(size: int, *lines: str) -> PavingMatroid:
    return PavingMatroid(3, size, [map(int, line) for line in lines])
