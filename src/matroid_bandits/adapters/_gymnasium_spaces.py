"""The classes of `to_gymnasium`, which need Gymnasium when they are defined."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from matroid_bandits._regret import best_basis, total_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.environments import Environment
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.problem import Problem

__all__ = ["BanditEnv", "Bases"]


class Bases(spaces.MultiBinary):
    """The bases of a matroid as masks.

    Parameters
    ----------
    matroid : Matroid
    """

    def __init__(self, matroid: Matroid) -> None:
        super().__init__(matroid.size)
        self.matroid = matroid

    def sample(self, mask: Any = None, probability: Any = None) -> npt.NDArray[np.int8]:
        """The mask of a random basis: greedy in a random order of the elements."""
        if mask is not None or probability is not None:
            raise ValueError(
                "the bases of a matroid are sampled without mask= and probability=; restrict the "
                "problem to elements instead: problem.restrict(...)"
            )
        order = self.np_random.random(self.matroid.size)
        return self.mask(self.matroid.max_weight_basis(order))

    def mask(self, basis: IntArray) -> npt.NDArray[np.int8]:
        """The mask of a basis."""
        mask = np.zeros(self.matroid.size, dtype=np.int8)
        mask[basis] = 1
        return mask

    def contains(self, x: Any) -> bool:
        """Whether `x` is the mask of a basis."""
        return bool(super().contains(x)) and self.matroid.is_basis(np.flatnonzero(x))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bases) and self.matroid == other.matroid

    def __hash__(self) -> int:
        return hash(self.matroid)

    def __repr__(self) -> str:
        return f"Bases({self.matroid!r})"


class BanditEnv(gymnasium.Env[Any, Any]):
    """A problem with its rewards as an environment of Gymnasium; see `to_gymnasium`.

    Parameters
    ----------
    problem : Problem
    environment : Environment
    horizon : int
    seed : int
        That of the first episode, if `reset` is given none.
    """

    # Gymnasium changes it in wrappers of an instance.
    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, problem: Problem[Any, Any], environment: Environment, horizon: int, seed: int
    ) -> None:
        self.problem = problem
        self.environment = environment
        self.horizon = horizon
        self._first_seed: int | None = seed
        n = problem.size
        low, high = environment.reward_range or (-inf, inf)
        # 0 stands for what was not observed.
        rewards = spaces.Box(min(low, 0.0), max(high, 0.0), (n,), np.float64)
        self._bases = Bases(problem.matroid)
        self.action_space = self._bases
        self.observation_space = spaces.Dict(
            {
                "counts": spaces.Box(0, horizon, (n,), np.int64),
                "means": rewards,
                "played": spaces.MultiBinary(n),
                "rewards": rewards,
            }
        )
        self._counts = np.zeros(n, dtype=np.int64)
        self._means = np.zeros(n)
        self._round: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Begin an episode."""
        if seed is None and self._first_seed is not None:
            seed = self._first_seed
        super().reset(seed=seed, options=options)
        self._first_seed = None
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        self._rewards = self.environment.rewards(seed)
        self._seed, self._round = seed, 0
        self._best, self._gains, self._best_value = best_basis(
            self.problem, self.environment, self._rewards
        )
        self._counts[:] = 0
        self._means[:] = 0.0
        nothing = np.zeros(0, dtype=np.intp)
        return self._observation(nothing, np.zeros(0)), {"seed": seed, "round": 0}

    def step(
        self, action: Any
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Play the basis of a mask."""
        if self._round is None or self._round >= self.horizon:
            raise RuntimeError("the episode has ended, or not begun: call reset() first")
        basis = self._basis(action)
        number = self._round + 1
        regret = self._regret(basis, number)
        if self._best is None:
            drawn = self._rewards.draw(basis)
        else:
            drawn = self._rewards.draw(basis, round=number)
        self._round = number
        self._counts[basis] += 1
        self._means[basis] += (drawn - self._means[basis]) / self._counts[basis]
        names = [self.problem.name(int(e)) for e in basis]
        info = {
            "rewards": dict(zip(names, drawn.tolist(), strict=True)),
            "regret": regret,
            "round": self._round,
            "seed": self._seed,
        }
        total = total_of(self.problem.gains(drawn))
        is_over = self._round == self.horizon
        return self._observation(basis, drawn), total, False, is_over, info

    def to_action(self, basis: Iterable[Any]) -> npt.NDArray[np.int8]:
        """The mask of a basis, given by its labels (numbers, where there are none)."""
        return self._bases.mask(self.problem.elements(basis))

    def best_action(self, weights: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """The mask of the basis of largest weight: an agent that scores elements needs no more."""
        return self._bases.mask(self.problem.matroid.max_weight_basis(weights))

    def to_basis(self, action: Any) -> Any:
        """The labels of a mask; the other way of `to_action`."""
        return self.problem.names(self._basis(action))

    def _basis(self, action: Any) -> IntArray:
        """The elements of a mask, ascending; refuse what is not a basis."""
        mask = np.asarray(action)
        if mask.shape != (self.problem.size,) or not np.isin(mask, (0, 1)).all():
            raise ValueError(
                f"an action must be a mask of {self.problem.size} zeros and ones, got {action!r}; "
                "env.unwrapped.to_action(basis) makes it"
            )
        basis = np.flatnonzero(mask)
        reason = self.problem.matroid._why_no_basis(basis)
        if reason:
            names = [self.problem.name(int(e)) for e in basis]
            raise ValueError(
                f"{names} is not a basis of {self.problem.matroid!r}: {reason}; "
                "env.unwrapped.best_action(weights) finds one for scores of the elements"
            )
        return basis

    def _observation(self, basis: IntArray, drawn: FloatArray) -> dict[str, npt.NDArray[Any]]:
        rewards = np.zeros(self.problem.size)
        rewards[basis] = drawn
        return {
            "counts": self._counts.copy(),
            "means": self._means.copy(),
            "played": self._bases.mask(basis),
            "rewards": rewards,
        }

    def _regret(self, basis: IntArray, number: int) -> float:
        """How much less the basis earns in a round than the best one, by the true means."""
        if self._best is not None:
            self._best_value = self._best.at(number)
        return self._best_value - total_of(self._gains[basis])
