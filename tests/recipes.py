"""Recipes: small matroids and what can be made of them, written down before they are made.

A recipe is an expression: instances of the built-in classes, and operations on other recipes. From
one recipe come our matroid (`build`) and the textbook's independence test (`is_independent`), each
made in its own way; ``sage/peers.py`` makes SageMath's matroid of it. Its ``repr`` is Python that
makes our matroid again.

`make` grows a recipe from whole numbers chosen by somebody else: a random generator
(`random_recipe`), or Hypothesis (`recipes`), which then shrinks them. The smaller a number, the
simpler the matroid.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
from hypothesis import strategies as st

import matroid_bandits as mb

from .reference import matroids as reference

# A number from the first to the second, both included.
Choose = Callable[[int, int], int]
Edges = tuple[tuple[int, int], ...]
Sets = tuple[tuple[int, ...], ...]

# The parts of minors have more elements than these; the textbook's tests are exponential.
MAX_PART = 9


class Recipe(ABC):
    """How to make a matroid on the elements ``0..size-1``, in several ways."""

    size: int

    @abstractmethod
    def build(self) -> mb.Matroid:
        """Our matroid."""

    @abstractmethod
    def definition(self) -> reference.Independence:
        """The textbook's independence test."""

    def is_independent(self, elements: frozenset[int]) -> bool:
        """The textbook's answer; a bound method, so that it can be pickled."""
        return _cached_test(self)(elements)

    @property
    def rank(self) -> int:
        return reference.rank(self.size, self.is_independent)


@lru_cache(maxsize=256)
def _cached_test(recipe: Recipe) -> reference.Independence:
    return cache(recipe.definition())


def _bits(number: int, count: int) -> tuple[int, ...]:
    """The places of the ones of a number: a subset of ``0..count-1``."""
    return tuple(i for i in range(count) if number >> i & 1)


# --- instances of the built-in classes -----------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Uniform(Recipe):
    limit: int
    size: int

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Uniform":
        return cls(choose(0, size), size)

    def build(self) -> mb.Matroid:
        return mb.UniformMatroid(self.limit, self.size)

    def definition(self) -> reference.Independence:
        return reference.uniform(self.limit)

    def __repr__(self) -> str:
        return f"mb.UniformMatroid({self.limit}, {self.size})"


@dataclass(frozen=True, repr=False)
class Partition(Recipe):
    groups: tuple[int, ...]
    capacities: tuple[int, ...]

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Partition":
        groups = tuple(choose(0, 2) for _ in range(size))
        return cls(groups, tuple(choose(0, 3) for _ in range(3)))

    @property
    def size(self) -> int:
        return len(self.groups)

    def build(self) -> mb.Matroid:
        return mb.PartitionMatroid(self.groups, self.capacities)

    def definition(self) -> reference.Independence:
        return reference.partition(self.groups, dict(enumerate(self.capacities)))

    def __repr__(self) -> str:
        return f"mb.PartitionMatroid({list(self.groups)}, {list(self.capacities)})"


@dataclass(frozen=True, repr=False)
class Graphic(Recipe):
    edges: Edges

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Graphic":
        last = choose(1, 4)
        return cls(tuple((choose(0, last), choose(0, last)) for _ in range(size)))

    @property
    def size(self) -> int:
        return len(self.edges)

    def build(self) -> mb.Matroid:
        return mb.GraphicMatroid(self.edges)

    def definition(self) -> reference.Independence:
        return reference.graphic(self.edges)

    def __repr__(self) -> str:
        return f"mb.GraphicMatroid({list(self.edges)})"


@dataclass(frozen=True, repr=False)
class Cographic(Graphic):
    def build(self) -> mb.Matroid:
        return mb.CographicMatroid(self.edges)

    def definition(self) -> reference.Independence:
        return reference.cographic(self.edges)

    def __repr__(self) -> str:
        return f"mb.CographicMatroid({list(self.edges)})"


