"""When observations show which of two elements is better: likelihood ratios and thresholds.

A basis is the best one if and only if no single exchange improves it. So it is enough to compare
pairs of elements: x, which is in the basis, with e, which could replace it.

[GK16]: Garivier & Kaufmann, Optimal Best Arm Identification with Fixed Confidence (COLT 2016).
[KK21]: Kaufmann & Koolen, Mixture Martingales Revisited with Applications to Sequential Tests and
Confidence Intervals (JMLR 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log, pi, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from matroid_bandits._arguments import real

if TYPE_CHECKING:
    from collections.abc import Callable

    from matroid_bandits._types import CountArray, FloatArray

__all__ = [
    "THRESHOLDS",
    "Bernoulli",
    "Family",
    "Gaussian",
    "ThresholdName",
    "bernoulli_divergence",
    "checked_delta",
    "checked_probability",
    "refuse_confidence",
    "thresholds",
]

ThresholdName = Literal["proven", "customary"]

#: The names of the thresholds.
THRESHOLDS: tuple[ThresholdName, ...] = ("proven", "customary")

# Halvings of an interval of length one: as exact as doubles are.
_HALVINGS = 60


# ---- likelihood ratios ----


@dataclass(frozen=True)
class Gaussian:
    """Gaussian rewards of a known standard deviation, or rewards that vary no more than these.

    Parameters
    ----------
    noise : float
        The standard deviation, above 0.
    """

    noise: float

    name = "gaussian"

    def likelihood_ratios(
        self,
        means: FloatArray,
        counts: CountArray,
        other_means: FloatArray,
        other_counts: CountArray,
    ) -> FloatArray:
        """How much less likely the observations of two elements are if the other is as good.

        The logarithm of the generalized likelihood ratio; every mean is at least the other one.
        """
        with np.errstate(over="ignore"):
            gaps = (means - other_means) / self.noise
            ratios: FloatArray = gaps**2 / (2 * (1 / counts + 1 / other_counts))
        return ratios

    def penalties(self, counts: CountArray) -> FloatArray:
        """What the counts of an element add to the proven threshold."""
        added: FloatArray = 2 * np.log(4 + np.log(counts))
        return added

    def level(self, y: float) -> float:
        """Half of what the proven threshold is besides."""
        return _gaussian_level(y)


@dataclass(frozen=True)
class Bernoulli:
    """Rewards of 0 or 1, or any rewards between two bounds, which vary no more than these.

    Parameters
    ----------
    low, high : float
        The bounds.
    """

    low: float = 0.0
    high: float = 1.0

    name = "bernoulli"

    def likelihood_ratios(
        self,
        means: FloatArray,
        counts: CountArray,
        other_means: FloatArray,
        other_counts: CountArray,
    ) -> FloatArray:
        """How much less likely the observations of two elements are if the other is as good.

        The logarithm of the generalized likelihood ratio; every mean is at least the other one.
        """
        first, second = (self._scaled(values) for values in (means, other_means))
        # The most likely mean if both have the same.
        common = (counts * first + other_counts * second) / (counts + other_counts)
        ratios: FloatArray = counts * bernoulli_divergence(
            first, common
        ) + other_counts * bernoulli_divergence(second, common)
        # The common mean of equal ones may be rounded to another one.
        ratios[first == second] = 0.0
        return ratios

    def _scaled(self, means: FloatArray) -> FloatArray:
        scaled: FloatArray = np.clip((means - self.low) / (self.high - self.low), 0.0, 1.0)
        return scaled

    def penalties(self, counts: CountArray) -> FloatArray:
        """What the counts of an element add to the proven threshold."""
        added: FloatArray = 3 * np.log(1 + np.log(counts))
        return added

    def level(self, y: float) -> float:
        """Half of what the proven threshold is besides."""
        return _exponential_family_level(y)


#: The distributions of rewards for which there are thresholds.
Family = Gaussian | Bernoulli


def bernoulli_divergence(p: FloatArray, q: FloatArray) -> FloatArray:
    """Of Bernoulli distributions; never negative, also where rounding would make it so."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(p > 0, p * np.log(p / q), 0.0)
        tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    divergence: FloatArray = np.maximum(heads + tails, 0.0)
    return divergence


# ---- thresholds ----


