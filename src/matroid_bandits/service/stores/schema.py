"""The schema of the database, and how older ones become the present one.

Times are microseconds since 1970. A database has the version of its schema. Each entry of
`MIGRATIONS` leads to the next version, in one transaction. A version that was released is never
changed: a change is a new entry.
"""

from __future__ import annotations

from matroid_bandits.service.stores.base import SchemaError

__all__ = ["MIGRATIONS", "missing_versions"]

# Events have no foreign key: PostgreSQL would look up the bandit, which is locked, for every row.
_TABLES = """
CREATE TABLE bandits (
    id {id} PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last_number BIGINT NOT NULL
);
CREATE TABLE events (
    bandit BIGINT NOT NULL,
    number BIGINT NOT NULL,
    time BIGINT NOT NULL,
    kind TEXT NOT NULL,
    decision TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (bandit, number)
) {options};
CREATE INDEX events_of_decisions ON events (bandit, decision) WHERE decision IS NOT NULL;
CREATE TABLE snapshots (
    bandit BIGINT NOT NULL REFERENCES bandits,
    number BIGINT NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (bandit, number)
)
"""


def _statements(text: str) -> list[str]:
    return [statement.strip() for statement in text.split(";")]


#: By version: the statements that lead to it from the one before, for each kind of database.
MIGRATIONS: dict[int, dict[str, list[str]]] = {
    1: {
        "sqlite": _statements(_TABLES.format(id="INTEGER", bytes="BLOB", options="WITHOUT ROWID")),
        "postgresql": _statements(
            _TABLES.format(id="BIGINT GENERATED ALWAYS AS IDENTITY", bytes="BYTEA", options="")
        ),
    }
}


def missing_versions(found: int) -> list[int]:
    """The versions that a database with version `found` still has to go through."""
    newest = max(MIGRATIONS)
    if found > newest:
        raise SchemaError(
            f"the database has version {found} of the schema, this library knows versions up to "
            f"{newest}; install a newer matroid-bandits"
        )
    return [version for version in sorted(MIGRATIONS) if version > found]
