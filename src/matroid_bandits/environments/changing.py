"""Environments whose means change from round to round."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, choice, freeze, integer, real_array
from matroid_bandits._core.streams.changing_rewards import (
    LATEST,
    ChangingBernoulliRewards,
    ChangingGaussianRewards,
    ChangingRewards,
)
from matroid_bandits._core.streams.means import FunctionMeans, MeansKernel
from matroid_bandits._overrides import outdated
from matroid_bandits.environments.base import Environment, finite_means
from matroid_bandits.environments.bernoulli import probabilities
from matroid_bandits.environments.gaussian import standard_deviations

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray

__all__ = ["ChangingEnvironment", "Kind", "one_per_element", "refuse_changing"]

Kind = Literal["gaussian", "bernoulli"]

_KINDS: tuple[Kind, ...] = ("gaussian", "bernoulli")
_STD = 0.2


class ChangingEnvironment(Environment):
    """Draws rewards whose means change from round to round.

    The k-th noise of an element depends on (seed, element, k) alone, as in every environment; the
    mean of the round is added to it. Of Bernoulli rewards, the k-th uniform number of an element is
    compared with the mean of the round. The regret of a round is against the best basis of that
    round (dynamic regret).

    To write your own, pass the number of elements to ``super().__init__`` and define
    ``_means_at(round)``. A function will do too: :class:`~matroid_bandits.FunctionEnvironment`.

    Parameters
    ----------
    size : int
        Number of elements.
    std : float or array_like of float, optional
        Standard deviation of Gaussian rewards, one for all or one per element; by default 0.2.
    kind : {"gaussian", "bernoulli"}
        How the rewards vary.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> class Rising(mb.ChangingEnvironment):
    ...     def _means_at(self, round):
    ...         return [1 - 1 / round, 0.5]
    >>> environment = Rising(2, std=0.0)
    >>> rewards = environment.rewards(seed=0)
    >>> rewards.draw([0]), rewards.draw([0]), rewards.draw([0, 1], round=4)
    (array([0.]), array([0.5]), array([0.75, 0.5 ]))
    >>> environment.means_at(10)
    array([0.9, 0.5])
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._outdated |= outdated(cls, ["_means_kernel"], ["_means_at"])
        if "_sample" in cls.__dict__:
            raise TypeError(
                f"{cls.__name__}._sample is never called: rewards of a ChangingEnvironment are "
                "Gaussian or Bernoulli around the means of the round; define _means_at(round)"
            )

    def __init__(
        self, size: int, *, std: npt.ArrayLike | None = None, kind: Kind = "gaussian"
    ) -> None:
        self._size = integer(size, "size", minimum=0)
        self._kind: Kind = choice(kind, "kind", _KINDS)
        if self._kind == "bernoulli" and std is not None:
            raise ValueError(
                f"std={std!r} is for Gaussian rewards; leave it out for kind='bernoulli'"
            )
        self._std = standard_deviations(_STD if std is None else std, self._size)

    @abstractmethod
    def _means_at(self, round: int) -> npt.ArrayLike:  # noqa: A002
        """The means of a round, counted from 1: the same whenever it is called."""

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance; for classes that define it."""
        raise NotImplementedError(f"{cls.__name__} has no random instances")

    @property
    def means(self) -> FloatArray:
        """Not defined: the means change."""
        raise AttributeError(
            f"the means of a {type(self).__name__} change: means_at(round) has those of a round"
        )

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._size

    @property
    def kind(self) -> Kind:
        """How the rewards vary: "gaussian" or "bernoulli"."""
        return self._kind

    @property
    def std(self) -> FloatArray | None:
        """Standard deviation of every element (read-only); None for Bernoulli rewards."""
        return self._std if self._kind == "gaussian" else None

    def means_at(self, rounds: int | npt.ArrayLike) -> FloatArray:
        """The means of a round, or of several rounds.

        Parameters
        ----------
        rounds : int or array_like of int
            A round, counted from 1; or rounds in ascending order, which are read in one go.

        Returns
        -------
        numpy.ndarray
            One mean per element, or a row of them for each round; read-only.
        """
        kernel = self._new_means()
        if np.ndim(rounds) == 0:
            return freeze(kernel.at(integer(rounds, "round", minimum=1, maximum=LATEST)))
        wanted = [
            integer(one, "a round", minimum=1, maximum=LATEST)
            for one in np.asarray(rounds).tolist()
        ]
        if wanted != sorted(wanted):
            raise ValueError("rounds must be in ascending order: they are read in one go")
        rows = np.array([kernel.at(one) for one in wanted], dtype=np.float64)
        return freeze(rows.reshape(len(wanted), self._size))

    def rewards(self, seed: int = 0) -> ChangingRewards:
        """Start a run: an object whose ``draw(elements)`` returns the next reward of each.

        Every call is a round, the first one round 1. ``draw(elements, round=...)`` draws in another
        round; the next call without `round` is then the round after it.
        """
        return self._rewards(integer(seed, "seed", minimum=0))

    def _rewards(self, seed: int) -> ChangingRewards:
        means = self._new_means()
        if self._kind == "bernoulli":
            return ChangingBernoulliRewards(seed, means)
        return ChangingGaussianRewards(seed, means, self._std)

    def _new_means(self) -> MeansKernel:
        """The means of one run: `_means_kernel`, unless a subclass has changed the definition."""
        changed = "_means_kernel" in self._outdated or "_means_at" in self.__dict__
        return ChangingEnvironment._means_kernel(self) if changed else self._means_kernel()

    def _means_kernel(self) -> MeansKernel:
        """The means of one run; overridden by classes that have compiled ones."""
        return FunctionMeans(self._size, self._checked_means_at)

    def _checked_means_at(self, round: int) -> FloatArray:  # noqa: A002
        given = self._means_at(round)
        expected = f"the means of round {round} must be {self._size} numbers, one per element, got "
        try:
            means = np.asarray(given, dtype=np.float64)
        except (ValueError, TypeError):
            raise ValueError(f"{expected}{abbreviated(given)}") from None
        if means.shape != (self._size,):
            raise ValueError(f"{expected}an array of shape {means.shape}")
        return np.ascontiguousarray(self._fit(means, f" in round {round}"))

    def _fit(self, means: FloatArray, where: str = "") -> FloatArray:
        """`means`; raise a ValueError if rewards of this kind cannot have them."""
        if self._kind == "bernoulli":
            return probabilities(means, where)
        return finite_means(means, where)

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> npt.ArrayLike:
        raise NotImplementedError("rewards of a ChangingEnvironment depend on the round")

    def _reward_range(self) -> tuple[float, float] | None:
        if self._kind == "bernoulli":
            return 0.0, 1.0
        return (-inf, inf) if np.any(self._std > 0) else None

    def divergence(self, elements: npt.ArrayLike, means: npt.ArrayLike) -> FloatArray:
        """Not defined: it would be another one in every round."""
        del elements, means
        raise refuse_changing(self, "a divergence")


def one_per_element(values: npt.ArrayLike, what: str, size: int) -> FloatArray:
    """One number per element, read-only, from one for all or one per element."""
    if np.ndim(values) == 0:
        return freeze(np.full(size, real_array([values], what)[0]))
    array = np.array(real_array(values, what))
    if len(array) != size:
        raise ValueError(f"{what} must be one number, or one per element: {size}, got {len(array)}")
    return freeze(array)


def refuse_changing(environment: Environment, what: str) -> ValueError:
    """The error for what is defined only where means stay as they are."""
    return ValueError(
        f"{what} is for means that stay as they are, and those of a {type(environment).__name__} "
        "change; take an environment with the means of one round, "
        "GaussianEnvironment(environment.means_at(round))"
    )
