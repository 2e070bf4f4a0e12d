"""Paving matroids: every set below the rank is independent."""

from collections.abc import Iterable
from itertools import combinations, islice
from math import comb
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import as_list, distinct_elements, freeze, integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits._core.matroids.paving import PavingKernel
from matroid_bandits._types import IntArray
from matroid_bandits.matroids.base import CompiledMatroid, Matroid
from matroid_bandits.matroids.uniform import UniformMatroid

__all__ = ["PavingMatroid"]


class PavingMatroid(CompiledMatroid):
    """Any `rank` elements that do not all lie in one hyperplane: points, no three on a line.

    Every set of fewer than `rank` elements is independent. Many well-known small matroids are of
    this kind; without hyperplanes it is uniform. An independence test costs as many steps as there
    are hyperplanes that contain the element.

    Parameters
    ----------
    rank : int
        How many elements are played.
    size : int
        Number of elements.
    hyperplanes : iterable of iterables of int
        Sets of at least `rank` elements, but not all, any two of which have at most ``rank - 2`` in
        common. For rank 3 they are the lines with three points or more.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> two_lines = mb.PavingMatroid(3, 6, [[0, 1, 2, 3], [3, 4, 5]])
    >>> two_lines.is_independent([0, 1, 2])
    False
    >>> two_lines.max_weight_basis([9, 8, 7, 6, 5, 4])
    array([0, 1, 4])
    """

    def __init__(self, rank: int, size: int, hyperplanes: Iterable[Iterable[int]]) -> None:
        super().__init__(size)
        self._limit = integer(rank, "rank", minimum=0)
        if self._limit > self.size:
            raise ValueError(f"rank must be at most size = {self.size}, got {self._limit}")
        planes = _checked_planes(hyperplanes, self._limit, self.size)
        self._lengths = tuple(map(len, planes))
        elements = np.concatenate([np.empty(0, dtype=np.intp), *planes])
        numbers = np.repeat(np.arange(len(planes)), self._lengths)
        self._planes = freeze(numbers[np.argsort(elements, kind="stable")])
        counts = np.bincount(elements, minlength=self.size)
        self._start = freeze(np.concatenate([[0], np.cumsum(counts)]).astype(np.intp))

    @property
    def hyperplanes(self) -> list[list[int]]:
        """The elements of every hyperplane with `rank` elements or more, ascending."""
        elements = np.repeat(np.arange(self.size), np.diff(self._start))
        by_plane = iter(elements[np.argsort(self._planes, kind="stable")].tolist())
        return [list(islice(by_plane, length)) for length in self._lengths]

    def _kernel(self) -> MatroidKernel:
        return PavingKernel(self._limit, len(self._lengths), self._start, self._planes)

    def _are_loops(self, elements: IntArray) -> npt.NDArray[np.bool_]:
        if self._limit == 1:
            in_the_hyperplane: npt.NDArray[np.bool_] = np.diff(self._start)[elements] > 0
            return in_the_hyperplane
        return np.full(len(elements), self._limit == 0)

    def _data(self) -> tuple[Any, ...]:
        return self._limit, tuple(sorted(map(tuple, self.hyperplanes)))

    def _spec(self) -> dict[str, Any]:
        return {"rank": self._limit, "size": self.size, "hyperplanes": self.hyperplanes}

    def _attributes(self) -> list[list[int]]:
        return self.hyperplanes

    # ---- counts, truncations, minors ----

    def _n_bases(self) -> int:
        # No set of `rank` elements lies in two hyperplanes.
        dependent = sum(comb(length, self._limit) for length in self._lengths)
        return comb(self.size, self._limit) - dependent

    def _truncate(self, rank: int) -> Matroid:
        return UniformMatroid(rank, self.size)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        # A hyperplane that contains a basis of the contracted elements becomes a hyperplane of the
        # minor; the others no longer restrict anything.
        basis = set(self._kernel().greedy_basis(contracted, len(contracted)).tolist())
        rank = self._limit - len(basis)
        left = [
            np.flatnonzero(np.isin(kept, plane))
            for plane in self.hyperplanes
            if basis.issubset(plane)
        ]
        planes = [plane for plane in left if len(plane) >= rank]
        if len(kept) < rank or any(len(plane) == len(kept) for plane in planes):
            return UniformMatroid(min(rank - 1, len(kept)), len(kept))
        return PavingMatroid(rank, len(kept), planes)

    @classmethod
    def random(cls, rng: "np.random.Generator", size: int) -> Self:
        rank = min(int(rng.integers(0, size // 2 + 2)), size)
        planes: list[set[int]] = []
        for _ in range(size):
            length = int(rng.integers(rank, rank + 3))
            if not 0 < rank <= length < size:
                continue
            new = set(rng.choice(size, length, replace=False).tolist())
            if all(len(new & plane) <= rank - 2 for plane in planes):
                planes.append(new)
        return cls(rank, size, planes)

    def __repr__(self) -> str:
        return (
            f"PavingMatroid(rank={self._limit}, size={self.size}, hyperplanes={len(self._lengths)})"
        )


def _checked_planes(hyperplanes: Any, rank: int, size: int) -> list[IntArray]:
    planes = []
    for h, given in enumerate(as_list(hyperplanes, "hyperplanes")):
        try:
            plane = distinct_elements(given, size)
        except ValueError as error:
            raise ValueError(f"hyperplane {h}: {error}") from None
        if not rank <= len(plane) < size:
            raise ValueError(
                f"hyperplane {h} has {len(plane)} elements; it must have at least rank = {rank}, "
                f"and fewer than size = {size}"
            )
        planes.append(plane)
    if rank == 0 and planes:
        raise ValueError("a matroid of rank 0 has no hyperplanes; leave them out")
    _check_overlaps(planes, rank)
    return planes


def _check_overlaps(planes: list[IntArray], rank: int) -> None:
    masks = [sum(1 << e for e in plane.tolist()) for plane in planes]
    for (g, one), (h, other) in combinations(enumerate(masks), 2):
        if (one & other).bit_count() > rank - 2:
            common = np.intersect1d(planes[g], planes[h]).tolist()
            raise ValueError(
                f"hyperplanes {g} and {h} have {len(common)} elements in common, {common}; two may "
                f"have at most rank - 2 = {rank - 2}; join them, or leave out what is wrong"
            )
