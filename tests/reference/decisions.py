"""Decisions: rounds whose feedback is late, partial, out of order, repeated or lost.

A decision is a round: time, the local times of leaders and random numbers go on when it is made.
Counts and means change when feedback comes. An element is *pending* in a decision that is open and
has no feedback for it. A decision closes when all of its elements have feedback, when somebody says
that there will be no more, or when it expires.

Elements are numbers and rewards are rewards; labels and costs are not this module's business.
"""

import copy
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .osub import ReferenceOSUB
from .policies import _ReferencePolicy

Id = int | str

#: Feedback may be repeated for this many decisions after they closed.
REMEMBERED = 10_000


class RefusedError(Exception):
    """A call that must be refused, and change nothing."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        #: One of: "unknown", "closed", "expired", "conflict", "taken", "outside", "reward" and
        #: "no basis".
        self.reason = reason


@dataclass
class Decision:
    """One decision, and the feedback that has come for it."""

    id: Id
    elements: tuple[int, ...]
    round: int
    available: tuple[int, ...] | None
    #: What the policy chose; `elements`, unless something else was shown.
    proposed: tuple[int, ...] = ()
    rewards: dict[int, float] = field(default_factory=dict)
    #: Elements whose feedback is known to be lost.
    lost: set[int] = field(default_factory=set)
    has_expired: bool = False

    @property
    def pending(self) -> list[int]:
        """The elements that may still get feedback."""
        return [e for e in self.elements if e not in self.rewards and e not in self.lost]


class _Selection:
    """What `select` has answered since the last `update`."""

    def __init__(self, before: _ReferencePolicy | ReferenceOSUB) -> None:
        # The policy as it was before the round, and after it for each set of available elements.
        self.before = before
        self.answers: dict[
            tuple[int, ...] | None, tuple[tuple[int, ...], _ReferencePolicy | ReferenceOSUB]
        ] = {}
        self.last: tuple[int, ...] | None = None
        # It becomes a decision when another one is made before its `update`.
        self.decision: Decision | None = None

    @property
    def elements(self) -> tuple[int, ...]:
        return self.answers[self.last][0]


class ReferenceDecisions:
    """A policy that decides and learns at different times.

    ``policy`` is a fresh one of the other modules. It holds the statistics; its own `select` and
    `update` are not used.
    """

    def __init__(
        self,
        policy: _ReferencePolicy | ReferenceOSUB,
        *,
        pending: str = "ignore",
        reward_range: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self.policy = policy
        policy.counts_pending = pending == "count"
        self._low, self._high = reward_range
        #: Open decisions by id, in the order made.
        self.open: dict[Id, Decision] = {}
        # Those that closed last, in the order in which they closed.
        self._closed: dict[Id, Decision] = {}
        #: Decisions made, and rounds ended by `update`.
        self.rounds = 0
        self._selection: _Selection | None = None

    # --- what can be seen -----------------------------------------------------------------------

    @property
    def counts(self) -> list[int]:
        return self.policy.counts

    @property
    def means(self) -> list[float]:
        return self.policy.means

    @property
    def n_pending(self) -> list[int]:
        """Of every element, the decisions that are open and have no feedback for it."""
        waiting = [e for decision in self.open.values() for e in decision.pending]
        return [waiting.count(e) for e in range(len(self.policy.counts))]

    # --- deciding -------------------------------------------------------------------------------

    def decide(
        self,
        available: Collection[int] | None = None,
        *,
        allow_smaller: bool = False,
        key: Id | None = None,
        shown: Collection[int] | None = None,
    ) -> Decision:
        """Open a decision; for what is shown instead of the policy's set, if anything is."""
        offer = self._checked_offer(available, allow_smaller=allow_smaller)
        if key is not None and self._is_taken(key):
            raise RefusedError("taken")
        if self._selection is not None and self._selection.decision is None:
            selected = self._selection
            # Its id must leave that of the new decision free.
            first_free = next(
                k for k in count(self.rounds + 1) if k != key and not self._is_taken(k)
            )
            selected.decision = self._open(selected.elements, selected.last, first_free)
        proposed = self._play(self.policy, offer)
        elements = proposed if shown is None else tuple(sorted(shown))
        decision = self._open(elements, offer, key)
        decision.proposed = proposed
        # Without elements there is nothing to wait for.
        self._close_if_settled(decision)
        return decision

    def _open(
        self, elements: tuple[int, ...], offer: tuple[int, ...] | None, key: Id | None
    ) -> Decision:
        self.rounds += 1
        if key is None:
            key = next(k for k in count(self.rounds) if not self._is_taken(k))
        decision = Decision(key, elements, self.rounds, offer)
        self.open[key] = decision
        return decision

    def select(
        self, available: Collection[int] | None = None, *, allow_smaller: bool = False
    ) -> tuple[int, ...]:
        """The basis to play; for each set of available elements the same until `update`.

        Each is decided from the state before the round, and the one selected last counts. If it has
        become a decision, another set is a new round, and no feedback will come for the old one.
        """
        offer = self._checked_offer(available, allow_smaller=allow_smaller)
        if self._selection is not None and self._selection.last == offer:
            return self._selection.elements
        if self._selection is not None and self._selection.decision is not None:
            self._remember(self.open.pop(self._selection.decision.id))
            self._selection = None
        if self._selection is None:
            self._selection = _Selection(copy.deepcopy(self.policy))
        selection = self._selection
        if selection.before.counts != self.policy.counts:
            raise NotImplementedError("another set in a round in which something was learned")
        if offer not in selection.answers:
            after = copy.deepcopy(selection.before)
            selection.answers[offer] = self._play(after, offer), after
        selection.last = offer
        self.policy = selection.answers[offer][1]
        return selection.elements

    def _play(
        self, policy: _ReferencePolicy | ReferenceOSUB, offer: tuple[int, ...] | None
    ) -> tuple[int, ...]:
        policy.pending = self.n_pending
        if isinstance(policy, ReferenceOSUB):
            policy.count_pending_plays([decision.elements for decision in self.open.values()])
        return policy.decide(self.rounds, offer)

    def _checked_offer(
        self, available: Collection[int] | None, *, allow_smaller: bool
    ) -> tuple[int, ...] | None:
        """The available elements in ascending order; None for all of them."""
        if available is None or len(set(available)) == len(self.policy.counts):
            return None
        offer = tuple(sorted(set(available)))
        full, possible = self.policy.rank_among(None), self.policy.rank_among(offer)
        # The arms of OSUB are whole bases.
        if possible < full and (not allow_smaller or isinstance(self.policy, ReferenceOSUB)):
            raise RefusedError("no basis")
        return offer

    def _is_taken(self, key: Id) -> bool:
        return key in self.open or key in self._closed

    # --- learning -------------------------------------------------------------------------------

    def learn(self, key: Id, rewards: Mapping[int, float], *, final: bool = False) -> None:
        """Feedback for some elements of a decision; all of it is learned, or nothing."""
        decision = self._known(key)
        self._check_rewards(rewards.values())
        if not rewards.keys() <= set(decision.elements):
            raise RefusedError("outside")
        new = {}
        for e, reward in sorted(rewards.items()):
            if e not in decision.rewards:
                new[e] = float(reward)
            elif decision.rewards[e] != reward:
                raise RefusedError("expired" if decision.has_expired else "conflict")
        if new and key not in self.open:
            raise RefusedError("expired" if decision.has_expired else "closed")
        self._observe(decision, new)
        if final:
            self._close(decision)
        else:
            self._close_if_settled(decision)

    def expire(self, keys: Id | Iterable[Id], reward: float | None = None) -> None:
        """Close decisions; what is missing is learned as ``reward``, if one is given."""
        decisions = [
            self._known(key) for key in ([keys] if isinstance(keys, int | str) else list(keys))
        ]
        if reward is not None:
            self._check_rewards([reward])
        for decision in decisions:
            if decision.id not in self.open:
                continue
            if reward is not None:
                self._observe(decision, dict.fromkeys(decision.pending, float(reward)))
            decision.has_expired = True
            self._close(decision)

    def lose(self, key: Id, element: int) -> None:
        """The feedback for one element of an open decision is lost: nobody waits for it."""
        decision = self.open[key]
        decision.lost.add(element)
        self._close_if_settled(decision)

    def update(self, elements: Sequence[int], rewards: Sequence[float]) -> None:
        """Observe any elements, in the order given, and end the round of `select`."""
        if len(set(elements)) < len(elements) or len(elements) != len(rewards):
            raise RefusedError("reward")
        if not set(elements) <= set(range(len(self.policy.counts))):
            raise RefusedError("outside")
        self._check_rewards(rewards)
        self.policy.observe(elements, rewards)
        if isinstance(self.policy, ReferenceOSUB):
            self.policy.observe_play(elements, rewards)
        if self._selection is None or self._selection.decision is None:
            self.rounds += 1
        else:
            self._remember(self.open.pop(self._selection.decision.id))
        self._selection = None

    # --- other elements -------------------------------------------------------------------------

    def move(self, policy: Any, new_number: Mapping[int, int]) -> None:
        """Go on with a fresh policy for another matroid.

        ``new_number`` has the elements that stay, and numbers below 0 for dropped ones: what comes
        for these is accepted and not learned. A selection is forgotten.
        """
        policy.counts_pending = self.policy.counts_pending
        stay = {e: new for e, new in new_number.items() if new >= 0}
        for e, new in stay.items():
            if e >= 0:
                policy.counts[new] = self.policy.counts[e]
                policy.means[new] = self.policy.means[e]
        policy.take_over(self.policy, {e: new for e, new in stay.items() if e >= 0})
        for decision in (*self.open.values(), *self._closed.values()):
            decision.elements = tuple(sorted(new_number[e] for e in decision.elements))
            decision.rewards = {new_number[e]: reward for e, reward in decision.rewards.items()}
        self.policy = policy
        self._selection = None

    def _known(self, key: Id) -> Decision:
        if key in self.open:
            return self.open[key]
        if key in self._closed:
            return self._closed[key]
        raise RefusedError("unknown")

    def _check_rewards(self, rewards: Iterable[float]) -> None:
        if not all(math.isfinite(r) and self._low <= r <= self._high for r in rewards):
            raise RefusedError("reward")

    def _observe(self, decision: Decision, rewards: dict[int, float]) -> None:
        """Learn rewards of elements that have none, in ascending order of the elements."""
        there = {e: reward for e, reward in rewards.items() if e >= 0}
        self.policy.observe(list(there), list(there.values()))
        decision.rewards |= rewards

    def _close_if_settled(self, decision: Decision) -> None:
        if not decision.pending:
            self._close(decision)

    def _close(self, decision: Decision) -> None:
        if self.open.pop(decision.id, None) is None:
            return
        # A selection that became a decision is over with it.
        if self._selection is not None and self._selection.decision is decision:
            self._selection = None
        # OSUB learns about a whole play.
        if isinstance(self.policy, ReferenceOSUB) and len(decision.rewards) == len(
            decision.elements
        ):
            elements = sorted(decision.rewards)
            self.policy.observe_play(elements, [decision.rewards[e] for e in elements])
        self._remember(decision)

    def _remember(self, decision: Decision) -> None:
        self._closed[decision.id] = decision
        if len(self._closed) > REMEMBERED:
            del self._closed[next(iter(self._closed))]
