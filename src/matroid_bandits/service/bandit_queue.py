"""The requests of one bandit: those that wait while a commit is under way form the next batch."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING

from matroid_bandits._snapshots import content_of, snapshot_bytes
from matroid_bandits.service.bombs import MOST_WORK, too_much_work
from matroid_bandits.service.commands import Answer, Command, Decide
from matroid_bandits.service.errors import ServiceError, in_place
from matroid_bandits.service.events import RecordedDecision
from matroid_bandits.service.granting import ServedBandit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from matroid_bandits.service.stores import EventStore, Transaction

__all__ = ["BanditQueue", "rebuilt", "unknown_bandit"]

Outcome = Answer | ServiceError
# The commands of a request, with errors in place of those that are not handled.
Request = list[Command | ServiceError]
Batch = list[tuple[list[Command], asyncio.Future[list[Outcome]]]]

_log = logging.getLogger("matroid_bandits.service")

# So many events are read and applied at once; other requests are served in between.
_PAGE = 1_000
# So many commands are handled in one transaction.
_LARGEST_BATCH = 500
# So many requests wait at most: more would be answered too late to be of use.
_MOST_WAITING = 10_000
# After so many events, a snapshot is saved; that of a large bandit less often, so that saving takes
# one part of the time in so many.
SNAPSHOT_EVERY = 20_000
_SHARE = 20


class BanditQueue:
    """Serves one bandit in this process; other processes may serve it too.

    Parameters
    ----------
    store : EventStore
    name : str
    clock : callable
        The time.
    """

    def __init__(self, store: EventStore, name: str, clock: Callable[[], float]) -> None:
        self.name = name
        #: What is in memory; None if it has to be read.
        self.bandit: ServedBandit | None = None
        #: Why it cannot be loaded, by this version of the library; None, if nothing is known.
        self.fault: str | None = None
        #: Events that other processes had written when this one looked last.
        self.n_behind = 0
        self.n_conflicts = 0
        self._store = store
        self._clock = clock
        self._waiting: Batch = []
        self._is_free = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[bool] | None = None
        self._saved_number = 0
        self._save_began = self._save_after = 0.0
        self._has_warned = False

    # ---- requests ----

    async def submit(self, commands: list[Command]) -> list[Outcome]:
        """Grant requests, each for itself; an answer or an error for each of them.

        Raises
        ------
        ServiceError
            If none of them could be handled: nothing has changed, or, if the connection to the
            database broke while it committed, the same ids will get the same answers.
        """
        if len(self._waiting) >= _MOST_WAITING:
            raise ServiceError(503, "unavailable", f"too many requests wait for {self.name}")
        future: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._waiting.append((commands, future))
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        return await future

    async def _serve(self) -> None:
        try:
            while self._waiting:
                await self._handle(self._next_batch())
        finally:
            self._task = None

    def _next_batch(self) -> Batch:
        n_commands = n = 0
        while n < len(self._waiting) and n_commands < _LARGEST_BATCH:
            commands = self._waiting[n][0]
            # Draws take long: so that nobody else waits for them, they have their own transaction.
            draws = any(isinstance(one, Decide) and one.propensities for one in commands)
            if draws and n > 0:
                break
            n_commands += len(commands)
            n += 1
            if draws:
                break
        batch, self._waiting = self._waiting[:n], self._waiting[n:]
        return batch

    async def _handle(self, batch: Batch) -> None:
        """Handle a batch in one transaction, and answer."""
        try:
            async with self._is_free:
                bandit = await self._loaded()
                requests = _within_bounds(bandit, [commands for commands, _ in batch])
                # There is a transaction for the others afterwards.
                self._waiting[:0] = batch[len(requests) :]
                batch = batch[: len(requests)]
                outcomes = await self._in_transaction(bandit, requests)
        except BaseException as error:
            # It may have learned what is not in the log.
            self.bandit = None
            _answer_all(batch, error)
            if not isinstance(error, Exception):
                raise
            return
        for (_, future), found in zip(batch, outcomes, strict=True):
            if not future.done():
                future.set_result(found)
        self._save_if_due()

    async def _in_transaction(
        self, bandit: ServedBandit, requests: list[Request]
    ) -> list[list[Outcome]]:
        async with self._store.transaction(self.name) as transaction:
            await self._catch_up(bandit, transaction)
            now = self._clock()
            bandit.expire_due(now)
            ids = {
                one
                for commands in requests
                for command in commands
                if not isinstance(command, ServiceError)
                for one in bandit.ids_to_read(command, now)
            }
            found = await transaction.decisions(ids) if ids else {}
            recorded = {one: RecordedDecision(events) for one, events in found.items()}
            outcomes = [
                [self._outcome(bandit, command, recorded, now) for command in commands]
                for commands in requests
            ]
            await transaction.append(bandit.take_events())
        return outcomes

    def _outcome(
        self,
        bandit: ServedBandit,
        command: Command | ServiceError,
        recorded: dict[str, RecordedDecision],
        now: float,
    ) -> Outcome:
        if isinstance(command, ServiceError):
            return command
        try:
            return bandit.handle(command, recorded, now)
        except ServiceError as error:
            self.n_conflicts += error.code == "conflict"
            return error

    # ---- reading ----

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[ServedBandit]:
        """The bandit as the log has it now; nobody changes it meanwhile."""
        async with self._is_free:
            bandit = await self._loaded()
            try:
                await self._read_new(bandit)
            except Exception as error:
                # Without the store, what is in memory is still right, but old.
                if not isinstance(error, ServiceError):
                    self.bandit = None
                raise
            yield bandit

    async def _loaded(self) -> ServedBandit:
        """The bandit, from memory or from the store."""
        if self.bandit is None and self.fault is None:
            try:
                bandit = await rebuilt(self._store, self.name)
                self._saved_number = bandit.number
                await self._read_new(bandit)
            except Exception as error:
                if isinstance(error, ServiceError) and error.status in {404, 503}:
                    raise
                is_known = isinstance(error, (ServiceError, ValueError))
                self.fault = f"{self.name} cannot be loaded by this version: {in_place(error)}"
                _log.error("%s", self.fault, exc_info=None if is_known else error)
            else:
                self._warn_of_differences(bandit)
                self.bandit = bandit
        if self.bandit is None:
            raise ServiceError(503, "unavailable", str(self.fault))
        return self.bandit

    async def _read_new(self, bandit: ServedBandit) -> None:
        """Apply what other processes have written, in pages."""
        while events := await self._store.events(self.name, bandit.number, _PAGE):
            self.n_behind = len(events)
            for event in events:
                bandit.apply(event)
            await asyncio.sleep(0)
        self.n_behind = 0

    async def _catch_up(self, bandit: ServedBandit, transaction: Transaction) -> None:
        """The same while the bandit is locked: few events are left."""
        self.n_behind = transaction.last_number - bandit.number
        if self.n_behind < 0:
            raise ServiceError(
                503,
                "unavailable",
                f"{self.name} has fewer events in the database than were read before; was an older "
                "copy put in its place? It is read again",
            )
        while bandit.number < transaction.last_number:
            events = await transaction.events(bandit.number, _PAGE)
            if not events:
                raise ValueError(f"{self.name}: event {bandit.number + 1} is missing in the log")
            for event in events:
                bandit.apply(event)
        self.n_behind = 0

    def _warn_of_differences(self, bandit: ServedBandit) -> None:
        """Say once that this version decides differently."""
        if bandit.n_differences and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: this version of the library would have made %d decisions of the log "
                "differently; the recorded ones were used, and all that was learned is right",
                self.name,
                bandit.n_differences,
            )

    # ---- snapshots ----

    def _save_if_due(self) -> None:
        bandit = self.bandit
        is_due = bandit is not None and bandit.number - self._saved_number >= SNAPSHOT_EVERY
        is_free = self._saving is None and not self._is_free.locked()
        if bandit is not None and is_due and is_free and perf_counter() >= self._save_after:
            self._saved_number = bandit.number
            self._save_began = perf_counter()
            self._saving = asyncio.create_task(self._save(bandit.number, bandit.state()))

    async def _save(self, number: int, state: dict[str, object]) -> bool:
        """Save a snapshot, which is only a cache of the log; return whether the store was there."""
        try:
            data = await asyncio.to_thread(snapshot_bytes, state)
            await self._store.save_snapshot(self.name, number, data)
        except ServiceError as error:
            _log.warning("%s: no snapshot could be saved: %s", self.name, error)
            return False
        except Exception:  # noqa: BLE001  (requests are served all the same)
            _log.exception("%s: no snapshot could be saved", self.name)
        finally:
            self._saving = None
            now = perf_counter()
            self._save_after = now + _SHARE * (now - self._save_began)
        return True

    async def close(self, *, save: bool = True) -> bool:
        """Finish what was begun, and save a snapshot, so that the next start is quick.

        Returns
        -------
        bool
            Whether it is worth while to save those of other bandits.
        """
        while self._task is not None:
            await asyncio.wait([self._task])
        if self._saving is not None:
            await asyncio.wait([self._saving])
        bandit = self.bandit
        if save and bandit is not None and bandit.number > self._saved_number:
            return await self._save(bandit.number, bandit.state())
        return save


async def rebuilt(store: EventStore, name: str, *, use_snapshots: bool = True) -> ServedBandit:
    """A bandit from its newest snapshot that can be read, or as its first event made it.

    The events that follow are still to be applied.
    """
    snapshots = await store.snapshots(name) if use_snapshots else []
    for number, data in snapshots:
        try:
            content = content_of(data, f"snapshot {number} of {name}")
            return await asyncio.to_thread(ServedBandit.from_state, content)
        except Exception as error:  # noqa: BLE001  (a cache may be damaged in any way)
            _log.warning("%s: a snapshot is not used: %s", name, error)
    first = await store.events(name, 0, 1)
    if not first:
        raise unknown_bandit(name)
    return await asyncio.to_thread(ServedBandit, name, first[0].content())


def _within_bounds(bandit: ServedBandit, requests: list[list[Command]]) -> list[Request]:
    """The requests that are handled in one transaction, while other bandits wait.

    Of a single request that would take too long, the last commands are errors.
    """
    taken: list[Request] = []
    before = 0
    for commands in requests:
        work = list(accumulate(map(bandit.work, commands), initial=0))
        if taken and before + work[-1] > MOST_WORK:
            break
        before += work[-1]
        taken.append(
            [
                command if i == 0 or work[i + 1] <= MOST_WORK else too_much_work()
                for i, command in enumerate(commands)
            ]
        )
    return taken


def unknown_bandit(name: str) -> ServiceError:
    """The error for a name that no bandit has."""
    return ServiceError(
        404,
        "unknown_bandit",
        f"there is no bandit {name!r}; GET /v1/bandits lists them, POST /v1/bandits makes one",
    )


def _answer_all(batch: Batch, error: BaseException) -> None:
    """Tell all who wait that their requests were not handled."""
    told = error if isinstance(error, ServiceError) else internal(error)
    for _, future in batch:
        if not future.done():
            future.set_exception(told)


def internal(error: BaseException) -> ServiceError:
    """The error for a fault of ours, which is logged with its traceback."""
    _log.error("a batch failed", exc_info=error)
    return ServiceError(
        500, "internal", "the request failed because of a fault in the server; it was logged"
    )
