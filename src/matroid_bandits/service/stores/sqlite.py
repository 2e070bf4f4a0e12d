"""A store in one SQLite file, for one machine: nothing else to install.

Statements are short and run in the event loop. The commit, which waits for the disk, runs in a
thread of its own. A thread for the statements would wait for the interpreter's lock after each of
them. Other processes may use the same file.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from matroid_bandits.service.errors import UnavailableError
from matroid_bandits.service.events import Event
from matroid_bandits.service.stores.base import BanditRow, SchemaError
from matroid_bandits.service.stores.schema import MIGRATIONS, missing_versions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

__all__ = ["SQLiteStore"]

# Marks a file as one of ours ("mban").
_APPLICATION = 0x6D62616E
# How long to wait for another process, in seconds.
_PATIENCE = 5.0
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_COLUMNS = "number, time, kind, decision, data"


class SQLiteStore:
    """Logs and snapshots in a SQLite file, which is made if it is not there.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(os.fsdecode(path))
        self.description = f"SQLite file {self._path}"
        self._connection: sqlite3.Connection | None = None
        self._ids: dict[str, int] = {}
        self._is_free = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")

    # ---- connecting ----

    async def open(self) -> None:
        if not self._path.parent.is_dir():
            raise SchemaError(f"there is no folder {self._path.parent}; make it first")
        async with self._writing(lambda: None):
            pass

    def _connect(self) -> sqlite3.Connection:
        """The connection; a new one, if there is none."""
        if self._connection is None:
            connection = sqlite3.connect(
                self._path, timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                # A commit must survive a power cut.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                _migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    async def close(self) -> None:
        async with self._is_free:
            self._disconnect()
        self._thread.shutdown()

    def _disconnect(self) -> None:
        self._ids.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def check(self) -> None:
        await self._read("SELECT 1", ())

    # ---- reading ----

    async def bandits(self) -> list[BanditRow]:
        rows = await self._read("SELECT name, last_number FROM bandits ORDER BY name", ())
        return [BanditRow(*row) for row in rows]

    async def events(self, name: str, after: int, limit: int) -> list[Event]:
        return await self._events("number > ? ORDER BY number LIMIT ?", name, after, limit)

    async def decision(self, name: str, decision: str) -> list[Event]:
        return sorted(await self._events("decision = ?", name, decision))

    async def latest(self, name: str, kind: str, limit: int) -> list[Event]:
        return await self._events("kind = ? ORDER BY number DESC LIMIT ?", name, kind, limit)

    async def snapshots(self, name: str) -> list[tuple[int, bytes]]:
        rows = await self._read(
            "SELECT s.number, s.data FROM snapshots s JOIN bandits b ON b.id = s.bandit"
            " WHERE b.name = ? ORDER BY s.number DESC",
            (name,),
        )
        return [(number, data) for number, data in rows]

    async def _events(self, condition: str, name: str, *values: Any) -> list[Event]:
        rows = await self._read(
            f"SELECT {_COLUMNS} FROM events WHERE bandit ="  # noqa: S608  (constants)
            f" (SELECT id FROM bandits WHERE name = ?) AND {condition}",
            (name, *values),
        )
        return [Event.from_row(row) for row in rows]

    async def _read(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """What a query finds, apart from transactions."""
        async with self._is_free:
            with _translated(self._disconnect):
                return self._connect().execute(statement, values).fetchall()

    # ---- writing ----

    @asynccontextmanager
    async def transaction(self, name: str) -> AsyncIterator[_Transaction]:
        async with self._writing(lambda: _Transaction(self._connect(), self._ids, name)) as made:
            yield made

    async def save_snapshot(self, name: str, number: int, data: bytes) -> None:
        async with self._writing(self._connect) as connection:
            with _translated():
                (bandit,) = connection.execute(
                    "SELECT id FROM bandits WHERE name = ?", (name,)
                ).fetchone()
                connection.execute(
                    "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (bandit, number, data)
                )
                connection.execute(
                    "DELETE FROM snapshots WHERE bandit = ? AND number NOT IN (SELECT number FROM"
                    " snapshots WHERE bandit = ? ORDER BY number DESC LIMIT 2)",
                    (bandit, bandit),
                )

    @asynccontextmanager
    async def _writing(self, make: Callable[[], Any]) -> AsyncIterator[Any]:
        """A transaction, in which what `make` returns is used."""
        async with self._is_free:
            await self._begin()
            connection = self._connect()
            try:
                with _translated():
                    made = make()
                yield made
                # Not to be given up half-way, whatever happens to the task that waits for it.
                commit = asyncio.get_running_loop().run_in_executor(self._thread, connection.commit)
                with _translated():
                    await _finished(commit)
            except BaseException:
                self._roll_back(connection)
                raise

    async def _begin(self) -> None:
        """Begin a transaction that may write; wait for other processes, but not forever."""
        pause, end = 0.0005, monotonic() + _PATIENCE
        while True:
            try:
                self._connect().execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code not in _BUSY or monotonic() > end:
                    self._disconnect()
                    raise UnavailableError(error) from error
            except sqlite3.Error as error:
                self._disconnect()
                raise UnavailableError(error) from error
            else:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.02)

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        # A bandit of this transaction may have got an id that nobody has now.
        self._ids.clear()
        try:
            if connection.in_transaction:
                connection.rollback()
        except sqlite3.Error:
            self._disconnect()

    # ---- copies ----

    async def copy_to(self, path: Path) -> None:
        """A copy of the file as it is now, while others go on using it."""
        async with self._is_free:
            with _translated():
                source = self._connect()
                target = sqlite3.connect(path)
                try:
                    source.backup(target)
                finally:
                    target.close()


class _Transaction:
    """What is done while the file is locked."""

    def __init__(self, connection: sqlite3.Connection, ids: dict[str, int], name: str) -> None:
        self._connection = connection
        self._ids = ids
        self._name = name
        self.last_number = 0
        row = connection.execute(
            "SELECT id, last_number FROM bandits WHERE name = ?", (name,)
        ).fetchone()
        if row is not None:
            self._ids[name], self.last_number = row

    async def events(self, after: int, limit: int) -> list[Event]:
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM events WHERE bandit = ? AND number > ?"  # noqa: S608
            " ORDER BY number LIMIT ?",
            (self._ids.get(self._name), after, limit),
        )
        return [Event.from_row(row) for row in rows]

    async def decisions(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        rows = self._execute(
            # The planner would rather read the whole log than sort.
            f"SELECT {_COLUMNS} FROM json_each(?) CROSS JOIN events"  # noqa: S608
            " INDEXED BY events_of_decisions ON bandit = ? AND decision = value",
            (json.dumps(list(ids)), self._ids.get(self._name)),
        )
        found: dict[str, list[Event]] = {}
        for row in sorted(rows):
            event = Event.from_row(row)
            found.setdefault(event.decision or "", []).append(event)
        return found

    async def append(self, events: list[Event]) -> None:
        if not events:
            return
        last = events[-1].number
        if self._name not in self._ids:
            self._execute(
                "INSERT INTO bandits (name, last_number) VALUES (?, ?)", (self._name, last)
            )
            ((self._ids[self._name],),) = self._execute("SELECT last_insert_rowid()", ())
        bandit = self._ids[self._name]
        with _translated():
            self._connection.executemany(
                f"INSERT INTO events VALUES ({bandit:d}, ?, ?, ?, ?, ?)",  # noqa: S608  (a number)
                [event.row() for event in events],
            )
        self._execute("UPDATE bandits SET last_number = ? WHERE id = ?", (last, bandit))
        self.last_number = last

    def _execute(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        with _translated():
            return self._connection.execute(statement, values).fetchall()


@contextmanager
def _translated(clean_up: Callable[[], None] | None = None) -> Iterator[None]:
    """Turn errors of SQLite into `UnavailableError`; call `clean_up` before."""
    try:
        yield
    except sqlite3.Error as error:
        if clean_up is not None:
            clean_up()
        raise UnavailableError(error) from error


async def _finished(future: asyncio.Future[Any]) -> Any:
    """The result of a future that is waited for even if this task is cancelled."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date."""
    application, version = _header(connection)
    if application == _APPLICATION and not missing_versions(version):
        return
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if n_tables and application != _APPLICATION:
        raise SchemaError("the file is a database of another program; name another file")
    # It stays in the file, and cannot be changed in a transaction.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first.
        for number in missing_versions(_header(connection)[1]):
            for statement in MIGRATIONS[number]["sqlite"]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version
