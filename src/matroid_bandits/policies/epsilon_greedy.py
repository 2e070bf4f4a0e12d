"""Epsilon-greedy: a baseline that explores at random, at a constant rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from matroid_bandits._arguments import integer, real
from matroid_bandits._core.policies.epsilon_greedy import EpsilonGreedyKernel
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.base import CompiledPolicy

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

__all__ = ["EpsilonGreedy"]


class EpsilonGreedy(CompiledPolicy[Selection]):
    """Greedy on the means, but a random basis in a share `epsilon` of the rounds.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    epsilon : float, default 0.1
        Probability of a random round, from 0 to 1; random bases are those of `RandomBasis`.
    seed : int, default 0
        Seed of the coin and of the random bases.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.EpsilonGreedy(mb.UniformMatroid(1, 3), epsilon=0.0)
    >>> policy.update([0, 1, 2], [0.3, 0.9, 0.5])
    >>> policy.select()
    array([1])
    """

    name = "EpsilonGreedy"
    _check_exemptions: ClassVar = {
        "relabeling": "random numbers are drawn in the order of the elements"
    }

    def __init__(
        self, matroid: MatroidLike[Selection], *, epsilon: float = 0.1, seed: int = 0
    ) -> None:
        super().__init__(matroid)
        self._epsilon = real(epsilon, "epsilon", minimum=0, maximum=1)
        self._seed = integer(seed, "seed", minimum=0)

    def _new_kernel(self, matroid: Matroid) -> EpsilonGreedyKernel:
        return EpsilonGreedyKernel(matroid, RandomStream(self._seed), self._epsilon)

    @property
    def epsilon(self) -> float:
        """Probability of a random round."""
        return self._epsilon

    @property
    def seed(self) -> int:
        """Seed of the coin and of the random bases."""
        return self._seed