def checked_probability(delta: float) -> float:
    """A probability, which must be between 0 and 1."""
    value = real(delta, "delta", minimum=0.0, maximum=1.0)
    if not 0 < value < 1:
        raise ValueError(f"delta must be between 0 and 1, such as 0.05, got {delta!r}")
    return value


def checked_delta(delta: float) -> float:
    """The probability of a wrong answer."""
    value = checked_probability(delta)
    refuse_confidence(value, "delta")
    return value


def refuse_confidence(value: float, what: str) -> None:
    """Refuse a probability of being right where that of being wrong is asked for."""
    if value >= 0.5:
        raise ValueError(
            f"{what} is the probability of a wrong answer and must be below 0.5, got {value:.10g}; "
            f"to be right with probability {value:.10g}, pass {1 - value:.10g}"
        )


def thresholds(
    family: Family,
    name: ThresholdName,
    *,
    delta: float,
    n_pairs: int,
    rounds: int,
    counts: CountArray,
    other_counts: CountArray,
) -> FloatArray:
    """What the likelihood ratio of each pair must exceed, so that all are sure with 1 - delta.

    "proven": [KK21] bound the probability that the likelihood ratio of a given pair ever exceeds
    its threshold though the other element is better. If a wrong basis is answered, there is such a
    pair of an element outside the best basis and one in it: `n_pairs` are possible.

    "customary": ``ln((1 + ln t) / delta)``, which [GK16] recommend after simulations. Most papers
    use it; it has not been proven.

    Parameters
    ----------
    family : Gaussian or Bernoulli
    name : {"proven", "customary"}
    delta : float
        The probability of a wrong answer.
    n_pairs : int
        Rank times the number of elements outside a basis, without loops.
    rounds : int
        How many there were.
    counts, other_counts : numpy.ndarray
        Observations of both elements of each pair.
    """
    if name == "customary":
        return np.full(len(counts), log(1 + log(max(rounds, 1))) - log(delta))
    level = 2 * family.level((log(max(n_pairs, 1)) - log(delta)) / 2)
    return level + family.penalties(counts) + family.penalties(other_counts)


@lru_cache(maxsize=1024)
def _gaussian_level(y: float) -> float:
    """[KK21]: the least of (g(l) + y) / l over l between 1/2 and 1; any l gives a valid level."""

    def value(x: float) -> float:
        g = 2 * x - 2 * x * log(4 * x) + log(_zeta(2 * x)) - log(1 - x) / 2
        return (g + y) / x

    return _least(value, 0.5, 1.0)


@lru_cache(maxsize=1024)
def _exponential_family_level(y: float) -> float:
    """[KK21]: their function T, for all one-parameter exponential families."""
    return 2 * _stretched((_inverse(1 + y) + log(2 * pi**2 / 6)) / 2)


def _stretched(y: float) -> float:
    """[KK21]: h with a tilde and the index 3/2."""
    z = 1.5
    point = 1 / log(z)
    if y >= point - log(point):
        u = _inverse(y)
        return exp(1 / u) * u
    return z * (y - log(log(z)))


def _inverse(y: float) -> float:
    """The u of at least 1 with ``u - ln u = y``, for y of at least 1."""
    u = y + log(y + sqrt(2 * max(y - 1, 0.0)))
    for _ in range(50):
        if u <= 1:
            return 1.0
        better = u - (u - log(u) - y) / (1 - 1 / u)
        if abs(better - u) <= 1e-15 * u:
            return better
        u = better
    return u


def _zeta(s: float) -> float:
    """Riemann's zeta function for s above 1, by the formula of Euler and Maclaurin."""
    n = 20.0
    terms = [float(k) ** -s for k in range(1, 20)]
    terms += [n ** (1 - s) / (s - 1), n**-s / 2, s * n ** (-s - 1) / 12]
    terms += [-s * (s + 1) * (s + 2) * n ** (-s - 3) / 720]
    return float(sum(terms))


def _least(value: Callable[[float], float], low: float, high: float) -> float:
    """The least value between two points, at which it is infinite; it has one minimum."""
    ratio = (sqrt(5) - 1) / 2
    best = inf
    for _ in range(_HALVINGS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        at_left, at_right = value(left), value(right)
        best = min(best, at_left, at_right)
        if at_left < at_right:
            high = right
        else:
            low = left
    return best