@dataclass(frozen=True, repr=False)
class Linear(Recipe):
    rows: Sets
    width: int
    field: int | None
    floats: bool = False

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Linear":
        width = choose(1, 4)
        field = (None, 2, 3, 7)[choose(0, 3)]
        floats = field is None and choose(0, 1) == 1
        rows = tuple(tuple(choose(-2, 2) for _ in range(width)) for _ in range(size))
        return cls(rows, width, field, floats)

    @property
    def size(self) -> int:
        return len(self.rows)

    def build(self) -> mb.Matroid:
        dtype = float if self.floats else int
        rows = np.array(self.rows, dtype=dtype).reshape(self.size, self.width)
        return mb.LinearMatroid(rows, field=self.field)

    def definition(self) -> reference.Independence:
        if self.field is None:
            return reference.linear(self.rows)
        return reference.linear_mod(self.rows, self.field)

    def __repr__(self) -> str:
        kind = "float" if self.floats else "int"
        rows = f"np.array({[list(row) for row in self.rows]}, {kind}).reshape(-1, {self.width})"
        return f"mb.LinearMatroid({rows}, field={self.field})"


@dataclass(frozen=True, repr=False)
class Transversal(Recipe):
    neighbors: Sets

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Transversal":
        return cls(tuple(_bits(choose(0, 15), 4) for _ in range(size)))

    @property
    def size(self) -> int:
        return len(self.neighbors)

    def build(self) -> mb.Matroid:
        return mb.TransversalMatroid(self.neighbors)

    def definition(self) -> reference.Independence:
        return reference.transversal(self.neighbors)

    def __repr__(self) -> str:
        return f"mb.TransversalMatroid({[list(near) for near in self.neighbors]})"


@dataclass(frozen=True, repr=False)
class Laminar(Recipe):
    sets: Sets
    capacities: tuple[int, ...]
    size: int

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Laminar":
        sets: list[set[int]] = []
        for _ in range(choose(0, 4)):
            inside = choose(0, len(sets))
            chosen = set(_bits(choose(0, 2**size - 1), size))
            if inside:
                chosen &= sets[inside - 1]
            for other in sets:
                if not (chosen <= other or other <= chosen):
                    chosen -= other
            if chosen:
                sets.append(chosen)
        capacities = tuple(choose(0, 3) for _ in sets)
        return cls(tuple(tuple(sorted(members)) for members in sets), capacities, size)

    def build(self) -> mb.Matroid:
        return mb.LaminarMatroid(self.sets, self.capacities, self.size)

    def definition(self) -> reference.Independence:
        return reference.laminar(self.sets, self.capacities)

    def __repr__(self) -> str:
        sets = [list(members) for members in self.sets]
        return f"mb.LaminarMatroid({sets}, {list(self.capacities)}, {self.size})"


@dataclass(frozen=True, repr=False)
class Paving(Recipe):
    limit: int
    size: int
    hyperplanes: Sets

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Paving":
        rank = choose(0, size)
        planes: list[set[int]] = []
        for _ in range(choose(0, 4) if 0 < rank < size else 0):
            plane = set(_bits(choose(0, 2**size - 2), size))
            # A set of random size is mostly too large to agree with another.
            plane = set(sorted(plane)[: rank + choose(0, 1)])
            if rank <= len(plane) < size and all(len(plane & p) <= rank - 2 for p in planes):
                planes.append(plane)
        return cls(rank, size, tuple(tuple(sorted(plane)) for plane in planes))

    def build(self) -> mb.Matroid:
        return mb.PavingMatroid(self.limit, self.size, self.hyperplanes)

    def definition(self) -> reference.Independence:
        return reference.paving(self.limit, self.hyperplanes)

    def __repr__(self) -> str:
        planes = [list(plane) for plane in self.hyperplanes]
        return f"mb.PavingMatroid({self.limit}, {self.size}, {planes})"


@dataclass(frozen=True, repr=False)
class Gammoid(Recipe):
    arcs: Edges
    targets: tuple[int, ...]
    elements: tuple[int, ...]

    @classmethod
    def make(cls, choose: Choose, size: int) -> "Gammoid":
        vertices = list(range(size + choose(0, 2)))
        if not vertices:
            return cls((), (), ())
        last = len(vertices) - 1
        arcs = [(choose(0, last), choose(0, last)) for _ in range(choose(0, 2 * size))]
        targets = _bits(choose(0, 2 ** len(vertices) - 1), len(vertices))[:4]
        # An arc from a vertex to itself changes nothing, but makes it known.
        arcs += [(v, v) for v in vertices]
        while len(vertices) > size:
            vertices.pop(choose(0, len(vertices) - 1))
        return cls(tuple(dict.fromkeys(arcs)), targets, tuple(vertices))

    @property
    def size(self) -> int:
        return len(self.elements)

    def build(self) -> mb.Matroid:
        return mb.GammoidMatroid(self.arcs, self.targets, self.elements)

    def definition(self) -> reference.Independence:
        return reference.gammoid(self.arcs, self.targets, self.elements)

    def __repr__(self) -> str:
        return f"mb.GammoidMatroid({list(self.arcs)}, {list(self.targets)}, {list(self.elements)})"


