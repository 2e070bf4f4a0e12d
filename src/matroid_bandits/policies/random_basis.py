"""Random play: the baseline that learns nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from matroid_bandits._arguments import integer
from matroid_bandits._core.policies.random_basis import RandomKernel
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.base import CompiledPolicy

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

__all__ = ["RandomBasis"]


class RandomBasis(CompiledPolicy[Selection]):
    """A random basis every round, whatever was observed.

    The basis that greedy finds in a uniformly random order of the elements. On uniform and
    partition matroids all bases are equally likely; in general they are not.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    seed : int, default 0
        Seed of the orders.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> len(mb.RandomBasis(mb.UniformMatroid(2, 5), seed=1).select())
    2
    """

    name = "RandomBasis"
    _check_exemptions: ClassVar = {
        "relabeling": "random numbers are drawn in the order of the elements"
    }

    def __init__(self, matroid: MatroidLike[Selection], *, seed: int = 0) -> None:
        super().__init__(matroid)
        self._seed = integer(seed, "seed", minimum=0)

    def _new_kernel(self, matroid: Matroid) -> RandomKernel:
        return RandomKernel(matroid, RandomStream(self._seed))

    @property
    def seed(self) -> int:
        """Seed of the orders."""
        return self._seed
