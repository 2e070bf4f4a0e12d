"""Identification of the best basis: statistics, thresholds, sampling rules, and the loop.

Everything is written from the definitions, for small matroids. [KK21] is Kaufmann and Koolen,
*Mixture Martingales Revisited with Applications to Sequential Tests and Confidence Intervals* (JMLR
2021). [CLUCB] is Chen, Lin, King, Lyu and Chen, *Combinatorial Pure Exploration of Multi-Armed
Bandits* (NIPS 2014), which has CSAR as well. [EEG] is Chen, Gupta and Li, *Pure Exploration of
Multi-armed Bandit Under Matroid Constraints* (COLT 2016).

Larger is better: for costs, the caller gives gains. Ties are broken in one fixed way. Another
implementation may round differently, which matters only where two different computations have
almost the same result: a run notes the first round in which that happens (`Run.close_call`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from scipy.special import lambertw, zeta

from .matroids import Independence, bases
from .policies import mean_after

#: An element of the best basis, and one outside that can replace it.
Pair = tuple[int, int]
#: Mean and count of an element.
Seen = tuple[float, int]
Item = TypeVar("Item")

# What is closer than this may be rounded to either side.
CLOSE = 1e-9


# --- Thresholds ----------------------------------------------------------------------------------


@cache
def c_of(y: float) -> float:
    """[KK21] The least of ``(g(l) + y) / l`` over l in (1/2, 1], by finer and finer grids."""

    def value(x: float) -> float:
        if not 0.5 < x < 1:
            return math.inf
        g = 2 * x - 2 * x * math.log(4 * x) + math.log(zeta(2 * x)) - math.log(1 - x) / 2
        return (g + y) / x

    low, high, best = 0.5, 1.0, math.inf
    for _ in range(8):
        points = [low + (high - low) * k / 200 for k in range(201)]
        values = [value(x) for x in points]
        k = values.index(min(values))
        best = min(best, values[k])
        low, high = points[max(k - 1, 0)], points[min(k + 1, 200)]
    return best


def inverse_h(y: float) -> float:
    """The u >= 1 with ``u - ln u = y``: by Lambert's function, made exact by Newton's method."""
    if y <= 1:
        return 1.0
    # exp(-y) is 0 from 745 on.
    u = -float(lambertw(-math.exp(-y), -1).real) if y < 700 else y + math.log(y)
    for _ in range(5):
        if u > 1 + 1e-6:
            u -= (u - math.log(u) - y) / (1 - 1 / u)
    return u


@cache
def t_of(y: float) -> float:
    """[KK21] T(y)."""
    half = (inverse_h(1 + y) + math.log(2 * zeta(2))) / 2
    log_of_three_halves = math.log(1.5)
    corner = 1 / log_of_three_halves
    if half >= corner - math.log(corner):
        u = inverse_h(half)
        return 2 * math.exp(1 / u) * u
    return 2 * 1.5 * (half - math.log(log_of_three_halves))


def n_hypotheses(rank: int, n_nonloops: int) -> int:
    """As many pairs as a basis of this rank can have, and at least 1."""
    return max(1, rank * (n_nonloops - rank))


def customary(rounds: int, delta: float) -> float:
    """The threshold of most papers."""
    return math.log((1 + math.log(max(rounds, 1))) / delta)


# --- Families of rewards -------------------------------------------------------------------------


class Family(ABC):
    """How rewards vary: statistics of pairs, and the threshold that is proven for them."""

    #: The learner of costs learns pivot - cost.
    pivot: float
    #: Rewards vary no more than Gaussian ones of this standard deviation.
    spread: float

    @abstractmethod
    def divergence(self, mean: float, other: float) -> float:
        """Of one reward with this mean, from one with another mean."""

    @abstractmethod
    def meeting_point(self, x: Seen, e: Seen, eps: float) -> float:
        """The mean of x, and of e without eps, that explains the rewards best if e is better."""

    @abstractmethod
    def statistic(self, x: Seen, e: Seen, eps: float) -> float:
        """How much less likely the rewards are if e is better than x by eps."""

    @abstractmethod
    def gradient(self, x: Seen, e: Seen, eps: float) -> tuple[float, float]:
        """By how much the statistic grows with an observation of x, and with one of e."""

    @abstractmethod
    def statistic_of_sets(self, inside: Sequence[Seen], outside: Sequence[Seen]) -> float:
        """How much less likely the rewards are if the second set is as good as the first.

        The sets are disjoint, and the first one has the larger sum of means.
        """

    @abstractmethod
    def proven(self, n_x: int, n_e: int, hypotheses: int, delta: float) -> float:
        """The threshold of a pair with these counts."""


class Gaussian(Family):
    """Gaussian rewards, or others that vary no more."""

    pivot = 0.0

    def __init__(self, noise: float) -> None:
        self.noise = self.spread = noise

    def divergence(self, mean: float, other: float) -> float:
        return (mean - other) ** 2 / (2 * self.noise**2)

    def meeting_point(self, x: Seen, e: Seen, eps: float) -> float:
        (m_x, n_x), (m_e, n_e) = x, e
        return (n_x * m_x + n_e * (m_e - eps)) / (n_x + n_e)

    def statistic(self, x: Seen, e: Seen, eps: float) -> float:
        (m_x, n_x), (m_e, n_e) = x, e
        return (m_x - m_e + eps) ** 2 / (2 * self.noise**2 * (1 / n_x + 1 / n_e))

    def gradient(self, x: Seen, e: Seen, eps: float) -> tuple[float, float]:
        (m_x, n_x), (m_e, n_e) = x, e
        c = (m_x - m_e + eps) ** 2 / (2 * self.noise**2)
        r = n_e / (n_x + n_e)
        return c * r**2, c * (1 - r) ** 2

    def statistic_of_sets(self, inside: Sequence[Seen], outside: Sequence[Seen]) -> float:
        gap = math.fsum(m for m, _ in inside) - math.fsum(m for m, _ in outside)
        return gap**2 / (2 * self.noise**2 * math.fsum(1 / n for _, n in (*inside, *outside)))

    def proven(self, n_x: int, n_e: int, hypotheses: int, delta: float) -> float:
        slow = sum(2 * math.log(4 + math.log(n)) for n in (n_x, n_e))
        return 2 * c_of(math.log(hypotheses / delta) / 2) + slow


class Bernoulli(Family):
    """Rewards 0 and 1, or between them."""

    pivot = 1.0
    spread = 0.5

    def divergence(self, mean: float, other: float) -> float:
        return _part(mean, other) + _part(1 - mean, 1 - other)

    def meeting_point(self, x: Seen, e: Seen, eps: float) -> float:
        (m_x, n_x), (m_e, n_e) = x, e
        if eps == 0:
            return (n_x * m_x + n_e * m_e) / (n_x + n_e)
        # Left of the first bound both terms fall, right of the second both grow.
        low, high = max(0.0, m_e - eps), min(m_x, 1 - eps)
        for _ in range(200):
            a = (low + high) / 2
            if not low < a < high:
                break
            b = a + eps
            slope = n_x * (a - m_x) / (a * (1 - a)) + n_e * (b - m_e) / (b * (1 - b))
            low, high = (a, high) if slope < 0 else (low, a)
        return min((low, high), key=lambda a: self._cost(x, e, eps, a))

    def statistic(self, x: Seen, e: Seen, eps: float) -> float:
        if x[0] == e[0] and eps == 0:
            return 0.0
        return self._cost(x, e, eps, self.meeting_point(x, e, eps))

    def gradient(self, x: Seen, e: Seen, eps: float) -> tuple[float, float]:
        a = self.meeting_point(x, e, eps)
        return self.divergence(x[0], a), self.divergence(e[0], min(a + eps, 1.0))

    def _cost(self, x: Seen, e: Seen, eps: float, a: float) -> float:
        (m_x, n_x), (m_e, n_e) = x, e
        # a + eps is at most 1, but for rounding.
        return n_x * self.divergence(m_x, a) + n_e * self.divergence(m_e, min(a + eps, 1.0))

    def statistic_of_sets(self, inside: Sequence[Seen], outside: Sequence[Seen]) -> float:
        # Lagrange: the means of the first set go down and those of the second go up until the sums
        # meet; the pull on every mean is the same.
        def lowered(seen: Seen, pull: float) -> float:
            m, n = seen
            # The smaller root of pull * u^2 - (n + pull) * u + n * m.
            total = n + pull
            return 2 * n * m / (total + math.sqrt(max(0.0, total**2 - 4 * pull * n * m)))

        def moved(pull: float) -> tuple[list[float], list[float]]:
            down = [lowered(seen, pull) for seen in inside]
            return down, [1 - lowered((1 - m, n), pull) for m, n in outside]

        def excess(pull: float) -> float:
            down, up = moved(pull)
            return math.fsum(down) - math.fsum(up)

        if excess(0.0) <= 0:
            return 0.0
        low, high = 0.0, 1.0
        while excess(high) > 0:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        down, up = moved(high)
        return math.fsum(
            n * self.divergence(m, u)
            for (m, n), u in zip((*inside, *outside), (*down, *up), strict=True)
        )

    def proven(self, n_x: int, n_e: int, hypotheses: int, delta: float) -> float:
        slow = sum(3 * math.log(1 + math.log(n)) for n in (n_x, n_e))
        return 2 * t_of(math.log(hypotheses / delta) / 2) + slow


def _part(p: float, q: float) -> float:
    """``p ln(p / q)``, which is 0 for p = 0."""
    if p <= 0:
        return 0.0
    return p * math.log(p / q) if q > 0 else math.inf


# --- The statistic of a matroid ------------------------------------------------------------------


class Ground:
    """A matroid: what statistics and rules ask of it."""

    def __init__(self, size: int, is_independent: Independence) -> None:
        self.size = size
        self.is_independent = is_independent
        self.nonloops = [e for e in range(size) if is_independent(frozenset({e}))]
        self.rank = len(self.greedy(self.nonloops))
        self.hypotheses = n_hypotheses(self.rank, len(self.nonloops))
        self._pairs: dict[frozenset[int], list[Pair]] = {}

    def greedy(self, order: Iterable[int]) -> frozenset[int]:
        """The elements that fit, in the given order."""
        chosen: frozenset[int] = frozenset()
        for e in order:
            if self.is_independent(chosen | {e}):
                chosen |= {e}
        return chosen

    def best_basis(self, weights: Sequence[float]) -> frozenset[int]:
        """Greedy, larger first; ties: lowest element first."""
        return self.greedy(sorted(self.nonloops, key=lambda e: (-weights[e], e)))

    def pairs(self, basis: frozenset[int]) -> list[Pair]:
        """All (x, e) with x in the fundamental circuit of e; e ascending, then x.

        That is: the basis is one again with e instead of x.
        """
        if basis not in self._pairs:
            self._pairs[basis] = [
                (x, e)
                for e in self.nonloops
                if e not in basis
                for x in sorted(basis)
                if self.is_independent(basis - {x} | {e})
            ]
        return self._pairs[basis]


def statistic_of_all_bases(
    size: int,
    is_independent: Independence,
    counts: Sequence[int],
    means: Sequence[float],
    family: Family,
) -> float:
    """The least over all other bases of what speaks against their being best."""
    best = Ground(size, is_independent).best_basis(means)
    return min(
        (
            family.statistic_of_sets(
                [(means[e], counts[e]) for e in best - other],
                [(means[e], counts[e]) for e in other - best],
            )
            for other in bases(size, is_independent)
            if other != best
        ),
        default=math.inf,
    )


@dataclass
class Judgement:
    """What is known after some observations."""

    basis: frozenset[int]
    pairs: list[Pair]
    statistics: list[float]
    thresholds: list[float]
    n_unobserved: int
    #: Whether there is only one basis.
    is_single: bool

    @property
    def statistic(self) -> float:
        """The least over the pairs."""
        if self.is_single:
            return math.inf
        return 0.0 if self.n_unobserved else min(self.statistics)

    @property
    def settled(self) -> bool:
        """Whether every pair is above its threshold."""
        above = (z > b for z, b in zip(self.statistics, self.thresholds, strict=True))
        return self.is_single or (not self.n_unobserved and all(above))

    @property
    def margins(self) -> list[float]:
        """By how much each pair is above its threshold."""
        return [z - b for z, b in zip(self.statistics, self.thresholds, strict=True)]

    @property
    def hardest(self) -> int | None:
        """The place of the pair of the smallest margin, the first of several."""
        return self.margins.index(min(self.margins)) if self.pairs else None


def judge(
    ground: Ground,
    counts: Sequence[int],
    means: Sequence[float],
    family: Family,
    *,
    rounds: int,
    delta: float,
    threshold: str,
    eps: float = 0.0,
) -> Judgement:
    """Statistics and thresholds of all pairs; none as long as elements are unobserved."""
    basis = ground.best_basis(means)
    n_unobserved = sum(counts[e] == 0 for e in ground.nonloops)
    pairs = [] if n_unobserved else ground.pairs(basis)
    return Judgement(
        basis,
        pairs,
        [family.statistic((means[x], counts[x]), (means[e], counts[e]), eps) for x, e in pairs],
        [
            family.proven(counts[x], counts[e], ground.hypotheses, delta)
            if threshold == "proven"
            else customary(rounds, delta)
            for x, e in pairs
        ],
        n_unobserved,
        len(ground.nonloops) == ground.rank,
    )


# --- The state of a run --------------------------------------------------------------------------


@dataclass
class State:
    """What a rule sees before a round."""

    ground: Ground
    family: Family
    model: str
    delta: float
    threshold: str
    eps: float
    counts: list[int]
    means: list[float]
    last: list[int]
    rounds: int = 0
    judgement: Judgement | None = None
    #: Whether something in this round was decided by rounding.
    is_close: bool = False

    def seen(self, e: int) -> Seen:
        return self.means[e], self.counts[e]

    def judged(self) -> Judgement:
        assert self.judgement is not None
        return self.judgement

    def age(self, e: int) -> tuple[int, int, int]:
        """What is observed least and longest ago comes first."""
        return self.counts[e], self.last[e], e

    def by_age(self, elements: Iterable[int]) -> list[int]:
        return sorted(elements, key=self.age)

    def is_forced(self) -> bool:
        """Whether some element was observed much less than others."""
        n = len(self.ground.nonloops)
        played = self.ground.rank if self.model == "basis" else 1
        fewest = min(self.counts[e] for e in self.ground.nonloops)
        return fewest < 0.5 * math.sqrt(self.rounds * played / n)

    def first(self, values: dict[Item, tuple[float, Any]]) -> Item:
        """The key of the least value, the first of several.

        Every value comes with what it was computed from: the same gives the same value everywhere.
        """
        chosen = min(values, key=lambda item: values[item][0])
        self.is_close |= any(_may_differ(values[chosen], other) for other in values.values())
        return chosen

    def ascending(
        self, values: dict[Item, tuple[float, Any]], tie: Callable[[Item], Any]
    ) -> list[Item]:
        """The keys by ascending value."""
        items = sorted(values, key=lambda item: (values[item][0], tie(item)))
        for one, other in pairwise(items):
            self.is_close |= _may_differ(values[one], values[other])
        return items


def _may_differ(one: tuple[float, Any], other: tuple[float, Any]) -> bool:
    (a, source), (b, another) = one, other
    return source != another and (a == b or abs(a - b) <= CLOSE * max(abs(a), abs(b)) + 1e-13)


# --- Rules ---------------------------------------------------------------------------------------


class Rule(ABC):
    """Which elements to observe next."""

    #: Whether the rule ends the run by itself, and no statistic is needed.
    ends_by_itself = False

    def start(self, state: State) -> None:  # noqa: B027  (most have nothing to prepare)
        """Before the first round."""

    @abstractmethod
    def targets(self, state: State) -> list[int]:
        """Distinct elements in order of wish."""

    def own_stop(self, state: State) -> bool:
        """Whether the rule stops, where its own stopping rule is used."""
        return False

    def end(self, state: State) -> tuple[frozenset[int], bool] | None:
        """Of a rule that ends by itself: the answer and whether it is settled; None: go on."""
        raise NotImplementedError


class Uniform(Rule):
    """Everything equally often."""

    def targets(self, state: State) -> list[int]:
        return []


class LUCBExchange(Rule):
    """Of every element of the basis, the challenger of the largest upper bound."""

    def targets(self, state: State) -> list[int]:
        beta = _largest_threshold(state)
        width = {
            e: state.family.spread * math.sqrt(2 * beta / state.counts[e])
            for e in state.ground.nonloops
        }
        upper = {e: state.means[e] + width[e] for e in state.ground.nonloops}
        lower = {e: state.means[e] - width[e] for e in state.ground.nonloops}
        scores: dict[Pair, tuple[float, Any]] = {}
        for x, rivals in _rivals(state.judged().pairs):
            e = state.first({e: (-upper[e], state.seen(e)) for e in rivals})
            scores[x, e] = lower[x] - upper[e], (state.seen(x), state.seen(e))
        return _in_pairs(state, state.ascending(scores, lambda pair: pair[0]))


def _largest_threshold(state: State) -> float:
    """The largest threshold a pair can have after so many rounds."""
    if state.threshold == "customary":
        return customary(state.rounds, state.delta)
    n = state.rounds
    return state.family.proven(n, n, state.ground.hypotheses, state.delta)


class BestChallenger(Rule):
    """Of every element of the basis, the challenger that is hardest to tell apart."""

    def targets(self, state: State) -> list[int]:
        if state.is_forced():
            return []
        judged = state.judged()
        z = dict(zip(judged.pairs, judged.statistics, strict=True))
        chosen: dict[Pair, tuple[float, Any]] = {}
        for x, rivals in _rivals(judged.pairs):
            own = {e: (z[x, e], (state.seen(x), state.seen(e))) for e in rivals}
            e = state.first(own)
            chosen[x, e] = own[e]
        return _in_pairs(state, state.ascending(chosen, lambda pair: pair[0]))


def _rivals(pairs: Collection[Pair]) -> Iterator[tuple[int, list[int]]]:
    """Of every x in a pair, its elements e, ascending."""
    for x in sorted({x for x, _ in pairs}):
        yield x, sorted(e for other, e in pairs if other == x)


def _in_pairs(state: State, pairs: Iterable[Pair]) -> list[int]:
    """The elements of the pairs, in each pair the less observed first, each once."""
    order: list[int] = []
    for x, e in pairs:
        order += [e, x] if state.counts[e] <= state.counts[x] else [x, e]
    return list(dict.fromkeys(order))


class CLUCB(Rule):
    """[CLUCB] What the best basis and the best one by confidence bounds do not share."""

    def targets(self, state: State) -> list[int]:
        radius, _, other = self._rival(state)
        differing = {e: (-radius[e], state.counts[e]) for e in state.judged().basis ^ other}
        return state.ascending(differing, lambda e: e)

    def own_stop(self, state: State) -> bool:
        _, weight, other = self._rival(state)
        basis = state.judged().basis
        mine, theirs = (math.fsum(weight[e] for e in sorted(b)) for b in (basis, other))
        state.is_close |= basis != other and abs(theirs - mine) <= CLOSE * (1 + abs(mine))
        return basis == other or theirs <= mine

    def _rival(self, state: State) -> tuple[dict[int, float], list[float], frozenset[int]]:
        nonloops, basis = state.ground.nonloops, state.judged().basis
        level = math.log(4 * len(nonloops) * state.rounds**3 / state.delta)
        radius = {e: state.family.spread * math.sqrt(2 * level / state.counts[e]) for e in nonloops}
        weight = [0.0] * state.ground.size
        for e in nonloops:
            weight[e] = state.means[e] - radius[e] if e in basis else state.means[e] + radius[e]
        order = {e: (-weight[e], (state.seen(e), e in basis)) for e in nonloops}
        return radius, weight, state.ground.greedy(state.ascending(order, lambda e: e))


class FrankWolfe(Rule):
    """The elements that raise a soft minimum of the statistics most."""

    def targets(self, state: State) -> list[int]:
        if state.is_forced():
            return []
        judged = state.judged()
        least = judged.statistic
        total = dict.fromkeys(state.ground.nonloops, 0.0)
        source: dict[int, tuple[Any, ...]] = dict.fromkeys(state.ground.nonloops, ())
        for (x, e), z in zip(judged.pairs, judged.statistics, strict=True):
            weight = math.exp(-3 * (z - least))
            if weight < 1e-9:
                continue
            both = state.seen(x), state.seen(e)
            for place, gain in zip((x, e), state.family.gradient(*both, state.eps), strict=True):
                total[place] += weight * gain
                # With equal counts, the two gradients of a Gaussian pair are the same.
                is_even = isinstance(state.family, Gaussian) and both[0][1] == both[1][1]
                source[place] += ((None if is_even else place == x, *both),)
        rising = {e: (-total[e], source[e]) for e in total if total[e] > 0}
        return state.ascending(rising, lambda e: e)


class _Eliminating(Rule):
    """What the two rules that accept and reject elements share."""

    ends_by_itself = True

    def start(self, state: State) -> None:
        self.active = list(state.ground.nonloops)
        self.accepted: list[int] = []

    def _best(self, state: State) -> frozenset[int]:
        """Greedy on the means, the accepted elements first, without the rejected ones."""
        by_mean = sorted(self.active, key=lambda e: (-state.means[e], e))
        return state.ground.greedy(sorted(self.accepted) + by_mean)

    def _gaps(self, state: State, best: frozenset[int]) -> dict[int, float]:
        """How much worse the best set would be without, or with, each active element."""
        pairs = [
            (x, e) for x, e in state.ground.pairs(best) if x in self.active and e in self.active
        ]
        return {
            y: min(
                (state.means[x] - state.means[e] for x, e in pairs if y in (x, e)), default=math.inf
            )
            for y in self.active
        }

    def _remove(self, elements: Iterable[int], best: frozenset[int]) -> None:
        for e in elements:
            self.active.remove(e)
            if e in best:
                self.accepted.append(e)


class CSAR(_Eliminating):
    """[CLUCB] Combinatorial successive accepts and rejects, for a fixed number of rounds."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def start(self, state: State) -> None:
        super().start(state)
        n = len(self.active)
        harmonic = sum(1 / i for i in range(1, n + 1))
        ends = [0] + [
            math.ceil((self.budget - n) / (harmonic * (n - j + 1))) for j in range(1, n + 1)
        ]
        # After how many rounds every phase ends; the initial rounds count.
        lengths = [(n - j + 1) * (ends[j] - ends[j - 1]) for j in range(1, n + 1)]
        self.phases = list(accumulate(lengths))

    def targets(self, state: State) -> list[int]:
        return state.by_age(self.active)

    def end(self, state: State) -> tuple[frozenset[int], bool] | None:
        while self.phases and state.rounds >= self.phases[0]:
            self.phases.pop(0)
            best = self._best(state)
            gaps = self._gaps(state, best)
            self._remove([max(self.active, key=lambda e: (gaps[e], -e))], best)
        return None if self.phases else (frozenset(self.accepted), False)


