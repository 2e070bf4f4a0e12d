"""Faults that are made in this process: full disks, damaged snapshots, clocks, hanging workers."""

import asyncio
import json
import logging
import sqlite3
from contextlib import asynccontextmanager, closing

import pytest
from starlette.testclient import TestClient

from matroid_bandits._core.policies.contract import decisions
from matroid_bandits._snapshots import content_of, snapshot_bytes
from matroid_bandits.cli import main
from matroid_bandits.service import bandit_queue, create_app, granting
from matroid_bandits.service.commands import Configure, Decide, Expire, Learn, Move
from matroid_bandits.service.errors import ServiceError, UnavailableError
from matroid_bandits.service.granting import ServedBandit
from matroid_bandits.service.problems import made_problem
from matroid_bandits.service.replay import first_difference
from matroid_bandits.service.settings import LIMITS, Settings
from matroid_bandits.service.stores import BanditRow, SQLiteStore, postgresql, store_at
from matroid_bandits.service.worker import Worker

from .in_process import Service
from .ledger import check_states, events_of
from .load import BANDITS
from .places import KINDS, event, in_loop, opened, places

PROBLEM = {"matroid": "U(2,6)"}


@pytest.fixture
def made(request, tmp_path):
    with places(request, tmp_path) as function:
        yield function


@pytest.fixture(params=KINDS)
def place(request, made):
    return made(request.param)


@asynccontextmanager
async def worker_at(place, clock=lambda: 1000.0):
    worker = Worker(store_at(place.database), clock=clock)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()


async def asked(worker, *commands, name="a"):
    """What came of commands in one batch: contents, or codes of errors."""
    outcomes = await (await worker.queue(name)).submit(list(commands))
    return [one.code if isinstance(one, ServiceError) else json.loads(one.text) for one in outcomes]


async def created(worker, policy="CTS", problem=PROBLEM, name="a", **settings):
    return await worker.create(name, problem, policy, Settings(**settings))


# ---- a full disk ----


class SmallDisk(SQLiteStore):
    """A file that must not have more than some pages."""

    most = 2**30

    def _connected(self):
        connection = super()._connected()
        connection.execute(f"PRAGMA max_page_count = {self.most}")
        return connection


def test_a_full_disk(tmp_path):
    store = SmallDisk(tmp_path / "bandits.sqlite")
    with TestClient(create_app(store), base_url="http://127.0.0.1") as client:
        for name, body in BANDITS.items():
            assert client.post("/v1/bandits", json={"name": name} | body).status_code == 201
        # No page is free: sooner or later, an event has no room.
        store.most = 1
        n = 0
        refused = {}
        while len(refused) < 3 and n < 1000:
            for name in BANDITS:
                n += 1
                answer = client.post(f"/v1/bandits/{name}/decisions", json={"id": f"d{n}"})
                if answer.status_code == 503:
                    refused[name] = f"d{n}"
                    assert answer.headers["retry-after"] == "1"
                    assert answer.json()["error"]["code"] == "unavailable"
                    assert "full" in answer.json()["error"]["message"]
        assert len(refused) == 3
        # It is read all the same, and has not learned what is not in the log.
        assert client.get("/healthz").status_code == 200
        for name, identifier in refused.items():
            path = f"/v1/bandits/{name}/decisions/{identifier}"
            assert client.get(path).json()["error"]["code"] == "unknown_decision"
            log = client.get(f"/v1/bandits/{name}/log").text.splitlines()
            content = client.get(f"/v1/bandits/{name}").json()
            assert content["decided"] == content["rounds"] == len(log) - 1
        # There is room again.
        store.most = 2**30
        for name, identifier in refused.items():
            answer = client.post(f"/v1/bandits/{name}/decisions", json={"id": identifier})
            assert answer.status_code == 201
            assert answer.json()["round"] == client.get(f"/v1/bandits/{name}").json()["rounds"]

    async def check():
        again = SQLiteStore(tmp_path / "bandits.sqlite")
        await again.open()
        for name in BANDITS:
            await check_states(again, name)
        await again.close()

    asyncio.run(check())


# ---- several workers ----


