"""A store in PostgreSQL, for any number of processes on any number of machines."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from matroid_bandits.service.errors import UnavailableError
from matroid_bandits.service.events import Event
from matroid_bandits.service.stores.base import LAST_NUMBER, LONGEST_PAGE, BanditRow, SchemaError
from matroid_bandits.service.stores.schema import MIGRATIONS, missing_versions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterable

__all__ = ["PostgreSQLStore"]

_log = logging.getLogger("matroid_bandits.service")

# Our tables have a schema of their own.
_SCHEMA = "matroid_bandits"
# Of the advisory lock for migrations ("mban").
_LOCK = 0x6D62616E
# How long to wait for a connection, or for another transaction, in seconds.
_PATIENCE = 4
# A server that has said nothing for so many seconds does not answer. A statement may wait for a
# row twice: for those who wait for it, and for the one who has it.
_SILENCE = 9.0
# A database that does not answer is not tried again for so many seconds.
_PAUSE = 1.0
_CONNECTIONS = 8
# A machine that vanishes is noticed, unless the address says otherwise.
_TIMEOUTS: dict[str, Any] = {
    "connect_timeout": _PATIENCE,
    "keepalives_idle": _PATIENCE,
    "keepalives_interval": 1,
    "keepalives_count": _PATIENCE,
    "tcp_user_timeout": 2_000 * _PATIENCE,
}
_COLUMNS = "number, time, kind, decision, data"
_OF_BANDIT = "bandit = (SELECT id FROM bandits WHERE name = %s)"
_AWAY = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TooManyRequests)


class _SilentError(psycopg.OperationalError):
    """The server does not answer."""


class _Connection(AsyncConnection[Any]):
    """A connection that is given up when the server says nothing for a long time.

    To cancel a statement would be to wait for the server again.
    """

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        return await super().wait(self._impatient(gen), *args, **options)

    def _impatient(self, gen: Any) -> Generator[Any, Any, Any]:
        """The steps of a generator of psycopg, which gets 0 from time to time while it waits."""
        last = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    last = monotonic()
                elif monotonic() - last > _SILENCE:
                    self.pgconn.finish()
                    raise _SilentError(f"it has not answered for {_SILENCE:g} s")
                wanted = gen.send(ready)
        except StopIteration as stop:
            return stop.value


class PostgreSQLStore:
    """Logs and snapshots in a PostgreSQL database, in a schema of their own.

    Parameters
    ----------
    url : str
        Such as ``postgresql://user:password@host:5432/database``.
    """

    def __init__(self, url: str) -> None:
        try:
            _refuse_ambiguous(url)
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # The message would show the password.
            raise ValueError(
                "the address of the database is not of the form "
                "postgresql://user:password@host:5432/database; in the password, write %40 for @, "
                "%2F for / and %25 for %"
            ) from None
        host, name = parts.get("host", "localhost"), parts.get("dbname", "postgres")
        self.description = f"PostgreSQL database {name} on {host}"
        self._url = make_conninfo(**(_TIMEOUTS | parts))
        self._pool: AsyncConnectionPool[_Connection] | None = None
        # Why nobody could use the database, and the time before which it is not tried again.
        self._fault: str | None = None
        self._pause_end = 0.0

    # ---- connecting ----

    async def open(self) -> None:
        await self._migrate()
        self._pool = AsyncConnectionPool(
            self._url,
            connection_class=_Connection,
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=_PATIENCE,
            max_waiting=1_000,
            reconnect_timeout=2.0,
            configure=_configured,
            open=False,
        )
        await self._pool.open()

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close(timeout=_PATIENCE)

    async def check(self) -> None:
        await self._read("SELECT 1", ())

    async def _migrate(self) -> None:
        """Bring the schema up to date; one process at a time."""
        try:
            async with await psycopg.AsyncConnection.connect(self._url) as connection:
                await _update(connection)
        except _AWAY as error:
            raise UnavailableError(_reason(error)) from error
        except psycopg.Error as error:
            raise SchemaError(
                f"the schema {_SCHEMA} cannot be brought up to date: {_reason(error)}; let a user "
                "who may change the database start the server once"
            ) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[_Connection]:
        """A connection with a transaction, which is committed at the end."""
        if self._pool is None:
            raise UnavailableError("it was not opened")
        if self._fault is not None:
            if monotonic() < self._pause_end:
                raise UnavailableError(self._fault)
            # One tries. The others would wait as long, one after the other.
            self._pause_end = inf
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (*_AWAY, psycopg.Error) as error:
            if isinstance(error, _SilentError):
                self._note_fault(_reason(error))
            raise UnavailableError(_reason(error)) from error
        else:
            self._note_fault(None)
        finally:
            self._pause_end = monotonic() + _PAUSE

    def _note_fault(self, reason: str | None) -> None:
        """Say once that the database cannot be used, and once that it can be used again."""
        before, self._fault = self._fault, reason
        if before is None and reason is not None:
            _log.warning("%s cannot be used: %s", self.description, reason)
        elif before is not None and reason is None:
            _log.warning("%s can be used again", self.description)

    # ---- reading ----

    async def bandits(self) -> list[BanditRow]:
        rows = await self._read(
            'SELECT name, last_number FROM bandits ORDER BY name COLLATE "C"', ()
        )
        return [BanditRow(*row) for row in rows]

    async def events(self, name: str, after: int, limit: int) -> list[Event]:
        return await self._events(_page("number > %s", "number"), name, after, limit)

    async def decision(self, name: str, decision: str) -> list[Event]:
        condition = f"{_OF_BANDIT} AND decision = %s AND decision IS NOT NULL"
        found = f"SELECT {_COLUMNS} FROM events WHERE {condition}"  # noqa: S608  (constants)
        return sorted(await self._events(found, name, decision))

    async def latest(
        self, name: str, kind: str, limit: int, until: int = LAST_NUMBER
    ) -> list[Event]:
        found = _page("kind = %s AND number <= %s", "number DESC")
        return await self._events(found, name, kind, until, limit)

    async def snapshots(self, name: str) -> list[tuple[int, bytes]]:
        rows = await self._read(
            "SELECT s.number, s.data FROM snapshots s JOIN bandits b ON b.id = s.bandit"
            " WHERE b.name = %s ORDER BY s.number DESC",
            (name,),
        )
        return [(number, bytes(data)) for number, data in rows]

    async def _events(self, statement: str, name: str, *values: Any) -> list[Event]:
        if any(_is_impossible(value) for value in (name, *values)):
            return []
        return [Event.from_row(row) for row in await self._read(statement, (name, *values))]

    async def _read(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        async with self._connection() as connection:
            return await _rows(connection, statement, values)

    # ---- writing ----

    @asynccontextmanager
    async def transaction(self, name: str) -> AsyncIterator[_Transaction]:
        async with self._connection() as connection:
            made = _Transaction(connection, name)
            await made.lock()
            yield made

    async def save_snapshot(self, name: str, number: int, data: bytes) -> None:
        async with self._connection() as connection:
            ((bandit,),) = await _rows(
                connection, "SELECT id FROM bandits WHERE name = %s", (name,)
            )
            await connection.execute(
                "INSERT INTO snapshots VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (bandit, number, data),
            )
            await connection.execute(
                "DELETE FROM snapshots WHERE bandit = %s AND number NOT IN (SELECT number FROM"
                " snapshots WHERE bandit = %s ORDER BY number DESC LIMIT 2)",
                (bandit, bandit),
            )


class _Transaction:
    """What is done while the row of a bandit is locked."""

    def __init__(self, connection: AsyncConnection[Any], name: str) -> None:
        self._connection = connection
        self._name = name
        self._id: int | None = None
        self.last_number = 0

    async def lock(self) -> None:
        """Lock the row of the bandit; if there is none, the name."""
        if await self._find():
            return
        await self._connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self._name,)
        )
        await self._find()

    async def _find(self) -> bool:
        rows = await _rows(
            self._connection,
            "SELECT id, last_number FROM bandits WHERE name = %s FOR UPDATE",
            (self._name,),
        )
        if rows:
            self._id, self.last_number = rows[0]
        return bool(rows)

    async def events(self, after: int, limit: int) -> list[Event]:
        rows = await _rows(
            self._connection,
            _page("number > %s", "number", of_bandit="bandit = %s"),
            (self._id, after, limit),
        )
        return [Event.from_row(row) for row in rows]

    async def decisions(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        rows = await _rows(
            self._connection,
            # One look into the index for each. A plain join would, without statistics of a table
            # that grows, read the whole log. The index has only events with a decision, and is used
            # only if the query says so.
            f"SELECT {_COLUMNS} FROM unnest(%s::text[]) AS wanted (id) CROSS JOIN LATERAL"  # noqa: S608
            " (SELECT * FROM events WHERE bandit = %s AND decision = wanted.id"
            " AND decision IS NOT NULL OFFSET 0) AS found",
            ([*dict.fromkeys(one for one in ids if not _is_impossible(one))], self._id),
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
            ((self._id,),) = await _rows(
                self._connection,
                "INSERT INTO bandits (name, last_number) VALUES (%s, %s) RETURNING id",
                (self._name, last),
            )
        columns = [list(column) for column in zip(*(event.row() for event in events), strict=True)]
        # One statement for all rows, and for the number of the last one.
        await self._connection.execute(
            "WITH added AS (INSERT INTO events SELECT %s, * FROM unnest(%s::bigint[],"
            " %s::bigint[], %s::text[], %s::text[], %s::text[]))"
            " UPDATE bandits SET last_number = %s WHERE id = %s",
            (self._id, *columns, last, self._id),
        )
        self.last_number = last


async def _rows(
    connection: AsyncConnection[Any], statement: str, values: tuple[Any, ...]
) -> list[Any]:
    cursor = await connection.execute(statement, values)
    return await cursor.fetchall()


def _page(condition: str, order: str, of_bandit: str = _OF_BANDIT) -> str:
    """A query for the first events in an order, as many as a page has."""
    # Lengths are known without the data, which are read only of the rows that are left.
    return (
        f"SELECT {_COLUMNS} FROM (SELECT *, sum(octet_length(data)) OVER (ORDER BY {order})"  # noqa: S608
        f" - octet_length(data) AS n_before FROM (SELECT * FROM events WHERE {of_bandit}"
        f" AND {condition} ORDER BY {order} LIMIT %s) AS found) AS page"
        f" WHERE n_before < {LONGEST_PAGE:d} ORDER BY {order}"
    )


async def _configured(connection: AsyncConnection[Any]) -> None:
    """Set what holds for every transaction of a connection."""
    await connection.execute(f"SET search_path TO {_SCHEMA}")
    # A worker that hangs must not stop the others.
    await connection.execute(f"SET lock_timeout TO '{_PATIENCE}s'")
    await connection.execute(f"SET idle_in_transaction_session_timeout TO '{6 * _PATIENCE}s'")
    # Whatever is usual in this database: who gets the lock sees what the one before has written,
    # and a commit survives a power cut.
    await connection.execute("SET default_transaction_isolation TO 'read committed'")
    await connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'"
    )
    await connection.commit()


async def _update(connection: AsyncConnection[Any]) -> None:
    """Bring the schema up to date, in one transaction."""
    ((encoding,),) = await _rows(connection, "SHOW server_encoding", ())
    if encoding != "UTF8":
        raise SchemaError(
            f"the database has the encoding {encoding}, in which not every text can be written; "
            "make one with ENCODING 'UTF8'"
        )
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    await connection.execute(f"SET LOCAL search_path TO {_SCHEMA}")
    ((table,),) = await _rows(connection, "SELECT to_regclass('schema_version')", ())
    if table is None:
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
        await connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        await connection.execute("INSERT INTO schema_version VALUES (0)")
    ((found,),) = await _rows(connection, "SELECT version FROM schema_version", ())
    for version in missing_versions(found):
        for statement in MIGRATIONS[version]["postgresql"]:
            await connection.execute(statement)
        await connection.execute("UPDATE schema_version SET version = %s", (version,))


def _refuse_ambiguous(url: str) -> None:
    """Refuse an address in which a part of the password would be taken for a name."""
    user_and_host, _, rest = url.partition("://")[2].partition("?")[0].partition("/")
    if user_and_host.count("@") > 1 or "@" in rest:
        raise psycopg.ProgrammingError


def _is_impossible(value: Any) -> bool:
    """Whether it is a text that PostgreSQL cannot have."""
    return isinstance(value, str) and "\0" in value


def _reason(error: Exception) -> str:
    """The first line of a message, which has no password in it."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
