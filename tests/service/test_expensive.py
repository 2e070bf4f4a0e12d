"""Requests that would take a server away from everybody else: by their work, not by their items."""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel, ValidationError

from matroid_bandits.service import Limits, bodies, bombs, gate, labels, schemas
from matroid_bandits.service.events import Event
from matroid_bandits.service.keys import ROLES, KeyFile, allows
from matroid_bandits.service.routes import bandits, decisions, pages
from matroid_bandits.service.stores import postgresql, sqlite

from .in_process import Clock, Reply, Service
from .processes import ServerProcess, asked, logged_errors, until
from .test_access import bearer
from .test_hostile import HOST, answer_to

RANK, SIZE = 50_000, 100_000
# So many decisions of this rank are made in one transaction.
N_WITHIN = bombs.MOST_WORK // RANK
MANY = 1_000


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The file, and a key for each role."""
    path = tmp_path_factory.mktemp("keys") / "bandits.keys"
    return {"file": str(path)} | {role: KeyFile(path).add(role, role) for role in ROLES}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, str]) -> Iterator[Service]:
    """A service with a small bandit, and one of which every decision is large."""
    path = tmp_path_factory.mktemp("service") / "bandits.sqlite"
    with Service(path, keys=keys["file"], hosts=None, clock=Clock()) as running:
        for name, matroid in (("small", "K5"), ("large", f"U({RANK},{SIZE})")):
            problem = {"matroid": matroid}
            reply = running.post(
                "/v1/bandits", {"name": name, "problem": problem}, headers=bearer(keys["admin"])
            )
            assert reply.status == 201
            assert decided(running, keys, name, {"id": "first"}).status == 201
        yield running


def decided(service: Service, keys: dict[str, str], name: str, body: Any) -> Reply:
    return service.post(f"/v1/bandits/{name}/decisions", body, headers=bearer(keys["writer"]))


# ---- who may send what, and what is done in the meantime ----


class Request(NamedTuple):
    """A request that costs much.

    `part` is the function that takes the time: where it is, and its name.
    """

    role: str
    method: str
    path: str
    part: tuple[Any, str]
    body: Any = None
    status: int = 200


LONG = ["x" * 30] * MANY
WRONG = {f"k{i}": "x" for i in range(5_000)}
READING = bodies._STRICT, "decode"
EXPENSIVE = {
    "explanation": Request(
        "reader", "GET", "/v1/bandits/large/explain", (bandits, "explanation")
    ),
    "bandit": Request("reader", "GET", "/v1/bandits/large", (bandits, "description")),
    "confidence": Request(
        "reader", "GET", "/v1/bandits/large/confidence", (bandits, "confidence")
    ),
    "decision": Request(
        "reader", "GET", "/v1/bandits/large/decisions/first", (decisions, "record")
    ),
    "page": Request("reader", "GET", "/bandits/large", (pages, "bandit_view")),
    "overview": Request("reader", "GET", "/", (pages, "short_view")),
    "log": Request("reader", "GET", "/v1/bandits/large/log", (Event, "content")),
    "table": Request("reader", "GET", "/v1/bandits/large/log?format=parquet", (Event, "content")),
    "decisions": Request(
        "writer", "POST", "/v1/bandits/small/decisions", READING, {"available": LONG}, 422
    ),
    "rewards": Request(
        "writer", "POST", "/v1/bandits/small/decisions/first/rewards", READING,
        {"rewards": WRONG}, 422,
    ),
    "priors": Request(
        "admin", "PUT", "/v1/bandits/small/problem", READING,
        {"matroid": "K5", "prior": {key: {"mean": 1, "x": 2} for key in WRONG}}, 422,
    ),
    "coordinates": Request(
        "admin", "POST", "/v1/bandits", READING,
        {"name": "x", "problem": {"matroid": "K5"}, "coordinates": {key: [1] for key in WRONG}},
        422,
    ),
}  # fmt: skip


@pytest.mark.parametrize("one", EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_others_are_answered_before_it(
    service: Service, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch, one: Request
) -> None:
    """The part that takes the time does not end before another bandit has decided."""
    begun, answered = threading.Event(), threading.Event()
    place, name = one.part
    own = getattr(place, name)
    came_first = []

    def waiting(*arguments: Any, **named: Any) -> Any:
        if not begun.is_set():
            begun.set()
            came_first.append(answered.wait(30))
        return own(*arguments, **named)

    async def other() -> Reply:
        # It may be in the loop itself: then it has begun when this task goes on.
        await asyncio.to_thread(begun.wait, 30)
        path = "/v1/bandits/small/decisions"
        reply = await service._request("POST", path, {}, None, bearer(keys["writer"]))
        answered.set()
        return reply

    async def both() -> list[Reply]:
        heavy = service._request(one.method, one.path, one.body, None, bearer(keys[one.role]))
        return list(await asyncio.gather(heavy, other()))

    monkeypatch.setattr(place, name, waiting)
    heavy, quick = service.run(both())
    assert came_first == [True]
    assert (heavy.status, quick.status) == (one.status, 201), heavy.text[:300]


@pytest.mark.parametrize("one", EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_nothing_is_read_without_the_key(
    service: Service, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch, one: Request
) -> None:
    read = []
    own = gate._Limited.__call__

    async def counted(limited: Any) -> Any:
        read.append(limited)
        return await own(limited)

    monkeypatch.setattr(gate._Limited, "__call__", counted)
    lower = [role for role in ROLES if not allows(role, one.role)]
    for headers, status in (({}, 401), *((bearer(keys[role]), 403) for role in lower)):
        reply = service.request(one.method, one.path, one.body, headers=headers)
        assert reply.status == status
    assert read == []


# ---- batches: items times what is looked at for each ----


def outcomes(reply: Reply) -> tuple[int, int]:
    """How many items were granted, and how many were refused for want of time."""
    assert reply.status == 200
    results = reply.json()["results"]
    errors = [one["error"]["message"] for one in results if "error" in one]
    assert all("would take too long together" in message for message in errors), errors[:1]
    return len(results) - len(errors), len(errors)


@pytest.mark.parametrize("item", [{}, {"id": "first"}])
def test_decisions_of_large_rank(service: Service, keys: dict[str, str], item: Any) -> None:
    """Four kilobytes ask for 50 million elements, new ones or those of a decision made before."""
    reply = service.post(
        "/v1/bandits/large/decisions/batch",
        {"decisions": [item] * MANY},
        headers=bearer(keys["writer"]),
    )
    assert outcomes(reply) == (N_WITHIN, MANY - N_WITHIN)


def test_feedback_of_large_rank(service: Service, keys: dict[str, str]) -> None:
    items = [{"id": "first", "rewards": {}}] * MANY
    reply = service.post(
        "/v1/bandits/large/rewards/batch", {"rewards": items}, headers=bearer(keys["writer"])
    )
    assert outcomes(reply) == (N_WITHIN, MANY - N_WITHIN)


@pytest.mark.parametrize(
    "policy, n_granted", [("MAUB(index=kl)", 100), ("CTS", 5), ("OMM(index=kl)", 5)]
)
def test_policies_that_look_at_every_element(tmp_path: Path, policy: str, n_granted: int) -> None:
    with Service(tmp_path / "bandits.sqlite") as service:
        reply = service.create(problem={"matroid": f"U(1,{SIZE})"}, policy=policy)
        assert reply.status == 201
        reply = service.post("/v1/bandits/news/decisions/batch", {"decisions": [{}] * 100})
        assert outcomes(reply) == (n_granted, 100 - n_granted)


@pytest.mark.parametrize("label, work", [("x", 1), (1, 1), ([1], 10), (0.5, 10), ({"a": 1}, 10)])
def test_many_labels(tmp_path: Path, label: Any, work: int) -> None:
    """Available elements are looked up, also for a small bandit."""
    with Service(tmp_path / "bandits.sqlite") as service:
        service.create(problem={"matroid": "U(1,2)", "labels": [label, "y"]}, policy="MAUB")
        items = [{"available": ["y", *[label] * 500]}] * (MANY if work == 1 else 150)
        reply = service.post("/v1/bandits/news/decisions/batch", {"decisions": items})
    errors = [one["error"]["message"] for one in reply.json()["results"]]
    n_refused = sum("would take too long together" in message for message in errors)
    assert n_refused == len(items) - bombs.MOST_WORK // (1 + 2 + 500 * work)


def test_labels_that_are_made_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of millions of values, few become labels before it is clear that they are too many."""
    made = []
    own = labels.JSONValue.__init__

    def counted(label: Any, value: Any) -> None:
        made.append(value)
        own(label, value)

    with Service(tmp_path / "bandits.sqlite") as service:
        service.create()
        monkeypatch.setattr(labels.JSONValue, "__init__", counted)
        path = "/v1/bandits/news/decisions"
        assert service.post(path, {"available": [[]] * 150_000}).status == 422
        assert made == []
        items = [{"available": [[]] * 500}] * 300
        assert service.post(f"{path}/batch", {"decisions": items}).status == 200
        assert len(made) <= 100_000


