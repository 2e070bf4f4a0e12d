"""Where events are kept: SQLite or PostgreSQL, behind one contract."""

from __future__ import annotations

import os

from matroid_bandits.service.stores.base import BanditRow, EventStore, SchemaError, Transaction
from matroid_bandits.service.stores.sqlite import SQLiteStore

__all__ = [
    "BanditRow",
    "EventStore",
    "SQLiteStore",
    "SchemaError",
    "Transaction",
    "store_at",
]


def store_at(database: str | os.PathLike[str]) -> EventStore:
    """The store at a place: a file of SQLite, or an address that begins with ``postgresql://``.

    Raises
    ------
    ImportError
        If the extra that PostgreSQL needs is not installed.
    """
    text = os.fsdecode(database)
    if text.startswith(("postgresql://", "postgres://")):
        try:
            from matroid_bandits.service.stores.postgresql import (  # noqa: PLC0415
                PostgreSQLStore,
            )
        except ImportError as error:
            raise ImportError(
                "PostgreSQL needs psycopg: pip install 'matroid-bandits[postgres]'"
            ) from error
        return PostgreSQLStore(text)
    if "://" in text:
        raise ValueError(
            f"the database must be a file, or an address such as postgresql://host/name, got a "
            f"{text.partition('://')[0]!r} address"
        )
    return SQLiteStore(text)