@in_loop
async def test_workers_create_the_same_bandit_at_once(place):
    async with worker_at(place) as one, worker_at(place) as two, worker_at(place) as three:
        everyone = (one, two, three, one)
        assert sorted(await asyncio.gather(*map(created, everyone))) == [False, False, False, True]
        assert [e.kind for e in await events_of(one.store, "a")] == ["created"]
        others = [created(w, p, name="b") for w in everyone for p in ("CTS", "CUCB")]
        outcomes = await asyncio.gather(*others, return_exceptions=True)
        assert outcomes.count(True) == 1
        assert outcomes.count(False) == 3
        conflicts = [one for one in outcomes if isinstance(one, ServiceError)]
        assert [one.code for one in conflicts] == ["conflict"] * 4


@in_loop
async def test_one_worker_moves_a_bandit_while_others_decide(place):
    specs = [PROBLEM, {"matroid": "U(2,5)", "labels": [0, 1, 2, 3, "new"]}]
    async with worker_at(place) as one, worker_at(place) as two, worker_at(place) as three:
        await created(one)

        async def move():
            for i in range(10):
                spec = specs[(i + 1) % 2]
                assert await asked(one, Move(spec, made_problem(spec, LIMITS), [])) == [{}]

        async def decide(worker, letter):
            for i in range(30):
                (answer,) = await asked(worker, Decide(f"{letter}{i}"))
                rewards = [(element, 0.5) for element in answer["elements"]]
                assert await asked(worker, Learn(answer["id"], rewards)) == [
                    {"learned": 2, "already": 0}
                ]

        await asyncio.gather(move(), decide(one, "x"), decide(two, "y"), decide(three, "z"))
        bandit = await check_states(one.store, "a")
        assert bandit.totals["decided"] == bandit.totals["rewarded"] == 90
        for worker in (one, two, three):
            async with (await worker.queue("a")).reading() as served:
                assert first_difference(bandit.state(), served.state()) is None


@in_loop
async def test_a_move_that_is_repeated_after_a_restart_is_one_move(place):
    for body in BANDITS.values():
        spec = body["problem"] | {"sense": body["problem"].get("sense", "max")}
        name = str(len(spec)) + body["policy"][:3]
        async with worker_at(place) as worker:
            await created(worker, body["policy"], PROBLEM | {"sense": spec["sense"]}, name=name)
        for _ in range(2):
            async with worker_at(place) as worker:
                command = Move(spec, made_problem(spec, LIMITS), [])
                assert await asked(worker, command, command, name=name) == [{}, {}]
                kinds = [one.kind for one in await events_of(worker.store, name)]
                assert kinds == ["created", "moved"]


@in_loop
async def test_a_worker_that_hangs_gives_way(postgresql_database, monkeypatch, request):
    """Its transaction is ended; then it has written nothing."""
    server = request.getfixturevalue("postgresql")
    monkeypatch.setattr(postgresql, "_PATIENCE", 0.25)
    hanging, other = (store_at(server.url(postgresql_database)) for _ in range(2))
    await hanging.open()
    await other.open()
    is_locked, may_go_on = asyncio.Event(), asyncio.Event()

    async def hang():
        async with hanging.transaction("a") as transaction:
            await transaction.append([event(1, "of the hanging one")])
            is_locked.set()
            await may_go_on.wait()

    task = asyncio.create_task(hang())
    await is_locked.wait()
    n_refused = 0
    while True:
        try:
            async with other.transaction("a") as transaction:
                await transaction.append([event(1, "of the other")])
            break
        except UnavailableError:
            n_refused += 1
    assert n_refused > 0
    may_go_on.set()
    with pytest.raises(UnavailableError):
        await task
    assert await hanging.decision("a", "of the hanging one") == []
    assert await hanging.bandits() == [BanditRow("a", 1)]
    await hanging.close()
    await other.close()


# ---- clocks, snapshots, gaps ----


@in_loop
async def test_a_clock_that_goes_backwards(place):
    now = 1000.0
    async with worker_at(place, lambda: now) as worker:
        await created(worker, expire_after=10.0, missing_reward=0.5, sticky_for=5.0)
        await asked(worker, Decide("first", client="c"))
        now = 500.0
        (again,) = await asked(worker, Decide("second", client="c"))
        assert again["id"] == "first"
        await asked(worker, Decide("third"), Learn("third", [], final=True), Decide("fourth"))
        now = 1009.0
        assert await asked(worker, Expire("fourth")) == [{"expired": True}]
        now = 400.0
        await asked(worker)
        assert (await worker.queue("a")).bandit.n_open == 1
        now = 1010.0
        await asked(worker)
        assert (await worker.queue("a")).bandit.n_open == 0
        log = await events_of(worker.store, "a")
        times = [one.time for one in log]
        assert times == sorted(times)
        assert [one.time for one in log if one.decision == "third"] == [1000.0, 1000.0]
        served = (await worker.queue("a")).bandit.state()
        assert first_difference((await check_states(worker.store, "a")).state(), served) is None