class ExactExpGap(_Eliminating):
    """[EEG] Halve what is not yet told apart, until everything is."""

    def start(self, state: State) -> None:
        super().start(state)
        self.number = 0
        self._next(state)

    def _next(self, state: State) -> None:
        self.number += 1
        self.precision = 2.0**-self.number / 4
        level = math.log(2 * len(self.active) * 50 * self.number**3 / state.delta)
        self.needed = math.ceil(2 * state.family.spread**2 * level / self.precision**2)

    def _short(self, state: State) -> list[int]:
        return [e for e in self.active if state.counts[e] < self.needed]

    def targets(self, state: State) -> list[int]:
        return state.by_age(self._short(state))

    def end(self, state: State) -> tuple[frozenset[int], bool] | None:
        while not self._short(state):
            best = self._best(state)
            gaps = self._gaps(state, best)
            inside = [e for e in self.active if e in best]
            outside = [e for e in self.active if e not in best]
            concerned = outside if len(inside) <= len(outside) else inside
            clear = [e for e in concerned if gaps[e] > 2 * self.precision]
            self._remove(clear, best)
            if not [e for e in self.active if e in best] or all(e in best for e in self.active):
                return best, True
            self._next(state)
        return None


# --- The loop ------------------------------------------------------------------------------------


@dataclass
class Run:
    """What a run has found, and what it played."""

    basis: frozenset[int]
    settled: bool
    rounds: int
    counts: list[int]
    #: Of gains; 0 for what was never observed.
    means: list[float]
    judgement: Judgement
    plays: list[tuple[int, ...]] = field(default_factory=list)
    #: After how many rounds something was first decided by rounding; None: never.
    close_call: int | None = None


