"""A bandit that grants requests.

A command checks a request, changes the bandit and adds an event to `new_events`. What it changes,
it changes by the methods that `apply` uses for an event of the log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._version import __version__
from matroid_bandits.errors import DecisionError, NoBasisError
from matroid_bandits.policies.contract.availability import availability_mask
from matroid_bandits.service.bandit import Bandit
from matroid_bandits.service.bombs import (
    MOST_WORK,
    decision_work,
    label_work,
    refuse_slow_draws,
)
from matroid_bandits.service.commands import Answer, Command, Configure, Decide, Expire, Learn, Move
from matroid_bandits.service.errors import ServiceError, at_place, in_http, invalid
from matroid_bandits.service.events import Event, RecordedDecision, mask_text
from matroid_bandits.service.labels import is_same, json_text, label_of
from matroid_bandits.service.problems import made_policy, made_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits._types import IntArray
    from matroid_bandits.policies import Policy
    from matroid_bandits.service.settings import Limits, Settings

__all__ = ["ServedBandit", "created"]

# Statuses of HTTP for what the library refuses about decisions.
_STATUS = {
    "unknown": (404, "unknown_decision"),
    "conflict": (409, "conflict"),
    "closed": (410, "closed"),
    "expired": (410, "expired"),
    "outside": (422, "invalid"),
    "taken": (409, "conflict"),
}
# A list may have more labels than the problem, but not any number.
_MOST_LABELS = 100_000
# More commands are not handled in one transaction.
_LARGEST_BATCH = 2_000


def created(
    problem: dict[str, Any], policy: Any, settings: Settings, coordinates: Any, limits: Limits
) -> str:
    """The data of the first event of a bandit, all checked."""
    made = made_policy(policy, made_problem(problem, limits))
    _check_missing_reward(made, settings.missing_reward)
    content = {"problem": problem, "policy": policy, "settings": settings.content()}
    extra = {} if coordinates is None else {"coordinates": coordinates}
    return json.dumps(content | extra | {"library": __version__}, separators=(",", ":"))


class ServedBandit(Bandit):
    """A bandit that grants requests."""

    def __init__(self, name: str, content: dict[str, Any]) -> None:
        super().__init__(name, content)
        self.new_events: list[Event] = []
        # The same by decision.
        self._new_of: dict[str, list[Event]] = {}
        # Draws for propensities in this transaction, times the elements drawn for.
        self._n_drawn = 0

    def handle(
        self, command: Command, recorded: Mapping[str, RecordedDecision], now: float
    ) -> Answer:
        """Grant a request, or raise a ServiceError; then nothing has changed.

        Parameters
        ----------
        command : Command
        recorded : mapping
            Decisions of the log by id, as far as `ids_to_read` names them.
        now : float
            The time.
        """
        # Stores keep microseconds.
        now = max(round(now, 6), self.last_time)
        if isinstance(command, Configure):
            return self._configure(command, now)
        if isinstance(command, Decide):
            before = self._made_before(command, recorded, now)
            if before is not None:
                return Answer(200, _decision_text(before))
        if self.settings.status == "archived":
            raise ServiceError(
                409,
                "archived",
                f"{self.name} is archived: it is only read. PATCH its status to use it again",
            )
        match command:
            case Decide():
                return self._decide(command, now)
            case Learn():
                return self._learn(command, recorded, now)
            case Expire():
                return self._expire(command, recorded, now)
            case Move():
                return self._move(command, now)

    def work(self, command: Command) -> int:
        """How many elements are looked at for a command, roughly."""
        match command:
            case Decide():
                is_restricted = command.available is not None
                work = decision_work(self.policy, is_restricted=is_restricted)
                return work + label_work(command.available) + label_work(command.shown)
            case Learn():
                return self.problem.rank + label_work([element for element, _ in command.rewards])
        return self.problem.rank

    def ids_to_read(self, command: Command, now: float) -> list[str]:
        """The decisions of the log that a command may need."""
        match command:
            case Decide():
                sticky = self.sticky_id(command, max(now, self.last_time))
                own = [command.id] if command.is_own_id else []
                return own if sticky is None else [*own, sticky]
            case Learn() | Expire():
                # What is closed may be forgotten before it is its turn.
                is_safe = self._kernel.decisions.max_closed() >= _LARGEST_BATCH
                return [] if is_safe and command.id in self._opened else [command.id]
        return []

    def sticky_id(self, command: Decide, now: float) -> str | None:
        """The id of the decision that a client gets again."""
        if command.client is None or command.client not in self._clients:
            return None
        identifier, made = self._clients[command.client]
        return identifier if now < made + self.settings.sticky_for else None

    def _decide(self, command: Decide, now: float) -> Answer:
        if len(self._opened) >= self.settings.max_open_decisions:
            raise ServiceError(
                429,
                "too_many_open",
                f"{len(self._opened):,} decisions wait for feedback, as many as "
                "max_open_decisions allows; report rewards, expire decisions, or set expire_after",
            )
        mask = None if command.available is None else self._mask(command.available)
        shown = self._shown(command)
        draws = self._n_draws(command)
        try:
            _, number, elements, propensities = self._kernel.open(
                command.id, mask, command.allow_smaller, self.policy._rule, shown, draws
            )
        except NoBasisError as error:
            raise ServiceError(422, "no_basis", in_http(error), "available") from error
        except ValueError as error:
            raise at_place(error, "available") from error
        chosen = elements.tolist()
        answer = f'"elements":{self._list(chosen)},"round":{number}'
        if shown is not None:
            answer += f',"shown":{self._list(shown.tolist())}'
        if propensities is not None:
            answer += f',"propensities":{json.dumps(propensities.tolist(), separators=(",", ":"))}'
        if self.settings.status == "paused":
            answer += ',"paused":true'
        data = f"{{{answer}{self._more_data(command, mask, chosen)}}}"
        self._add_event(now, "decided", command.id, data)
        played = elements if shown is None else shown
        self._note_decided(command.id, now, played, command.client)
        return Answer(201, f'{{"id":{json_text(command.id)},{answer}}}')

    def _made_before(
        self, command: Decide, recorded: Mapping[str, RecordedDecision], now: float
    ) -> RecordedDecision | None:
        """The decision that a request gets again: the same id, or a client's of a while ago."""
        if command.is_own_id:
            before = self._recorded(command.id, recorded)
            if before is not None:
                return before
        sticky = self.sticky_id(command, now)
        before = None if sticky is None else self._recorded(sticky, recorded)
        if before is None or command.available is None:
            return before
        # Whether all its elements are available now.
        available = set(self._labels(command.available, "available"))
        is_allowed = all(label_of(element) in available for element in before.elements)
        return before if is_allowed else None

    def _more_data(self, command: Decide, mask: Any, chosen: list[int]) -> str:
        """What an event has that the answer has not."""
        more = ""
        if mask is not None:
            more += f',"available":"{mask_text(mask)}"'
        if command.allow_smaller:
            more += ',"allow_smaller":true'
        if command.client is not None:
            more += f',"client":{json_text(command.client)}'
        position = self._kernel.random_position()
        if position is not None:
            more += f',"random":"{position:x}"'
        if self._last_leader is not None:
            more += f',"why":{self._why(chosen)}'
        return more

    def _learn(
        self, command: Learn, recorded: Mapping[str, RecordedDecision], now: float
    ) -> Answer:
        names = self._labels([element for element, _ in command.rewards], "rewards")
        if not self._kernel.decisions.has(command.id):
            before = self._recorded(command.id, recorded)
            if before is None:
                raise _unknown(command.id)
            return _learned_before(before, names, command)
        try:
            elements = self._elements_of(names)
            missing = self._kernel.decisions.missing(command.id)
            was_open = command.id in self._opened
            self._learn_elements(command.id, elements, command.rewards, command.final)
        except DecisionError as error:
            status, code = _STATUS[error.reason]
            raise ServiceError(status, code, in_http(error), "rewards") from error
        except ValueError as error:
            raise at_place(error, "rewards") from error
        texts = self._texts
        new = [
            (texts[e] if e >= 0 else json_text(name), float(reward))
            for name, e, (_, reward) in zip(names, elements.tolist(), command.rewards, strict=True)
            if e in missing
        ]
        if new or (was_open and command.final):
            rewards = ",".join([f"[{text},{reward!r}]" for text, reward in new])
            final = ',"final":true' if command.final else ""
            self._add_event(now, "rewarded", command.id, f'{{"rewards":[{rewards}]{final}}}')
            self._note_rewarded(command.id, now, [reward for _, reward in new])
        return Answer(200, f'{{"learned":{len(new)},"already":{len(names) - len(new)}}}')

    def _expire(
        self, command: Expire, recorded: Mapping[str, RecordedDecision], now: float
    ) -> Answer:
        if command.id not in self._opened:
            known = self._kernel.decisions.has(command.id) or self._recorded(command.id, recorded)
            if not known:
                raise _unknown(command.id)
            return Answer(200, '{"expired":false}')
        self._expire_one(command.id, command.reward, now)
        return Answer(200, '{"expired":true}')

    def _expire_one(self, identifier: str, reward: float | None, now: float) -> None:
        try:
            n_missing = len(self._kernel.decisions.missing(identifier))
            self.policy.expire([identifier], reward)
        except ValueError as error:
            raise at_place(error, "reward") from error
        self._add_event(now, "expired", identifier, json.dumps({"reward": reward}))
        self._note_expired(identifier, now, reward, n_missing)

    def expire_due(self, now: float, most: int = 1_000) -> int:
        """Expire decisions whose time is over, at most so many; return how many."""
        after, n = self.settings.expire_after, 0
        if after is None or self.settings.status == "archived":
            return 0
        now = max(round(now, 6), self.last_time)
        most = min(most, 1 + MOST_WORK // max(1, self.problem.rank))
        while self._opened and n < most:
            identifier, made = next(iter(self._opened.items()))
            if made + after > now:
                break
            try:
                self._expire_one(identifier, self.settings.missing_reward, now)
            except ServiceError:
                # The mean would overflow. Nothing is learned then.
                self._expire_one(identifier, None, now)
            n += 1
        return n

    def next_expiry(self) -> float | None:
        """When the next decision expires."""
        after = self.settings.expire_after
        if after is None or not self._opened or self.settings.status == "archived":
            return None
        return next(iter(self._opened.values())) + after

    def _move(self, command: Move, now: float) -> Answer:
        if is_same(command.spec, self.problem_spec):
            # The request came twice.
            return Answer(200, "{}")
        names = self._labels([element for element, _, _ in command.prior], "prior")
        prior = {
            name: (mean, count) for name, (_, mean, count) in zip(names, command.prior, strict=True)
        }
        if len(prior) < len(names):
            raise invalid("an element is given twice", "prior")
        try:
            moved = self.policy.moved_to(command.problem, prior or None)
        except ValueError as error:
            raise at_place(error, "problem") from error
        _check_missing_reward(moved, self.settings.missing_reward)
        rows = [list(row) for row in command.prior]
        self._add_event(now, "moved", None, json.dumps({"problem": command.spec, "prior": rows}))
        self._note_moved(command.spec, moved)
        return Answer(200, "{}")

    def _configure(self, command: Configure, now: float) -> Answer:
        settings = self.settings.changed(command.changes)
        _check_missing_reward(self.policy, settings.missing_reward)
        if settings != self.settings:
            self._add_event(now, "configured", None, json.dumps({"settings": command.changes}))
            self.settings = settings
        return Answer(200, "{}")

    # ---- events ----

    def _add_event(self, now: float, kind: str, decision: str | None, data: str) -> None:
        """Note an event, which is not in the log yet."""
        self.number += 1
        self.last_time = now
        event = Event(self.number, now, kind, decision, data)
        self.new_events.append(event)
        if decision is not None:
            self._new_of.setdefault(decision, []).append(event)

    def take_events(self) -> list[Event]:
        """The new events, once."""
        events, self.new_events, self._new_of = self.new_events, [], {}
        self._n_drawn = 0
        return events

    # ---- parts of requests and answers ----

    def _list(self, elements: list[int]) -> str:
        texts = self._texts
        return f"[{','.join([texts[e] for e in elements])}]"

    def _labels(self, values: list[Any], place: str) -> list[Any]:
        """The labels that values of JSON mean."""
        most = max(self.problem.size, _MOST_LABELS)
        if len(values) > most:
            raise invalid(f"has {len(values):,} elements; {most:,} are the most", place)
        try:
            return [label_of(value) for value in values]
        except ValueError as error:
            raise invalid(error, place) from error

    def _mask(self, available: list[Any]) -> Any:
        names = self._labels(available, "available")
        try:
            return availability_mask(self.problem, names)
        except ValueError as error:
            raise at_place(error, "available") from error

    def _shown(self, command: Decide) -> IntArray | None:
        """What the caller shows in place of the bandit's set; nothing that is known, if paused."""
        if command.shown is None:
            is_paused = self.settings.status == "paused"
            return np.zeros(0, dtype=np.intp) if is_paused else None
        names = self._labels(command.shown, "shown")
        try:
            return self.policy._shown_elements(names)
        except ValueError as error:
            raise at_place(error, "shown") from error

    def _n_draws(self, command: Decide) -> int:
        """The number of draws for propensities; 0 where nothing is asked for, or shown."""
        if command.propensities is None:
            return 0
        try:
            draws = self.policy._n_draws(command.propensities, command.shown)
        except ValueError as error:
            raise at_place(error, "propensities") from error
        if self.settings.status == "paused":
            return 0
        self._n_drawn += draws * self.problem.size
        refuse_slow_draws(draws, self.problem.size, self._n_drawn)
        return draws

    def _why(self, chosen: list[int]) -> str:
        """Why MAUB has chosen a set, as JSON: "initial", "leader", or what was exchanged."""
        leader = self._last_leader() if self._last_leader is not None else None
        if leader is None:
            return '"initial"'
        before = leader.tolist()
        if chosen == before:
            return '"leader"'
        came, went = set(chosen), set(before)
        added = self._list([e for e in chosen if e not in went])
        return f'{{"in":{added},"out":{self._list([e for e in before if e not in came])}}}'

    def _recorded(
        self, identifier: str, recorded: Mapping[str, RecordedDecision]
    ) -> RecordedDecision | None:
        """A decision of the log, and of what has happened since the last commit."""
        new = self._new_of.get(identifier, [])
        if identifier in recorded:
            return recorded[identifier].followed_by(new)
        return RecordedDecision(new) if new and new[0].kind == "decided" else None


def _check_missing_reward(policy: Policy[Any], reward: float | None) -> None:
    """Refuse a reward for missing feedback that the policy is not for."""
    try:
        policy.expire([], reward)
    except ValueError as error:
        raise at_place(error, "missing_reward") from error


def _unknown(identifier: str) -> ServiceError:
    return ServiceError(
        404, "unknown_decision", f"there is no decision with the id {identifier!r}", "id"
    )


def _decision_text(before: RecordedDecision) -> str:
    """The answer that a decision had."""
    data = before.data
    answer = {"id": before.id, "elements": data["elements"], "round": data["round"]}
    answer |= {key: data[key] for key in ("shown", "propensities", "paused") if key in data}
    return json.dumps(answer, separators=(",", ":"))


def _learned_before(before: RecordedDecision, names: list[Any], command: Learn) -> Answer:
    """The answer to feedback for a decision that was closed long ago: as if it was not long ago."""
    known = {label_of(element): reward for element, reward in before.rewards}
    allowed = {label_of(element) for element in before.elements}
    is_expired = before.status == "expired"
    for name, (_, reward) in zip(names, command.rewards, strict=True):
        if name not in allowed:
            raise ServiceError(
                422, "invalid", f"{name!r} is not in decision {before.id!r}", "rewards"
            )
        if known.get(name, before.missing_reward) == reward:
            continue
        if is_expired or name not in known:
            status = "expired" if is_expired else "closed"
            raise ServiceError(
                410,
                status,
                f"decision {before.id!r} was {status}: missing feedback is no longer accepted",
                "rewards",
            )
        raise ServiceError(
            409,
            "conflict",
            f"{name!r} in decision {before.id!r} has the feedback {known[name]:.6g} already, and "
            f"now {reward:.6g}; each element of a decision is learned once",
            "rewards",
        )
    return Answer(200, f'{{"learned":0,"already":{len(names)}}}')
