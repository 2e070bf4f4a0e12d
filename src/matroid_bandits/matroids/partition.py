"""Partition matroids: a capacity per group."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from math import comb, prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list, freeze, integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.partition import PartitionKernel
from matroid_bandits._html import MOST_ROWS, Html, number, table
from matroid_bandits.matroids._plain import plain_array
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["PartitionMatroid"]


class PartitionMatroid(CompiledMatroid):
    """A capacity for each group of elements: one ad per category.

    An independence test costs O(1).

    Parameters
    ----------
    groups : sequence of hashable
        ``groups[e]`` is the group of element e: numbers or names.
    capacities : int, mapping or sequence of int
        One capacity for all groups, or a mapping from group to capacity, or, when groups are
        numbers from 0 on, a sequence. A group of capacity 0 consists of loops.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> ads = mb.PartitionMatroid(["shoes", "shoes", "hats", "hats"], capacities=1)
    >>> ads.max_weight_basis([0.2, 0.4, 0.3, 0.1])
    array([1, 2])
    >>> mb.PartitionMatroid(["a", "a", "b"], {"a": 2, "b": 0}).loops
    array([2])
    """

    _rank_is_quick = True

    def __init__(
        self,
        groups: Sequence[Hashable],
        capacities: int | Mapping[Hashable, int] | Sequence[int],
    ) -> None:
        names = as_list(groups, "groups")
        super().__init__(len(names))
        number: dict[Hashable, int] = {}
        for e, name in enumerate(names):
            if not isinstance(name, Hashable) or name != name:  # noqa: PLR0124  (NaN)
                raise ValueError(f"the group of element {e} must be a number or a name, got {name}")
        self._groups = freeze(
            np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)
        )
        self._capacities = freeze(
            np.array(
                [min(_capacity(capacities, name), len(names)) for name in number], dtype=np.intp
            )
        )
        self._names = tuple(number)

    def _find_rank(self) -> int:
        return int(np.minimum(self._group_sizes(), self._capacities).sum())

    def _more_facts(self) -> list[tuple[str, Any]]:
        return [("groups", number(len(self._names)))]

    def _picture(self, title: Callable[[int], str], marked: Collection[int]) -> Html:  # noqa: ARG002
        # A table says more than a drawing would.
        counts = self._group_sizes()[:MOST_ROWS].tolist()
        names, capacities = self._names[:MOST_ROWS], self._capacities[:MOST_ROWS].tolist()
        rows = [
            (name, number(count), number(capacity))
            for name, count, capacity in zip(names, counts, capacities, strict=True)
        ]
        header = ("group", "elements", "capacity")
        return table(header, rows, total=len(self._names))

    def _kernel(self) -> MatroidKernel:
        return PartitionKernel(self._groups, self._capacities)

    def _are_loops(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        without_room: npt.NDArray[np.bool_] = self._capacities[self._groups[elements]] == 0
        return without_room

    def _counts(self, elements: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """How many of `elements` are in each group."""
        return np.bincount(self._groups[elements], minlength=len(self._names))

    def _group_sizes(self) -> npt.NDArray[np.intp]:
        return np.bincount(self._groups, minlength=len(self._names))

    def _with(
        self, elements: npt.NDArray[np.intp], capacities: npt.NDArray[np.intp]
    ) -> "PartitionMatroid":
        """The groups of `elements`, with other capacities."""
        names = [self._names[g] for g in self._groups[elements].tolist()]
        return PartitionMatroid(names, dict(zip(self._names, capacities.tolist(), strict=True)))

    def _dual(self) -> Matroid:
        everything = np.arange(self.size)
        counts = self._counts(everything)
        return self._with(everything, counts - np.minimum(counts, self._capacities))

    def _minor(self, kept: npt.NDArray[np.intp], contracted: npt.NDArray[np.intp]) -> Matroid:
        return self._with(kept, np.maximum(self._capacities - self._counts(contracted), 0))

    def _data(self) -> tuple[Any, ...]:
        # Groups are numbered in the order of their first elements, so names do not matter. Nor does
        # a capacity beyond the size of its group.
        capacities = np.minimum(self._capacities, self._counts(np.arange(self.size)))
        return plain_array(self._groups), plain_array(capacities)

    def _spec(self) -> dict[str, Any]:
        # Names of groups do not matter; those that are texts are kept for people to read.
        capacities = self._capacities.tolist()
        if not all(isinstance(name, str) for name in self._names):
            return {"groups": self._groups, "capacities": capacities}
        return {
            "groups": [self._names[g] for g in self._groups.tolist()],
            "capacities": dict(zip(self._names, capacities, strict=True)),
        }

    def _n_bases(self) -> int:
        counts = self._counts(np.arange(self.size))
        return prod(
            comb(count, min(count, capacity))
            for count, capacity in zip(counts.tolist(), self._capacities.tolist(), strict=True)
        )

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        n_groups = int(rng.integers(1, max(2, size // 2 + 1)))
        capacities = rng.integers(0, 3, n_groups) if rng.random() < 0.5 else np.ones(n_groups, int)
        return cls(rng.integers(0, n_groups, size).tolist(), capacities.tolist())

    def __repr__(self) -> str:
        return f"PartitionMatroid(size={self.size}, groups={len(self._names)}, rank={self.rank})"


def _capacity(capacities: int | Mapping[Hashable, int] | Sequence[int], group: Hashable) -> int:
    capacity: Any = capacities
    if isinstance(capacities, Mapping):
        if group not in capacities:
            raise ValueError(
                f"group {group!r} has no capacity; capacities are given for "
                f"{', '.join(map(repr, capacities)) or 'no group'}"
            )
        capacity = capacities[group]
    elif isinstance(capacities, (Sequence, np.ndarray)) and np.ndim(capacities) == 1:
        try:
            number = integer(group, "group")
        except ValueError:
            raise ValueError(
                f"group {group!r} is not a number: pass capacities as a mapping from group to "
                "capacity, or one integer for all groups"
            ) from None
        if not 0 <= number < len(capacities):
            raise ValueError(
                f"group {group} has no capacity: {len(capacities)} capacities are given, "
                "for the groups counted from 0"
            )
        capacity = capacities[number]
    return integer(capacity, f"the capacity of group {group!r}", minimum=0)
