"""Large matroids that a study describes by a few numbers: ``{ generate = "graph", ... }``."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from matroid_bandits._arguments import as_list, integer, whole
from matroid_bandits._streams import RANDOM_MATROIDS, stream
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.matroids import (
    GraphicMatroid,
    LaminarMatroid,
    Matroid,
    PartitionMatroid,
    TransversalMatroid,
)

__all__ = ["GENERATED", "generated_at"]

# As many as a matroid by name may have.
_MOST = 2_000_000

# Pairs that are drawn at a time; the graph does not depend on it.
_BATCH = 1000


def random_graph(rng: np.random.Generator, *, vertices: int, edges: int) -> GraphicMatroid:
    """A connected random graph without loops and parallel edges.

    Every vertex is joined to a random earlier one; the other edges are random pairs.
    """
    n = integer(vertices, "vertices", minimum=1, maximum=_MOST)
    most = min(n * (n - 1) // 2, _MOST)
    m = integer(edges, "edges", minimum=n - 1, maximum=most)
    # In the order in which they are drawn, so that the matroid does not depend on how a set is
    # stored.
    pairs = {(int(rng.integers(0, v)), v): None for v in range(1, n)}
    while len(pairs) < m:
        for one, other in rng.integers(0, n, (_BATCH, 2)).tolist():
            if one != other and len(pairs) < m:
                pairs[min(one, other), max(one, other)] = None
    return GraphicMatroid(list(pairs))


def equal_groups(
    _rng: np.random.Generator, *, groups: int, of: int, capacity: int
) -> PartitionMatroid:
    """Groups of equal size, and one capacity for all."""
    n_groups = integer(groups, "groups", minimum=1, maximum=_MOST)
    each = integer(of, "of", minimum=1, maximum=_MOST // n_groups)
    return PartitionMatroid(np.repeat(np.arange(n_groups), each).tolist(), capacity)


def nested_groups(
    _rng: np.random.Generator, *, sizes: Sequence[int], capacities: Sequence[int]
) -> LaminarMatroid:
    """Groups of equal size in larger groups of equal size, up to all elements."""
    levels = [integer(s, "sizes", minimum=1, maximum=_MOST) for s in as_list(sizes, "sizes")]
    limits = [integer(c, "capacities", minimum=0) for c in as_list(capacities, "capacities")]
    if not levels or len(levels) != len(limits):
        raise ValueError(f"as many capacities as sizes, got {len(limits)} for {len(levels)}")
    for inner, outer in pairwise(levels):
        if outer <= inner or outer % inner:
            raise ValueError(f"sizes: each must divide the next, got {inner} and {outer}")
    size = levels[-1]
    sets = [
        (range(start, start + level), limit)
        for level, limit in zip(levels, limits, strict=True)
        for start in range(0, size, level)
    ]
    return LaminarMatroid([members for members, _ in sets], [limit for _, limit in sets], size)


def random_transversal(
    rng: np.random.Generator, *, elements: int, slots: int, each: int
) -> TransversalMatroid:
    """Every element fits `each` random slots; a slot takes one element."""
    n = integer(elements, "elements", minimum=1, maximum=_MOST)
    n_slots = integer(slots, "slots", minimum=1, maximum=_MOST)
    k = integer(each, "each", minimum=1, maximum=n_slots)
    return TransversalMatroid(
        [sorted(rng.choice(n_slots, k, replace=False).tolist()) for _ in range(n)]
    )


#: What can be generated. The first argument is the random stream of the study's seed.
GENERATED: Mapping[str, Callable[..., Matroid]] = {
    "graph": random_graph,
    "partition": equal_groups,
    "laminar": nested_groups,
    "transversal": random_transversal,
}

_EXAMPLES = {
    "graph": "vertices = 300, edges = 1200",
    "partition": "groups = 100, of = 50, capacity = 3",
    "laminar": "sizes = [50, 500, 5000], capacities = [3, 20, 150]",
    "transversal": "elements = 5000, slots = 300, each = 3",
}


def generated_at(section: Section, seed: int) -> tuple[Matroid, str]:
    """The matroid that ``{ generate = "graph", vertices = 300, edges = 1200 }`` describes.

    Returns
    -------
    Matroid
    str
        Its name, if the instance has no other.
    """
    kind = section.choice("generate", tuple(GENERATED), "graph")
    make, example = GENERATED[kind], f'{{ generate = "{kind}", {_EXAMPLES[kind]} }}'
    keys = list(inspect.signature(make).parameters)[1:]
    section.check_keys(("generate", *keys))
    values = {key: _whole(section.required(key, example)) for key in keys}
    matroid = section.call(None, partial(make, stream(RANDOM_MATROIDS, seed), **values))
    numbers = ",".join(str(value).replace(" ", "") for value in values.values())
    return matroid, f"{kind}({numbers})"


def _whole(value: Any) -> Any:
    """``5e3`` as an integer, also within a list, as the name of the matroid has it."""
    return [whole(part) for part in value] if isinstance(value, list) else whole(value)
