"""One simulated run: a policy, an environment, and the pseudo-regret."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from matroid_bandits._arguments import as_list, integer
from matroid_bandits._core.loop import run
from matroid_bandits._core.streams.rewards import RewardKernel
from matroid_bandits._types import CountArray, FloatArray, IntArray
from matroid_bandits.environments import Environment
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies import Policy
from matroid_bandits.problem import Problem

__all__ = ["Simulation", "SupportsSelectUpdate", "default_checkpoints", "simulate"]


# Rounds are counted exactly, also where they are floats.
LONGEST = 2**53

# In the order of the rows that the compiled loop returns.
COUNTERS = ("oracle_calls", "greedy_calls", "neighborhood_updates")


class SupportsSelectUpdate(Protocol):
    """The methods that a policy of your own needs."""

    def select(self) -> Iterable[Any]:
        """The basis to play: numbers, or the labels of the problem."""

    def update(self, elements: Any, rewards: FloatArray) -> None:
        """Learn from the rewards, or costs, of the basis played."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """The results of one run.

    Attributes
    ----------
    rounds : numpy.ndarray
        The checkpoints: numbers of rounds, ascending, the last one the horizon.
    regret : numpy.ndarray
        Cumulative pseudo-regret after each of them: total mean reward below the best basis, or,
        for a problem with ``sense="min"``, total mean cost above it.
    total_regret : float
        Cumulative pseudo-regret at the horizon.
    seconds : float
        Wall time of the rounds.
    counters : dict of str to int
        ``oracle_calls``, ``greedy_calls``, ``neighborhood_updates`` at the horizon, as far as the
        policy keeps them.
    counter_curves : dict of str to numpy.ndarray
        The same after each of the checkpoints.
    """

    rounds: CountArray = field(repr=False)
    regret: FloatArray = field(repr=False)
    total_regret: float
    seconds: float
    counters: dict[str, int]
    counter_curves: dict[str, CountArray] = field(repr=False)


def default_checkpoints(horizon: int) -> CountArray:
    """Up to 200 rounds: half of them evenly spaced, half on a logarithmic scale."""
    horizon = integer(horizon, "horizon", minimum=1, maximum=LONGEST)
    evenly = np.linspace(0, horizon, 101)[1:]
    by_ratio = np.geomspace(1, horizon, 100)
    grid = np.unique(np.ceil(np.concatenate([evenly, by_ratio])).astype(np.int64))
    return grid[(grid >= 1) & (grid <= horizon)]


def simulate(
    policy: SupportsSelectUpdate,
    environment: Environment,
    horizon: int,
    *,
    seed: int = 0,
    checkpoints: Sequence[int] | CountArray | None = None,
    matroid: Matroid | Problem[Any, Any] | None = None,
) -> Simulation:
    """Play `horizon` rounds and measure the pseudo-regret.

    The k-th reward of an element depends on (seed, element, k) alone, so policies run with the
    same seed get the same rewards; docs/random-numbers.md says how to replay them. Built-in
    policies run compiled; any object with `select` and `update` can be simulated.

    Parameters
    ----------
    policy : Policy, or any object with `select` and `update`
        A fresh policy. It learns during the run and can be inspected afterwards.
    environment : Environment
        The rewards, with their true means in the order of the elements; costs, if the policy's
        problem has ``sense="min"``.
    horizon : int
        Number of rounds.
    seed : int, default 0
        Seed of the rewards, not negative.
    checkpoints : sequence of int, optional
        Rounds at which to note the regret, ascending, from 1 to `horizon`; by default
        :func:`default_checkpoints`. The horizon is always noted.
    matroid : Matroid or Problem, optional
        What may be played; needed only where the policy has no attribute `problem` or `matroid`.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], std=0.2)
    >>> result = mb.simulate(mb.MAUB(mb.UniformMatroid(2, 4)), environment, 1000, seed=1)
    >>> result.rounds[-1], len(result.regret) == len(result.rounds)
    (np.int64(1000), True)
    """
    horizon = integer(horizon, "horizon", minimum=1, maximum=LONGEST)
    seed = integer(seed, "seed", minimum=0)
    grid = default_checkpoints(horizon) if checkpoints is None else _grid(checkpoints, horizon)
    problem = _problem_of(policy, matroid)
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {environment!r}")
    if environment.size != problem.size:
        raise ValueError(
            f"the environment has {environment.size} elements, the matroid {problem.size}"
        )
    refuse_unfit(policy, environment)
    _warn_of_noise(policy, environment)
    rewards = environment.rewards(seed)
    gains = np.ascontiguousarray(problem.gains(environment.means))
    guard = policy._kernel.guard if isinstance(policy, Policy) else None
    turn = nullcontext if guard is None else guard.lend_to_loop
    # Nothing but the run may use the policy: no other thread, environment or matroid.
    with nullcontext() if guard is None else guard.hold():
        best_value = _value(problem.matroid.max_weight_basis(gains), gains)
        start = perf_counter()
        if isinstance(policy, Policy) and (kernel := policy._deciding_kernel()) is not None:
            with turn():
                regret, counts = run(
                    kernel,
                    rewards,
                    gains,
                    best_value,
                    grid,
                    are_costs=problem.sense == "min",
                    pivot=policy._translation.pivot,
                )
        else:
            regret, counts = _run_in_python(policy, problem, rewards, gains, best_value, grid, turn)
        seconds = perf_counter() - start
    curves = {
        name: row for name, row in zip(COUNTERS, counts, strict=True) if hasattr(policy, name)
    }
    return Simulation(
        rounds=grid,
        regret=regret,
        total_regret=float(regret[-1]),
        seconds=seconds,
        counters={name: int(row[-1]) for name, row in curves.items()},
        counter_curves=curves,
    )


def _warn_of_noise(policy: SupportsSelectUpdate, environment: Environment) -> None:
    """Warn if the rewards are spread out much more than the policy assumes by default."""
    assumed = policy._assumed_noise() if isinstance(policy, Policy) else None
    std = np.max(getattr(environment, "std", 0.0), initial=0.0)
    if assumed is not None and std > 100 * assumed:
        warnings.warn(
            f"the rewards have a standard deviation of {std:.6g}, but {type(policy).__name__} "
            f"assumes a noise of {assumed:g}, its default; pass noise=...",
            stacklevel=3,
        )


def refuse_unfit(policy: SupportsSelectUpdate, environment: Environment) -> None:
    """Raise a ValueError if the environment gives rewards that the policy is not for."""
    given = environment.reward_range
    low, high = getattr(policy, "reward_range", (-inf, inf))
    if given is not None and not (low <= given[0] and given[1] <= high):
        raise ValueError(
            f"{type(policy).__name__} is for rewards from {low:g} to {high:g}, but "
            f"{type(environment).__name__} gives rewards from {given[0]:g} to {given[1]:g}; take "
            "an index for rewards without bounds, such as UCB(noise=...), or other rewards"
        )


def _problem_of(
    policy: SupportsSelectUpdate, given: Matroid | Problem[Any, Any] | None
) -> Problem[Any, Any]:
    for method in ("select", "update"):
        if isinstance(policy, type) or not callable(getattr(policy, method, None)):
            raise TypeError(f"a policy is an object with select and update, got {policy!r}")
    if isinstance(policy, Policy) and policy.rounds:
        raise ValueError(
            f"this {type(policy).__name__} has already learned from {policy.rounds} rounds; "
            "simulate starts with a fresh policy: pass policy.clone()"
        )
    own = getattr(policy, "problem", None) or getattr(policy, "matroid", None)
    if given is None:
        given = own
    elif own is not None and given is not own and given is not getattr(policy, "matroid", None):
        raise ValueError("the policy has a matroid of its own; leave matroid= out")
    elif own is not None:
        given = own
    if not isinstance(given, (Matroid, Problem)):
        raise TypeError(
            f"{type(policy).__name__} has no attribute 'matroid': pass matroid= to simulate"
        )
    return Problem.of(given)


def _grid(checkpoints: Sequence[int] | CountArray, horizon: int) -> CountArray:
    rounds = [integer(c, "a checkpoint") for c in as_list(checkpoints, "checkpoints")]
    for wrong in (c for c in rounds if not 1 <= c <= horizon):
        raise ValueError(f"checkpoints must be from 1 to the horizon {horizon}, got {wrong}")
    grid = np.array(rounds, dtype=np.int64)
    if np.any(np.diff(grid) <= 0):
        raise ValueError(f"checkpoints must ascend, got {grid.tolist()}")
    return grid if len(grid) and grid[-1] == horizon else np.append(grid, horizon)


def _value(basis: IntArray, gains: FloatArray) -> float:
    """Sum of what is gained, lowest element first, as the compiled loop adds them."""
    value = 0.0
    for gain in gains[basis].tolist():
        value += gain
    return value


def _run_in_python(
    policy: SupportsSelectUpdate,
    problem: Problem[Any, Any],
    rewards: RewardKernel,
    gains: FloatArray,
    best_value: float,
    checkpoints: CountArray,
    turn: Callable[[], AbstractContextManager[object]],
) -> tuple[FloatArray, CountArray]:
    """The loop for policies written in Python; what they play is checked to be a basis.

    `turn` makes the context in which the policy may be called.
    """
    values: dict[bytes, float] = {}
    regret = np.zeros(len(checkpoints))
    counts = np.zeros((len(COUNTERS), len(checkpoints)), dtype=np.int64)
    total = 0.0
    t = 0
    for k, checkpoint in enumerate(checkpoints.tolist()):
        while t < checkpoint:
            with turn():
                selected = policy.select()
            basis = np.sort(problem.elements(selected))
            key = basis.tobytes()
            if key not in values:
                reason = problem.matroid._why_no_basis(basis)
                if reason:
                    names = problem.names(basis) if problem.labels else basis.tolist()
                    raise ValueError(
                        f"in round {t + 1} {type(policy).__name__} selected {names}, "
                        f"which is not a basis of {problem.matroid!r}: {reason}"
                    )
                # Bases come back often; those that do not must not fill the memory.
                if len(values) >= 10_000:
                    values.clear()
                values[key] = _value(basis, gains)
            drawn = rewards.draw(basis)
            with turn():
                policy.update(problem.names(basis), drawn)
            total += best_value - values[key]
            t += 1
        regret[k] = total
        counts[:, k] = [getattr(policy, name, 0) for name in COUNTERS]
    return regret, counts
