"""Laminar families: sets that are nested or disjoint, as a tree."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from matroid_bandits._types import IntArray

__all__ = ["CappedSet", "nested"]


@dataclass(frozen=True)
class CappedSet:
    """A set of elements, ascending, with its capacity."""

    name: Hashable
    elements: IntArray
    capacity: int


def nested(sets: list[CappedSet], size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The sets that restrict anything, in depth-first order, after a set of all elements.

    Returns
    -------
    homes : ndarray, by element
        The innermost set that contains it.
    parents, ends, capacities : ndarray, by set
        The smallest set that contains it (-1 for set 0), one past the last set inside it, and its
        capacity.

    Raises
    ------
    ValueError
        If two sets cross; the message names them.
    """
    placed, parents, homes = _placed(sets, size)
    restricts = _which_restrict(placed, parents, homes)
    # The elements of a set that is left out, and the sets inside it, go to the set around it.
    replaced_by = list(range(len(placed)))
    inside: list[list[int]] = [[] for _ in placed]
    for s in range(1, len(placed)):
        outer = replaced_by[parents[s]]
        if restricts[s]:
            inside[outer].append(s)
        else:
            replaced_by[s] = outer
    walked, new_parents, ends = _walk(inside)
    number = np.zeros(len(placed), dtype=np.intp)
    number[walked] = np.arange(len(walked))
    return (
        number[np.array(replaced_by)[homes]],
        np.array(new_parents, dtype=np.intp),
        np.array(ends, dtype=np.intp),
        np.array([placed[s].capacity for s in walked], dtype=np.intp),
    )


def _placed(sets: list[CappedSet], size: int) -> tuple[list[CappedSet], list[int], IntArray]:
    """The sets without duplicates, outer ones first; their parents; homes of the elements."""
    placed = [CappedSet("everything", np.arange(size), size)]
    parents = [-1]
    homes = np.zeros(size, dtype=np.intp)
    # Largest sets first: a set fits if all its elements have the same home so far.
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
        # Capacities may be too large for an array.
        placed.append(replace(new, capacity=min(new.capacity, size)))
    return placed, parents, homes


def _crossing(one: CappedSet, other: CappedSet) -> ValueError:
    # `one` is the home of some elements of `other`, but not of all, so it does not contain `other`.
    # It is not smaller, so it has an element that is not in `other`.
    both = np.intersect1d(one.elements, other.elements)[0]
    here = np.setdiff1d(one.elements, other.elements)[0]
    there = np.setdiff1d(other.elements, one.elements)[0]
    return ValueError(
        f"sets {one.name!r} and {other.name!r} cross: element {both} is in both, {here} only in "
        f"{one.name!r}, {there} only in {other.name!r}; sets must be nested or disjoint"
    )


def _which_restrict(placed: list[CappedSet], parents: list[int], homes: IntArray) -> list[bool]:
    """Whether the capacity of a set is smaller than what the sets inside it allow."""
    fitting = np.bincount(homes, minlength=len(placed)).tolist()
    restricts = [True] * len(placed)
    for s in range(len(placed) - 1, 0, -1):
        restricts[s] = placed[s].capacity < fitting[s]
        fitting[parents[s]] += min(placed[s].capacity, fitting[s])
    return restricts


def _walk(inside: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """The sets in depth-first order; for each, its parent and one past the last set inside it."""
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
