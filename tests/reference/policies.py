"""Policies, step by step as published.

[DG25] is Delage and Gaudel, *Efficient Matroid Bandit Linear Optimization Leveraging Unimodality*
(arXiv 2512.00605). [KWAES14] is Kveton, Wen, Ashkan, Eydgahi and Eriksson, *Matroid Bandits: Fast
Combinatorial Optimization with Learning* (UAI 2014).

Ties are broken, floating-point operations are ordered and random numbers are drawn in one fixed
way, so that another implementation with the same conventions plays the same bases and holds the
same means, bit for bit.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .indices import IMED, UCB, BetaThompson, GaussianThompson, Index, Mean
from .matroids import Independence
from .streams import policy_generator

# How many exchanges MAUB makes in one round: at most one, all that look good, or at most k >= 1.
Exchanges = Literal["one", "all"] | int


class _ReferencePolicy(ABC):
    """What the policies on matroids share: the statistics, greedy, and the initial rounds."""

    def __init__(self, size: int, is_independent: Independence, index: Index) -> None:
        self._is_independent = is_independent
        self._index = index
        # Observations every element needs before the statistics decide.
        self._min_count = index.min_count
        # A loop is dependent on its own. All maximal independent sets of a matroid have the same
        # size, so the size of any one of them is the rank. Neither is counted as oracle calls.
        self._nonloops = [e for e in range(size) if is_independent(frozenset({e}))]
        self._rank = _size_of_a_basis(self._nonloops, is_independent)
        index.n_choices = len(self._nonloops)

        self.counts = [0] * size
        self.means = [0.0] * size
        # Plays of every element whose reward has not come yet, and whether they count as
        # observations where an index asks how many there are.
        self.pending = [0] * size
        self.counts_pending = False
        # The values that the last decision compared; none if it was forced.
        self.compared: dict[Any, float] = {}
        self.oracle_calls = 0
        self.greedy_calls = 0
        self.neighborhood_updates = 0

        self._rounds_ended = 0
        self._selected: tuple[int, ...] | None = None

    def select(self) -> tuple[int, ...]:
        """The basis to play in this round; the same until `update` ends the round."""
        if self._selected is None:
            self._selected = tuple(sorted(self._decide()))
        return self._selected

    def decide(self, rounds: int, offer: Collection[int] | None) -> tuple[int, ...]:
        """The basis to play after ``rounds`` rounds, of those in `offer` or of all elements."""
        self._rounds_ended = rounds
        self.compared.clear()
        return tuple(sorted(self._decide())) if offer is None else self.select_among(offer)

    def take_over(self, other: "_ReferencePolicy", new_number: Mapping[int, int]) -> None:
        """Take over what another policy has beyond counts and means, for elements that stay."""
        for name in ("squares", "successes", "failures"):
            for e, new in new_number.items():
                if hasattr(self._index, name):
                    getattr(self._index, name)[new] = getattr(other._index, name)[e]
        for mine, theirs in ((self, other), (self._index, other._index)):
            if hasattr(mine, "_rng"):
                mine._rng = theirs._rng  # type: ignore[union-attr]

    def rank_among(self, offer: Collection[int] | None) -> int:
        """The size of the bases of those in `offer`, or of all elements."""
        allowed = self._nonloops if offer is None else [e for e in self._nonloops if e in offer]
        return _size_of_a_basis(allowed, self._is_independent)

    def select_among(self, offer: Collection[int]) -> tuple[int, ...]:
        """The basis to play in a round in which only `offer` is available.

        It is decided as the same policy with the same statistics would decide on the matroid in
        which everything else is a loop. The time goes on, and so do random numbers.
        """
        # A shallow copy: the statistics are shared.
        part = copy.copy(self)
        allowed = frozenset(offer)
        part._is_independent = lambda s: s <= allowed and self._is_independent(s)
        part._nonloops = [e for e in self._nonloops if e in allowed]
        part._rank = _size_of_a_basis(part._nonloops, self._is_independent)
        part._forget_matroid()
        selected = tuple(sorted(part._decide()))
        self.oracle_calls, self.greedy_calls = part.oracle_calls, part.greedy_calls
        self.neighborhood_updates = part.neighborhood_updates
        return selected

    def _forget_matroid(self) -> None:  # noqa: B027  (greedy has nothing to forget)
        """Drop what was found on another matroid, such as a leader."""

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe the rewards and end the round."""
        self.observe(elements, rewards)
        self._rounds_ended += 1
        self._selected = None

    def observe(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe the rewards."""
        for e, reward in list(zip(elements, rewards, strict=True)):
            before, after = self.means[e], mean_after(self.means[e], self.counts[e], float(reward))
            self.means[e] = after
            self.counts[e] += 1
            self._index.observe(e, float(reward), before, after)

    def _decide(self) -> frozenset[int]:
        # [DG25] step 1: as long as an element of some basis has not been observed often enough,
        # greedy takes such elements first. Not in [DG25]: those with fewer pending plays before
        # others.
        undersampled = [e for e in self._nonloops if self.counts[e] < self._min_count]
        if undersampled:
            undersampled.sort(key=lambda e: (self.pending[e], e))
            others = [e for e in self._nonloops if self.counts[e] >= self._min_count]
            return self._greedy(undersampled + others)
        return self._decide_from_statistics()

    @abstractmethod
    def _decide_from_statistics(self) -> frozenset[int]:
        """The basis to play once every element of some basis has been observed often enough."""

    def _call_oracle(self, elements: frozenset[int]) -> bool:
        """One oracle call."""
        self.oracle_calls += 1
        return self._is_independent(elements)

    def _greedy(self, order: Iterable[int]) -> frozenset[int]:
        """One greedy call: the basis of the elements that fit, in the given order."""
        self.greedy_calls += 1
        return self._take_in_order(order)

    def _take_in_order(self, order: Iterable[int]) -> frozenset[int]:
        """The elements that fit, in the given order; one oracle call for each one tested."""
        chosen: frozenset[int] = frozenset()
        for e in order:
            # No further element can fit once the rank is reached: no more calls.
            if len(chosen) == self._rank:
                break
            if self._call_oracle(chosen | {e}):
                chosen |= {e}
        return chosen

    def _counted(self, e: int) -> int:
        """How many observations an index is told of."""
        return self.counts[e] + (self.pending[e] if self.counts_pending else 0)

    def _values(self, time: int) -> dict[int, float]:
        """The index of every element of some basis, computed in ascending order."""
        self._index.begin()
        values = {
            e: self._index.value(e, self._counted(e), self.means[e], time) for e in self._nonloops
        }
        self.compared.update(values)
        return values

    def _greedy_by_value(self, value: dict[int, float]) -> frozenset[int]:
        """Greedy by value descending; ties: lowest element first."""
        return self._greedy(sorted(self._nonloops, key=lambda e: (-value[e], e)))


class ReferenceGreedy(_ReferencePolicy):
    """Greedy on the values of an index, every round."""

    def _decide_from_statistics(self) -> frozenset[int]:
        # t is the number of this round; the initial rounds count.
        return self._greedy_by_value(self._values(self._rounds_ended + 1))


class ReferenceOMM(ReferenceGreedy):
    """[KWAES14] Optimistic Matroid Maximization: greedy on upper confidence bounds, every round."""

    def __init__(self, size: int, is_independent: Independence) -> None:
        super().__init__(size, is_independent, UCB())


class ReferenceRandomBasis(_ReferencePolicy):
    """Greedy on random weights, every round."""

    def __init__(self, size: int, is_independent: Independence, seed: int = 0) -> None:
        super().__init__(size, is_independent, Mean())
        # It does not use observations.
        self._min_count = 0
        self._rng = policy_generator(seed)

    def _decide_from_statistics(self) -> frozenset[int]:
        return self._greedy_by_value(_random_weights(self._nonloops, self._rng))


class ReferenceEpsilonGreedy(_ReferencePolicy):
    """A random basis with probability ``epsilon``, else greedy on the means."""

    def __init__(
        self, size: int, is_independent: Independence, epsilon: float, seed: int = 0
    ) -> None:
        super().__init__(size, is_independent, Mean())
        self._epsilon = epsilon
        self._rng = policy_generator(seed)

    def _decide_from_statistics(self) -> frozenset[int]:
        if self._rng.random() < self._epsilon:
            return self._greedy_by_value(_random_weights(self._nonloops, self._rng))
        return self._greedy_by_value(self._values(self._rounds_ended + 1))


class ReferenceMAUB(_ReferencePolicy):
    """[DG25] MAUB: plays the leader basis or a basis that differs from it in one exchange.

    [DG25] has upper confidence bounds and one exchange; other indices and several exchanges at
    once are not in [DG25].
    """

    def __init__(
        self,
        size: int,
        is_independent: Independence,
        index: Index | None = None,
        exchanges: Exchanges = "one",
    ) -> None:
        super().__init__(size, is_independent, UCB() if index is None else index)
        assert exchanges in ("one", "all") or (isinstance(exchanges, int) and exchanges >= 1)
        self._exchanges = exchanges
        # Whatever the index, the leader is found by the means.
        self._min_count = max(1, self._min_count)
        self.leader: tuple[int, ...] | None = None
        # sigma(e) for every e outside the leader, as last computed, and the order of the leader's
        # elements for which it was computed.
        self.partners: dict[int, int] = {}
        self._order: list[int] = []
        # l: the number of rounds each basis has been leader.
        self._leader_rounds: dict[tuple[int, ...], int] = {}

    def take_over(self, other: _ReferencePolicy, new_number: Mapping[int, int]) -> None:
        super().take_over(other, new_number)
        assert isinstance(other, ReferenceMAUB)
        for basis, rounds in other._leader_rounds.items():
            if all(e in new_number for e in basis):
                self._leader_rounds[tuple(sorted(new_number[e] for e in basis))] = rounds

    def _forget_matroid(self) -> None:
        self.leader, self.partners, self._order = None, {}, []

    def _decide_from_statistics(self) -> frozenset[int]:
        leader = self._settle_leader()
        # [DG25] step 3: a basis that comes back as leader continues its count.
        self._leader_rounds[leader] = self._leader_rounds.get(leader, 0) + 1
        return self._play_near(leader)

    def _settle_leader(self) -> tuple[int, ...]:
        """[DG25] step 2: the leader of this round, with partners."""
        # The leader test uses the partners as last computed, and it comes before the order test.
        # If the order has changed too, it may keep a leader for one round that greedy would
        # replace; [DG25] does the same.
        if self.leader is None or self._some_exchange_improves():
            by_mean = {e: self.means[e] for e in self._nonloops}
            self.leader = tuple(sorted(self._greedy_by_value(by_mean)))
            self._compute_partners(self.leader)
        elif self._ascending(self.leader) != self._order:
            self._compute_partners(self.leader)
            self.neighborhood_updates += 1
        return self.leader

    def _some_exchange_improves(self) -> bool:
        return any(self.means[e] > self.means[x] for e, x in self.partners.items())

    def _ascending(self, leader: tuple[int, ...]) -> list[int]:
        """The elements of the leader, lowest mean first; ties: lowest element first."""
        return sorted(leader, key=lambda x: (self.means[x], x))

    def _compute_partners(self, leader: tuple[int, ...]) -> None:
        """[DG25] Algorithm 2: sigma(e) is the lowest x in the leader that e can replace."""
        basis = frozenset(leader)
        self._order = self._ascending(leader)
        self.partners = {}
        for x in self._order:
            for e in self._nonloops:
                if e in basis or e in self.partners:
                    continue
                if self._call_oracle(basis - {x} | {e}):
                    self.partners[e] = x

    def _play_near(self, leader: tuple[int, ...]) -> frozenset[int]:
        """[DG25] step 4: the leader, or the exchange that looks best under optimism."""
        basis = frozenset(leader)
        leader_rounds = self._leader_rounds[leader]
        period = len(self._nonloops) - self._rank + 1
        # Not in [DG25]: with several exchanges by draws the leader is played at the end of every
        # period, not at the beginning, and its elements are valued by their means.
        by_means = self._exchanges != "one" and isinstance(
            self._index, BetaThompson | GaussianThompson
        )
        if (leader_rounds if by_means else leader_rounds - 1) % period == 0:
            return basis
        if isinstance(self._index, IMED):
            return self._play_by_divergence(basis)

        # One value per element and round: a random index draws it once. The rule of [DG25] needs
        # differences only, and those of upper confidence bounds have a formula of their own.
        value: dict[int, float] = {}
        if self._exchanges != "one" or not isinstance(self._index, UCB):
            value = self._values(leader_rounds)
        if by_means:
            value |= {x: self.means[x] for x in leader}
        difference = self._exchange_values(leader_rounds, value)

        # The leader itself has value 0, so an exchange must do better than that.
        candidates = [e for e in sorted(difference) if difference[e] > 0]
        if not candidates:
            return basis
        # Largest difference first; ties: lowest element first.
        candidates.sort(key=lambda e: (-difference[e], e))
        if self._exchanges == "one":
            best = candidates[0]
            return basis - {self.partners[best]} | {best}
        if self._exchanges != "all":
            candidates = candidates[: self._exchanges]
        # Not in [DG25]: the basis of largest index among the leader and the candidates. Ties:
        # lowest element first. This is no greedy call, as it is not on the whole ground set.
        return self._take_in_order(sorted([*leader, *candidates], key=lambda e: (-value[e], e)))

    def _play_by_divergence(self, basis: frozenset[int]) -> frozenset[int]:
        """Not in [DG25]: IMED, where sigma(e) is the best arm that e is compared with."""
        assert isinstance(self._index, IMED)
        assert self._exchanges == "one"
        cost = {
            e: self._index.cost(self._counted(e), self.means[e], self.means[x])
            for e, x in self.partners.items()
        }
        # That of sigma(e) itself is ln N.
        better = [e for e, x in self.partners.items() if cost[e] < math.log(self._counted(x))]
        if not better:
            return basis
        best = min(better, key=lambda e: (cost[e], e))
        return basis - {self.partners[best]} | {best}

    def _exchange_values(self, leader_rounds: int, value: dict[int, float]) -> dict[int, float]:
        """The optimistic gain of replacing the partner of e by e, for every e outside the leader.

        The order of the operations is fixed.
        """
        if isinstance(self._index, UCB):
            m, n = self.means, self._counted
            width = self._index.width(leader_rounds)
            return {
                e: (m[e] - m[x]) + width * (1 / math.sqrt(n(e)) - 1 / math.sqrt(n(x)))
                for e, x in self.partners.items()
            }
        return {e: value[e] - value[x] for e, x in self.partners.items()}


def mean_after(mean: float, count: int, reward: float) -> float:
    """[DG25] step 5: the running mean, with the count before this observation."""
    return (count * mean + reward) / (count + 1)


def _random_weights(elements: Iterable[int], rng: np.random.Generator) -> dict[int, float]:
    return {e: rng.random() for e in elements}


def _size_of_a_basis(elements: Iterable[int], is_independent: Independence) -> int:
    chosen: frozenset[int] = frozenset()
    for e in elements:
        if is_independent(chosen | {e}):
            chosen |= {e}
    return len(chosen)
