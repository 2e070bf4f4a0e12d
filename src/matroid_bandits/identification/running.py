"""One run of identification: a sampling rule, an environment, and an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, nan
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matroid_bandits._arguments import abbreviated, choice, freeze, integer, real
from matroid_bandits._core.identification.learner import Learner
from matroid_bandits._core.identification.loop import run
from matroid_bandits._frames import data_frame
from matroid_bandits._html import Html, facts, joined, never_raises, number, panel
from matroid_bandits.environments import Environment
from matroid_bandits.environments.changing import ChangingEnvironment, refuse_changing
from matroid_bandits.environments.noise import known_noise
from matroid_bandits.identification.base import SamplingRule
from matroid_bandits.policies.contract.exchange_pairs import exchanges_of
from matroid_bandits.stopping import (
    THRESHOLDS,
    Bernoulli,
    Family,
    Gaussian,
    checked_delta,
)

if TYPE_CHECKING:
    import pandas as pd

    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.problem import Problem

__all__ = ["Identification", "family_of", "identify"]

# Rounds after which a run ends, unless another number is given.
_LIMIT = 10_000_000


@dataclass(frozen=True, eq=False)
class Identification:
    """The answer of one run.

    Attributes
    ----------
    basis : list, or numpy.ndarray
        The best basis, as far as was found out: labels, or numbers, ascending.
    settled : bool
        Whether it is the best one with the confidence that was asked for. False if the limit was
        reached, or a budget was spent.
    rounds : int
        Rounds that were played.
    observations : int
        Rewards that were seen.
    is_correct : bool
        Whether it is the best one by the true means: no exchange improves it by more than `eps`.
    statistic : float
        How sure it is: the logarithm of the generalized likelihood ratio.
    threshold : float
        What the statistic of the hardest pair had to exceed; NaN if the rule stops by itself.
    counts, means : numpy.ndarray
        Observations of each element and their mean, NaN where there is none.
    curve_rounds, curve_statistics : numpy.ndarray
        The statistic after some of the rounds, more and more apart.
    seconds : float
        Wall time.
    """

    basis: Any
    settled: bool
    rounds: int
    observations: int
    is_correct: bool
    statistic: float
    threshold: float
    seconds: float
    counts: CountArray = field(repr=False)
    means: FloatArray = field(repr=False)
    curve_rounds: CountArray = field(repr=False)
    curve_statistics: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Identification(basis={abbreviated(self.basis)}, settled={self.settled}, "
            f"rounds={self.rounds}, observations={self.observations}, "
            f"is_correct={self.is_correct})"
        )

    def to_frame(self) -> pd.DataFrame:
        """The statistic after some of the rounds: ``round``, ``statistic``.

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
        >>> from matroid_bandits.identification import LUCBExchange
        >>> environment = mb.GaussianEnvironment([0.9, 0.1], std=0.2)
        >>> answer = mb.identify(LUCBExchange(mb.UniformMatroid(1, 2)), environment)
        >>> list(answer.to_frame().columns)
        ['round', 'statistic']
        """
        return data_frame({"round": self.curve_rounds, "statistic": self.curve_statistics})

    @never_raises
    def _repr_html_(self) -> Html:
        pairs = [
            ("basis", joined(self.basis, len(self.basis))),
            ("settled", "yes" if self.settled else "no"),
            ("correct", "yes" if self.is_correct else "no"),
            ("rounds", number(self.rounds)),
            ("observations", number(self.observations)),
            ("statistic", number(float(self.statistic))),
            ("threshold", number(float(self.threshold))),
            ("seconds", number(float(self.seconds))),
        ]
        return panel(type(self).__name__, facts(pairs))


def identify(
    rule: SamplingRule,
    environment: Environment,
    *,
    delta: float = 0.05,
    limit: int = _LIMIT,
    seed: int = 0,
    threshold: Literal["proven", "customary", "own"] | None = None,
    eps: float = 0.0,
    noise: float | None = None,
    family: Literal["gaussian", "bernoulli"] | None = None,
) -> Identification:
    """Find the best basis, and be wrong with a probability of at most `delta`.

    The k-th reward of an element depends on (seed, element, k) alone, as in
    :func:`~matroid_bandits.simulate`.

    Parameters
    ----------
    rule : SamplingRule
        Says what to observe, such as ``LUCBExchange(matroid)``. It can be used again.
    environment : Environment
        The rewards; costs, if the rule's problem has ``sense="min"``.
    delta : float, default 0.05
        The probability of a wrong answer, above 0 and below 0.5.
    limit : int, default 10,000,000
        The most rounds.
    seed : int, default 0
        Seed of the rewards, not negative.
    threshold : {"proven", "customary", "own"}, optional
        When to stop. "proven", the default: the probability of a wrong answer is at most `delta`.
        "customary": what most papers use; it needs fewer rounds, and has not been proven. "own":
        as in the paper of the rule; CSAR and ExactExpGap have no other.
    eps : float, default 0
        Stop also where exchanges improve the basis by at most `eps`.
    noise : float, optional
        The rewards vary no more than Gaussian ones of this standard deviation. By default that of
        the environment; 0.5 for Bernoulli rewards is less sharp than `family`.
    family : {"gaussian", "bernoulli"}, optional
        How the rewards vary. By default that of the environment.

    Returns
    -------
    Identification

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import LUCBExchange
    >>> links = mb.Problem(mb.GraphicMatroid([(0, 1), (1, 2), (2, 0)]), labels=["ab", "bc", "ca"])
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.4], std=0.2)
    >>> found = mb.identify(LUCBExchange(links), environment, delta=0.1, seed=3)
    >>> found.basis, found.settled, found.is_correct
    (['ab', 'bc'], True, True)
    """
    if not isinstance(rule, SamplingRule):
        raise TypeError(
            f"rule must be a SamplingRule, such as LUCBExchange(matroid), got {rule!r:.100}"
        )
    problem = rule.problem
    matroid = problem.matroid
    _check_environment(environment, problem)
    accepted = checked_delta(delta)
    limit = integer(limit, "limit", minimum=1, maximum=2**53)
    seed = integer(seed, "seed", minimum=0)
    margin = real(eps, "eps", minimum=0.0, maximum=1e100)
    chosen = _chosen_threshold(rule, threshold)
    assumed = family_of(environment, noise, family)
    is_bernoulli = isinstance(assumed, Bernoulli)
    if is_bernoulli and margin >= 1:
        raise ValueError(f"eps must be below 1 for rewards from 0 to 1, got {eps!r}")
    is_loop = np.zeros(matroid.size, dtype=np.bool_)
    is_loop[matroid.loops] = True
    n_pairs = matroid.rank * (matroid.size - int(is_loop.sum()) - matroid.rank)
    learner = Learner(
        matroid._new_kernel(),
        matroid._new_kernel(),
        matroid.rank,
        is_loop,
        is_bernoulli=is_bernoulli,
        noise=1.0 if isinstance(assumed, Bernoulli) else assumed.noise,
        eps=margin,
        delta=accepted,
        is_proven=chosen == "proven",
        base_level=2 * assumed.level((log(max(n_pairs, 1)) - log(accepted)) / 2),
    )
    kernel = rule._new_kernel()
    rewards = environment.rewards(seed)
    start = perf_counter()
    has_ended = True
    rounds: list[int] = []
    statistics: list[float] = []
    if n_pairs:
        has_ended, rounds, statistics = run(
            learner,
            kernel,
            rewards,
            limit=limit,
            by_element=rule.model == "element",
            stops_itself=chosen == "own",
            are_costs=problem.sense == "min",
            pivot=1.0 if is_bernoulli else 0.0,
        )
    seconds = perf_counter() - start
    basis = _answer(matroid, learner, kernel.answer() if has_ended and n_pairs else None)
    counts, means = learner.counts_copy(), learner.means_copy()
    own_units = (1.0 if is_bernoulli else 0.0) - means if problem.sense == "min" else means
    return Identification(
        basis=problem.names(basis),
        settled=has_ended and (chosen != "own" or rule.is_sure),
        rounds=learner.rounds,
        observations=int(counts.sum()),
        is_correct=_is_best(matroid, basis, problem.gains(environment.means), margin),
        statistic=learner.statistic,
        threshold=nan if chosen == "own" else learner.threshold(),
        seconds=seconds,
        counts=freeze(counts),
        means=freeze(np.where(counts > 0, own_units, np.nan)),
        curve_rounds=freeze(np.array(rounds, dtype=np.int64)),
        curve_statistics=freeze(np.array(statistics, dtype=np.float64)),
    )


def _check_environment(environment: Environment, problem: Problem[Any, Any]) -> None:
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {environment!r}")
    if isinstance(environment, ChangingEnvironment):
        raise refuse_changing(environment, "identification")
    if environment.size != problem.size:
        raise ValueError(
            f"the environment has {environment.size} elements, the matroid {problem.size}"
        )


def _chosen_threshold(rule: SamplingRule, threshold: str | None) -> str:
    name = type(rule).__name__
    if threshold is None:
        return "own" if rule.only_stops_itself else "proven"
    chosen: str = choice(threshold, "threshold", (*THRESHOLDS, "own"))
    if chosen == "own" and not rule.can_stop:
        raise ValueError(
            f'{name} does not stop by itself; threshold must be "proven" or "customary"'
        )
    if chosen != "own" and rule.only_stops_itself:
        raise ValueError(f"{name} stops by itself; leave threshold={threshold!r} out")
    return chosen


def family_of(environment: Environment, noise: float | None, family: str | None) -> Family:
    """How the rewards of an environment vary: as is said, or as its class says.

    Raises
    ------
    ValueError
        If it is not known, or does not fit.
    """
    if family is not None:
        family = choice(family, "family", ("gaussian", "bernoulli"))
    known = known_noise(environment)
    own: float | None = known.get("noise")
    if family is None:
        family = known.get("family", "gaussian") if noise is None else "gaussian"
    if family == "bernoulli":
        if noise is not None:
            raise ValueError('noise is for family="gaussian"; Bernoulli rewards have none')
        given = environment.reward_range
        if given is None or not (given[0] >= 0 and given[1] <= 1):
            shown = "unknown" if given is None else f"from {given[0]:g} to {given[1]:g}"
            raise ValueError(
                'family="bernoulli" is for rewards from 0 to 1, but those of '
                f"{type(environment).__name__} are {shown}; pass noise=... instead"
            )
        return Bernoulli()
    spread = own if noise is None else noise
    if spread is None:
        raise ValueError(
            f"it is not known how the rewards of {type(environment).__name__} vary: pass "
            'noise=..., their standard deviation, or family="bernoulli" for rewards from 0 to 1'
        )
    value = real(spread, "noise", minimum=0.0, maximum=1e100)
    if value == 0:
        raise ValueError("noise must be above 0: pass noise=..., the standard deviation")
    return Gaussian(value)


def _answer(matroid: Matroid, learner: Learner, answer: IntArray | None) -> IntArray:
    if answer is not None:
        return answer
    if learner.has_basis:
        return learner.basis_copy()
    basis: IntArray = matroid.max_weight_basis(learner.means_copy())
    return basis


def _is_best(matroid: Matroid, basis: IntArray, gains: FloatArray, eps: float) -> bool:
    """Whether no exchange improves a basis by more than `eps`, by the true means."""
    if len(basis) < matroid.rank:
        return False
    inside, outside = exchanges_of(matroid, np.sort(basis))
    return bool(np.all(gains[outside] - gains[inside] <= eps))
