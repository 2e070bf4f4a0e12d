"""What clients were told, and whether the log has it."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from matroid_bandits.service.bandit_queue import rebuilt
from matroid_bandits.service.descriptions import description
from matroid_bandits.service.events import Event, RecordedDecision
from matroid_bandits.service.export import pages
from matroid_bandits.service.granting import ServedBandit
from matroid_bandits.service.replay import first_difference
from matroid_bandits.service.stores import EventStore, store_at

__all__ = ["Ledger", "check_database", "check_states", "events_of", "key_of"]

# These say how long ago something was, which changes while nothing happens.
_OF_NOW = ("seconds_since_learned", "warnings")


def key_of(element: Any) -> str:
    """An element as a key of a dictionary."""
    return json.dumps(element)


@dataclass
class Ledger:
    """What was asked, and what was answered; keys begin with the name of a bandit.

    Attributes
    ----------
    requested : set
        Ids of decisions that were asked for.
    decided : dict
        Answers by id.
    absent : set
        Ids of decisions that were refused, or answered with an earlier decision.
    rewarded : dict
        Rewards by id and element.
    not_learned : set
        Id, element and reward, where the answer was a refusal.
    closed : set
        Ids of decisions that were said to be closed.
    faults : list of str
        What must never happen.
    counts : Counter
        How often what was answered.
    """

    requested: set[tuple[str, str]] = field(default_factory=set)
    decided: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    absent: set[tuple[str, str]] = field(default_factory=set)
    rewarded: dict[tuple[str, str, str], float] = field(default_factory=dict)
    not_learned: set[tuple[str, str, str, float]] = field(default_factory=set)
    closed: set[tuple[str, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def note_decided(self, bandit: str, answer: dict[str, Any]) -> None:
        """Note an answer; the same id must always have got the same."""
        key = bandit, answer["id"]
        before = self.decided.setdefault(key, answer)
        if before != answer:
            self.faults.append(f"{key} was answered with {before} and with {answer}")

    def add(self, other: "Ledger") -> None:
        """Take over all of another one, which is about other decisions."""
        for name in ("requested", "absent", "not_learned", "closed"):
            getattr(self, name).update(getattr(other, name))
        for name in ("decided", "rewarded", "counts"):
            getattr(self, name).update(getattr(other, name))
        self.faults.extend(other.faults)


async def events_of(store: EventStore, name: str) -> list[Event]:
    """The whole log of a bandit."""
    return [event async for some in pages(store, name, 0) for event in some]


async def _check_log(store: EventStore, name: str, ledger: Ledger) -> None:
    """Everything that was acknowledged is in the log once, and nothing that was refused."""
    events = await events_of(store, name)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert (name, len(events)) in [tuple(row) for row in await store.bandits()]
    times = [event.time for event in events]
    assert times == sorted(times)
    assert [event.kind for event in events].count("created") == 1
    by_id: dict[str, list[Event]] = {}
    for event in events:
        if event.decision is not None:
            by_id.setdefault(event.decision, []).append(event)
    _check_decisions(name, by_id, ledger)
    _check_rewards(name, by_id, ledger)


def _check_decisions(name: str, by_id: dict[str, list[Event]], ledger: Ledger) -> None:
    for identifier, own in by_id.items():
        kinds = [event.kind for event in own]
        assert kinds[0] == "decided", own
        assert kinds.count("decided") == 1, own
        assert kinds.count("expired") <= 1, own
        assert (name, identifier) in ledger.requested, own
    for (bandit, identifier), answer in ledger.decided.items():
        if bandit == name:
            recorded = by_id[identifier][0].content()
            for key in ("elements", "round", "shown", "paused"):
                assert recorded.get(key) == answer.get(key), (identifier, recorded, answer)
    for bandit, identifier in ledger.absent:
        assert bandit != name or identifier not in by_id, by_id[identifier]
    for bandit, identifier in ledger.closed:
        if bandit == name:
            assert RecordedDecision(by_id[identifier]).status != "open", by_id[identifier]


def _check_rewards(name: str, by_id: dict[str, list[Event]], ledger: Ledger) -> None:
    rewards: dict[tuple[str, ...], float] = {}
    for identifier, own in by_id.items():
        for element, reward in RecordedDecision(own).rewards:
            key = name, identifier, key_of(element)
            assert key not in rewards, own
            rewards[key] = reward
    for key, reward in ledger.rewarded.items():
        if key[0] == name:
            assert rewards.get(key) == reward, (key, reward, by_id[key[1]])
    for *refused, reward in ledger.not_learned:
        assert rewards.get(tuple(refused)) != reward, (refused, reward)


async def check_states(store: EventStore, name: str) -> ServedBandit:
    """The log alone and every snapshot lead to the same state; the bandit from the log alone."""
    events = await events_of(store, name)
    snapshots = dict(await store.snapshots(name))
    from_log = await rebuilt(store, name, use_snapshots=False)
    states = {}
    for event in events:
        from_log.apply(event)
        if event.number in snapshots:
            states[event.number] = from_log.state()
    # What was decided is what these events lead to, so whoever decided had seen just these.
    assert from_log.n_differences == 0
    assert set(snapshots) <= set(states)
    for number, data in snapshots.items():
        from_snapshot = await _from_snapshot(store, name, number, data)
        assert first_difference(states[number], from_snapshot.state()) is None
        for event in events[number:]:
            from_snapshot.apply(event)
        assert first_difference(from_log.state(), from_snapshot.state()) is None
    return from_log


async def _from_snapshot(store: EventStore, name: str, number: int, data: bytes) -> ServedBandit:
    """The bandit of one snapshot."""

    class OneSnapshot:
        events = store.events

        async def snapshots(self, _: str) -> list[tuple[int, bytes]]:
            return [(number, data)]

    bandit = await rebuilt(OneSnapshot(), name)  # type: ignore[arg-type]
    assert bandit.number == number, "the snapshot could not be read"
    return bandit


async def check_database(
    database: Any, ledger: Ledger, served: dict[str, list[dict[str, Any]]] | None = None
) -> None:
    """All of this for every bandit of a database; what servers say is what the log leads to.

    Parameters
    ----------
    database : path or str
    ledger : Ledger
    served : dict, optional
        By name, answers of servers about the bandit.
    """
    assert not ledger.faults, "\n".join(ledger.faults)
    store = store_at(database)
    await store.open()
    try:
        for row in await store.bandits():
            await _check_log(store, row.name, ledger)
            bandit = await check_states(store, row.name)
            for content in (served or {}).get(row.name, []):
                assert _is_as_served(bandit, content)
    finally:
        await store.close()


def _is_as_served(bandit: ServedBandit, content: dict[str, Any]) -> bool:
    """Whether an answer about a bandit is what it would answer."""
    own = json.loads(json.dumps(description(bandit, 0.0, with_elements=True)))
    assert own.keys() == content.keys()
    return all(own[key] == content[key] for key in own if key not in _OF_NOW)
