"""Small matroids for Hypothesis, each with the textbook independence test of the same data.

Strategies build the structure (edges, groups, rows) rather than a seed, so that a failure shrinks
to a few edges.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import catalog

from . import recipes
from .reference import matroids as reference

MAX_SIZE = 7


@dataclass(frozen=True)
class Instance:
    """A matroid of ours and its textbook independence test."""

    matroid: mb.Matroid
    is_independent: reference.Independence

    @property
    def size(self) -> int:
        return self.matroid.size


def _sizes(smallest: int = 0) -> st.SearchStrategy[int]:
    return st.integers(smallest, MAX_SIZE)


@st.composite
def uniform(draw: st.DrawFn) -> Instance:
    size = draw(_sizes())
    rank = draw(st.integers(0, size))
    return Instance(mb.UniformMatroid(rank, size), reference.uniform(rank))


@st.composite
def partition(draw: st.DrawFn) -> Instance:
    groups = draw(st.lists(st.sampled_from("abc"), max_size=MAX_SIZE))
    capacities = {group: draw(st.integers(0, 3)) for group in "abc"}
    return Instance(
        mb.PartitionMatroid(groups, capacities), reference.partition(groups, capacities)
    )


@st.composite
def graphic(draw: st.DrawFn) -> Instance:
    vertices = st.integers(0, 4)
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=MAX_SIZE))
    return Instance(mb.GraphicMatroid(edges), reference.graphic(edges))


@st.composite
def cographic(draw: st.DrawFn) -> Instance:
    vertices = st.integers(0, 4)
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=MAX_SIZE))
    return Instance(mb.CographicMatroid(edges), reference.cographic(edges))


@st.composite
def gammoid(draw: st.DrawFn) -> Instance:
    vertices = st.integers(0, MAX_SIZE)
    arcs = draw(st.lists(st.tuples(vertices, vertices), max_size=12))
    targets = draw(st.lists(vertices, unique=True, max_size=5))
    known = sorted({*targets, *(end for arc in arcs for end in arc)})
    chosen = draw(st.permutations(known))[:MAX_SIZE]
    return Instance(
        mb.GammoidMatroid(arcs, targets, chosen), reference.gammoid(arcs, targets, chosen)
    )


@st.composite
def linear(draw: st.DrawFn) -> Instance:
    width = draw(st.integers(1, 4))
    field = draw(st.sampled_from([None, None, 2, 3, 2147483647]))
    entries = st.integers(-2, 2) | st.integers(-(10**25), 10**25)
    if field is None:
        entries |= st.fractions(max_denominator=4).filter(lambda f: abs(f) < 100)
    rows = draw(st.lists(st.lists(entries, min_size=width, max_size=width), max_size=MAX_SIZE))
    textbook = reference.linear(rows) if field is None else reference.linear_mod(rows, field)
    return Instance(mb.LinearMatroid(np.array(rows, dtype=object), field=field), textbook)


@st.composite
def floats(draw: st.DrawFn) -> Instance:
    """Small integers as floats: far from any tolerance, so the rationals decide."""
    width = draw(st.integers(1, 4))
    row = st.lists(st.integers(-2, 2), min_size=width, max_size=width)
    rows = draw(st.lists(row, max_size=MAX_SIZE))
    scale = draw(st.sampled_from([1.0, 1e-200, 1e200, 0.1]))
    vectors = np.array(rows, dtype=float).reshape(len(rows), width) * scale
    return Instance(
        mb.LinearMatroid(vectors), reference.linear([[Fraction(x) for x in r] for r in rows])
    )


@st.composite
def laminar(draw: st.DrawFn) -> Instance:
    size = draw(_sizes())
    order = draw(st.permutations(range(size)))
    sets: list[list[int]] = []
    for low in range(size):
        for high in range(size, low, -1):
            # Intervals of an order, as long as they do not cross; some are given twice.
            new = order[low:high]
            if all(not set(s) & set(new) or set(s) >= set(new) for s in sets):
                sets += [new] * draw(st.sampled_from([0, 0, 1, 2]))
    capacities = draw(st.lists(st.integers(0, size + 1), min_size=len(sets), max_size=len(sets)))
    return Instance(mb.LaminarMatroid(sets, capacities, size), reference.laminar(sets, capacities))


@st.composite
def paving(draw: st.DrawFn) -> Instance:
    size = draw(_sizes())
    rank = draw(st.integers(0, size))
    planes: list[set[int]] = []
    if 0 < rank < size:
        plane = st.sets(st.integers(0, size - 1), min_size=rank, max_size=size - 1)
        for new in draw(st.lists(plane, max_size=6)):
            if all(len(new & other) <= rank - 2 for other in planes):
                planes.append(new)
    return Instance(mb.PavingMatroid(rank, size, planes), reference.paving(rank, planes))


@st.composite
def transversal(draw: st.DrawFn) -> Instance:
    neighbors = draw(
        st.lists(st.lists(st.integers(0, 4), max_size=4, unique=True), max_size=MAX_SIZE)
    )
    return Instance(mb.TransversalMatroid(neighbors), reference.transversal(neighbors))


@st.composite
def oracle(draw: st.DrawFn) -> Instance:
    inner = draw(graphic())
    return Instance(mb.OracleMatroid(inner.size, inner.is_independent), inner.is_independent)


@st.composite
def dual(draw: st.DrawFn) -> Instance:
    part = draw(_parts())
    return Instance(mb.DualMatroid(part.build()), recipes.Dual(part).is_independent)


@st.composite
def truncated(draw: st.DrawFn) -> Instance:
    part = draw(_parts())
    rank = draw(st.integers(0, part.rank))
    return Instance(
        mb.TruncatedMatroid(part.build(), rank), recipes.Truncated(part, rank).is_independent
    )


@st.composite
def minor(draw: st.DrawFn) -> Instance:
    part = draw(_parts())
    fate = draw(st.lists(st.integers(0, 2), min_size=part.size, max_size=part.size))
    kept = [e for e in range(part.size) if fate[e] == 0]
    contracted = [e for e in range(part.size) if fate[e] == 1]
    return Instance(
        mb.MinorMatroid(part.build(), kept, contracted),
        reference.minor(part.is_independent, kept, contracted),
    )


@st.composite
def direct_sum(draw: st.DrawFn) -> Instance:
    parts = draw(st.lists(_parts(2), min_size=1, max_size=3))
    textbook = reference.direct_sum([(part.size, part.is_independent) for part in parts])
    return Instance(mb.DirectSumMatroid(*(part.build() for part in parts)), textbook)


@st.composite
def union(draw: st.DrawFn) -> Instance:
    size = draw(st.integers(0, 6))
    parts = draw(st.lists(_parts(size, size), min_size=1, max_size=3))
    textbook = cache(reference.union([part.is_independent for part in parts]))
    return Instance(mb.UnionMatroid(*(part.build() for part in parts)), textbook)


def _parts(largest: int = MAX_SIZE, smallest: int = 0) -> st.SearchStrategy[recipes.Recipe]:
    """What compositions are made of: mostly plain matroids, or compositions themselves."""
    return recipes.recipes(max_size=largest, max_depth=1, min_size=smallest)


@st.composite
def fallback(draw: st.DrawFn, cls: type[mb.Matroid]) -> Instance:
    """For a class without a strategy: its own random instances, trusted to its own test."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matroid = cls.random(rng, draw(_sizes()))
    return Instance(matroid, matroid.is_independent)


_BY_NAME = {
    "uniform": uniform(),
    "partition": partition(),
    "graphic": graphic(),
    "linear": linear() | floats(),
    "transversal": transversal(),
    "oracle": oracle(),
    "cographic": cographic(),
    "gammoid": gammoid(),
    "laminar": laminar(),
    "paving": paving(),
    "directsum": direct_sum(),
    "dual": dual(),
    "minor": minor(),
    "truncated": truncated(),
    "union": union(),
}


def instances(family: str) -> st.SearchStrategy[Instance]:
    """Instances of the class called `family` in the catalog."""
    return _BY_NAME[family] if family in _BY_NAME else fallback(catalog.MATROIDS[family])
