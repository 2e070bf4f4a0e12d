"""The matroid of SageMath that a recipe describes, by SageMath's own classes and operations.

Where SageMath has no class for something, it is put together from what SageMath does have.
"""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

# SageMath's modules import each other; beginning with these two works.
import sage.all__sagemath_modules  # isort: skip
import sage.all__sagemath_graphs  # noqa: F401  # isort: skip
from sage.graphs.graph import Graph
from sage.matrix.constructor import matrix
from sage.matroids.basis_matroid import BasisMatroid
from sage.matroids.circuit_closures_matroid import CircuitClosuresMatroid
from sage.matroids.constructor import Matroid
from sage.matroids.database_matroids import Uniform
from sage.matroids.transversal_matroid import TransversalMatroid
from sage.rings.finite_rings.finite_field_constructor import GF
from sage.rings.rational_field import QQ

from .. import recipes


@singledispatch
def peer(recipe: recipes.Recipe) -> Any:
    """SageMath's matroid on the same elements ``0..size-1``."""
    raise NotImplementedError(f"SageMath has no peer yet for {recipe!r}")


# --- instances of the built-in classes -----------------------------------------------------------


@peer.register
def _(recipe: recipes.Uniform) -> Any:
    return Uniform(recipe.limit, recipe.size)


@peer.register
def _(recipe: recipes.Partition) -> Any:
    # SageMath's own class has capacities of 1 only; here are sums of uniform matroids.
    parts = []
    for group, capacity in enumerate(recipe.capacities):
        members = [e for e, other in enumerate(recipe.groups) if other == group]
        part = Uniform(min(capacity, len(members)), len(members))
        parts.append(part.relabel(dict(enumerate(members))))
    return _sum(parts)


@peer.register
def _(recipe: recipes.Graphic) -> Any:
    # As a RegularMatroid: with loops, SageMath's GraphicMatroid (10.8.13) is relabelled wrongly,
    # and its corank is too small if they are all that a vertex has.
    edges = [(u, v, e) for e, (u, v) in enumerate(recipe.edges)]
    return Matroid(graph=Graph(edges, multiedges=True, loops=True), regular=True)


@peer.register
def _(recipe: recipes.Cographic) -> Any:
    return peer(recipes.Graphic(recipe.edges)).dual()


@peer.register
def _(recipe: recipes.Linear) -> Any:
    entries = [row[i] for i in range(recipe.width) for row in recipe.rows]
    ring = QQ if recipe.field is None else GF(recipe.field)
    columns = matrix(ring, recipe.width, recipe.size, entries)
    return Matroid(range(recipe.size), matrix=columns)


@peer.register
def _(recipe: recipes.Transversal) -> Any:
    slots = sorted({slot for near in recipe.neighbors for slot in near})
    sets = [[e for e, near in enumerate(recipe.neighbors) if slot in near] for slot in slots]
    return TransversalMatroid(sets, groundset=range(recipe.size))


@peer.register
def _(recipe: recipes.Laminar) -> Any:
    # Innermost sets first: the sum of what lies inside, truncated.
    parts = {(e,): Uniform(1, 1).relabel({0: e}) for e in range(recipe.size)}
    nested = sorted(zip(recipe.sets, recipe.capacities, strict=True), key=lambda s: len(s[0]))
    for members, capacity in nested:
        inside = [part for part in parts if set(part) <= set(members)]
        parts[members] = _truncated(_sum([parts.pop(part) for part in inside]), capacity)
    return _sum(list(parts.values()))


@peer.register
def _(recipe: recipes.Paving) -> Any:
    closures: dict[int, Any] = {}
    if recipe.hyperplanes:
        closures[recipe.limit - 1] = recipe.hyperplanes
    if recipe.limit < recipe.size:
        closures[recipe.limit] = [range(recipe.size)]
    return CircuitClosuresMatroid(groundset=range(recipe.size), circuit_closures=closures)


@peer.register
def _(recipe: recipes.Gammoid) -> Any:
    # SageMath's Gammoid needs a solver of linear programs. Ingleton and Piff: if all vertices are
    # elements, a gammoid is dual to the transversal matroid of the sets "v and its heads", one for
    # every v that is no target.
    vertices = {*recipe.elements, *recipe.targets, *(v for arc in recipe.arcs for v in arc)}
    sets = [
        sorted({v, *(head for tail, head in recipe.arcs if tail == v)})
        for v in sorted(vertices - set(recipe.targets))
    ]
    strict = TransversalMatroid(sets, groundset=sorted(vertices)).dual()
    kept = strict.delete(vertices - set(recipe.elements))
    return kept.relabel({v: e for e, v in enumerate(recipe.elements)})


# --- operations ----------------------------------------------------------------------------------


def _part(recipe: recipes.Recipe) -> Any:
    """A part, by the list of its bases."""
    # Without that, one test of several layers takes seconds.
    return BasisMatroid(peer(recipe))


@peer.register
def _(recipe: recipes.Disguised) -> Any:
    return peer(recipe.part)


@peer.register
def _(recipe: recipes.Dual) -> Any:
    return _part(recipe.part).dual()


@peer.register
def _(recipe: recipes.Truncated) -> Any:
    return _truncated(_part(recipe.part), recipe.limit)


@peer.register
def _(recipe: recipes.Minor) -> Any:
    part = _part(recipe.part)
    small = (part.contract if recipe.how == "contract" else part.delete)(recipe.gone)
    return small.relabel({old: new for new, old in enumerate(recipe.kept)})


@peer.register
def _(recipe: recipes.Sum) -> Any:
    right = _part(recipe.right)
    moved = right.relabel({e: e + recipe.left.size for e in right.groundset()})
    return _sum([_part(recipe.left), moved])


@peer.register
def _(recipe: recipes.UnionMatroid) -> Any:
    return _part(recipe.left).union(_part(recipe.right))


def _sum(parts: Sequence[Any]) -> Any:
    """The direct sum of matroids with different elements, which keep their names."""
    matroid = Uniform(0, 0)
    for part in parts:
        names = {(0, e): e for e in matroid.groundset()} | {(1, e): e for e in part.groundset()}
        matroid = matroid.direct_sum(part).relabel(names)
    return matroid


def _truncated(matroid: Any, rank: int) -> Any:
    while matroid.full_rank() > rank:
        matroid = matroid.truncation()
    return matroid
