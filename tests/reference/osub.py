"""The policy OSUB on a graph of arms.

[CP14] is Combes and Proutiere, *Unimodal Bandits: Regret Lower Bounds and Optimal Algorithms* (ICML
2014).
"""

import math
from collections.abc import Collection, Mapping, Sequence

from .indices import KLUCB, Index
from .policies import mean_after


class ReferenceOSUB:
    """[CP14] OSUB: plays the leader or a neighbor of it, in a graph of arms.

    Arm k plays the elements ``arms[k]`` (ascending) and pays the mean of their rewards;
    ``neighbors[k]`` are the arms next to it. The index must not be random.
    """

    def __init__(
        self,
        arms: Sequence[tuple[int, ...]],
        neighbors: Sequence[Sequence[int]],
        index: Index | None = None,
        *,
        size: int = 0,
    ) -> None:
        self._arms = list(arms)
        self._neighbors = {k: sorted(near) for k, near in enumerate(neighbors)}
        # gamma, whatever is available
        self._largest_degree = max(map(len, self._neighbors.values()))
        self._index = KLUCB() if index is None else index
        self._index.n_choices = len(arms)

        self.plays = [0] * len(self._arms)
        self.arm_means = [0.0] * len(self._arms)
        # Plays whose rewards have not come, and whether they count as plays in an index.
        self.pending_plays = [0] * len(self._arms)
        self.counts_pending = False
        self.leader: int | None = None
        # l: the number of rounds each arm has been leader.
        self.leader_rounds = [0] * len(self._arms)
        self._selected: int | None = None
        # Of every element: kept, but not used.
        self.counts = [0] * size
        self.means = [0.0] * size
        self.pending = [0] * size

    def select(self) -> tuple[int, ...]:
        """The elements of the arm to play; the same until `update` ends the round."""
        if self._selected is None:
            self._selected = self._decide(self._neighbors)
        return self._arms[self._selected]

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe the rewards and end the round."""
        self.observe_play(elements, rewards)
        self._selected = None

    def decide(self, rounds: int, offer: Collection[int] | None) -> tuple[int, ...]:
        """The elements of the arm to play, of those with all elements in `offer` or of all arms.

        There must be one. The number of rounds is not used.
        """
        del rounds
        if offer is None:
            return self._arms[self._decide(self._neighbors)]
        allowed = frozenset(offer)
        arms = {k for k, arm in enumerate(self._arms) if allowed.issuperset(arm)}
        graph = {k: [j for j in self._neighbors[k] if j in arms] for k in sorted(arms)}
        return self._arms[self._decide(graph)]

    def rank_among(self, offer: Collection[int] | None) -> int:
        """How many elements of an arm are in `offer`, at most."""
        return max(sum(offer is None or e in offer for e in arm) for arm in self._arms)

    def observe(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe rewards of elements."""
        for e, reward in zip(elements, rewards, strict=True):
            self.means[e] = mean_after(self.means[e], self.counts[e], float(reward))
            self.counts[e] += 1

    def observe_play(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe what one play paid."""
        observed = sorted(zip(elements, rewards, strict=True))
        # Feedback counts only if its elements are exactly those of one arm.
        for k, arm in enumerate(self._arms):
            if tuple(e for e, _ in observed) == arm:
                self._learn(k, [float(reward) for _, reward in observed])

    def take_over(self, other: "ReferenceOSUB", new_number: Mapping[int, int]) -> None:
        """Take over what another policy knows about arms whose elements all stay."""
        mine = {arm: k for k, arm in enumerate(self._arms)}
        for old, arm in enumerate(other._arms):
            moved = tuple(sorted(new_number[e] for e in arm if e in new_number))
            k = mine.get(moved) if len(moved) == len(arm) else None
            if k is None:
                continue
            self.plays[k], self.arm_means[k] = other.plays[old], other.arm_means[old]
            self.leader_rounds[k] = other.leader_rounds[old]
            for name in ("squares", "successes", "failures"):
                if hasattr(self._index, name):
                    getattr(self._index, name)[k] = getattr(other._index, name)[old]

    def count_pending_plays(self, played: Sequence[tuple[int, ...]]) -> None:
        """Take these for the plays whose rewards have not all come."""
        self.pending_plays = [played.count(arm) for arm in self._arms]

    def _learn(self, k: int, rewards: list[float]) -> None:
        # Not sum(): since Python 3.12 it compensates rounding errors, which gives other last
        # digits.
        total = 0.0
        for reward in rewards:
            total += reward
        # The basis of a matroid of rank 0 pays nothing.
        reward = total / len(rewards) if rewards else 0.0

        before, after = self.arm_means[k], mean_after(self.arm_means[k], self.plays[k], reward)
        self.arm_means[k] = after
        self.plays[k] += 1
        self._index.observe(k, reward, before, after)

    def _decide(self, neighbors: Mapping[int, Sequence[int]]) -> int:
        """The arm to play, of some arms in ascending order, each with its neighbors."""
        # An arm that was never played has mean 0. `max` finds the lowest of equals.
        leader = self.leader = max(neighbors, key=self.arm_means.__getitem__)
        self.leader_rounds[leader] += 1
        leader_rounds = self.leader_rounds[leader]
        if (leader_rounds - 1) % (self._largest_degree + 1) == 0:
            return leader

        # The leader comes first, then its neighbors in ascending order. Only a strictly larger
        # value replaces the best one, so ties are broken in this order.
        best = leader
        best_value = self._value(leader, leader_rounds)
        for k in neighbors[leader]:
            value = self._value(k, leader_rounds)
            if value > best_value:
                best, best_value = k, value
        return best

    def _value(self, k: int, time: int) -> float:
        # An arm with too few plays has an infinite value.
        if self.plays[k] < max(1, self._index.min_count):
            return math.inf
        counted = self.plays[k] + (self.pending_plays[k] if self.counts_pending else 0)
        return self._index.value(k, counted, self.arm_means[k], time)
