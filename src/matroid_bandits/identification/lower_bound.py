"""How many rounds no rule can do without."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, choice, freeze, real
from matroid_bandits._core.identification.proportions import best_proportions
from matroid_bandits.environments import BernoulliEnvironment, Environment, GaussianEnvironment
from matroid_bandits.environments.changing import ChangingEnvironment, refuse_changing
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.contract.exchange_pairs import exchanges_of
from matroid_bandits.problem import Problem
from matroid_bandits.stopping import checked_delta

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray
    from matroid_bandits.identification.base import Model

__all__ = ["IdentificationBound", "identification_lower_bound"]

# Steps after which the proportions are as good as they get.
_MOST_STEPS = 3_000_000
# Pairs and elements that all steps look at: some seconds, half a minute at most.
_MOST_WORK = 300_000_000
# Elements that a matroid in Python is asked about, or that are found among its answers.
_MOST_TESTS = 3_000_000


@dataclass(frozen=True, eq=False)
class IdentificationBound:
    """Rounds that every rule needs on average, with a certificate.

    Attributes
    ----------
    rounds : float
        The lower bound: ``characteristic_time * kl(delta, 1 - delta)``.
    characteristic_time : float
        The rounds for each unit of the logarithm of ``1 / delta``; a bound from below that is
        certain.
    characteristic_time_high : float
        The same from above: what `proportions` reach.
    gap : float
        How far the two are apart, relative to the second one: the duality gap.
    proportions : numpy.ndarray
        How often each element is best observed in a round, on average; they add up to the rank, or
        to 1 in the element model.
    """

    rounds: float
    characteristic_time: float
    characteristic_time_high: float
    gap: float
    proportions: FloatArray = field(repr=False)


def identification_lower_bound(
    matroid: Matroid | Problem[Any, Any],
    environment: Environment,
    delta: float,
    *,
    model: Model = "basis",
    tolerance: float = 1e-3,
) -> IdentificationBound:
    """The rounds that any rule needs on average, if it is wrong with probability `delta` at most.

    [GK16]: at least ``T* kl(delta, 1 - delta)`` rounds, where ``1 / T*`` is the largest possible
    growth of the statistic in a round: the maximum, over the proportions in which elements can be
    observed, of the minimum over all exchanges with the best basis.

    Parameters
    ----------
    matroid : Matroid or Problem
    environment : Environment
        Gaussian or Bernoulli rewards; their means must have one best basis only.
    delta : float
        The probability, above 0 and below 0.5; the bound is for small values.
    model : {"basis", "element"}, default "basis"
        What is observed in a round.
    tolerance : float, default 1e-3
        The relative duality gap at which the computation ends. It ends after three million steps
        at the latest, or fewer where there are many pairs or where the matroid is written in
        Python, so that it takes seconds; `gap` says what was reached. In the element model it is
        then a few thousandths for some dozens of elements. The bound is valid in any case.

    Returns
    -------
    IdentificationBound

    References
    ----------
    .. [GK16] A. Garivier and E. Kaufmann, Optimal Best Arm Identification with Fixed Confidence,
       COLT 2016.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.GaussianEnvironment([1.0, 0.0], std=1.0)
    >>> bound = mb.identification_lower_bound(
    ...     mb.UniformMatroid(1, 2), environment, 0.1, tolerance=1e-6
    ... )
    >>> round(bound.characteristic_time, 3), bound.proportions.round(3)
    (8.0, array([0.5, 0.5]))
    """
    if not isinstance(matroid, (Matroid, Problem)):
        raise TypeError(f"the bound is that of a matroid, got {abbreviated(matroid)}")
    problem = Problem.of(matroid)
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {abbreviated(environment)}")
    if isinstance(environment, ChangingEnvironment):
        raise refuse_changing(environment, "the lower bound of identification")
    if environment.size != problem.size:
        raise ValueError(
            f"the environment has {environment.size} elements, the matroid {problem.size}"
        )
    accepted = checked_delta(delta)
    by_element = choice(model, "model", ("basis", "element")) == "element"
    exactness = real(tolerance, "tolerance", minimum=1e-9, maximum=1.0)
    is_bernoulli = isinstance(environment, BernoulliEnvironment)
    is_known = is_bernoulli or isinstance(environment, GaussianEnvironment)
    if not is_known or not environment._fits("_divergence"):
        raise NotImplementedError(
            "the bound is known for GaussianEnvironment and BernoulliEnvironment, got "
            f"{type(environment).__name__}"
        )
    kernel_matroid = problem.matroid
    gains = problem.gains(environment.means)
    if is_bernoulli and problem.sense == "min":
        gains = 1.0 + gains
    basis = np.sort(kernel_matroid.max_weight_basis(gains))
    elements = np.setdiff1d(np.arange(problem.size), kernel_matroid.loops)
    inside, outside = exchanges_of(kernel_matroid, basis)
    if np.any(gains[inside] <= gains[outside]) or not len(inside):
        # Two bases are best, and nothing tells them apart; or there is only one.
        time = inf if len(inside) else 0.0
        even = np.zeros(problem.size)
        even[elements] = (1 if by_element else kernel_matroid.rank) / max(len(elements), 1)
        return IdentificationBound(time, time, time, 0.0, freeze(even))
    variances = np.ones(problem.size)
    if isinstance(environment, GaussianEnvironment):
        if np.any(environment.std == 0):
            raise ValueError("the bound needs rewards with noise: every std must be above 0")
        variances = np.array(environment.std**2)
    low, high, proportions = best_proportions(
        kernel_matroid._new_kernel(),
        kernel_matroid.rank,
        elements,
        inside,
        outside,
        np.ascontiguousarray(gains, dtype=np.float64),
        variances,
        is_bernoulli=is_bernoulli,
        by_element=by_element,
        tolerance=exactness,
        max_steps=min(_MOST_STEPS, max(1, _MOST_WORK // (len(inside) + problem.size))),
        max_tests=_MOST_TESTS,
    )
    return IdentificationBound(
        rounds=_information(accepted) / high,
        characteristic_time=1 / high,
        characteristic_time_high=1 / low,
        gap=1 - low / high,
        proportions=freeze(proportions),
    )


def _information(delta: float) -> float:
    """kl(delta, 1 - delta)."""
    return abs(1 - 2 * delta) * abs(log((1 - delta) / delta))
