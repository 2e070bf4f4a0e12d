"""Policies for means that change: a window, a discount, or restarts when a test finds a change.

[GM11] is Garivier and Moulines, *On Upper-Confidence Bound Policies for Switching Bandit Problems*
(ALT 2011). [ZWVL20] is Zhou, Wang, Varshney and Lim, *A Near-Optimal Change-Detection Based
Algorithm for Piecewise-Stationary Combinatorial Semi-Bandits* (AAAI 2020).

The policies keep every observation that still counts, with its round. After every event all
statistics are computed anew from them. An observation belongs to the round in which its element was
played, however late it comes.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import glr
from .decisions import Decision, Id, ReferenceDecisions
from .indices import BetaThompson, Index
from .policies import (
    Exchanges,
    ReferenceGreedy,
    ReferenceMAUB,
    _ReferencePolicy,
    mean_after,
)

# Discounted counts are looked at when the weight of an observation has fallen by this factor;
# elements with a smaller count than the second number are then forgotten.
_FACTOR = 1e12
_FORGOTTEN = 1e-6


@dataclass(frozen=True)
class Restart:
    """Restarts by the generalized likelihood ratio: of all elements, or of one."""

    delta: float = 0.01
    scope: str = "all"
    period: int | None = None


# Two observations may be equal in all respects, and still are two.
@dataclass(frozen=True, eq=False)
class Observation:
    """A reward that came, and the outcome of its coin where one is tossed."""

    round: int
    element: int
    reward: float
    success: bool


class _Changing(_ReferencePolicy):
    """A policy that forgets. At most one of the three arguments is not None."""

    def __init__(
        self,
        *args: Any,
        window: int | None = None,
        discount: float | None = None,
        restart: Restart | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        assert [window, discount, restart].count(None) >= 2
        self._window, self._discount, self._restart = window, discount, restart
        #: What was observed and counts, in the order in which it came.
        self.kept: list[Observation] = []
        self._of: list[list[Observation]] = [[] for _ in self.counts]
        #: Of every element, the sum of the weights of its observations.
        self.weights: list[float] = [0.0] * len(self.counts)
        #: The round of the feedback that comes next; None for the round that it ends.
        self.feedback_round: int | None = None
        #: Whether that feedback begins its round: nothing was selected in it.
        self.begins_round = False

        self._all_nonloops = list(self._nonloops)
        # Elements of which something has left the window since they had no observation.
        self._has_left: set[int] = set()
        # Elements that have been observed often enough at some time since the last restart of all,
        # and whether one of them is no longer.
        self._reached: set[int] = set()
        self._has_fallen = False
        # Elements that are not observed often enough, those that have waited longest first.
        self._queue = list(self._nonloops)
        # Elements for which the test found a change, in this order.
        self._marked: list[int] = []
        # How many rounds had ended at the last restart of all, and at that of every element.
        self.restarted_at = 0
        self._forgotten_at = [0] * len(self.counts)

    # --- observing ------------------------------------------------------------------------------

    def observe(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        round_ = self._rounds_ended + 1 if self.feedback_round is None else self.feedback_round
        self.feedback_round = None
        if self.begins_round:
            self._begin_round()
        self.begins_round = False
        for e, reward in list(zip(elements, rewards, strict=True)):
            if not self._is_too_late(e, round_):
                self._observe_one(round_, e, float(reward))
        self._recompute(elements)

    def _is_too_late(self, e: int, round_: int) -> bool:
        if self._window is not None:
            return round_ < self._rounds_ended + 1 - self._window
        return self._restart is not None and round_ <= self._forgotten_at[e]

    def _observe_one(self, round_: int, e: int, reward: float) -> None:
        observation = Observation(round_, e, reward, self._toss(e, reward))
        self.kept.append(observation)
        self._of[e].append(observation)
        if len(self._of[e]) >= self._needed:
            self._reached.add(e)
            if e in self._queue:
                self._queue.remove(e)
        if self._restart is not None and e not in self._marked:
            noise = getattr(self._index, "noise", None)
            rewards = [o.reward for o in self._of[e]]
            if glr.has_changed(rewards, noise, len(self._all_nonloops), self._restart.delta):
                self._marked.append(e)

    def _toss(self, e: int, reward: float) -> bool:
        """The coin of Thompson sampling, tossed when the reward is learned."""
        if not isinstance(self._index, BetaThompson):
            return False
        before = self._index.successes[e]
        self._index.observe(e, reward, 0.0, 0.0)
        return self._index.successes[e] > before

    # --- forgetting -----------------------------------------------------------------------------

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        super().update(elements, rewards)
        self.end_rounds(self._rounds_ended)

    def end_rounds(self, rounds: int) -> None:
        """So many rounds have ended: what is too old leaves the window."""
        self._rounds_ended = rounds
        gone: list[Observation] = []
        if self._window is not None:
            first = rounds + 1 - self._window
            # By round; those of one round stay in the order in which they came.
            gone = sorted([o for o in self.kept if o.round < first], key=lambda old: old.round)
            for old in gone:
                self._remove(old)
        self._recompute(old.element for old in gone)

    def _remove(self, observation: Observation) -> None:
        e = observation.element
        self.kept.remove(observation)
        self._of[e].remove(observation)
        left = len(self._of[e])
        # It falls below the number only if it was there.
        if left == self._needed - 1 and e in self._all_nonloops:
            self._queue.append(e)
            self._has_fallen = True
        if left:
            self._has_left.add(e)
        else:
            self._has_left.discard(e)

    @property
    def _needed(self) -> int:
        return max(1, self._min_count)

    def _forget(self, e: int) -> None:
        """As if it had never been observed."""
        for observation in list(self._of[e]):
            self._remove(observation)
        self._forgotten_at[e] = self._rounds_ended

    def _begin_round(self) -> None:
        """What is forgotten when a round begins: before it is decided, or before its feedback if
        nothing was decided. A second call changes nothing.
        """
        if self._restart is not None and self._marked:
            if self._restart.scope == "all":
                self._restart_all()
            else:
                for e in self._marked:
                    self._forget(e)
            self._marked.clear()
            self._recompute(range(len(self.counts)))
        if self._discount is not None and self._discount < 1 and self._rounds_ended:
            rounds = math.floor(math.log(_FACTOR) / -math.log(self._discount)) + 1
            if self._rounds_ended % rounds == 0:
                for e, weight in enumerate(self.weights):
                    if 0 < weight < _FORGOTTEN:
                        self._forget(e)
                self._recompute(())

    def _restart_all(self) -> None:
        self.restarted_at = self._rounds_ended
        for e in range(len(self.counts)):
            self._forget(e)
        self._reached.clear()
        self._has_fallen = False
        self._queue[:] = self._all_nonloops

    # --- statistics -----------------------------------------------------------------------------

    def _recompute(self, changed: Iterable[int]) -> None:
        """The statistics from what is kept: of elements whose observations have changed, and with
        a discount of all.
        """
        has_weights = self._discount is not None and self._discount < 1
        for e in range(len(self.counts)) if has_weights else set(changed):
            own = self._of[e]
            self.counts[e] = len(own)
            if has_weights:
                self._weigh(e, own)
            else:
                self.weights[e] = len(own)
                self._count(e, own)

    def _weigh(self, e: int, own: list[Observation]) -> None:
        """[GM11] D-UCB: what was observed k rounds before the last has the weight gamma^k."""
        assert self._discount is not None
        weights = [self._discount ** (self._rounds_ended - o.round) for o in own]
        pairs = list(zip(weights, own, strict=True))
        total = math.fsum(weights)
        mean = math.fsum(w * o.reward for w, o in pairs) / total if own else 0.0
        self.weights[e], self.means[e] = total, mean
        self._tell(
            e,
            squares=math.fsum(w * (o.reward - mean) ** 2 for w, o in pairs),
            successes=math.fsum(w for w, o in pairs if o.success),
            failures=math.fsum(w for w, o in pairs if not o.success),
        )

    def _count(self, e: int, own: list[Observation]) -> None:
        """Every observation that is kept counts as much as any other."""
        mean = squares = 0.0
        if e in self._has_left:
            # Exact, and rounded once.
            mean = math.fsum(o.reward for o in own) / len(own)
            squares = math.fsum((o.reward - mean) ** 2 for o in own)
        else:
            # As the stationary policy does, to the last bit.
            for count, o in enumerate(own):
                before, mean = mean, mean_after(mean, count, o.reward)
                squares += (o.reward - before) * (o.reward - mean)
        self.means[e] = mean
        successes = sum(o.success for o in own)
        self._tell(e, squares=squares, successes=successes, failures=len(own) - successes)

    def _tell(self, e: int, **statistics: float) -> None:
        """Tell the index those of the statistics that it uses."""
        for name, value in statistics.items():
            if hasattr(self._index, name):
                getattr(self._index, name)[e] = value

    # --- deciding -------------------------------------------------------------------------------

    def select_among(self, offer: Collection[int]) -> tuple[int, ...]:
        # What is forgotten is forgotten for rounds with all elements too.
        self._begin_round()
        return super().select_among(offer)

    def _decide(self) -> frozenset[int]:
        self._begin_round()
        rare = [e for e in self._nonloops if self.counts[e] < self._min_count]
        place = {e: k for k, e in enumerate(self._queue)}
        rare.sort(key=lambda e: (self.pending[e], place[e]))
        others = [e for e in self._nonloops if self.counts[e] >= self._min_count]
        if rare and not self._has_fallen and not self._reached.issuperset(self._all_nonloops):
            # As at the beginning of the stationary policy.
            return self._greedy(rare + others)
        first = rare
        if not rare:
            forced = self._forced_element()
            if forced is None:
                return self._decide_from_statistics()
            first = [forced]
        rest = [e for e in self._played_with(others) if e not in first]
        return self._greedy(first + sorted(rest, key=lambda e: (-self.means[e], e)))

    def _played_with(self, others: list[int]) -> list[int]:
        """Those that may be played beside elements that are played in any case."""
        return others

    def _forced_element(self) -> int | None:
        """[ZWVL20] explores at random. Here elements take turns, in rounds fixed beforehand."""
        if self._restart is None or not self._nonloops:
            return None
        if any(self.counts[e] == 0 for e in self._nonloops):
            return None
        time = self._rounds_ended + 1 - self.restarted_at
        if self._restart.period is None:
            # Rounds 9, 36, 81, ...
            turn, rest = divmod(math.isqrt(time), 3)
            if rest or (3 * turn) ** 2 != time:
                return None
        else:
            turn, rest = divmod(time, self._restart.period)
            if rest:
                return None
        place = (turn - 1) % len(self._all_nonloops)
        turns = self._all_nonloops[place:] + self._all_nonloops[:place]
        # The first one of them that is available.
        return next(e for e in turns if e in self._nonloops)

    def _index_time(self, time: int) -> float:
        """What the index is told instead of a number of rounds."""
        if self._window is not None:
            return min(time, self._window)
        if self._discount is not None and self._discount < 1:
            return math.fsum(self._discount**k for k in range(time))
        return time

    def _counted(self, e: int) -> Any:
        pending = self.pending[e] if self.counts_pending else 0
        return self.weights[e] + pending

    def _values(self, time: int) -> dict[int, float]:
        told: Any = self._index_time(time)
        return super()._values(told)


class ChangingGreedy(_Changing, ReferenceGreedy):
    """Greedy on the values of an index, for means that change."""

    def __init__(self, size: int, is_independent: Any, index: Index, **change: Any) -> None:
        super().__init__(size, is_independent, index, **change)

    def _index_time(self, time: int) -> float:
        return super()._index_time(time - self.restarted_at)


class ChangingMAUB(_Changing, ReferenceMAUB):
    """MAUB for means that change. The leader is played in any case by its true local time."""

    def __init__(
        self,
        size: int,
        is_independent: Any,
        index: Index | None = None,
        exchanges: Exchanges = "one",
        **change: Any,
    ) -> None:
        super().__init__(size, is_independent, index, exchanges, **change)
        #: The gains of exchanges that the last decision compared.
        self.compared_gains: dict[int, float] = {}

    def _restart_all(self) -> None:
        super()._restart_all()
        self._leader_rounds.clear()
        self._forget_matroid()

    def _played_with(self, others: list[int]) -> list[int]:
        return others if self.leader is None else [e for e in others if e in self.leader]

    def _exchange_values(self, leader_rounds: int, value: dict[int, float]) -> dict[int, float]:
        told: Any = self._index_time(leader_rounds)
        gains = super()._exchange_values(told, value)
        self.compared_gains.clear()
        self.compared_gains.update(gains)
        return gains


class ChangingDecisions(ReferenceDecisions):
    """Decisions that tell the policy which round feedback is for."""

    policy: Any

    def _open(
        self, elements: tuple[int, ...], offer: tuple[int, ...] | None, key: Id | None
    ) -> Decision:
        decision = super()._open(elements, offer, key)
        self.policy.end_rounds(self.rounds)
        return decision

    def _observe(self, decision: Decision, rewards: dict[int, float]) -> None:
        self.policy.feedback_round = decision.round
        self.policy.begins_round = False
        super()._observe(decision, rewards)

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        selected = None if self._selection is None else self._selection.decision
        self.policy.feedback_round = self.rounds + 1 if selected is None else selected.round
        self.policy.begins_round = self._selection is None
        super().update(elements, rewards)
        self.policy.end_rounds(self.rounds)
