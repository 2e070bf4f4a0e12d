"""Means that stay for a while and then change abruptly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from matroid_bandits._arguments import abbreviated, as_list, freeze, integer, real_array
from matroid_bandits._core.streams.changing_rewards import LATEST
from matroid_bandits._core.streams.means import MeansKernel, PiecewiseMeans
from matroid_bandits.environments.changing import ChangingEnvironment, Kind

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits._types import CountArray, FloatArray

__all__ = ["PiecewiseEnvironment", "checked_changes"]


class PiecewiseEnvironment(ChangingEnvironment):
    """Means that are constant between abrupt changes.

    Parameters
    ----------
    means : array_like of float
        One row of means for each piece.
    changes : array_like of int
        The first rounds of the pieces after the first one, ascending, from 2.
    std : float or array_like of float, optional
        Standard deviation of Gaussian rewards, one for all or one per element; by default 0.2.
    kind : {"gaussian", "bernoulli"}
        How the rewards vary.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.PiecewiseEnvironment([[0.9, 0.1], [0.2, 0.8]], [101], std=0.2)
    >>> environment.means_at(100), environment.means_at(101)
    (array([0.9, 0.1]), array([0.2, 0.8]))

    With random means, drawn anew at every change:

    >>> environment = mb.PiecewiseEnvironment(mb.random_means(6, seed=1, pieces=2), [5001])
    >>> result = mb.simulate(mb.MAUB(mb.UniformMatroid(2, 6)), environment, 10_000)
    """

    def __init__(
        self,
        means: npt.ArrayLike,
        changes: npt.ArrayLike,
        *,
        std: npt.ArrayLike | None = None,
        kind: Kind = "gaussian",
    ) -> None:
        rows = [real_array(row, "a row of means") for row in as_list(means, "means")]
        if not rows:
            raise ValueError("means must have a row for each piece, got none")
        for piece, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"means must have a row for each piece, all of the same length: row 0 has "
                    f"{len(rows[0])} means, row {piece} has {len(row)}"
                )
        super().__init__(len(rows[0]), std=std, kind=kind)
        for piece, row in enumerate(rows):
            self._fit(row, f" in row {piece}")
        self._changes = checked_changes(changes)
        if len(self._changes) != len(rows) - 1:
            raise ValueError(
                f"{len(rows)} rows of means need {len(rows) - 1} changes, the first rounds of the "
                f"later rows, got {len(self._changes)}"
            )
        self._pieces: FloatArray = freeze(np.array(rows).reshape(len(rows), self.size))

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance: three pieces with means uniform in [0.5, 1]."""
        changes = np.sort(rng.choice(np.arange(2, 1000), 2, replace=False))
        return cls(rng.uniform(0.5, 1, (3, size)), changes)

    @property
    def changes(self) -> CountArray:
        """The first rounds of the pieces after the first one (read-only)."""
        return self._changes

    def _means_at(self, round: int) -> npt.ArrayLike:  # noqa: A002
        row: FloatArray = self._pieces[np.searchsorted(self._changes, round, side="right")]
        return row

    def _means_kernel(self) -> MeansKernel:
        return PiecewiseMeans(self._pieces, self._changes)


def checked_changes(changes: npt.ArrayLike) -> CountArray:
    """Rounds in which means change, ascending, as a read-only array."""
    rounds = [integer(c, "a change") for c in as_list(changes, "changes")]
    for wrong in (c for c in rounds if not 2 <= c <= LATEST):
        raise ValueError(f"changes must be rounds from 2 on, since round 1 begins, got {wrong}")
    found = np.array(rounds, dtype=np.int64)
    if np.any(np.diff(found) <= 0):
        raise ValueError(f"changes must ascend, got {abbreviated(rounds)}")
    return freeze(found)