def test_requests_that_wait_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones get a transaction of their own; none is refused."""
    sizes = []
    own = sqlite._Transaction.append

    async def counted(transaction: Any, events: list[Event]) -> None:
        sizes.append(len(events))
        await own(transaction, events)

    with Service(tmp_path / "bandits.sqlite") as service:
        service.create(problem={"matroid": f"U({RANK},{SIZE})"})
        monkeypatch.setattr(sqlite._Transaction, "append", counted)
        body = {"decisions": [{}] * (N_WITHIN // 2)}
        requests = [("POST", "/v1/bandits/news/decisions/batch", body)] * 3
        replies = service.together([*requests, ("POST", "/v1/bandits/news/decisions", {})])
    assert [reply.status for reply in replies] == [200, 200, 200, 201]
    assert sum(sizes) == 3 * (N_WITHIN // 2) + 1
    assert max(sizes) <= N_WITHIN


def test_many_decisions_that_expire(tmp_path: Path) -> None:
    """They do so in several transactions, each of bounded work."""
    clock = Clock()
    with Service(tmp_path / "bandits.sqlite", clock=clock) as service:
        service.create(problem={"matroid": f"U({RANK},{SIZE})"}, expire_after=10)
        for _ in range(2):
            service.post("/v1/bandits/news/decisions/batch", {"decisions": [{}] * (N_WITHIN)})
        live = service.live()
        assert live.expire_due(clock.now + 100) == N_WITHIN + 1


# ---- logs: pages of bounded bytes ----


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> int:
    """The greatest number of bytes in a page."""
    for store in (sqlite, postgresql):
        monkeypatch.setattr(store, "LONGEST_PAGE", 2_000)
    return 2_000


@pytest.mark.parametrize("after", [0, 1, 7])
def test_logs_are_told_page_by_page(tmp_path: Path, short_pages: int, after: int) -> None:
    with Service(tmp_path / "bandits.sqlite") as service:
        service.create(problem={"matroid": "U(100,200)"}, policy="MAUB")
        for i in range(20):
            elements = service.decide(f"d{i}").json()["elements"]
            service.learn(f"d{i}", [{"element": e, "reward": 0.5} for e in elements[: 5 * i]])
        service.decide("restricted", available=list(range(150)))
        events = [one for one in service.log() if one["number"] > after]
        query = f"after={after}"
        assert service.get(f"/v1/bandits/news/log?{query}").text.count("\n") == len(events)
        content = service.get(f"/v1/bandits/news/log?format=parquet&{query}").content
    table = pq.ParquetFile(BytesIO(content))
    rows = table.read().to_pylist()
    told = [
        (one["number"], one["kind"], one["decision"], one.get("round"), str(element), reward)
        for one in events
        if one["kind"] in {"decided", "rewarded"}
        for element, reward in (
            [(row["element"], row["reward"]) for row in one["rewards"]]
            if one["kind"] == "rewarded"
            else [(element, None) for element in one["elements"]]
        )
    ]
    columns = ("number", "kind", "decision", "round", "element", "reward")
    assert [tuple(row[name] for name in columns) for row in rows] == told
    # An element takes two bytes or more.
    groups = [table.metadata.row_group(i).num_rows for i in range(table.metadata.num_row_groups)]
    assert max(groups) <= short_pages
    assert len(groups) > 3


# ---- bodies that are wrong in many places ----


@pytest.mark.parametrize(
    "form, body",
    [
        (schemas.RewardRequest, {"rewards": WRONG}),
        (schemas.RewardBatch, {"rewards": [{"id": "a", "rewards": WRONG}]}),
        (schemas.ProblemRequest, {"matroid": "K4", "prior": {k: {"mean": "x"} for k in WRONG}}),
        (schemas.ProblemRequest, {"matroid": "K4", "prior": {"a": WRONG}}),
        (schemas.DecisionRequest, WRONG),
        (schemas.DecisionBatch, {"decisions": [WRONG]}),
        (
            schemas.BanditRequest,
            {
                "name": "x",
                "problem": {"matroid": "K4"},
                "coordinates": {key: ["x", "y"] for key in WRONG},
            },
        ),
        (
            schemas.BanditRequest,
            {"name": "x", "problem": {"matroid": "K4"}, "coordinates": {"a": ["x"] * 5_000}},
        ),
    ],
)
def test_few_mistakes_are_written_down(form: type[BaseModel], body: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        form.model_validate(body)
    assert caught.value.error_count() <= 3 * schemas._PART


def test_valid_objects_that_are_long() -> None:
    """They are checked part by part, and nothing gets lost."""
    rewards = {f"k{i}": i / 2 for i in range(1_234)}
    assert schemas.RewardRequest.model_validate({"rewards": rewards}).rewards == rewards
    prior = {key: {"mean": 1.0, "count": 2} for key in rewards}
    form = schemas.ProblemRequest.model_validate({"matroid": "K4", "prior": prior})
    assert form.model_dump()["prior"] == prior


def test_bodies_are_read_once(
    service: Service, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    own = bodies._STRICT.decode

    def counted(text: str) -> Any:
        read.append(text)
        return own(text)

    def again(*_: Any, **__: Any) -> Any:
        raise AssertionError("it is read again")

    monkeypatch.setattr(bodies._STRICT, "decode", counted)
    monkeypatch.setattr(schemas.DecisionRequest, "model_validate_json", again)
    for body in ({"available": LONG}, {"x" * 100: 1}):
        assert decided(service, keys, "small", body).status == 422
    assert decided(service, keys, "small", {}).status == 201
    assert len(read) == 3


@pytest.mark.parametrize("item", ["[]", "{}", '{"":1}'])
def test_very_many_lists(service: Service, keys: dict[str, str], item: str) -> None:
    """They are refused before they are made."""
    body = f'{{"available": [{",".join([item] * 1_000_000)}]}}'
    reply = service.post(
        "/v1/bandits/small/decisions", content=body, headers=bearer(keys["writer"])
    )
    assert reply.status == 422
    assert reply.error["message"].startswith("the body has more than 1,000,000 lists")


@asynccontextmanager
async def unfinished(service: Service, n_bytes: int) -> Any:
    """A request of which so many bytes have come, and its answer, if there is one already."""
    is_read, goes_on = asyncio.Event(), asyncio.Event()
    pieces = [b" " * n_bytes]
    status: list[int] = []

    async def receive() -> dict[str, Any]:
        if pieces:
            return {"type": "http.request", "body": pieces.pop(), "more_body": True}
        is_read.set()
        await goes_on.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])
            is_read.set()

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/v1/bandits", "raw_path": b"/v1/bandits", "query_string": b"", "root_path": "",
        "headers": [(b"host", b"127.0.0.1")], "client": None, "server": None,
    }  # fmt: skip
    task = asyncio.create_task(service.app(scope, receive, send))
    await is_read.wait()
    try:
        yield list(status)
    finally:
        goes_on.set()
        await task


def test_long_bodies_on_their_way(tmp_path: Path) -> None:
    """Only some at a time; short ones always."""
    most = 10 * gate._SHORT
    with Service(tmp_path / "bandits.sqlite", limits=Limits(body=most)) as service:

        async def statuses(n_bytes: int, n_before: int) -> list[int]:
            if n_before == 0:
                async with unfinished(service, n_bytes) as status:
                    return list(status)
            async with unfinished(service, most) as status:
                assert status == []
                return await statuses(n_bytes, n_before - 1)

        n = gate._LONG_BODIES
        assert service.run(statuses(most, n - 1)) == []
        assert service.run(statuses(most, n)) == [503]
        assert service.run(statuses(gate._SHORT, n)) == []
        # What was held is given back.
        assert service.run(statuses(most, n - 1)) == []


# ---- before any key is checked ----

PROTOCOL = "matroid_bandits.service.protocol"
QUICK = {f"{PROTOCOL}.{name}_SECONDS": 0.2 for name in ("HEAD", "BODY", "ANSWER")}
POST = b"POST /v1/bandits HTTP/1.1\r\n" + HOST


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that waits for nobody."""
    folder = tmp_path_factory.mktemp("server")
    with ServerProcess(folder / "bandits.sqlite", folder, QUICK) as server:
        yield server.wait_until_ready()
        assert logged_errors(folder) == []


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"\r\n",
        b"GET /v1/ban",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: y",
        POST + b"Content-Length: 100\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        # It was answered, and the rest never comes.
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{",
    ],
)
def test_requests_that_do_not_come_to_their_end(server: ServerProcess, begun: bytes) -> None:
    """The connection ends; it would stay for ever."""
    try:
        received = answer_to(server.url, begun)
    except ConnectionResetError:
        received = b""
    assert re.match(rb"(HTTP/1.1 (200 OK|400 Bad Request)\r\n|$)", received)


