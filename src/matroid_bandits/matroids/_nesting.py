"""Sets that are nested or disjoint, as a tree."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from matroid_bandits._types import IntArray

__all__ = ["CappedSet", "nested"]


@dataclass(frozen=True)
class CappedSet:
    """Elements, ascending, of which so many may be taken."""

    name: Hashable
    elements: IntArray
    capacity: int


def nested(sets: list[CappedSet], size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The sets that matter, numbered in a walk from the outside in, after one around everything.

    Returns
    -------
    homes : ndarray, by element
        The innermost set it is in.
    parents, ends, capacities : ndarray, by set
        The set around it (-1 for set 0), one past the last set inside it, and its capacity.

    Raises
    ------
    ValueError
        If two sets cross; the message names them.
    """
    placed, parents, homes = _placed(sets, size)
    matters = _which_matter(placed, parents, homes)
    # A set that does not matter leaves its elements, and the sets in it, to the one around it.
    stands_for = list(range(len(placed)))
    inside: list[list[int]] = [[] for _ in placed]
    for s in range(1, len(placed)):
        outer = stands_for[parents[s]]
        if matters[s]:
            inside[outer].append(s)
        else:
            stands_for[s] = outer
    walked, new_parents, ends = _walk(inside)
    number = np.zeros(len(placed), dtype=np.intp)
    number[walked] = np.arange(len(walked))
    return (
        number[np.array(stands_for)[homes]],
        np.array(new_parents, dtype=np.intp),
        np.array(ends, dtype=np.intp),
        np.array([placed[s].capacity for s in walked], dtype=np.intp),
    )


def _placed(sets: list[CappedSet], size: int) -> tuple[list[CappedSet], list[int], IntArray]:
    """Each set after those around it, equal ones as one; their parents; homes of the elements."""
    placed = [CappedSet("everything", np.arange(size), size)]
    parents = [-1]
    homes = np.zeros(size, dtype=np.intp)
    # From the largest down: a set fits if no set before it divides its elements.
    for new in sorted(sets, key=lambda each: -len(each.elements)):
        if not len(new.elements):
            continue
        around = homes[new.elements]
        outer = int(around.max())
        if around.min() != outer:
            raise _crossing(placed[outer], new)
        if outer and len(placed[outer].elements) == len(new.elements):
            placed[outer] = min(placed[outer], new, key=lambda each: each.capacity)
            continue
        homes[new.elements] = len(placed)
        parents.append(outer)
        # No more can be taken than there are, and capacities may be huge.
        placed.append(replace(new, capacity=min(new.capacity, size)))
    return placed, parents, homes


def _crossing(one: CappedSet, other: CappedSet) -> ValueError:
    # The first, the innermost around some element of the second, has not all of them, or it would
    # be the innermost around all. It is no smaller: so it has an element that the second has not.
    both = np.intersect1d(one.elements, other.elements)[0]
    here = np.setdiff1d(one.elements, other.elements)[0]
    there = np.setdiff1d(other.elements, one.elements)[0]
    return ValueError(
        f"sets {one.name!r} and {other.name!r} cross: element {both} is in both, {here} only in "
        f"{one.name!r}, {there} only in {other.name!r}; sets must be nested or disjoint"
    )


def _which_matter(placed: list[CappedSet], parents: list[int], homes: IntArray) -> list[bool]:
    """Whether a set's capacity says more than the sets inside it do."""
    fitting = np.bincount(homes, minlength=len(placed)).tolist()
    matters = [True] * len(placed)
    for s in range(len(placed) - 1, 0, -1):
        matters[s] = placed[s].capacity < fitting[s]
        fitting[parents[s]] += min(placed[s].capacity, fitting[s])
    return matters


def _walk(inside: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """The sets in the order of a walk; of each, in that order, its parent and where it ends."""
    walked: list[int] = []
    parents: list[int] = []
    waiting = [(0, -1)]
    while waiting:
        s, outer = waiting.pop()
        waiting += [(inner, len(walked)) for inner in inside[s]]
        walked.append(s)
        parents.append(outer)
    ends = list(range(1, len(walked) + 1))
    for s in range(len(walked) - 1, 0, -1):
        ends[parents[s]] = max(ends[parents[s]], ends[s])
    return walked, parents, ends