@pytest.mark.parametrize("n_damaged", [1, 2])
@in_loop
async def test_damaged_snapshots_are_not_used(place, n_damaged, monkeypatch, caplog):
    monkeypatch.setattr(bandit_queue, "SNAPSHOT_EVERY", 10)
    async with worker_at(place) as worker:
        await created(worker)
        for i in range(35):
            await asked(worker, Decide(f"d{i}"))
            await asyncio.sleep(0)
        state = (await worker.queue("a")).bandit.state()
    async with opened(place) as store:
        snapshots = await store.snapshots("a")
        assert len(snapshots) == 2
        for number, data in snapshots[:n_damaged]:
            place.execute(f"DELETE FROM snapshots WHERE number = {number}")
            middle = len(data) // 2
            changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
            await store.save_snapshot("a", number, changed)
    monkeypatch.setattr(logging.getLogger("matroid_bandits.service"), "propagate", True)
    async with worker_at(place) as worker:
        async with (await worker.queue("a")).reading() as bandit:
            assert first_difference(bandit.state(), state) is None
        assert caplog.text.count("a snapshot is not used") == n_damaged
        assert len(await asked(worker, Decide("next"))) == 1


@in_loop
async def test_a_log_with_a_gap_is_refused(place):
    """Nobody decides without having seen all that has happened."""
    async with worker_at(place) as worker:
        await created(worker)
        await asked(worker, *(Decide(f"d{i}") for i in range(9)))
    for statement in (
        "DELETE FROM events WHERE number = 10",
        "UPDATE bandits SET last_number = 9",
        # It is not even loaded.
        "DELETE FROM events WHERE number = 5",
    ):
        place.execute(statement)
        place.execute("DELETE FROM snapshots")
        async with worker_at(place) as worker:
            if "UPDATE" in statement:
                assert (await asked(worker, Decide("new")))[0]["round"] == 9
            else:
                with pytest.raises(ServiceError) as caught:
                    await asked(worker, Decide("never"))
                is_loaded = "number = 10" in statement
                assert caught.value.code == ("internal" if is_loaded else "unavailable")
                assert await worker.store.decision("a", "never") == []


# ---- decisions that memory has forgotten ----


def test_rows_that_are_used_again_are_the_same_from_a_snapshot(monkeypatch):
    """Decisions of other lengths were there before, but not in what a snapshot has led to."""
    monkeypatch.setattr(decisions, "MAX_CLOSED", 3)
    content = json.loads(granting.created(PROBLEM, "CTS", Settings(), None, LIMITS))
    bandit = ServedBandit("a", content)
    for i in range(8):
        bandit.handle(Decide(f"d{i}"), {}, 0.0)
    for i in range(8):
        bandit.handle(Expire(f"d{i}", 0.25), {}, 0.0)
    restored = ServedBandit.from_state(content_of(snapshot_bytes(bandit.state()), "a"))
    for one in (bandit, restored):
        one.handle(Decide("short", shown=[1]), {}, 0.0)
    assert first_difference(bandit.state(), restored.state()) is None


