"""Processes that are killed under load: what was acknowledged is in the log once, and stays.

``CRASHES=100`` kills a hundred times; the default is a few.
"""

import asyncio
import os
import signal
import time
from contextlib import ExitStack
from random import Random

import pytest

from matroid_bandits.service.stores import store_at

from .ledger import check_database
from .load import Load, archived_and_read, created, under_load
from .processes import CONSTANTS, ServerProcess, logged_errors, until

N_CRASHES = int(os.environ.get("CRASHES", "10"))

pytestmark = pytest.mark.usefixtures("forgetful")


def test_sqlite_killed_at_random_moments(tmp_path):
    random = Random(1)
    database = tmp_path / "bandits.sqlite"
    addresses: list[str] = []
    with ExitStack() as stack:
        load = Load(addresses, seed=1)
        for i in range(N_CRASHES + 1):
            server = stack.enter_context(ServerProcess(database, tmp_path, CONSTANTS))
            if i == 0:
                created(server.wait_until_serving().url)
                stack.enter_context(under_load(load))
            elif i < N_CRASHES and random.random() < 0.1:
                # Before it serves, while it opens the database.
                time.sleep(random.uniform(0.3, 1.2))
                server.kill()
                continue
            addresses[:] = [server.wait_until_serving().url]
            if i < N_CRASHES:
                time.sleep(random.uniform(0.0, 1.0))
                server.kill()
        ledger = load.stop()
        served = archived_and_read(addresses)
        status, printed = server.stop()
    assert (status, printed.splitlines()[-1]) == (0, "stopped")
    assert logged_errors(tmp_path) == []
    asyncio.run(check_database(database, ledger, served))


def test_one_of_three_on_postgresql_killed_at_random_moments(
    tmp_path, postgresql, postgresql_database
):
    random = Random(2)
    database = postgresql.url(postgresql_database)
    with ExitStack() as stack:

        def started() -> ServerProcess:
            return stack.enter_context(ServerProcess(database, tmp_path, CONSTANTS))

        # All of them at once: the database is empty, and each would bring it up to date.
        servers = [server.wait_until_serving() for server in [started() for _ in range(3)]]
        addresses = [server.url for server in servers]
        created(addresses[0])
        load = stack.enter_context(under_load(Load(addresses, seed=2)))
        for _ in range(max(3, N_CRASHES // 3)):
            time.sleep(random.uniform(0.0, 1.0))
            place = random.randrange(3)
            servers[place].kill()
            servers[place] = started().wait_until_serving()
            addresses[place] = servers[place].url
        ledger = load.stop()
        served = archived_and_read(addresses)
        for server in servers:
            status, printed = server.stop()
            assert (status, printed.splitlines()[-1]) == (0, "stopped")
    assert logged_errors(tmp_path) == []
    asyncio.run(check_database(database, ledger, served))


def test_two_processes_on_one_sqlite_file(tmp_path):
    random = Random(3)
    database = tmp_path / "bandits.sqlite"
    with ExitStack() as stack:

        def started() -> ServerProcess:
            return stack.enter_context(ServerProcess(database, tmp_path, CONSTANTS))

        servers = [server.wait_until_serving() for server in [started(), started()]]
        addresses = [server.url for server in servers]
        created(addresses[1])
        load = stack.enter_context(under_load(Load(addresses, seed=3)))
        for _ in range(max(2, N_CRASHES // 5)):
            time.sleep(random.uniform(0.0, 1.0))
            place = random.randrange(2)
            servers[place].kill()
            servers[place] = started().wait_until_serving()
            addresses[place] = servers[place].url
        ledger = load.stop()
        served = archived_and_read(addresses)
        for server in servers:
            server.stop()
    assert logged_errors(tmp_path) == []
    asyncio.run(check_database(database, ledger, served))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_under_load(tmp_path, how):
    database = tmp_path / "bandits.sqlite"
    # Only the snapshots that are saved at the end.
    constants = CONSTANTS | {"matroid_bandits.service.bandit_queue.SNAPSHOT_EVERY": 10**9}
    addresses: list[str] = []
    with ExitStack() as stack:
        load = Load(addresses, seed=how)
        for i in range(3):
            server = stack.enter_context(ServerProcess(database, tmp_path, constants))
            addresses[:] = [server.wait_until_serving().url]
            if i == 0:
                created(server.url)
                stack.enter_context(under_load(load))
            before = load.n_answers
            until(lambda before=before: load.n_answers > before + 60)
            if i == 2:
                ledger = load.stop()
            status, printed = server.stop(how)
            assert status == 0
            assert printed.splitlines()[-1] == "stopped"
            # The next start has nothing to replay.
            rows = asyncio.run(_last_numbers(database))
            assert rows
            assert all(last == saved for last, saved in rows.values()), rows
    assert logged_errors(tmp_path) == []
    asyncio.run(check_database(database, ledger))


async def _last_numbers(database) -> dict[str, tuple[int, int]]:
    """By bandit, the numbers of the last event and of the newest snapshot."""
    store = store_at(database)
    await store.open()
    try:
        return {
            row.name: (row.last_number, (await store.snapshots(row.name))[0][0])
            for row in await store.bandits()
        }
    finally:
        await store.close()


def test_asked_twice_to_end(tmp_path):
    """The second Ctrl-C does not wait for requests; what was acknowledged is in the log."""
    database = tmp_path / "bandits.sqlite"
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(database, tmp_path, CONSTANTS))
        addresses = [server.wait_until_serving().url]
        created(server.url)
        load = stack.enter_context(under_load(Load(addresses, seed=4)))
        until(lambda: load.n_answers > 60)
        os.kill(server.pid, signal.SIGINT)
        assert server.stop(signal.SIGINT)[0] == 0
        server = stack.enter_context(ServerProcess(database, tmp_path, CONSTANTS))
        addresses[:] = [server.wait_until_serving().url]
        ledger = load.stop()
        server.stop()
    asyncio.run(check_database(database, ledger))
