"""The environment contract: true means, and rewards that can be replayed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    abbreviated,
    distinct_elements,
    element_array,
    freeze,
    frozen_state,
    integer,
    real_array,
)
from matroid_bandits._core.streams.rewards import RewardKernel
from matroid_bandits._overrides import outdated
from matroid_bandits._streams import REWARDS, stream

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray

__all__ = ["Environment", "finite_means"]


# Sums of such numbers stay finite, however long a run is.
LARGEST = 1e100


class Environment(ABC):
    """Draws the rewards of what is played, with common random numbers.

    The k-th reward of an element depends on the seed, the element and k alone, not on what else
    is played: policies that run with one seed meet the same rewards.

    To write your own, pass the means to ``super().__init__`` and define `_sample`. For lower bounds
    on the regret define `_divergence`, and `_reward_range` if the rewards have bounds.

    Parameters
    ----------
    means : array_like of float
        The true mean reward of every element; the regret is measured by these.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> class Exponential(mb.Environment):
    ...     def _sample(self, rng, element, count):
    ...         return rng.exponential(self.means[element], count)
    >>> Exponential([1.0, 2.0]).rewards(seed=1).draw([0, 1]).shape
    (2,)
    """

    # What describes the rewards and no longer fits, because a subclass has changed `_sample`.
    _outdated: frozenset[str] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._outdated = outdated(cls, ["_reward_range", "_rewards", "_divergence"], ["_sample"])

    def __init__(self, means: npt.ArrayLike) -> None:
        self._means = freeze(finite_means(np.array(real_array(means, "means"))))

    @abstractmethod
    def _sample(self, rng: np.random.Generator, element: int, count: int) -> npt.ArrayLike:
        """The next `count` rewards of `element`, drawn from its own stream `rng`.

        Two calls in a row must return what one longer call would return.
        """

    def _divergence(self, elements: npt.NDArray[np.intp], means: FloatArray) -> npt.ArrayLike:
        """Optional: what `divergence` returns. Input is checked."""
        raise NotImplementedError

    def _reward_range(self) -> tuple[float, float] | None:
        """Optional: what `reward_range` returns."""
        return None

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance: means uniform in [0.5, 1], as in the experiments of [DG25]."""
        return cls(rng.uniform(0.5, 1, size))

    @property
    def means(self) -> FloatArray:
        """The true mean reward of every element (read-only)."""
        return self._means

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self._means)

    @property
    def reward_range(self) -> tuple[float, float] | None:
        """The lowest and the highest possible reward; None if the class does not define them.

        `simulate` refuses a policy for other rewards before the run, not in the middle of it.
        """
        # The range of a class does not hold for a subclass that draws other rewards.
        return self._reward_range() if self._fits("_reward_range") else None

    def rewards(self, seed: int = 0) -> RewardKernel:
        """Start a run: an object whose ``draw(elements)`` returns the next reward of each.

        Where means change, ``draw(elements, round=...)`` says in which round; without `round`,
        every call is the next one.
        """
        checked = integer(seed, "seed", minimum=0)
        if self._fits("_rewards"):
            return self._rewards(checked)
        return Environment._rewards(self, checked)

    def _fits(self, method: str) -> bool:
        """Whether `method` of the class describes the rewards that are drawn."""
        return method not in self._outdated and "_sample" not in self.__dict__

    def divergence(self, elements: npt.ArrayLike, means: npt.ArrayLike) -> FloatArray:
        """How hard it is to distinguish the rewards of elements from rewards with other means.

        The Kullback-Leibler divergence of the rewards of each element from those with another mean:
        0 for its own mean, infinite where a single reward can distinguish the two.

        Parameters
        ----------
        elements : array_like of int
            Elements, in any order, repeated or not.
        means : array_like of float
            For each of them, the other mean.

        Raises
        ------
        NotImplementedError
            If the class does not define ``_divergence(elements, means)``.
        """
        cls = type(self).__name__
        # The divergence of a class does not hold for a subclass that draws other rewards.
        if type(self)._divergence is Environment._divergence or not self._fits("_divergence"):
            raise NotImplementedError(
                f"{cls} has no divergence of its rewards: define "
                f"{cls}._divergence(elements, means), the Kullback-Leibler divergence of the "
                "rewards of each of `elements` from those with the mean in `means`"
            )
        places = element_array(elements)
        distinct_elements(np.unique(places), self.size)
        others = real_array(means, "means")
        if len(places) != len(others):
            raise ValueError(f"{len(places)} elements, but {len(others)} means")
        values = np.asarray(self._divergence(places, others), dtype=np.float64)
        if values.shape != places.shape or not np.all(values >= 0):
            raise ValueError(
                f"{cls}._divergence must return {len(places)} numbers that are not negative, "
                f"got {abbreviated(values.tolist())}"
            )
        return values

    def _rewards(self, seed: int) -> RewardKernel:
        """The rewards of this class; overridden where compiled code draws them."""
        return SampledRewards(self, seed)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(frozen_state(state))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


def finite_means(means: FloatArray, where: str = "") -> FloatArray:
    """`means`, one per element; raise a ValueError if one is not a number that can be added up.

    `where` follows the number of the element in the message.
    """
    unfit = np.flatnonzero(~(np.abs(means) <= LARGEST))
    if unfit.size:
        raise ValueError(
            f"the mean of element {unfit[0]}{where} is {means[unfit[0]]}; it must be finite and at "
            f"most {LARGEST:g} in size"
        )
    return means


class SampledRewards(RewardKernel):
    """Rewards of an environment written in Python, sampled in blocks of growing size."""

    def __init__(self, environment: Environment, seed: int) -> None:
        super().__init__(environment.size)
        self._environment = environment
        self._seed = seed
        self._rngs: dict[int, np.random.Generator] = {}
        self._blocks: dict[int, FloatArray] = {}
        self._next: dict[int, int] = {}

    def draw(self, elements: npt.ArrayLike, *, round: int | None = None) -> FloatArray:  # noqa: A002
        """The next reward of each of `elements`; they are the same in every `round`."""
        checked = self.checked(elements)
        if round is not None:
            integer(round, "round", minimum=1)
        return np.array([self._draw_one(int(e)) for e in checked])

    def _draw_one(self, element: int) -> float:
        place = self._next.get(element, 0)
        block = self._blocks.get(element)
        if block is None or place == len(block):
            if element not in self._rngs:
                self._rngs[element] = stream(REWARDS, self._seed, element)
            count = 1 if block is None else min(2 * len(block), 4096)
            block = np.asarray(
                self._environment._sample(self._rngs[element], element, count), dtype=np.float64
            )
            if block.shape != (count,):
                raise ValueError(
                    f"{type(self._environment).__name__}._sample must return {count} rewards, "
                    f"got an array of shape {block.shape}"
                )
            self._blocks[element] = block
            place = 0
        self._next[element] = place + 1
        return float(block[place])
