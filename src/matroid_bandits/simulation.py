"""One simulated run: a policy, an environment, and the pseudo-regret."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from math import inf
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from matroid_bandits._arguments import as_list, choice, integer, real
from matroid_bandits._core.best_basis import BestBasis
from matroid_bandits._core.late_loop import LostFeedback, run_late
from matroid_bandits._core.loop import run
from matroid_bandits._core.streams.rewards import RewardKernel
from matroid_bandits._frames import data_frame
from matroid_bandits._html import Html, curve, facts, never_raises, number, panel, paragraph
from matroid_bandits._plots import checked_axes, with_unit
from matroid_bandits._regret import best_basis, total_of
from matroid_bandits._types import CountArray, FloatArray, IntArray
from matroid_bandits.delays import Delay, DelayStream, as_delay
from matroid_bandits.environments import Environment
from matroid_bandits.environments.changing import ChangingEnvironment, refuse_changing
from matroid_bandits.environments.noise import known_noise
from matroid_bandits.errors import unbounded_policies
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies import Policy
from matroid_bandits.policies.contract.confidence import Confidence
from matroid_bandits.problem import Problem
from matroid_bandits.stopping import refuse_confidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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
        for a problem with ``sense="min"``, total mean cost above it. If the means of the
        environment change, this is the dynamic regret: against the best basis of every round. What
        is lost in a round between two checkpoints is ``np.diff(regret) / np.diff(rounds)``.
    total_regret : float
        Cumulative pseudo-regret at the horizon.
    seconds : float
        Wall time of the rounds.
    counters : dict of str to int
        ``oracle_calls``, ``greedy_calls``, ``neighborhood_updates`` at the horizon, as far as the
        policy keeps them.
    counter_curves : dict of str to numpy.ndarray
        The same after each of the checkpoints.
    confidence : Confidence or None
        Whether the best basis is settled at the horizon, if ``confidence=`` was given.
    """

    rounds: CountArray = field(repr=False)
    regret: FloatArray = field(repr=False)
    total_regret: float
    seconds: float
    counters: dict[str, int]
    counter_curves: dict[str, CountArray] = field(repr=False)
    confidence: Confidence | None = field(default=None, repr=False)

    def plot(
        self, *, measure: str = "regret", ax: "Axes | None" = None, label: str | None = None
    ) -> "Axes":
        """Draw the regret against the rounds.

        Several runs share one picture: pass the axes that the first call returns to the others.

        Parameters
        ----------
        measure : str, default "regret"
            What to draw: ``regret``, or one of the `counters`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure.
        label : str, optional
            The name of the curve; then there is a legend.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is missing: ``pip install 'matroid-bandits[plots]'``.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> matroid = mb.UniformMatroid(2, 4)
        >>> environment = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], std=0.2)
        >>> ax = mb.simulate(mb.MAUB(matroid), environment, 1000).plot(label="MAUB")
        >>> ax = mb.simulate(mb.OMM(matroid), environment, 1000).plot(ax=ax, label="OMM")
        >>> ax.get_ylabel()
        'cumulative regret'
        """
        chosen = choice(measure, "measure", ("regret", *self.counter_curves))
        values = self.regret if chosen == "regret" else self.counter_curves[chosen]
        axes = checked_axes(ax)
        axes.plot(
            np.r_[0, self.rounds],
            np.r_[0, values],
            marker="o" if len(self.rounds) == 1 else None,
            label=label,
        )
        axes.set_xlabel("round")
        axes.set_ylabel("cumulative regret" if chosen == "regret" else chosen.replace("_", " "))
        axes.xaxis.set_major_formatter(with_unit)
        axes.yaxis.set_major_formatter(with_unit)
        axes.grid(alpha=0.3)
        if label is not None:
            axes.legend()
        return axes

    def to_frame(self) -> "pd.DataFrame":
        """One line for each checkpoint: ``round``, ``regret`` and the counters.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is missing: ``pip install 'matroid-bandits[experiments]'``.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> environment = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], std=0.2)
        >>> run = mb.simulate(mb.OMM(mb.UniformMatroid(2, 4)), environment, 6, checkpoints=[2, 4])
        >>> run.to_frame()[["round", "regret", "greedy_calls"]]
           round  regret  greedy_calls
        0      2     1.2             2
        1      4     1.8             4
        2      6     2.4             6
        """
        return data_frame({"round": self.rounds, "regret": self.regret, **self.counter_curves})

    @never_raises
    def _repr_html_(self) -> Html:
        pairs = [
            ("rounds", number(int(self.rounds[-1]))),
            ("regret", number(float(self.total_regret))),
            ("seconds", number(float(self.seconds))),
            *((name.replace("_", " "), number(n)) for name, n in self.counters.items()),
        ]
        said = () if self.confidence is None else (paragraph(str(self.confidence)),)
        drawn = curve(self.rounds, self.regret, "cumulative regret against rounds")
        return panel(type(self).__name__, facts(pairs), drawn, *said)


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
    delay: "int | Delay | Callable[[np.random.Generator], int] | None" = None,
    matroid: Matroid | Problem[Any, Any] | None = None,
    confidence: float | None = None,
) -> Simulation:
    """Play `horizon` rounds and measure the pseudo-regret.

    The k-th reward of an element depends on (seed, element, k) alone, so policies run with the
    same seed get the same rewards; docs/reference/random-numbers.md says how to replay them.
    Built-in policies run compiled; any object with `select` and `update` can be simulated.

    If the means of the environment change, the regret of a round is against the best basis of that
    round (dynamic regret), and a reward is drawn in the round in which its element is played, also
    if it is learned later.

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
    delay : int, Delay or callable, optional
        How many rounds late the feedback of each element comes, by default 0: a number,
        :class:`~matroid_bandits.FixedDelay` or :class:`~matroid_bandits.GeometricDelay`, which can
        also lose a share of it, or a function that draws one delay from a generator. What was
        played in round t is learned before the decision of round t + 1 + delay. What is due after
        the last round is not learned, and its decisions expire. This needs a `Policy`.
    matroid : Matroid or Problem, optional
        What may be played; needed only where the policy has no attribute `problem` or `matroid`.
    confidence : float, optional
        A probability of a wrong answer, such as 0.05: find out at the horizon whether the best
        basis is settled, by :meth:`Policy.confidence`, with the noise of the environment, or, if
        that is not known, the noise that the policy assumes. This needs a `Policy`.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], std=0.2)
    >>> policy = mb.MAUB(mb.UniformMatroid(2, 4))
    >>> result = mb.simulate(policy, environment, 1000, seed=1, confidence=0.05)
    >>> result.rounds[-1], len(result.regret) == len(result.rounds)
    (np.int64(1000), True)
    >>> result.confidence.settled
    True
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
    late = as_delay(delay)
    if late is not None:
        refuse_without_decisions(policy)
    asked = None if confidence is None else confidence_arguments(policy, environment, confidence)
    _warn_of_noise(policy, environment)
    rewards = environment.rewards(seed)
    guard = policy._kernel.guard if isinstance(policy, Policy) else None
    turn = nullcontext if guard is None else guard.lend_to_loop
    # Nothing but the run may use the policy: no other thread, environment or matroid.
    with nullcontext() if guard is None else guard.hold():
        best, gains, best_value = best_basis(problem, environment, rewards)
        start = perf_counter()
        kernel = policy._deciding_kernel() if isinstance(policy, Policy) else None
        delays = None if late is None else DelayStream(late, seed)
        if kernel is not None:
            with turn():
                play = run if delays is None else partial(run_late, delays=delays)
                regret, counts = play(
                    kernel,
                    rewards,
                    means=gains,
                    best_value=best_value,
                    checkpoints=grid,
                    are_costs=problem.sense == "min",
                    pivot=policy._translation.pivot,  # type: ignore[attr-defined]
                    best=best,
                )
        else:
            parts = (policy, problem, rewards, gains, turn, best)
            rounds = _Rounds(*parts) if delays is None else _LateRounds(delays, *parts)
            regret, counts = _run_in_python(rounds, best_value, grid)
        if isinstance(policy, Policy):
            with turn():
                policy._kernel.expire(list(policy.open_decisions))
        seconds = perf_counter() - start
        answer = None
        if asked is not None and isinstance(policy, Policy):
            with turn():
                # A subclass may have an attribute of its own of that name.
                answer = Policy.confidence(policy, **asked)
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
        confidence=answer,
    )


def _warn_of_noise(policy: SupportsSelectUpdate, environment: Environment) -> None:
    """Warn if the rewards are spread out much more than the policy assumes by default."""
    assumed = policy._assumed_noise() if isinstance(policy, Policy) else None
    known = getattr(environment, "std", None)
    std = 0.0 if known is None else np.max(known, initial=0.0)
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
            f"{type(environment).__name__} gives rewards from {given[0]:g} to {given[1]:g}; "
            f"{unbounded_policies('reward')}, or other rewards"
        )


def refuse_without_decisions(policy: SupportsSelectUpdate) -> None:
    """Raise a ValueError if feedback for the policy cannot come late."""
    if not isinstance(policy, Policy):
        raise ValueError(
            f"with a delay, a policy must tell apart the decisions that feedback is for: derive "
            f"{type(policy).__name__} from Policy, which has decide and learn, or leave delay= out"
        )


def confidence_arguments(
    policy: SupportsSelectUpdate, environment: Environment, delta: float
) -> dict[str, Any]:
    """The arguments with which `Policy.confidence` is called at the horizon.

    Raises
    ------
    ValueError
        If it cannot be called.
    """
    accepted = real(delta, "confidence", minimum=0.0, maximum=1.0)
    if not 0 < accepted < 1:
        raise ValueError(
            f"confidence must be between 0 and 1, the probability of a wrong answer, such as 0.05, "
            f"got {delta!r}"
        )
    refuse_confidence(accepted, "confidence")
    if not isinstance(policy, Policy):
        raise ValueError(
            f"confidence={delta!r} needs the counts and means of the policy: derive "
            f"{type(policy).__name__} from Policy, or leave confidence= out"
        )
    if policy._confidence_refusal:
        raise ValueError(
            f"{type(policy).__name__} has no confidence: {policy._confidence_refusal}; leave "
            "confidence= out"
        )
    if isinstance(environment, ChangingEnvironment):
        raise refuse_changing(environment, f"confidence={delta!r}")
    known = known_noise(environment)
    # What is not possible is refused before the run, not at its end.
    if known.get("noise") == 0:
        raise ValueError(
            f"confidence={delta!r} is for rewards that vary, but this {type(environment).__name__} "
            "has std=0: one observation of each element tells everything; leave confidence= out"
        )
    try:
        policy._family(known.get("noise"), known.get("family"))
    except ValueError as error:
        raise ValueError(
            f"confidence={delta!r} needs to know how the rewards vary; {type(environment).__name__}"
            f" does not tell, and {type(policy).__name__} assumes nothing that would do: take a "
            "policy with noise=..., or leave confidence= out"
        ) from error
    return {"delta": accepted, **known}


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


# ---- rounds of policies written in Python ----


class _Rounds:
    """Plays one round at a time; what the policy selects is checked to be a basis.

    Parameters
    ----------
    policy : SupportsSelectUpdate
    problem : Problem
    rewards : RewardKernel
    gains : numpy.ndarray
        The true means; larger is better.
    turn : callable
        Makes the context in which the policy may be called.
    best : BestBasis, optional
        The best basis of every round, if means change; `gains` follow it.
    """

    def __init__(
        self,
        policy: Any,
        problem: Problem[Any, Any],
        rewards: RewardKernel,
        gains: FloatArray,
        turn: Callable[[], AbstractContextManager[object]],
        best: BestBasis | None = None,
    ) -> None:
        self.policy = policy
        self.problem = problem
        self.rewards = rewards
        self.turn = turn
        self.best = best
        self._gains = gains
        # The bases selected so far, and, if means stay, their values.
        self._values: dict[bytes, float] = {}

    def play(self, t: int) -> float:
        """Play round number `t`; return the value of the basis played."""
        with self.turn():
            selected = self.policy.select()
        basis, value = self._checked(selected, t)
        drawn = self._draw(basis, t)
        with self.turn():
            self.policy.update(self.problem.names(basis), drawn)
        return value

    def end(self) -> None:
        """The run is over."""

    def _draw(self, basis: IntArray, t: int) -> FloatArray:
        if self.best is None:
            return self.rewards.draw(basis)
        return self.rewards.draw(basis, round=t)

    def _checked(self, selected: Iterable[Any], t: int) -> tuple[IntArray, float]:
        """The numbers of a basis, ascending, and its value."""
        basis = np.sort(self.problem.elements(selected))
        key = basis.tobytes()
        if key not in self._values:
            matroid = self.problem.matroid
            reason = matroid._why_no_basis(basis)
            if reason:
                names = self.problem.names(basis) if self.problem.labels else basis.tolist()
                raise ValueError(
                    f"in round {t} {type(self.policy).__name__} selected {names}, "
                    f"which is not a basis of {matroid!r}: {reason}"
                )
            # Bases come back often; those that do not must not fill the memory.
            if len(self._values) >= 10_000:
                self._values.clear()
            self._values[key] = total_of(self._gains[basis])
        if self.best is not None:
            return basis, total_of(self._gains[basis])
        return basis, self._values[key]


class _LateRounds(_Rounds):
    """The same with feedback that is late or lost."""

    def __init__(self, delays: DelayStream, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._delays = delays
        # By the round before whose decision it is due: id, number of an element, and its reward, or
        # None if it is lost. Older decisions come first, and lower elements.
        self._due: defaultdict[int, list[tuple[Any, int, float | None]]] = defaultdict(list)
        self._lost = LostFeedback(self.policy._kernel)
        self.policy._kernel.begin_run()

    def play(self, t: int) -> float:
        """Play round number `t`, then learn what is due before the next one."""
        with self.turn():
            decision = self.policy.decide()
        basis, value = self._checked(decision.elements, t)
        drawn = self._draw(basis, t).tolist()
        delays = self._delays.take(len(basis)).tolist()
        for e, reward, delay in zip(basis.tolist(), drawn, delays, strict=True):
            due = t + 1 + (delay if delay >= 0 else -1 - delay)
            self._due[due].append((decision.id, e, None if delay < 0 else reward))
        with self.turn():
            for identity, feedback in groupby(self._due.pop(t + 1, ()), key=itemgetter(0)):
                self._learn(identity, [(e, reward) for _, e, reward in feedback])
        return value

    def _learn(self, identity: Any, feedback: list[tuple[int, float | None]]) -> None:
        """Learn what is due for one decision."""
        received = [(e, reward) for e, reward in feedback if reward is not None]
        if received:
            elements = np.array([e for e, _ in received], dtype=np.intp)
            names = self.problem.names(elements)
            self.policy.learn(
                identity, {name: reward for name, (_, reward) in zip(names, received, strict=True)}
            )
            self._lost.close_if_settled(identity)
        for e in (e for e, reward in feedback if reward is None):
            self._lost.lose(identity, e)

    def end(self) -> None:
        """The run is over."""
        with self.turn():
            self._lost.end()


def _run_in_python(
    rounds: _Rounds, best_value: float, checkpoints: CountArray
) -> tuple[FloatArray, CountArray]:
    """The loop for policies written in Python: as that of `_core/loop.pyx`."""
    regret = np.zeros(len(checkpoints))
    counts = np.zeros((len(COUNTERS), len(checkpoints)), dtype=np.int64)
    total = 0.0
    t = 0
    try:
        for k, checkpoint in enumerate(checkpoints.tolist()):
            while t < checkpoint:
                t += 1
                if rounds.best is not None:
                    best_value = rounds.best.at(t)
                total += best_value - rounds.play(t)
            regret[k] = total
            counts[:, k] = [getattr(rounds.policy, name, 0) for name in COUNTERS]
    finally:
        rounds.end()
    return regret, counts
