"""Indices, each from its definition: what the value of an element may be, seen optimistically.

[ACF02] is Auer, Cesa-Bianchi and Fischer, *Finite-time Analysis of the Multiarmed Bandit Problem*
(Machine Learning 47, 2002). [GC11] is Garivier and Cappe, *The KL-UCB Algorithm for Bounded
Stochastic Bandits and Beyond* (COLT 2011). [AMS09] is Audibert, Munos and Szepesvari,
*Exploration-exploitation Tradeoff Using Variance Estimates in Multi-armed Bandits* (Theoretical
Computer Science 410, 2009). [CHK18] is Cowan, Honda and Katehakis, *Normal Bandits of Unknown
Means and Variances* (JMLR 18, 2018). [AG12] is Agrawal and Goyal, *Analysis of Thompson Sampling
for the Multi-armed Bandit Problem* (COLT 2012). [AG13] is the same authors' *Further Optimal
Regret Bounds for Thompson Sampling* (AISTATS 2013). [AB09] is Audibert and Bubeck, *Minimax
Policies for Adversarial and Stochastic Bandits* (COLT 2009). [DP16] is Degenne and Perchet,
*Anytime Optimal Algorithms in Stochastic Multi-armed Bandits* (ICML 2016). [HT15] is Honda and
Takemura, *Non-asymptotic Analysis of a New Bandit Algorithm for Semi-bounded Rewards* (JMLR 16,
2015). [HPH26] is Hu, Pan and Huang, *Worst-Case Regret Bounds for Combinatorial Thompson Sampling
in Sleeping Semi-Bandits* (INFOCOM 2026).

Floating-point operations are ordered in one fixed way. The bound of KL-UCB solves an equation:
it is good to about the last bit, and another implementation may differ there.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict

from .streams import policy_generator


class Index(ABC):
    """Hears of every observation, and tells the value of an element at a time."""

    # Observations an element needs before it has a value.
    min_count = 1
    # The range of the rewards.
    low = -math.inf
    high = math.inf
    # The elements of some basis, or arms, that the policy has; it says how many.
    n_choices = 0

    def begin(self) -> None:  # noqa: B027 (only for an index that draws once for all elements)
        """Values of this round come next."""

    def observe(self, element: int, reward: float, before: float, after: float) -> None:  # noqa: B027 (for most, count and mean are enough)
        """Hear of one reward, and of the element's mean before and after it."""

    @abstractmethod
    def value(self, element: int, count: int, mean: float, time: int) -> float:
        """The value of an element with ``count`` observations, at ``time`` >= 1.

        Some of them may be pending: the index has not heard of them, and the mean is without them.
        """


class Mean(Index):
    """No optimism."""

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        return mean


class UCB(Index):
    """[ACF02] UCB1, for rewards whose noise has the scale ``noise``."""

    def __init__(self, noise: float = 1.0, constant: float = 2.0) -> None:
        self.noise = noise
        self.constant = constant

    def width(self, time: int) -> float:
        """How much optimism a single observation leaves."""
        return self.noise * math.sqrt(self.constant * math.log(time))

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        return mean + self.width(time) * (1 / math.sqrt(count))


class KLUCB(Index):
    """[GC11] KL-UCB: the largest mean under which what was seen is not too unlikely."""

    low = 0.0
    high = 1.0

    def __init__(self, c: float = 3.0) -> None:
        self.c = c

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        log = math.log(time)
        # [GC11] has ln ln t; here it is never negative.
        budget = log + self.c * math.log(max(1.0, log))
        # Rounding may bring a mean of rewards in [0, 1] a hair outside.
        return largest_within(min(max(mean, 0.0), 1.0), budget / count)


def largest_within(p: float, bound: float) -> float:
    """The largest q in [p, 1] with kl(p, q) <= bound."""
    if p == 1.0:
        return 1.0
    if p == 0.0:
        # kl(0, q) = -ln(1 - q).
        return -math.expm1(-bound)
    if bound == 0.0:
        return p
    # Floats are dense near 0 only. So the unknown of the bisection is the distance from p if q is
    # in the lower half of [p, 1], and the distance from 1 if it is in the upper half.
    half = (1 - p) / 2
    if _kl(p, p + half, half, half) > bound:
        low, high = 0.0, half
        while low < (above := (low + high) / 2) < high:
            if _kl(p, p + above, above, (1 - p) - above) <= bound:
                low = above
            else:
                high = above
        return p + low
    # No float is closer to 1 than 2^-53: there is no need to tell smaller distances apart.
    low, high = 2.0**-60, half
    while low < (below := (low + high) / 2) < high:
        if _kl(p, 1 - below, (1 - p) - below, below) <= bound:
            high = below
        else:
            low = below
    return 1 - high


def _kl(p: float, q: float, above: float, below: float) -> float:
    """kl(p, q) for 0 < p <= q < 1, where q = p + ``above`` = 1 - ``below``.

    It is p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)). If q is close to p, the two terms nearly
    cancel, and the logarithms must be good relative to q - p.
    """
    first = -math.log1p(above / p) if above < p else math.log(p / q)
    second = -math.log1p(-above / (1 - p)) if above < below else math.log((1 - p) / below)
    return p * first + (1 - p) * second


