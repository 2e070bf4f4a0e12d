"""The policy ESCB by looking at every basis.

[CTPL15] is Combes, Talebi, Proutiere and Lelarge, *Combinatorial Bandits Revisited* (NeurIPS 2015):
in round t play the basis M with the largest index c_M, the sum of the empirical means plus
sqrt(f(t) / 2 * sum of 1 / N), where f(t) = ln t + 4 D ln ln t.
"""

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .indices import Mean
from .matroids import Independence
from .policies import _ReferencePolicy

FloatArray = npt.NDArray[np.float64]


class ReferenceESCB(_ReferencePolicy):
    """[CTPL15] ESCB-2; among equal values the basis that comes first in a dictionary."""

    def __init__(self, size: int, is_independent: Independence, noise: float = 0.5) -> None:
        # Its rule is about whole bases: of an index it only needs that one look is enough.
        super().__init__(size, is_independent, Mean())
        self._noise = noise
        self._forget_matroid()

    def _forget_matroid(self) -> None:
        self.bases = [
            basis
            for basis in combinations(self._nonloops, self._rank)
            if self._is_independent(frozenset(basis))
        ]
        # One row per basis, 1 where it has the element.
        self._rows = np.zeros((len(self.bases), len(self.counts)))
        for row, basis in zip(self._rows, self.bases, strict=True):
            row[list(basis)] = 1

    @property
    def is_exploring(self) -> bool:
        """Whether some element of some basis has not been observed."""
        return any(self.counts[e] == 0 for e in self._nonloops)

    def values(self) -> FloatArray:
        """The index of every basis in this round."""
        sums, spreads = self._sums()
        return sums + np.sqrt(self._factor() * spreads)

    def relaxed_best(self) -> float:
        """The least of max over M of (sum + p * spread) + factor / 4 p, over all p > 0.

        It is convex in p, so thirds of an interval can be cut off. Where it is lowest, p is the
        price of some spread between the smallest and the largest.
        """
        sums, spreads = self._sums()
        factor = self._factor()

        def height(p: float) -> float:
            return float((sums + p * spreads).max()) + factor / (4 * p)

        low = math.sqrt(factor / spreads.max()) / 2
        high = math.sqrt(factor / spreads.min()) / 2
        while high - low > 1e-9 * high:
            third = (high - low) / 3
            if height(low + third) < height(high - third):
                high -= third
            else:
                low += third
        return height((low + high) / 2)

    def climb(self, basis: tuple[int, ...], slack: float) -> tuple[int, ...] | None:
        """Where best exchanges lead from this basis; None if two of them are nearly level."""
        values = self.values()
        while True:
            here = values[self.bases.index(basis)]
            around = sorted(self.neighbors(basis), key=lambda i: -values[i])
            gains = [float(values[i] - here) for i in around[:2]]
            if not gains or gains[0] < -slack:
                return basis
            if gains[0] <= slack or (len(gains) > 1 and gains[1] > gains[0] - slack):
                return None
            basis = self.bases[around[0]]

    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Of every basis, the sum of the means and the sum of 1 / N."""
        counted = [self._counted(e) for e in range(len(self.counts))]
        inverse = np.array([1 / n if n else 0.0 for n in counted])
        return self._rows @ np.array(self.means, dtype=float), self._rows @ inverse

    def _factor(self) -> float:
        t = self._rounds_ended + 1
        log_log = math.log(max(1.0, math.log(t)))
        # With noise 1/2 it is f(t) / 2.
        return 2 * self._noise**2 * (math.log(t) + 4 * self._rank * log_log)

    def neighbors(self, basis: tuple[int, ...]) -> list[int]:
        """The numbers of the bases that differ from this one in one exchange."""
        common = self._rows @ self._rows[self.bases.index(basis)]
        return [int(i) for i in np.flatnonzero(common == self._rank - 1)]

    def _decide_from_statistics(self) -> frozenset[int]:
        values = self.values()
        self.compared.update(zip(self.bases, values.tolist(), strict=True))
        return frozenset(self.bases[int(np.argmax(values))])