BASES: dict[str, Callable[[Choose, int], Recipe]] = {
    "uniform": Uniform.make,
    "partition": Partition.make,
    "graphic": Graphic.make,
    "linear": Linear.make,
    "transversal": Transversal.make,
    "cographic": Cographic.make,
    "laminar": Laminar.make,
    "paving": Paving.make,
    "gammoid": Gammoid.make,
}


# --- matroids of users ---------------------------------------------------------------------------


class Plain(mb.Matroid):
    """As short as a matroid of a user's can be."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe.size)
        self._recipe = recipe

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return self._recipe.is_independent(elements)


class Resourceful(Plain):
    """With its own greedy and circuits."""

    def _greedy(self, order: tuple[int, ...], limit: int) -> list[int]:
        chosen: list[int] = []
        for e in order:
            if len(chosen) < limit and self._is_independent(frozenset([*chosen, e])):
                chosen.append(e)
        return chosen

    def _fundamental_circuit(self, basis: frozenset[int], element: int) -> list[int]:
        return [element, *(x for x in basis if self._is_independent(basis - {x} | {element}))]


class Overridden(mb.UniformMatroid):
    """A built-in whose answers a subclass has changed: nothing of the built-in's is true of it."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe.size, recipe.size)
        self._recipe = recipe

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return self._recipe.is_independent(elements)


def _oracle(recipe: Recipe) -> mb.Matroid:
    return mb.OracleMatroid(recipe.size, recipe.is_independent)


# By the names that texts of recipes have for them.
DISGUISES: dict[str, Callable[[Recipe], mb.Matroid]] = {
    "Oracle": _oracle,
    "Plain": Plain,
    "Resourceful": Resourceful,
    "Overridden": Overridden,
}


# --- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Disguised(Recipe):
    """The same matroid, as an oracle in Python."""

    part: Recipe
    disguise: str

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "Disguised":
        disguise = list(DISGUISES)[choose(0, len(DISGUISES) - 1)]
        return cls(make(choose, size, depth), disguise)

    @property
    def size(self) -> int:
        return self.part.size

    def build(self) -> mb.Matroid:
        return DISGUISES[self.disguise](self.part)

    def definition(self) -> reference.Independence:
        return self.part.is_independent

    def __repr__(self) -> str:
        return f"{self.disguise}({self.part})"


@dataclass(frozen=True, repr=False)
class Dual(Recipe):
    part: Recipe

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "Dual":
        return cls(make(choose, size, depth))

    @property
    def size(self) -> int:
        return self.part.size

    def build(self) -> mb.Matroid:
        return self.part.build().dual()

    def definition(self) -> reference.Independence:
        return reference.dual(self.size, self.part.is_independent)

    def __repr__(self) -> str:
        return f"{self.part}.dual()"


@dataclass(frozen=True, repr=False)
class Truncated(Recipe):
    part: Recipe
    limit: int

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "Truncated":
        part = make(choose, size, depth)
        return cls(part, choose(0, part.rank))

    @property
    def size(self) -> int:
        return self.part.size

    def build(self) -> mb.Matroid:
        return self.part.build().truncate(self.limit)

    def definition(self) -> reference.Independence:
        return reference.truncation(self.part.is_independent, self.limit)

    def __repr__(self) -> str:
        return f"{self.part}.truncate({self.limit})"