def identify(
    size: int,
    is_independent: Independence,
    rule: Rule,
    draw: Callable[[list[int]], Sequence[float]],
    family: Family,
    *,
    model: str = "basis",
    delta: float = 0.05,
    limit: int = 10_000,
    threshold: str = "proven",
    eps: float = 0.0,
    are_costs: bool = False,
) -> Run:
    """Observe until the best basis is settled; `draw` gives rewards, or costs, of elements."""
    ground = Ground(size, is_independent)
    zeros = ([0] * size, [0.0] * size, [0] * size)
    state = State(ground, family, model, delta, threshold, eps, *zeros)
    plays: list[tuple[int, ...]] = []
    close_call: int | None = None
    # A single basis is known without any observation.
    is_single = len(ground.nonloops) == ground.rank
    answer = (ground.greedy(ground.nonloops), True) if is_single else None
    if answer is None:
        rule.start(state)
    while answer is None:
        state.is_close = False
        # In the initial rounds everything is observed.
        is_initial = not all(state.counts[e] for e in ground.nonloops)
        if not is_initial:
            answer = rule.end(state) if rule.ends_by_itself else _settled(state, rule)
        if answer is None and state.rounds == limit:
            answer = ground.best_basis(state.means), False
        targets = [] if answer or is_initial else rule.targets(state)
        if state.is_close and close_call is None:
            close_call = state.rounds
        if answer is None:
            _play(state, targets, draw, plays, are_costs)
    found = (*answer, state.rounds, state.counts, state.means, _judge(state))
    return Run(*found, plays, close_call)


