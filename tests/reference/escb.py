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
        self.bases = [
            basis
            for basis in combinations(self._nonloops, self._rank)
            if is_independent(frozenset(basis))
        ]
        # One row per basis, 1 where it has the element.
        self._rows = np.zeros((len(self.bases), size))
        for row, basis in zip(self._rows, self.bases, strict=True):
            row[list(basis)] = 1

    @property
    def is_exploring(self) -> bool:
        """Whether some element of some basis has not been observed."""
        return any(self.counts[e] == 0 for e in self._nonloops)

    def values(self) -> FloatArray:
        """The index of every basis in this round."""
        t = self._rounds_ended + 1
        log_log = math.log(max(1.0, math.log(t)))
        confidence = math.log(t) + 4 * self._rank * log_log
        inverse = np.array([1 / n if n else 0.0 for n in self.counts])
        # With noise 1/2 the factor is f(t) / 2.
        widths = np.sqrt(2 * self._noise**2 * confidence * (self._rows @ inverse))
        values: FloatArray = self._rows @ np.array(self.means, dtype=float) + widths
        return values

    def neighbors(self, basis: tuple[int, ...]) -> list[int]:
        """The numbers of the bases that differ from this one in one exchange."""
        common = self._rows @ self._rows[self.bases.index(basis)]
        return [int(i) for i in np.flatnonzero(common == self._rank - 1)]

    def _decide_from_statistics(self) -> frozenset[int]:
        return frozenset(self.bases[int(np.argmax(self.values()))])
