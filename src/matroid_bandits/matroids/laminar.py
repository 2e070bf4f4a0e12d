"""Laminar matroids: capacities on sets that are nested or disjoint."""

from collections.abc import Iterable, Mapping, Sequence
from math import comb, prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    abbreviated,
    as_list,
    distinct_elements,
    freeze,
    integer,
    suggestion,
)
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.laminar import LaminarKernel
from matroid_bandits._types import IntArray
from matroid_bandits.matroids._nesting import CappedSet, nested
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["LaminarMatroid"]


class LaminarMatroid(CompiledMatroid):
    """Capacities within capacities: at most 5 in all, at most 2 a genre, at most 1 a studio.

    Of any two sets, one contains the other or they are disjoint. An element may be in many sets, or
    in none: then it is always played. An independence test costs as many steps as there are sets
    that contain the element. Without nested sets it is a partition matroid.

    Parameters
    ----------
    sets : sequence of iterables of int, or mapping
        The elements of every set; a mapping gives the sets names. Of equal sets, the smallest
        capacity counts.
    capacities : int, sequence or mapping
        One capacity for all sets, or one for each in their order, or by name (without names, by
        number from 0 on). A set of capacity 0 consists of loops.
    size : int
        Number of elements.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> slate = mb.LaminarMatroid(
    ...     {"all": range(6), "comedy": [0, 1, 2], "drama": [3, 4, 5], "Pixar": [0, 1]},
    ...     {"all": 3, "comedy": 2, "drama": 2, "Pixar": 1},
    ...     size=6,
    ... )
    >>> slate.max_weight_basis([9, 8, 7, 6, 5, 4])
    array([0, 2, 3])
    >>> slate.fundamental_circuit([0, 2, 3], 1)
    array([0, 1])
    """

    def __init__(
        self,
        sets: Sequence[Iterable[int]] | Mapping[Any, Iterable[int]],
        capacities: int | Sequence[int] | Mapping[Any, int],
        size: int,
    ) -> None:
        super().__init__(size)
        self._given = _given_sets(sets, capacities, self.size)
        self._homes, self._parents, self._ends, self._capacities = map(
            freeze, nested(self._given, self.size)
        )

    def _kernel(self) -> MatroidKernel:
        return LaminarKernel(self._homes, self._parents, self._ends, self._capacities)

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        closed = self._capacities == 0
        for s in range(1, len(closed)):
            closed[s] |= closed[self._parents[s]]
        without_room: npt.NDArray[np.bool_] = closed[self._homes[elements]]
        return without_room

    def _data(self) -> tuple[Any, ...]:
        # Sorted by first element and length, as sets with the same first element are nested. So the
        # order in which the sets were given does not matter. Set 0 stays the first.
        members = self._members()
        first = np.array([-1, *(elements.min() for elements in members)])
        lengths = np.array([self.size, *map(len, members)])
        order = np.lexsort((-lengths, first))
        number = np.append(np.argsort(order), -1)  # the last one for the parent of set 0
        return (
            plain_array(number[self._homes]),
            plain_array(number[self._parents[order]]),
            plain_array(self._capacities[order]),
        )

    def _spec(self) -> dict[str, Any]:
        members = [each.elements for each in self._given]
        capacities = [each.capacity for each in self._given]
        names = [each.name for each in self._given]
        if not all(isinstance(name, str) for name in names):
            return {"sets": members, "capacities": capacities, "size": self.size}
        return {
            "sets": dict(zip(names, members, strict=True)),
            "capacities": dict(zip(names, capacities, strict=True)),
            "size": self.size,
        }

    def _attributes(self) -> int:
        return len(self._given)

    # ---- counts, truncations, minors ----

    def _n_bases(self) -> int:
        parents = self._parents.tolist()
        own = np.bincount(self._homes, minlength=len(parents)).tolist()
        # For each set, inner sets first, the numbers of independent subsets with 0, 1, 2, ...
        # elements. Those of its parts multiply like polynomials; the capacity limits the degree.
        inside: list[list[npt.NDArray[Any]]] = [[] for _ in parents]
        outermost = []
        for s in range(len(parents) - 1, 0, -1):
            capacity = int(self._capacities[s])
            choices = np.array(
                [comb(own[s], k) for k in range(min(own[s], capacity) + 1)], dtype=object
            )
            for part in inside[s]:
                choices = np.convolve(choices, part)[: capacity + 1]
            inside[s].clear()
            if parents[s] == 0:
                outermost.append(int(choices[-1]))
            else:
                inside[parents[s]].append(choices)
        return prod(outermost)

    def _truncate(self, rank: int) -> Matroid:
        sets = [*self._members(), np.arange(self.size)]
        return LaminarMatroid(sets, [*self._capacities[1:].tolist(), rank], self.size)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        # A basis of the contracted elements uses up a part of the capacities.
        taken = np.zeros(self.size, dtype=np.intp)
        taken[self._kernel().greedy_basis(contracted, len(contracted))] = 1
        number = np.full(self.size, -1)
        number[kept] = np.arange(len(kept))
        left = []
        room = []
        for elements, capacity in zip(self._members(), self._capacities[1:], strict=True):
            left.append(number[elements][number[elements] >= 0])
            room.append(int(capacity - taken[elements].sum()))
        return LaminarMatroid(left, room, len(kept))

    def _members(self) -> list[IntArray]:
        """The elements of every set that restricts anything."""
        order = np.argsort(self._homes, kind="stable")
        first = np.searchsorted(self._homes[order], np.arange(len(self._parents) + 1))
        return [order[first[s] : first[self._ends[s]]] for s in range(1, len(self._parents))]

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        # Intervals of a random order, each divided into two.
        order = rng.permutation(size)
        sets: list[list[int]] = []
        waiting = [(0, size)]
        while waiting:
            low, high = waiting.pop()
            if rng.random() < 0.8:
                sets.append(order[low:high].tolist())
            if high - low > 1:
                middle = int(rng.integers(low + 1, high))
                waiting += [(low, middle), (middle, high)]
        # Sometimes a small set of loops.
        capacities = [
            0 if len(s) <= 3 and rng.random() < 0.1 else int(rng.integers(len(s) // 2, len(s) + 1))
            for s in sets
        ]
        return cls(sets, capacities, size)

    def __repr__(self) -> str:
        return f"LaminarMatroid(size={self.size}, sets={len(self._given)}, rank={self.rank})"


# ---- checked arguments ----


def _given_sets(sets: Any, capacities: Any, size: int) -> list[CappedSet]:
    if isinstance(sets, Mapping):
        names, members = list(sets), list(sets.values())
    else:
        members = _listed_sets(sets)
        names = list(range(len(members)))
    by_name = _capacities_by_name(capacities, names)
    given = []
    for name, elements in zip(names, members, strict=True):
        try:
            checked = distinct_elements(elements, size)
        except ValueError as error:
            raise ValueError(f"set {name!r}: {error}") from None
        capacity = integer(by_name[name], f"the capacity of set {name!r}", minimum=0)
        given.append(CappedSet(name, checked, capacity))
    return given


def _listed_sets(sets: Any) -> list[Any]:
    """The sets as they are: `as_list` would make Python lists of arrays."""
    if isinstance(sets, Sequence) and not isinstance(sets, str):
        return list(sets)
    return as_list(sets, "sets")


def _capacities_by_name(capacities: Any, names: list[Any]) -> Mapping[Any, Any]:
    if isinstance(capacities, Mapping):
        known = set(names)
        for name in capacities:
            if name not in known:
                hint = suggestion(str(name), map(str, names)) if names else "there are no sets"
                raise ValueError(
                    f"a capacity is given for set {abbreviated(name)}, unknown; {hint}"
                )
        for name in names:
            if name not in capacities:
                raise ValueError(
                    f"set {name!r} has no capacity; capacities are given for "
                    f"{', '.join(map(repr, capacities)) or 'no set'}"
                )
        return capacities
    if isinstance(capacities, (Sequence, np.ndarray)) and np.ndim(capacities) == 1:
        if len(capacities) != len(names):
            raise ValueError(
                f"one capacity per set is needed: {len(names)}, got {len(capacities)}; or pass one "
                "integer for all sets"
            )
        return dict(zip(names, capacities, strict=True))
    return dict.fromkeys(names, capacities)
