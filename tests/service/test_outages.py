"""Databases that are full, locked or away: 503, nothing half done, and it goes on by itself."""

import asyncio
import random
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import pytest

from matroid_bandits.service.stores import postgresql as store

from .in_process import NEWS
from .ledger import check_database
from .load import Load, archived_and_read, created, under_load
from .processes import CONSTANTS, ServerProcess, asked, logged_errors, until

pytestmark = pytest.mark.usefixtures("forgetful")

_IMPATIENT = CONSTANTS | {
    "matroid_bandits.service.stores.sqlite._PATIENCE": 0.3,
    "matroid_bandits.service.stores.postgresql._PATIENCE": 1,
}


def until_more(load: Load, n: int) -> None:
    """Wait until so many more requests were answered."""
    before = load.n_answers
    until(lambda: load.n_answers >= before + n)


def until_unavailable(load: Load) -> None:
    """Wait until each visitor has probably met the outage."""
    before = load.n_unavailable
    until(lambda: load.n_unavailable >= before + 6)


@contextmanager
def server_under_load(database, folder, *, seed):
    """A server with visitors; afterwards, its database is checked."""
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(database, folder, _IMPATIENT))
        created(server.wait_until_ready().url)
        load = stack.enter_context(under_load(Load([server.url], seed=seed)))
        until_more(load, 50)
        yield server, load
        until_more(load, 50)
        ledger = load.stop()
        served = archived_and_read([server.url])
        assert server.stop()[0] == 0
    assert logged_errors(folder) == []
    asyncio.run(check_database(database, ledger, served))


def test_sqlite_cannot_write_any_more(tmp_path):
    resource = pytest.importorskip("resource", reason="needs limits for files")
    if not hasattr(resource, "prlimit"):
        pytest.skip("needs limits of other processes")
    database = tmp_path / "bandits.sqlite"
    with server_under_load(database, tmp_path, seed=11) as (server, load):
        for _ in range(3):
            # Files must not become longer than this: writing fails somewhere in a commit.
            longest = (tmp_path / "bandits.sqlite-wal").stat().st_size + random.randint(1, 30_000)
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))
            until_unavailable(load)
            assert asked(server.url, "/healthz")[0] == 200
            no_limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, no_limit)
            until_more(load, 50)


def test_sqlite_locked_by_another_process(tmp_path):
    database = tmp_path / "bandits.sqlite"
    with (
        server_under_load(database, tmp_path, seed=12) as (server, load),
        closing(sqlite3.connect(database, timeout=20, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        until_unavailable(load)
        assert asked(server.url, "/healthz")[0] == 200
        other.execute("ROLLBACK")


def test_postgresql_stopped_and_started(tmp_path, postgresql, postgresql_database):
    # Usual settings of this database must not matter: commits that may be lost in a crash, and
    # transactions that do not see what others have written meanwhile.
    for setting in ("synchronous_commit TO off", "default_transaction_isolation TO serializable"):
        postgresql.execute(f"ALTER DATABASE {postgresql_database} SET {setting}")
    database = postgresql.url(postgresql_database)
    with server_under_load(database, tmp_path, seed=13) as (server, load):
        for how in ("QUIT", "INT"):
            postgresql.stop(how)
            try:
                until_unavailable(load)
                assert asked(server.url, "/healthz")[0] == 200
                status, content = asked(server.url, "/readyz")
                assert (status, content["error"]["code"]) == (503, "unavailable")
            finally:
                postgresql.start()
            until(lambda: asked(server.url, "/readyz")[0] == 200)
            until_more(load, 50)


def test_postgresql_connections_broken_at_any_moment(tmp_path, postgresql, postgresql_database):
    database = postgresql.url(postgresql_database)
    moments = random.Random(4)
    with server_under_load(database, tmp_path, seed=14) as (_, load):
        for _ in range(40):
            time.sleep(moments.uniform(0.0, 0.1))
            postgresql.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s AND pid <> pg_backend_pid()",
                (postgresql_database,),
            )
        assert load.n_unavailable > 0


def test_postgresql_that_does_not_answer(tmp_path, postgresql, postgresql_database):
    assert 2 * store._PATIENCE < store._SILENCE < 10
    database = postgresql.url(postgresql_database)
    decisions = "/v1/bandits/news/decisions"
    silence = {"matroid_bandits.service.stores.postgresql._SILENCE": 1.5}
    with ServerProcess(database, tmp_path, _IMPATIENT | silence) as server:
        url = server.wait_until_ready().url
        until(lambda: asked(url, "/v1/bandits", NEWS)[0] in {200, 201})
        until(lambda: asked(url, decisions, {"id": "before"})[0] in {200, 201})
        with postgresql.frozen():
            # Those that come later do not wait one after the other.
            with ThreadPoolExecutor(20) as pool:
                looks = [pool.submit(asked, url, "/v1/bandits/news") for _ in range(20)]
                status, content = asked(url, decisions, {"id": "during"})
                assert {look.result()[0] for look in looks} == {503}
            assert (status, content["error"]["code"]) == (503, "unavailable")
            assert asked(url, "/readyz")[0] == 503
            assert asked(url, "/healthz")[0] == 200
        until(lambda: asked(url, decisions, {"id": "during"})[0] in {200, 201})
        with postgresql.frozen():
            assert asked(url, decisions, {})[0] == 503
            assert server.stop()[0] == 0
    said = re.findall("cannot be used|can be used again", (tmp_path / "errors.log").read_text())
    # Once each time, however many have met it.
    assert said == (["cannot be used", "can be used again"] * len(said))[: len(said)]
    assert len(said) >= 3
    assert logged_errors(tmp_path) == []