def test_answers_that_nobody_takes(server: ServerProcess) -> None:
    target = urlsplit(server.url)
    problem = {"matroid": f"U({RANK},{SIZE})"}
    assert asked(server.url, "/v1/bandits", {"name": "large", "problem": problem})[0] == 201
    for _ in range(3):
        body = {"decisions": [{}] * N_WITHIN}
        assert asked(server.url, "/v1/bandits/large/decisions/batch", body)[0] == 200
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect((target.hostname, target.port))
        connection.sendall(b"GET /v1/bandits/large/log HTTP/1.1\r\n" + HOST + b"\r\n")
        port = connection.getsockname()[1]

        def is_there() -> bool:
            there = psutil.Process(server.pid).net_connections()
            return any(one.raddr and one.raddr.port == port for one in there)

        # It is longer than what the system keeps for the client, who takes only the beginning.
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        until(lambda: not is_there())


def test_more_connections_than_there_may_be(tmp_path: Path) -> None:
    """The one that has done nothing for longest gives way to the next."""
    constants = {f"{PROTOCOL}.MOST_CONNECTIONS": 5, f"{PROTOCOL}.HEAD_SECONDS": 600.0}
    with ServerProcess(tmp_path / "bandits.sqlite", tmp_path, constants) as server:
        target = urlsplit(server.wait_until_ready().url)
        with ExitStack() as stack:
            silent = [
                stack.enter_context(socket.create_connection((target.hostname, target.port)))
                for _ in range(20)
            ]
            assert asked(server.url, "/healthz")[0] == 200
            for connection in silent[:15]:
                connection.settimeout(60)
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