@dataclass(frozen=True, repr=False)
class Minor(Recipe):
    """A part from which the elements `gone` are taken by `restrict`, `delete` or `contract`."""

    part: Recipe
    gone: tuple[int, ...]
    how: str

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "Minor":
        how = ("delete", "restrict", "contract")[choose(0, 2)]
        left = list(range(size + choose(0, max(0, min(2, MAX_PART - size)))))
        part = make(choose, len(left), depth)
        gone = [left.pop(choose(0, len(left) - 1)) for _ in range(len(left) - size)]
        return cls(part, tuple(gone), how)

    @cached_property
    def kept(self) -> list[int]:
        return [e for e in range(self.part.size) if e not in self.gone]

    @property
    def size(self) -> int:
        return self.part.size - len(self.gone)

    @property
    def argument(self) -> list[int]:
        # Downwards, to see that the order in which they are given does not matter.
        return self.kept[::-1] if self.how == "restrict" else list(self.gone)

    def build(self) -> mb.Matroid:
        matroid: mb.Matroid = getattr(self.part.build(), self.how)(self.argument)
        return matroid

    def definition(self) -> reference.Independence:
        contracted = self.gone if self.how == "contract" else ()
        return reference.minor(self.part.is_independent, self.kept, contracted)

    def __repr__(self) -> str:
        return f"{self.part}.{self.how}({self.argument})"


@dataclass(frozen=True, repr=False)
class Sum(Recipe):
    left: Recipe
    right: Recipe

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "Sum":
        first = choose(0, size)
        return cls(make(choose, first, depth), make(choose, size - first, depth))

    @property
    def size(self) -> int:
        return self.left.size + self.right.size

    def build(self) -> mb.Matroid:
        return self.left.build() + self.right.build()

    def definition(self) -> reference.Independence:
        return reference.direct_sum([(p.size, p.is_independent) for p in (self.left, self.right)])

    def __repr__(self) -> str:
        return f"({self.left} + {self.right})"


@dataclass(frozen=True, repr=False)
class UnionMatroid(Recipe):
    left: Recipe
    right: Recipe

    @classmethod
    def make(cls, choose: Choose, size: int, depth: int) -> "UnionMatroid":
        return cls(make(choose, size, depth), make(choose, size, min(depth, 1)))

    @property
    def size(self) -> int:
        return self.left.size

    def build(self) -> mb.Matroid:
        return self.left.build() | self.right.build()

    def definition(self) -> reference.Independence:
        return reference.union([self.left.is_independent, self.right.is_independent])

    def __repr__(self) -> str:
        return f"({self.left} | {self.right})"


# Minors are deletions, restrictions or contractions: they come up more often.
OPERATIONS: Sequence[Callable[[Choose, int, int], Recipe]] = (
    Dual.make,
    Truncated.make,
    Minor.make,
    Minor.make,
    Sum.make,
    UnionMatroid.make,
    Disguised.make,
)


def disguised(recipe: Recipe, disguise: str) -> Recipe:
    """The same recipe with all that it is made of in disguise."""
    parts = {
        name: disguised(part, disguise)
        for name, part in vars(recipe).items()
        if isinstance(part, Recipe)
    }
    return replace(recipe, **parts) if parts else Disguised(recipe, disguise)


# --- growing recipes -----------------------------------------------------------------------------


def make(choose: Choose, size: int, depth: int) -> Recipe:
    """A recipe with `size` elements and operations in at most `depth` layers."""
    kind = choose(0, len(OPERATIONS)) if depth else 0
    if kind:
        return OPERATIONS[kind - 1](choose, size, depth - 1)
    return list(BASES.values())[choose(0, len(BASES) - 1)](choose, size)


def random_recipe(rng: np.random.Generator, size: int, depth: int) -> Recipe:
    """A random recipe with `size` elements and operations in at most `depth` layers."""
    return make(by_chance(rng), size, depth)


def by_chance(rng: np.random.Generator) -> Choose:
    """Random numbers."""
    return lambda low, high: int(rng.integers(low, high + 1))


@st.composite
def recipes(draw: st.DrawFn, max_size: int = 7, max_depth: int = 3, min_size: int = 0) -> Recipe:
    """Small recipes."""
    size, depth = draw(st.integers(min_size, max_size)), draw(st.integers(0, max_depth))
    return make(_by_hypothesis(draw), size, depth)


def _by_hypothesis(draw: st.DrawFn) -> Choose:
    return lambda low, high: draw(st.integers(low, high))
