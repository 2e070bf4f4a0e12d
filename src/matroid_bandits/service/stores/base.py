"""The contract of a store: the logs of bandits, and snapshots of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractAsyncContextManager

    from matroid_bandits.service.events import Event

__all__ = [
    "LAST_NUMBER",
    "LONGEST_PAGE",
    "BanditRow",
    "EventStore",
    "SchemaError",
    "Transaction",
]

#: A page of events ends once their data have so many bytes: a single one may have millions, and
#: while they are read, other requests wait.
LONGEST_PAGE = 2**20
#: No event has a larger number.
LAST_NUMBER = 2**62


class SchemaError(RuntimeError):
    """A database is newer than this version of the library, or is not one of ours."""


class BanditRow(NamedTuple):
    """A bandit as the store knows it: its name and the number of its last event."""

    name: str
    last_number: int


class Transaction(Protocol):
    """What is done while a bandit is locked; all of it, or nothing."""

    #: The number of the last event in the log; 0 if there is no such bandit.
    last_number: int

    async def events(self, after: int, limit: int) -> list[Event]:
        """The next events after a number, in their order: a page of at most so many."""

    async def decisions(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        """All events of some decisions, by id, in their order; unknown ids are left out."""

    async def append(self, events: list[Event]) -> None:
        """Add events to the log. Their numbers follow the last one."""


class EventStore(Protocol):
    """Logs of bandits, and snapshots, which are a cache of the logs.

    Every method raises `UnavailableError` if the database cannot be used now. It may be used again
    later by the same object.
    """

    #: What it is, without any password.
    description: str

    async def open(self) -> None:
        """Connect, and bring the schema up to date. `SchemaError` if that cannot be done."""

    async def close(self) -> None:
        """Disconnect."""

    async def check(self) -> None:
        """Return if the database can be used."""

    async def bandits(self) -> list[BanditRow]:
        """All bandits, by name."""

    def transaction(self, name: str) -> AbstractAsyncContextManager[Transaction]:
        """Lock the bandit `name`, and commit at the end; if anything was raised, roll back.

        A bandit is created by its first event. Only one transaction of a bandit is under way at a
        time, in all processes that use the database.
        """

    async def events(self, name: str, after: int, limit: int) -> list[Event]:
        """The next committed events of a bandit after a number: a page of at most so many."""

    async def decision(self, name: str, decision: str) -> list[Event]:
        """All events of a decision, in their order."""

    async def latest(
        self, name: str, kind: str, limit: int, until: int = LAST_NUMBER
    ) -> list[Event]:
        """The last events of a kind up to a number, the last one first: a page of so many."""

    async def save_snapshot(self, name: str, number: int, data: bytes) -> None:
        """Keep a snapshot of the bandit after an event; the two newest stay."""

    async def snapshots(self, name: str) -> list[tuple[int, bytes]]:
        """The snapshots with the numbers of their last events, the newest first."""