class _VarianceIndex(Index):
    """An index that needs the empirical variance of an element too."""

    def __init__(self) -> None:
        # The sum of squared differences from the mean, by Welford's recurrence.
        self.squares: defaultdict[int, float] = defaultdict(float)

    def observe(self, element: int, reward: float, before: float, after: float) -> None:
        self.squares[element] += (reward - before) * (reward - after)

    def variance(self, element: int, count: int) -> float:
        # Rounding can bring the mean past a reward that is next to it: a step below 0.
        return max(0.0, self.squares[element] / count)


class UCBV(_VarianceIndex):
    """[AMS09] UCB-V: little variance, little optimism."""

    low = 0.0
    high = 1.0

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        variance = self.variance(element, count)
        log = math.log(time)
        return mean + math.sqrt(2 * variance * log / count) + 3 * log / count


class NormalUCB(_VarianceIndex):
    """[CHK18]: normal rewards of which neither mean nor variance is known."""

    min_count = 3

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        variance = self.variance(element, count)
        # [CHK18] writes t^(2 / (N - 2)) - 1.
        growth = math.expm1(2 * math.log(time) / (count - 2))
        return mean + math.sqrt(variance) * math.sqrt(growth)


class BetaThompson(Index):
    """[AG12] Thompson sampling with Beta posteriors; the prior is uniform."""

    min_count = 0
    low = 0.0
    high = 1.0

    def __init__(self, seed: int = 0) -> None:
        self.successes: defaultdict[int, int] = defaultdict(int)
        self.failures: defaultdict[int, int] = defaultdict(int)
        self._rng = policy_generator(seed)

    def observe(self, element: int, reward: float, before: float, after: float) -> None:
        # [AG12] Algorithm 2: a reward between 0 and 1 is the chance of a success. Rewards 0 and 1
        # need no coin.
        if reward == 1.0 or (reward != 0.0 and self._rng.random() < reward):
            self.successes[element] += 1
        else:
            self.failures[element] += 1

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        a, b = 1 + self.successes[element], 1 + self.failures[element]
        # Observations that were not heard of are pending: they are divided in the same ratio.
        pending = count - (self.successes[element] + self.failures[element])
        return self._rng.beta(a + pending * a / (a + b), b + pending * b / (a + b))


class GaussianThompson(Index):
    """[AG13] Thompson sampling with normal posteriors, here with a flat prior."""

    def __init__(self, noise: float = 1.0, seed: int = 0) -> None:
        self.noise = noise
        self._rng = policy_generator(seed)

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        return self._rng.normal(mean, self.noise * (1 / math.sqrt(count)))


class MOSS(Index):
    """[AB09] MOSS for ``horizon`` rounds, or [DP16] MOSS-anytime if that is None.

    Both papers have rewards in [0, 1], which is ``noise`` = 1/2: 1-sub-Gaussian rewards need twice
    the width.
    """

    def __init__(self, horizon: int | None = None, noise: float = 0.5) -> None:
        self.horizon = horizon
        self.scale = 2 * noise * (math.sqrt((1 + 1.35) / 2) if horizon is None else 1.0)

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        rounds = time if self.horizon is None else self.horizon
        # ln(T / (n N)), but not below 0.
        log = max(0.0, math.log(rounds) - math.log(self.n_choices * count))
        return mean + self.scale * math.sqrt(log / count)


class SharedGaussian(Index):
    """[HPH26] CL-SG: one Gaussian a round, for all elements."""

    def __init__(self, noise: float = 1.0, seed: int = 0) -> None:
        self.noise = noise
        self._rng = policy_generator(seed)
        self._draw = 0.0

    def begin(self) -> None:
        self._draw = self._rng.standard_normal()

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        width = self.noise * self._draw * math.sqrt(math.log(time))
        return mean + width * (1 / math.sqrt(count + 1))


class IMED(Index):
    """[HT15] IMED, for Gaussian rewards with ``noise``, or for rewards in [0, 1] if that is None.

    It compares two elements: there is no value of one element.
    """

    def __init__(self, noise: float | None = None) -> None:
        self.noise = noise
        if noise is None:
            self.low, self.high = 0.0, 1.0

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        raise NotImplementedError

    def cost(self, count: int, mean: float, best: float) -> float:
        """What is minimized: N kl(mean, best) + ln N."""
        return count * self._divergence(mean, best) + math.log(count)

    def _divergence(self, p: float, q: float) -> float:
        if p >= q:
            return 0.0
        if self.noise is not None:
            gap = (q - p) / self.noise
            return 0.5 * gap * gap
        if q >= 1:
            return math.inf
        p = max(0.0, p)
        first = p * math.log(p / q) if p > 0 else 0.0
        # Rounding may bring it below 0.
        return max(0.0, first + (1 - p) * math.log((1 - p) / (1 - q)))