@in_loop
async def test_answers_from_the_log_are_those_from_memory(place, monkeypatch):
    """Memory has the decisions that were closed last; of others, the log tells the same."""
    monkeypatch.setattr(decisions, "MAX_CLOSED", 4)
    async with worker_at(place) as worker:
        await created(worker)
        shown = [0, 1]
        for name in ("rewarded", "closed", "expired", "zero", "partly"):
            await asked(worker, Decide(name, shown=shown))
        await asked(worker, Learn("rewarded", [(e, 0.5) for e in shown]))
        await asked(worker, Learn("closed", [(0, 0.5)], final=True))
        await asked(worker, Learn("expired", [(0, 0.5)]), Expire("expired"))
        await asked(worker, Learn("zero", [(0, 0.5)]), Expire("zero", 0.0))
        requests = [
            Learn(name, [(e, reward)])
            for name in ("rewarded", "closed", "expired", "zero")
            for e in (0, 1, 5)
            for reward in (0.5, 0.25, 0.0)
        ]
        requests += [Expire(name) for name in ("rewarded", "closed", "expired", "zero")]
        requests += [Decide(name) for name in ("rewarded", "closed", "expired", "zero")]
        before = await asked(worker, *requests)
        kernel = (await worker.queue("a")).bandit._kernel
        assert kernel.decisions.has("rewarded")
        for i in range(5):
            await asked(worker, Decide(f"d{i}"), Expire(f"d{i}"))
        assert not kernel.decisions.has("rewarded")
        after = await asked(worker, *requests)
        assert dict(zip(map(str, requests), after, strict=True)) == dict(
            zip(map(str, requests), before, strict=True)
        )
        # Forgotten while the batch is handled.
        await asked(worker, Learn("partly", [(0, 0.5)], final=True))
        others = [Decide(f"e{i}") for i in range(6)]
        await asked(worker, *others)
        outcomes = await asked(
            worker,
            *(Expire(one.id) for one in others),
            Learn("partly", [(0, 0.5)]),
            Learn("partly", [(0, 0.25)]),
            Expire("partly"),
        )
        assert outcomes[-3:] == [{"learned": 0, "already": 1}, "conflict", {"expired": False}]
        await check_states(worker.store, "a")


@in_loop
async def test_a_database_that_is_away_at_the_end_is_not_waited_for_again_and_again(
    place, monkeypatch
):
    asked_for = []

    async def away(*arguments):
        asked_for.append(arguments)
        raise UnavailableError("away")

    async with worker_at(place) as worker:
        for i in range(5):
            await created(worker, name=f"b{i}")
            await asked(worker, Decide("d"), Configure({"status": "archived"}), name=f"b{i}")
        monkeypatch.setattr(worker.store, "save_snapshot", away)
    assert len(asked_for) == 1


def test_a_request_that_names_impossible_ids(place):
    with TestClient(create_app(place.database), base_url="http://127.0.0.1") as client:
        client.post("/v1/bandits", json={"name": "a", "problem": PROBLEM})
        client.post("/v1/bandits/a/decisions", json={"id": "d"})
        for path in ("a%00/decisions", "a/decisions/d%00/rewards", "a/decisions/%00/expire"):
            body = {"rewards": {}} if path.endswith("rewards") else {}
            answer = client.post(f"/v1/bandits/{path}", json=body)
            assert answer.status_code == 404, answer.text
        for path in ("a%00", "a%00/log", "a/decisions/d%00e"):
            assert client.get(f"/v1/bandits/{path}").status_code == 404


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("replace(data, 'index=kl', 'index=kl, magic=3')", "magic"),
        ("replace(data, '\"settings\"', '\"habits\"')", "KeyError"),
    ],
)
def test_the_others_are_served_without_a_bandit_that_cannot_be_loaded(
    damage, reason, tmp_path, caplog, capsys
):
    database = tmp_path / "bandits.sqlite"
    with Service(database) as service:
        for name in ("news", "other", "third"):
            assert service.create(name).status == 201
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("DELETE FROM snapshots")
        connection.execute(
            f"UPDATE events SET data = {damage} WHERE bandit ="
            " (SELECT id FROM bandits WHERE name = 'other')"
        )
    with Service(database) as service:
        assert service.get("/readyz").status == 200
        for path in ("/v1/bandits/other", "/bandits/other", "/v1/bandits/other/explain"):
            reply = service.get(path)
            assert reply.status == 503
            assert "cannot be loaded by this version" in reply.text
            assert reason in reply.text
        assert service.decide(name="other").error["code"] == "unavailable"
        assert [service.decide(name=name).status for name in ("news", "third")] == [201, 201]
        lines = service.get("/v1/bandits").json()["bandits"]
        assert [line["name"] for line in lines] == ["news", "other", "third"]
        assert [line["status"] for line in lines] == ["active", "unavailable", "active"]
        assert reason in lines[1]["fault"]
        page = service.get("/")
        assert page.status == 200
        assert page.text.count("other cannot be loaded") == 1
    assert main(["replay", "--database", str(database)]) == 1
    assert reason in capsys.readouterr().out
    assert sum("other cannot be loaded" in one.getMessage() for one in caplog.records) == 1
