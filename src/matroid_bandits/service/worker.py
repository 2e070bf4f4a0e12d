"""All bandits of a store, served by this process."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from matroid_bandits.service.bandit_queue import BanditQueue, unknown_bandit
from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.events import Event
from matroid_bandits.service.granting import created
from matroid_bandits.service.labels import is_same
from matroid_bandits.service.settings import LIMITS, Limits, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from matroid_bandits.service.granting import ServedBandit
    from matroid_bandits.service.stores import EventStore

__all__ = ["Worker"]

T = TypeVar("T")

_log = logging.getLogger("matroid_bandits.service")

# How often to look for decisions that have expired, and for a database that was away, in seconds.
_INTERVAL = 1.0


class Worker:
    """Serves the bandits of a store.

    Parameters
    ----------
    store : EventStore
    limits : Limits
    clock : callable
        The time; for tests.
    """

    def __init__(
        self, store: EventStore, *, limits: Limits = LIMITS, clock: Callable[[], float] = time
    ) -> None:
        self.store = store
        self.limits = limits
        self.clock = clock
        #: Whether the bandits of the store can be served.
        self.is_ready = False
        self.queues: dict[str, BanditQueue] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Connect to the store, and load its bandits in the background."""
        await self.store.open()
        self._tasks = [asyncio.create_task(self._load_all()), asyncio.create_task(self._sweep())]

    async def stop(self) -> None:
        """Finish what was begun, and disconnect."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # If the database is away, not every bandit waits for it.
        is_there = True
        for queue in list(self.queues.values()):
            is_there = await queue.close(save=is_there)
        await self.store.close()

    async def queue(self, name: str) -> BanditQueue:
        """The queue of a bandit that exists."""
        found = self.queues.get(name)
        if found is None:
            if not await self.store.events(name, 0, 1):
                raise unknown_bandit(name)
            found = self.queues.setdefault(name, BanditQueue(self.store, name, self.clock))
        return found

    async def names(self) -> list[str]:
        """The names of all bandits."""
        return [row.name for row in await self.store.bandits()]

    async def each(
        self,
        tell: Callable[[ServedBandit], Awaitable[T]],
        tell_fault: Callable[[str, str], T],
    ) -> list[T]:
        """What is told of every bandit; of one that cannot be loaded, by its name and why."""
        told: list[T] = []
        for name in await self.names():
            queue = await self.queue(name)
            try:
                async with queue.reading() as bandit:
                    told.append(await tell(bandit))
            except ServiceError:
                if queue.fault is None:
                    raise
                told.append(tell_fault(name, queue.fault))
        return told

    async def create(
        self,
        name: str,
        problem: dict[str, Any],
        policy: Any,
        settings: Settings,
        coordinates: Any = None,
    ) -> bool:
        """Create a bandit; return False if the same one was there already."""
        data = await asyncio.to_thread(created, problem, policy, settings, coordinates, self.limits)
        names = await self.names()
        if name not in names and len(names) >= self.limits.bandits:
            raise ServiceError(
                429, "too_many_bandits", f"there are {self.limits.bandits:,} bandits, the most"
            )
        async with self.store.transaction(name) as transaction:
            if transaction.last_number:
                (first,) = await transaction.events(0, 1)
                if not is_same(_without_library(first.data), _without_library(data)):
                    raise ServiceError(
                        409,
                        "conflict",
                        f"there is another bandit {name!r}; choose another name, or change it by "
                        "PATCH and PUT .../problem",
                        "name",
                    )
                return False
            now = round(self.clock(), 6)
            await transaction.append([Event(1, now, "created", None, data)])
        return True

    # ---- in the background ----

    async def _load_all(self) -> None:
        """Load all bandits, so that no request has to wait for it."""
        said = ""
        while not self.is_ready:
            try:
                for name in await self.names():
                    queue = await self.queue(name)
                    try:
                        async with queue.reading():
                            pass
                    except Exception as error:
                        # The others can be served.
                        if isinstance(error, ServiceError) and queue.fault is None:
                            raise
                self.is_ready = True
            except ServiceError as error:
                if str(error) != said:
                    said = str(error)
                    _log.warning("bandits are not loaded yet: %s", said)
                await asyncio.sleep(_INTERVAL)

    async def _sweep(self) -> None:
        """Expire decisions also while no requests come."""
        while True:
            await asyncio.sleep(_INTERVAL)
            for queue in list(self.queues.values()):
                # The next second will do, if the database is away.
                with suppress(ServiceError):
                    while self._is_due(queue):
                        await queue.submit([])

    def _is_due(self, queue: BanditQueue) -> bool:
        """Whether decisions of a bandit have expired; a batch takes some of them."""
        due = None if queue.bandit is None else queue.bandit.next_expiry()
        return due is not None and due <= self.clock()


def _without_library(data: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(data)
    content.pop("library", None)
    return content
