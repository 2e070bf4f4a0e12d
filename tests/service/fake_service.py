"""A small service written from the HTTP contract, which can misbehave."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

KEYS = {"key-of-a-reader": 0, "key-of-a-writer": 1, "key-of-an-admin": 2}
ADMIN = "key-of-an-admin"
STORIES = ["flood", "derby", "opera"]
PAIRS = [("a", 1), ("a", 2), 3]
# Seconds that a test waits for another thread before it fails.
PATIENCE = 20.0

# For 127.0.0.1, from 2020 to 2120; made for these tests and used nowhere else.
CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBbTCCARKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOb/ePMAqM1wnjd+
7trSvjHGXH/EPd4yWB5DnbJZEW5CYb0LkJK9LQavj1qkesi6ismpX6Y4jA4zikyO
kgC2BG2jUzBRMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgKEMB0GA1Ud
DgQWBBRPoEB0lvsJBXtLb2BCEgA6T06PTzAPBgNVHREECDAGhwR/AAABMAoGCCqG
SM49BAMCA0kAMEYCIQD9MZj1sNvm7Py6dZxBgjetT7MS/PT2/O2YuxjZQi2WwwIh
AIwX6Jxu+RSykTLNriF1jS7fO3SwAUin7TwNQfM8GJ/z
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWoUg6z8mlPNOrcJx
t5H8gLxaWAnehMva2NnbbM+xJ9ShRANCAATm/3jzAKjNcJ43fu7a0r4xxlx/xD3e
MlgeQ52yWRFuQmG9C5CSvS0Gr49apHrIuorJqV+mOIwOM4pMjpIAtgRt
-----END PRIVATE KEY-----
"""