def _settled(state: State, rule: Rule) -> tuple[frozenset[int], bool] | None:
    """The best basis, if the stopping rule says so; the state has the statistics then."""
    state.judgement = judged = _judge(state)
    if state.threshold == "own":
        stops = rule.own_stop(state)
    else:
        stops = judged.settled
        for margin, beta in zip(judged.margins, judged.thresholds, strict=True):
            state.is_close |= abs(margin) <= CLOSE * (1 + abs(beta))
    return (judged.basis, True) if stops else None


def _judge(state: State) -> Judgement:
    return judge(
        state.ground,
        state.counts,
        state.means,
        state.family,
        rounds=state.rounds,
        delta=state.delta,
        threshold="proven" if state.threshold == "own" else state.threshold,
        eps=state.eps,
    )


def _play(
    state: State,
    targets: list[int],
    draw: Callable[[list[int]], Sequence[float]],
    plays: list[tuple[int, ...]],
    are_costs: bool,
) -> None:
    """One round."""
    others = state.by_age(e for e in state.ground.nonloops if e not in targets)
    order = targets + others
    played = sorted(state.ground.greedy(order)) if state.model == "basis" else order[:1]
    state.rounds += 1
    for e, reward in zip(played, draw(played), strict=True):
        gain = state.family.pivot - float(reward) if are_costs else float(reward)
        state.means[e] = mean_after(state.means[e], state.counts[e], gain)
        state.counts[e] += 1
        state.last[e] = state.rounds
    plays.append(tuple(played))
