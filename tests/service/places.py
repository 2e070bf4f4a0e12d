"""Places for stores: a SQLite file, or a database of PostgreSQL, behind the same few functions."""

import asyncio
import functools
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from matroid_bandits.service.events import Event
from matroid_bandits.service.stores import EventStore, store_at

from .postgres import PostgreSQL

__all__ = ["KINDS", "PostgreSQLPlace", "SQLitePlace", "event", "in_loop", "opened", "places"]

KINDS = ("sqlite", "postgresql")


class SQLitePlace:
    """A file that is not there yet."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        self.database = str(path)

    def execute(self, statement: str) -> list[Any]:
        """Run a statement past the store."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()

    def version(self) -> int:
        """The version of the schema."""
        return int(self.execute("PRAGMA user_version")[0][0])

    def set_version(self, version: int) -> None:
        """Claim another version."""
        self.execute(f"PRAGMA user_version = {version}")

    def tables(self) -> set[str]:
        """The names of all tables."""
        rows = self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in rows}


class PostgreSQLPlace:
    """A fresh database."""

    kind = "postgresql"

    def __init__(self, server: PostgreSQL, name: str) -> None:
        self.server = server
        self.name = name
        self.database = server.url(name)

    def execute(self, statement: str) -> list[Any]:
        """Run a statement past the store."""
        return self.server.execute(statement, database=self.name)

    def version(self) -> int:
        """The version of the schema."""
        return int(self.execute("SELECT version FROM schema_version")[0][0])

    def set_version(self, version: int) -> None:
        """Claim another version."""
        self.execute(f"UPDATE schema_version SET version = {version}")

    def tables(self) -> set[str]:
        """The names of all tables."""
        rows = self.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'matroid_bandits'")
        return {name for (name,) in rows}


Place = SQLitePlace | PostgreSQLPlace


@contextmanager
def places(request: Any, folder: Path) -> Iterator[Callable[[str], Place]]:
    """A function that makes fresh places of a kind."""
    numbers = count(1)
    with ExitStack() as stack:

        def made(kind: str) -> Place:
            if kind == "sqlite":
                return SQLitePlace(folder / f"store {next(numbers)}.sqlite")
            server = request.getfixturevalue("postgresql")
            return PostgreSQLPlace(server, stack.enter_context(server.database()))

        yield made


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[EventStore]:
    """A store at a place."""
    store = store_at(place.database)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def event(
    number: int,
    decision: str | None = None,
    *,
    time: float = 0.0,
    kind: str = "decided",
    data: str = "{}",
) -> Event:
    """An event, mostly empty."""
    return Event(number, time, kind, decision, data)


def in_loop(test: Any) -> Any:
    """A test that is a coroutine, as a function."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), 60))

    return run
