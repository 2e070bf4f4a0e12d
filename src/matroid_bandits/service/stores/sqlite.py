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
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from matroid_bandits.service.background import finished
from matroid_bandits.service.errors import UnavailableError
from matroid_bandits.service.events import Event
from matroid_bandits.service.stores.base import LAST_NUMBER, LONGEST_PAGE, BanditRow, SchemaError
from matroid_bandits.service.stores.schema import MIGRATIONS, missing_versions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

__all__ = ["SQLiteStore"]

T = TypeVar("T")

# Marks a file as one of ours ("mban").
_APPLICATION = 0x6D62616E
# How long to wait for another process, in seconds.
_PATIENCE = 5.0
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_COLUMNS = "number, time, kind, decision, data"


def _page(cursor: sqlite3.Cursor) -> list[Any]:
    """The first rows of events, as many as a page has; no others are read."""
    rows: list[Any] = []
    n_left = LONGEST_PAGE
    while n_left > 0 and (row := cursor.fetchone()) is not None:
        rows.append(row)
        n_left -= len(row[-1])
    return rows


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
        # Device and number of the file.
        self._identity: tuple[int, int] | None = None
        self._is_free = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")

    # ---- connecting ----

    async def open(self) -> None:
        if not self._path.parent.is_dir():
            raise SchemaError(f"there is no folder {self._path.parent}; make it first")
        if self._path.is_dir():
            raise SchemaError(f"{self._path} is a folder; name a file in it")
        async with self._writing():
            pass

    def _connected(self) -> sqlite3.Connection:
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
                # It stays in the file, but others may have changed it.
                connection.execute("PRAGMA journal_mode = WAL")
            except BaseException as error:
                connection.close()
                if _code(error) == sqlite3.SQLITE_NOTADB:
                    raise SchemaError("the file is not a database; name another file") from error
                raise
            self._connection = connection
        self._check_identity()
        return self._connection

    def _check_identity(self) -> None:
        """Refuse to write to a file that nobody would find again."""
        try:
            status = self._path.stat()
            identity = status.st_dev, status.st_ino
        except OSError:
            identity = None
        self._identity = self._identity or identity
        if identity is None or identity != self._identity:
            raise UnavailableError(
                f"{self._path} was removed or replaced while it was used: restart the server"
            )

    async def close(self) -> None:
        async with self._is_free:
            self._disconnect()
        self._thread.shutdown()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def check(self) -> None:
        # Not just 1, for which nothing would be read.
        await self._read("SELECT max(id) FROM bandits", ())

    # ---- reading ----

    async def bandits(self) -> list[BanditRow]:
        rows = await self._read("SELECT name, last_number FROM bandits ORDER BY name", ())
        return [BanditRow(*row) for row in rows]

    async def events(self, name: str, after: int, limit: int) -> list[Event]:
        return await self._events("number > ? ORDER BY number LIMIT ?", name, after, limit)

    async def decision(self, name: str, decision: str) -> list[Event]:
        take = sqlite3.Cursor.fetchall
        return sorted(await self._events("decision = ?", name, decision, take=take))

    async def latest(
        self, name: str, kind: str, limit: int, until: int = LAST_NUMBER
    ) -> list[Event]:
        condition = "kind = ? AND number <= ? ORDER BY number DESC LIMIT ?"
        return await self._events(condition, name, kind, until, limit)

    async def snapshots(self, name: str) -> list[tuple[int, bytes]]:
        rows = await self._read(
            "SELECT s.number, s.data FROM snapshots s JOIN bandits b ON b.id = s.bandit"
            " WHERE b.name = ? ORDER BY s.number DESC",
            (name,),
        )
        return [(number, data) for number, data in rows]

    async def _events(
        self, condition: str, name: str, *values: Any, take: Callable[..., list[Any]] = _page
    ) -> list[Event]:
        rows = await self._read(
            f"SELECT {_COLUMNS} FROM events WHERE bandit ="  # noqa: S608  (constants)
            f" (SELECT id FROM bandits WHERE name = ?) AND {condition}",
            (name, *values),
            take,
        )
        return [Event.from_row(row) for row in rows]

    async def _read(
        self,
        statement: str,
        values: tuple[Any, ...],
        take: Callable[..., list[Any]] = sqlite3.Cursor.fetchall,
    ) -> list[Any]:
        """What a query finds, apart from transactions; `take` reads the rows."""

        def read() -> list[Any]:
            with closing(self._connected().execute(statement, values)) as cursor:
                return take(cursor)

        end = monotonic() + _PATIENCE
        async with self._is_free:
            return await self._patiently(read, end)

    # ---- writing ----

    @asynccontextmanager
    async def transaction(self, name: str) -> AsyncIterator[_Transaction]:
        async with self._writing() as connection:
            with _translated():
                made = _Transaction(connection, name)
            yield made

    async def save_snapshot(self, name: str, number: int, data: bytes) -> None:
        async with self._writing() as connection:
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
    async def _writing(self) -> AsyncIterator[sqlite3.Connection]:
        """A connection with a transaction that may write."""
        # All who wait do so at the same time, not one after the other.
        end = monotonic() + _PATIENCE
        async with self._is_free:
            connection = await self._patiently(self._begun, end)
            try:
                yield connection
                # Not to be given up half-way, whatever happens to the task that waits for it.
                commit = asyncio.get_running_loop().run_in_executor(self._thread, connection.commit)
                with _translated():
                    await finished(commit)
            except BaseException:
                self._roll_back(connection)
                raise

    def _begun(self) -> sqlite3.Connection:
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        return connection

    async def _patiently(self, use: Callable[[], T], end: float) -> T:
        """What `use` returns; while another process has the file, wait, but not after `end`."""
        pause = 0.0005
        while True:
            try:
                return use()
            except SchemaError as error:
                if self._identity is None:
                    raise
                # It was right when the store was opened.
                raise UnavailableError(error) from error
            except sqlite3.Error as error:
                if _code(error) not in _BUSY or monotonic() > end:
                    self._disconnect()
                    raise UnavailableError(error) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.02)

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.rollback()
        except sqlite3.Error:
            self._disconnect()


