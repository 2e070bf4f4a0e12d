"""The policies MAUB and OMM, step by step as published.

[DG25] is Delage and Gaudel, *Efficient Matroid Bandit Linear Optimization Leveraging Unimodality*
(arXiv 2512.00605). [KW14] is Kveton, Wen, Ashkan, Eydgahi and Eriksson, *Matroid Bandits: Fast
Combinatorial Optimization with Learning* (UAI 2014).

Ties are broken and floating-point operations are ordered in one fixed way, so that another
implementation with the same conventions plays the same bases and holds the same means, bit for bit.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from .matroids import Independence


class _ReferencePolicy(ABC):
    """What both policies share: the statistics, greedy, and the first rounds."""

    def __init__(self, size: int, is_independent: Independence) -> None:
        self._is_independent = is_independent
        # A loop is dependent on its own. All maximal independent sets of a matroid have the same
        # size, so any one of them tells the rank. Neither is counted as oracle calls.
        self._nonloops = [e for e in range(size) if is_independent(frozenset({e}))]
        self._rank = _size_of_a_basis(self._nonloops, is_independent)

        self.counts = [0] * size
        self.means = [0.0] * size
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

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Take in the observed rewards and end the round."""
        for e, reward in list(zip(elements, rewards, strict=True)):
            # [DG25] step 5: the running mean, with the count before this observation.
            count = self.counts[e]
            self.means[e] = (count * self.means[e] + float(reward)) / (count + 1)
            self.counts[e] = count + 1
        self._rounds_ended += 1
        self._selected = None

    def _decide(self) -> frozenset[int]:
        # [DG25] step 1: as long as an element of some basis has not been observed, greedy takes
        # the unobserved elements first.
        unobserved = [e for e in self._nonloops if self.counts[e] == 0]
        if unobserved:
            observed = [e for e in self._nonloops if self.counts[e] > 0]
            return self._greedy(unobserved + observed)
        return self._decide_from_statistics()

    @abstractmethod
    def _decide_from_statistics(self) -> frozenset[int]:
        """The basis to play once every element of some basis has been observed."""

    def _ask(self, elements: frozenset[int]) -> bool:
        """One oracle call."""
        self.oracle_calls += 1
        return self._is_independent(elements)

    def _greedy(self, order: Iterable[int]) -> frozenset[int]:
        """One greedy call: the basis of the elements that fit, in the given order."""
        self.greedy_calls += 1
        chosen: frozenset[int] = frozenset()
        for e in order:
            # No further element can fit once the rank is reached: no need to ask.
            if len(chosen) == self._rank:
                break
            if self._ask(chosen | {e}):
                chosen |= {e}
        return chosen

    def _greedy_by_value(self, value: dict[int, float]) -> frozenset[int]:
        """Greedy by value descending; ties: lowest element first."""
        return self._greedy(sorted(self._nonloops, key=lambda e: (-value[e], e)))


class ReferenceOMM(_ReferencePolicy):
    """[KW14] Optimistic Matroid Maximization: greedy on upper confidence bounds, every round."""

    def _decide_from_statistics(self) -> frozenset[int]:
        # t is the number of this round; the first rounds count.
        t = self._rounds_ended + 1
        width = math.sqrt(2 * math.log(t))
        index = {e: self.means[e] + width * (1 / math.sqrt(self.counts[e])) for e in self._nonloops}
        return self._greedy_by_value(index)


class ReferenceMAUB(_ReferencePolicy):
    """[DG25] MAUB: plays the leader basis or a basis that differs from it in one exchange."""

    def __init__(self, size: int, is_independent: Independence) -> None:
        super().__init__(size, is_independent)
        self.leader: tuple[int, ...] | None = None
        # sigma(e) for every e outside the leader, as last computed, and the order of the leader's
        # elements for which it was computed.
        self.partners: dict[int, int] = {}
        self._order: list[int] = []
        # l: the number of rounds each basis has been leader.
        self._leader_rounds: dict[tuple[int, ...], int] = {}

    def _decide_from_statistics(self) -> frozenset[int]:
        leader = self._settle_leader()
        # [DG25] step 3: a basis that comes back as leader continues its count.
        self._leader_rounds[leader] = self._leader_rounds.get(leader, 0) + 1
        return self._play_near(leader)

    def _settle_leader(self) -> tuple[int, ...]:
        """[DG25] step 2: the leader of this round, with partners."""
        # The leader test uses the partners as last computed, and it comes before the order test.
        # If the order has changed too, it may keep a leader for one round that greedy would
        # replace; the algorithm is like that.
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
                if self._ask(basis - {x} | {e}):
                    self.partners[e] = x

    def _play_near(self, leader: tuple[int, ...]) -> frozenset[int]:
        """[DG25] step 4: the leader, or the exchange that looks best under optimism."""
        basis = frozenset(leader)
        leader_rounds = self._leader_rounds[leader]
        period = len(self._nonloops) - self._rank + 1
        if (leader_rounds - 1) % period == 0:
            return basis

        # The leader itself has value 0, so an exchange must do better than that. Going through
        # the elements upwards and asking for strictly more breaks ties for the lowest one.
        best_value, best_play = 0.0, basis
        for e in sorted(self.partners):
            x = self.partners[e]
            value = self._exchange_value(e, x, leader_rounds)
            if value > best_value:
                best_value, best_play = value, basis - {x} | {e}
        return best_play

    def _exchange_value(self, e: int, x: int, leader_rounds: int) -> float:
        """The optimistic gain of replacing x by e; the order of the operations is fixed."""
        m, n = self.means, self.counts
        return (m[e] - m[x]) + math.sqrt(2 * math.log(leader_rounds)) * (
            1 / math.sqrt(n[e]) - 1 / math.sqrt(n[x])
        )


def _size_of_a_basis(elements: Iterable[int], is_independent: Independence) -> int:
    chosen: frozenset[int] = frozenset()
    for e in elements:
        if is_independent(chosen | {e}):
            chosen |= {e}
    return len(chosen)