class Failure(Exception):  # noqa: N818
    """An error, as the contract has it."""

    def __init__(self, status: int, code: str, message: str, place: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        error = {"code": code, "message": message, "place": place, "request_id": "r-1"}
        self.content = {"error": error}


class Request(NamedTuple):
    """A request that came, and over which connection."""

    method: str
    path: str
    headers: Any
    body: Any
    connection: int


class Bandits:
    """The part of the contract without HTTP. A decision has the first available labels."""

    def __init__(self) -> None:
        self.bandits: dict[str, dict[str, Any]] = {}
        self.lock = threading.Lock()

    def answer(self, method: str, path: str, role: int, body: Any) -> tuple[int, Any]:
        """Status and content."""
        url = urlsplit(path)
        parts = [unquote(part) for part in url.path.split("/")[1:]]
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if parts == ["readyz"]:
            return 200, {"status": "ok"}
        is_admin = method in {"PATCH", "PUT"} or (method == "POST" and parts == ["v1", "bandits"])
        if role < 0:
            raise Failure(401, "unauthorized", "unknown key")
        if role < (2 if is_admin else 0 if method == "GET" else 1):
            raise Failure(403, "forbidden", "the key does not allow this")
        if parts[:2] != ["v1", "bandits"]:
            raise Failure(404, "unknown_route", f"there is nothing at {path}")
        if len(parts) == 2:
            return self.create(body) if method == "POST" else (200, self.summaries())
        name, *rest = parts[2:]
        if name not in self.bandits:
            raise Failure(404, "unknown_bandit", f"there is no bandit {name!r}")
        return self.of_bandit(method, self.bandits[name], rest, query, body)

    def create(self, body: dict[str, Any]) -> tuple[int, Any]:
        known = self.bandits.get(body["name"])
        if known and known["created"] != body:
            raise Failure(409, "conflict", "another bandit has this name")
        settings = {k: v for k, v in body.items() if k not in {"name", "problem", "policy"}}
        bandit = {"created": body, "status": "active", "settings": settings, "decisions": {}}
        self.bandits.setdefault(body["name"], bandit | {"problem": body["problem"], "prior": None})
        return 200 if known else 201, self.shown(self.bandits[body["name"]], {})

    def summaries(self) -> Any:
        keys = ("name", "status", "policy", "rounds", "open_decisions")
        shown = [self.shown(bandit, {}) for bandit in self.bandits.values()]
        return {"bandits": [{key: bandit[key] for key in keys} for bandit in shown]}

    def shown(self, bandit: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
        labels = bandit["problem"].get("labels", [0, 1, 2])
        statistics = {"mean": None, "count": 0, "low": 0, "high": 1, "plays": 0, "pending": 0}
        elements = [{"element": label, **statistics} for label in labels]
        return {
            "name": bandit["created"]["name"],
            "policy": bandit["created"]["policy"],
            "leader": labels[:2],
            "rounds": len(bandit["decisions"]),
            "open_decisions": len(bandit["decisions"]),
            "warnings": [],
            **{key: bandit[key] for key in ("status", "problem", "settings", "prior")},
            **({} if query.get("elements") == "false" else {"elements": elements}),
        }

    def of_bandit(  # noqa: C901, PLR0911 (the table of addresses)
        self, method: str, bandit: Any, rest: list[str], query: dict[str, str], body: Any
    ) -> tuple[int, Any]:
        decisions = bandit["decisions"]
        match (method, rest):
            case ("GET", []):
                return 200, self.shown(bandit, query)
            case ("PATCH", []):
                bandit["status"] = body.pop("status", bandit["status"])
                bandit["settings"] |= body
                return 200, self.shown(bandit, query)
            case ("PUT", ["problem"]):
                bandit["prior"] = body.pop("prior", None)
                bandit["problem"] = body
                return 200, self.shown(bandit, query)
            case ("GET", ["explain" | "confidence" as what]):
                return 200, {"what": what, "query": query, "partner": ["a", [1]]}
            case ("POST", ["decisions"]):
                return self.decide(bandit, body)
            case ("POST", ["decisions", "batch"]):
                return 200, self.each(body["decisions"], lambda x: self.decide(bandit, x))
            case ("POST", ["rewards", "batch"]):
                work = [(self.decision(decisions, x["id"]), x) for x in body["rewards"]]
                return 200, self.each(work, lambda pair: self.learn(*pair))
            case ("GET", ["decisions", identifier]):
                decision = self.decision(decisions, identifier)
                kept = {k: v for k, v in decision.items() if k != "given"}
                values = [{"element": json.loads(e), "reward": x} for e, x in decision["given"]]
                return 200, kept | {"rewards": values}
            case ("POST", ["decisions", identifier, "rewards"]):
                return self.learn(self.decision(decisions, identifier), body)
            case ("POST", ["decisions", identifier, "expire"]):
                decision = self.decision(decisions, identifier)
                was_open = decision["status"] == "open"
                decision["status"] = "expired" if was_open else decision["status"]
                return 200, {"expired": was_open}
        raise Failure(405, "method_not_allowed", f"{method} is not allowed here")

    def decision(self, decisions: dict[str, Any], identifier: str) -> Any:
        if identifier not in decisions:
            raise Failure(404, "unknown_decision", f"there is no decision {identifier!r}")
        return decisions[identifier]

    def decide(self, bandit: Any, body: dict[str, Any]) -> tuple[int, Any]:
        decisions, identifier = bandit["decisions"], body["id"]
        if identifier in decisions:
            return 200, {key: decisions[identifier][key] for key in ("id", "elements", "round")}
        chosen = body.get("available", bandit["problem"]["labels"])[:2]
        if len(chosen) < 2 and not body.get("allow_smaller"):
            raise Failure(422, "no_basis", "too few are available", "available")
        answer = {"id": identifier, "elements": chosen, "round": len(decisions) + 1}
        decisions[identifier] = {**answer, "time": 0.0, "status": "open", "given": []}
        more = {"shown": body["shown"]} if "shown" in body else {}
        return 201, answer | more | ({"paused": True} if bandit["status"] == "paused" else {})

    def learn(self, decision: Any, body: dict[str, Any]) -> tuple[int, Any]:
        rewards = body["rewards"]
        if isinstance(rewards, dict):
            rewards = [{"element": e, "reward": x} for e, x in rewards.items()]
        if decision["status"] == "expired":
            raise Failure(410, "expired", "the decision has expired")
        known, new = dict(decision["given"]), []
        for entry in rewards:
            element, reward = entry["element"], entry["reward"]
            place = f"rewards.{element}"
            if element not in decision["elements"]:
                raise Failure(422, "invalid", f"{element} is not in the decision", place)
            if known.get(json.dumps(element), reward) != reward:
                raise Failure(409, "conflict", f"{element} has other feedback", place)
            new += [] if json.dumps(element) in known else [(json.dumps(element), reward)]
        decision["given"] += new
        decision["status"] = "closed" if body.get("final") else decision["status"]
        return 200, {"learned": len(new), "already": len(rewards) - len(new)}

    def each(self, items: list[Any], act: Callable[[Any], tuple[int, Any]]) -> Any:
        results = []
        for item in items:
            try:
                results.append(act(item)[1])
            except Failure as failure:
                results.append(failure.content)
        return {"results": results}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True
    server: "Service"

    def setup(self) -> None:
        super().setup()
        with self.server.changed:
            self.server.n_connections += 1
            self.server.n_open += 1
            self.number = self.server.n_connections

    def finish(self) -> None:
        super().finish()
        with self.server.changed:
            self.server.n_open -= 1
            self.server.changed.notify_all()

    def log_message(self, *arguments: Any) -> None:
        pass

    def serve(self) -> None:
        fault = self.server.next_fault()
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(data.decode("utf-8")) if data else None
        path = self.path.removeprefix(self.server.prefix)
        self.server.received(
            Request(self.command, self.path, self.headers, json.loads(data or "null"), self.number)
        )
        if fault is not None and fault[0] == "reply":
            self.reply(*fault[1:])
        elif "/log?" in path and fault is None:
            self.server.write_log(self)
        else:
            status, content = self.server.answer(self.command, path, self.headers, body)
            self.misbehave(status, json.dumps(content).encode(), fault and fault[0])

    do_GET = do_POST = do_PUT = do_PATCH = serve  # noqa: N815

    def misbehave(self, status: int, data: bytes, fault: str | None) -> None:
        """Answer, or do something else, when the request has been carried out already."""
        if fault == "lose":
            self.close_connection = True
        elif fault == "hang":
            self.server.hanging.set()
            assert self.server.released.wait(PATIENCE)
            self.close_connection = True
        elif fault == "slow":
            self.server.hanging.set()
            assert self.server.released.wait(PATIENCE)
            self.reply(status, {}, data)
        elif fault == "truncate":
            self.close_connection = True
            self.reply(status, {"Content-Length": str(len(data) + 1)}, data)
        else:
            self.reply(status, {}, data)
            # Without having said so: as a server does with a connection that is idle for long.
            self.close_connection = fault == "close afterwards"

    def reply(self, status: int, headers: dict[str, str], data: bytes) -> None:
        usual = {"Content-Length": str(len(data)), "X-Request-Id": "r-1"}
        self.send_response(status)
        for name, value in (usual | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def usual_log(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    # Lines and chunks need not coincide.
    for part in (b'{"seq": 1, "ele', b'ment": ["a", 1]}\n\n{"seq": 2}\n{"seq"', b": 3}\n", b""):
        handler.wfile.write(chunk(part))


class Service(ThreadingHTTPServer):
    """The service, and what a test wants to know about it.

    Attributes
    ----------
    requests : list of Request
        What came.
    faults : deque
        What to do wrong with the next requests, one after the other; None for nothing.
    pauses : list of float
        How long its clients would have waited between attempts.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.bandits = Bandits()
        self.requests: list[Request] = []
        self.faults: deque[tuple[Any, ...] | None] = deque()
        self.pauses: list[float] = []
        self.hanging, self.released = threading.Event(), threading.Event()
        self.changed = threading.Condition()
        self.n_connections = self.n_open = 0
        self.prefix = ""
        self.write_log: Callable[[Handler], None] = usual_log
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.prefix}"

    def next_fault(self) -> tuple[Any, ...] | None:
        with self.changed:
            return self.faults.popleft() if self.faults else None

    def answer(self, method: str, path: str, headers: Any, body: Any) -> tuple[int, Any]:
        role = KEYS.get(headers.get("Authorization", "").removeprefix("Bearer "), -1)
        with self.bandits.lock:
            try:
                return self.bandits.answer(method, path, role, body)
            except Failure as failure:
                return failure.status, failure.content

    def handle_error(self, *arguments: Any) -> None:
        # Clients that give up are part of the tests.
        pass

    def received(self, request: Request) -> None:
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()

    def wait_for_requests(self, count: int) -> None:
        """Until so many requests have come: clients that give up may be faster."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) == count, PATIENCE)

    def wait_for_open(self, count: int) -> None:
        """Until so many connections are open."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.n_open == count, PATIENCE)


@contextmanager
def running(service: Service) -> Iterator[Service]:
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.released.set()
        service.shutdown()
        service.server_close()
        thread.join()


def unavailable(**headers: str) -> tuple[Any, ...]:
    failure = Failure(503, "unavailable", "the database is away")
    return "reply", 503, headers, json.dumps(failure.content).encode()


def html(status: int, text: str = "Bad Gateway") -> tuple[Any, ...]:
    page = f"<html>\n <body>\n  <h1>{text}</h1>" + " proxy" * 1000
    return "reply", status, {"Content-Type": "text/html"}, page.encode()


def content(value: Any) -> tuple[Any, ...]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return "reply", 200, {}, data