class _Transaction:
    """What is done while the file is locked."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._id: int | None = None
        self.last_number = 0
        row = connection.execute(
            "SELECT id, last_number FROM bandits WHERE name = ?", (name,)
        ).fetchone()
        if row is not None:
            self._id, self.last_number = row

    async def events(self, after: int, limit: int) -> list[Event]:
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM events WHERE bandit = ? AND number > ?"  # noqa: S608
            " ORDER BY number LIMIT ?",
            (self._id, after, limit),
            _page,
        )
        return [Event.from_row(row) for row in rows]

    async def decisions(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        # Each once; none has a zero, at which a text in JSON would end.
        known = dict.fromkeys(one for one in ids if "\0" not in one)
        rows = self._execute(
            # The planner would rather read the whole log than sort.
            f"SELECT {_COLUMNS} FROM json_each(?) CROSS JOIN events"  # noqa: S608
            " INDEXED BY events_of_decisions ON bandit = ? AND decision = value",
            (json.dumps([*known]), self._id),
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
        if self._id is None:
            ((self._id,),) = self._execute(
                "INSERT INTO bandits (name, last_number) VALUES (?, ?) RETURNING id",
                (self._name, last),
            )
        with _translated():
            self._connection.executemany(
                f"INSERT INTO events VALUES ({self._id:d}, ?, ?, ?, ?, ?)",  # noqa: S608  (a number)
                [event.row() for event in events],
            )
        self._execute("UPDATE bandits SET last_number = ? WHERE id = ?", (last, self._id))
        self.last_number = last

    def _execute(
        self,
        statement: str,
        values: tuple[Any, ...],
        take: Callable[..., list[Any]] = sqlite3.Cursor.fetchall,
    ) -> list[Any]:
        with _translated(), closing(self._connection.execute(statement, values)) as cursor:
            return take(cursor)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn errors of SQLite into `UnavailableError`."""
    try:
        yield
    except sqlite3.Error as error:
        raise UnavailableError(error) from error


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date."""
    application, version = _header(connection)
    if application == _APPLICATION and not missing_versions(version):
        return
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if n_tables and application != _APPLICATION:
        raise SchemaError("the file is a database of another program; name another file")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first.
        for number in missing_versions(_header(connection)[1]):
            for statement in MIGRATIONS[number]["sqlite"]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.commit()
    except BaseException as error:
        connection.rollback()
        if _code(error) == sqlite3.SQLITE_ERROR:
            raise SchemaError(f"the schema cannot be brought up to date: {error}") from error
        raise


def _code(error: BaseException) -> int:
    """The code of an error of SQLite, without its details; 0 if it has none."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version
