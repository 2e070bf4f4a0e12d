"""Opening databases: fresh, older, newer and foreign ones; copies of them; passwords."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from matroid_bandits.service.backup import copy_store
from matroid_bandits.service.errors import UnavailableError
from matroid_bandits.service.stores import BanditRow, SchemaError, schema, store_at

from .ledger import events_of
from .places import KINDS, event, in_loop, opened, places
from .processes import until

TABLES = {"bandits", "events", "snapshots"}


@pytest.fixture
def made(request, tmp_path):
    with places(request, tmp_path) as function:
        yield function


@pytest.fixture(params=KINDS)
def place(request, made):
    return made(request.param)


def migration(*statements):
    return {kind: list(statements) for kind in KINDS}


async def filled(place, n=3):
    async with opened(place) as store, store.transaction("a") as transaction:
        await transaction.append([event(i, f"d{i}") for i in range(1, n + 1)])


# ---- migrations ----


@in_loop
async def test_a_fresh_database_and_one_that_is_up_to_date(place):
    newest = max(schema.MIGRATIONS)
    await filled(place)
    assert place.version() == newest
    assert place.tables() >= TABLES
    async with opened(place) as store:
        assert await store.bandits() == [BanditRow("a", 3)]
    assert place.version() == newest


@in_loop
async def test_version_0_becomes_the_newest(place):
    async with opened(place):
        pass
    for table in ("snapshots", "events", "bandits"):
        place.execute(f"DROP TABLE {table}")
    place.set_version(0)
    await filled(place)
    assert place.version() == max(schema.MIGRATIONS)


@in_loop
async def test_a_later_version_keeps_what_is_there(place, monkeypatch):
    await filled(place)
    later = max(schema.MIGRATIONS) + 1
    statement = "ALTER TABLE bandits ADD COLUMN note TEXT"
    with monkeypatch.context() as patch:
        patch.setitem(schema.MIGRATIONS, later, migration(statement))
        async with opened(place) as store:
            assert len(await events_of(store, "a")) == 3
        assert place.version() == later
        assert place.execute("SELECT note FROM bandits") == [(None,)]
    # The library of before does not touch it.
    with pytest.raises(SchemaError, match=f"version {later} .* up to {later - 1}; install a newer"):
        await store_at(place.database).open()


@in_loop
async def test_a_migration_that_fails_leaves_nothing(place, monkeypatch):
    await filled(place)
    before = place.version(), place.tables()
    with monkeypatch.context() as patch:
        statements = ("CREATE TABLE extra (x INTEGER)", "CREATE NONSENSE")
        patch.setitem(schema.MIGRATIONS, before[0] + 1, migration(*statements))
        with pytest.raises(SchemaError, match="cannot be brought up to date"):
            await store_at(place.database).open()
    assert (place.version(), place.tables()) == before
    async with opened(place) as store:
        assert len(await events_of(store, "a")) == 3


@in_loop
async def test_a_fresh_migration_that_fails_can_be_repeated(place, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(schema.MIGRATIONS, 2, migration("CREATE NONSENSE"))
        with pytest.raises(SchemaError):
            await store_at(place.database).open()
    assert place.tables() == set()
    await filled(place)


@in_loop
async def test_many_stores_open_a_fresh_database_at_once(place):
    stores = [store_at(place.database) for _ in range(6)]
    try:
        await asyncio.gather(*(store.open() for store in stores))
        for number, store in enumerate(stores, 1):
            async with store.transaction("a") as transaction:
                assert transaction.last_number == number - 1
                await transaction.append([event(number)])
        assert await stores[0].bandits() == [BanditRow("a", len(stores))]
    finally:
        for store in stores:
            await store.close()


# A migration that does not end; other processes see that it has begun.
_SLOW = {
    "sqlite": "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n)"
    " SELECT max(i) FROM n",
    "postgresql": "SELECT pg_sleep(3600)",
}
_OPEN = """
import asyncio, json, sys
from matroid_bandits.service.stores import schema, store_at
version, statements = json.loads(sys.argv[2])
schema.MIGRATIONS[version] = {kind: statements for kind in ("sqlite", "postgresql")}
asyncio.run(store_at(sys.argv[1]).open())
"""


@pytest.mark.parametrize("is_fresh", [True, False])
def test_killed_during_a_migration(place, is_fresh):
    if not is_fresh:
        asyncio.run(filled(place))
    later = max(schema.MIGRATIONS) + 1
    statements = ["CREATE TABLE extra (x INTEGER)", _SLOW[place.kind]]
    arguments = [place.database, json.dumps([later, statements])]
    process = subprocess.Popen([sys.executable, "-c", _OPEN, *arguments])
    try:
        until(lambda: _is_migrating(place))
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    if place.kind == "postgresql":
        # The server would notice when the statement ends.
        place.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{place.name}' AND pid <> pg_backend_pid()"
        )
    asyncio.run(_check_after_kill(place, is_fresh))


def _is_migrating(place) -> bool:
    if place.kind == "postgresql":
        query = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600)'"
        return place.execute(query) == [(1,)]
    with closing(sqlite3.connect(place.database, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
    return False


async def _check_after_kill(place, is_fresh):
    async with opened(place) as store:
        assert len(await events_of(store, "a")) == (0 if is_fresh else 3)
    assert place.version() == max(schema.MIGRATIONS)
    assert "extra" not in place.tables()


# ---- what is refused ----


@in_loop
async def test_foreign_files_are_refused_and_stay_as_they_are(tmp_path):
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    text = tmp_path / "letter.txt"
    text.write_text("Dear Sir or Madam, " * 100)
    for path, reason in ((foreign, "another program"), (text, "not a database")):
        before = path.read_bytes()
        with pytest.raises(SchemaError, match=f"{reason}; name another file"):
            await store_at(path).open()
        assert path.read_bytes() == before
    with pytest.raises(SchemaError, match=r"there is no folder .*; make it first"):
        await store_at(tmp_path / "nowhere" / "a.sqlite").open()


@in_loop
async def test_a_file_that_is_removed_or_replaced_gets_nothing(tmp_path, made):
    """What is written to a file that nobody finds again is lost, so it is not acknowledged."""
    place = made("sqlite")
    path, aside = place.database, str(tmp_path / "aside")
    async with opened(place) as store:
        await filled(place)
        shutil.move(path, aside)
        for _ in range(2):
            with pytest.raises(UnavailableError, match="removed or replaced"):
                async with store.transaction("a") as transaction:
                    await transaction.append([event(4)])
        with pytest.raises(UnavailableError):
            await store.check()
        shutil.copy(aside, path)
        with pytest.raises(UnavailableError):
            await store.bandits()
        shutil.move(aside, path)
        async with store.transaction("a") as transaction:
            await transaction.append([event(4)])
        assert await store.bandits() == [BanditRow("a", 4)]


@in_loop
async def test_readers_never_stop_writers(made):
    """Other programs can change how a file is written; then a reader would make a commit fail."""
    place = made("sqlite")
    await filled(place)
    assert place.execute("PRAGMA journal_mode = DELETE") == [("delete",)]
    with closing(sqlite3.connect(place.database, isolation_level=None)) as reader:
        async with opened(place) as store:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM events").fetchall() == [(3,)]
            async with store.transaction("a") as transaction:
                await transaction.append([event(4)])
            assert reader.execute("SELECT count(*) FROM events").fetchall() == [(3,)]
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM events").fetchall() == [(4,)]


@in_loop
async def test_an_encoding_without_every_letter_is_refused(postgresql):
    with (
        postgresql.database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0") as name,
        pytest.raises(SchemaError, match="encoding LATIN1"),
    ):
        await store_at(postgresql.url(name)).open()


@in_loop
async def test_a_user_who_may_not_change_the_database(postgresql, postgresql_database):
    admin = postgresql.url(postgresql_database)
    postgresql.execute("DROP ROLE IF EXISTS clerk")
    postgresql.execute("CREATE ROLE clerk LOGIN")
    try:
        clerk = admin.replace("postgres@", "clerk@")
        with pytest.raises(SchemaError, match=r"permission denied .* start the server once"):
            await store_at(clerk).open()
        store = store_at(admin)
        await store.open()
        await store.close()
        for right in (
            "USAGE ON SCHEMA matroid_bandits",
            "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA matroid_bandits",
        ):
            postgresql.execute(f"GRANT {right} TO clerk", database=postgresql_database)
        store = store_at(clerk)
        await store.open()
        async with store.transaction("a") as transaction:
            await transaction.append([event(1)])
        await store.save_snapshot("a", 1, b"x")
        await store.close()
    finally:
        postgresql.execute("DROP OWNED BY clerk", database=postgresql_database)
        postgresql.execute("DROP ROLE clerk")


# ---- passwords ----


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://user:Se%zzcret@host/db",
        "postgresql://user:pass@Secret@host/db",
        "postgresql://user:pass/Secret@host/db",
        "postgresql://user:Secret@host/db?nonsense=1",
    ],
)
def test_no_password_in_the_refusal_of_an_address(address):
    with pytest.raises(ValueError, match="not of the form postgresql://user") as caught:
        store_at(address)
    assert "ecret" not in str(caught.value)
    assert caught.value.__suppress_context__


@in_loop
async def test_no_password_in_descriptions_and_errors(postgresql):
    local = postgresql.url("nowhere").replace("postgres@", "postgres:Secret@")
    for address in ("postgresql://user:Secret@127.0.0.1:1/db?connect_timeout=2", local):
        store = store_at(address)
        assert "PostgreSQL database" in store.description
        with pytest.raises(UnavailableError) as caught:
            await store.open()
        with pytest.raises(UnavailableError):
            await store.check()
        told = f"{store.description} {store!r} {caught.value} {caught.value.content()}"
        assert "Secret" not in told


# ---- copies ----


@pytest.mark.parametrize("target_kind", KINDS)
@pytest.mark.parametrize("source_kind", KINDS)
@in_loop
async def test_copies(made, source_kind, target_kind):
    log = [event(n, f"d{n}", time=n + 0.125, data=f'{{"é":{n}}}') for n in range(1, 2301)]
    steps = []
    async with opened(made(source_kind)) as source, opened(made(target_kind)) as target:
        assert await copy_store(source, target) == {}
        for name, n in (("a", 1200), ("b", 1)):
            async with source.transaction(name) as transaction:
                await transaction.append(log[:n])
        await source.save_snapshot("a", 5, b"not copied")
        assert await copy_store(source, target, steps.append) == {"a": 1200, "b": 1}
        assert sum(steps) == 1201
        # Continued.
        async with source.transaction("a") as transaction:
            await transaction.append(log[1200:])
        async with source.transaction("c") as transaction:
            await transaction.append(log[:2])
        assert await copy_store(source, target, steps.append) == {"a": 2300, "b": 1, "c": 2}
        assert sum(steps) == 1201 + 1102
        assert await copy_store(source, target) == {"a": 2300, "b": 1, "c": 2}
        assert await events_of(target, "a") == log
        assert await target.bandits() == await source.bandits()
        assert await target.snapshots("a") == []
        # Somebody has used the copy.
        async with target.transaction("c") as transaction:
            await transaction.append([event(3, "theirs")])
        with pytest.raises(ValueError, match=r"other events of 'c'; name an empty database"):
            await copy_store(source, target)
        async with source.transaction("c") as transaction:
            await transaction.append([event(3, "ours")])
        with pytest.raises(ValueError, match="other events of 'c'"):
            await copy_store(source, target)
        assert [one.decision for one in await events_of(target, "c")] == ["d1", "d2", "theirs"]
        async with target.transaction("d") as transaction:
            await transaction.append([event(1, "theirs")])
        async with source.transaction("d") as transaction:
            await transaction.append([event(1, "ours"), event(2)])
        with pytest.raises(ValueError, match=r"another bandit 'd'|other events of 'c'"):
            await copy_store(source, target)
