"""The service in this process: requests as a server would pass them on, byte by byte."""

import asyncio
import json
from collections.abc import Awaitable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote, unquote

from matroid_bandits.service import create_app
from matroid_bandits.service.bandit_queue import rebuilt
from matroid_bandits.service.export import pages
from matroid_bandits.service.granting import ServedBandit
from matroid_bandits.service.stores import SQLiteStore

T = TypeVar("T")

#: What an error has, and nothing else.
ERROR_KEYS = {"code", "message", "place", "request_id"}
#: The example of the reference.
NEWS: dict[str, Any] = {
    "name": "news",
    "problem": {
        "matroid": {
            "type": "partition",
            "groups": ["world", "world", "sport", "sport"],
            "capacities": 1,
        },
        "labels": ["flood", "summit", "derby", "record"],
        "sense": "max",
    },
    "policy": "MAUB(index=kl)",
    "expire_after": 3600,
    "missing_reward": 0,
}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Reply(NamedTuple):
    """What the service has answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> dict[str, Any]:
        """The error, which has the one form of all errors."""
        answer = self.json()
        assert answer.keys() == {"error"}
        error: dict[str, Any] = answer["error"]
        assert error.keys() == ERROR_KEYS
        assert isinstance(error["message"], str)
        assert error["message"]
        assert error["place"] is None or isinstance(error["place"], str)
        assert error["request_id"] == self.headers["x-request-id"]
        return error


class FastStore(SQLiteStore):
    """A store that does not wait for the disk."""

    async def open(self) -> None:
        await super().open()
        assert self._connection is not None
        self._connection.execute("PRAGMA synchronous = OFF")


class Service:
    """The application with its database, in an event loop of its own.

    The loop runs only while a request is under way, or `run` is.

    Parameters
    ----------
    database : path or EventStore
        A path: a file of SQLite, without waiting for the disk.
    clock : callable, optional
        The time.
    options
        Those of `create_app`.
    """

    def __init__(
        self, database: PathLike[str] | Any, *, clock: Clock | None = None, **options: Any
    ) -> None:
        self._loop = asyncio.new_event_loop()
        store = FastStore(database) if isinstance(database, Path) else database
        self.app = create_app(store, **options)
        self.worker = self.app.state.worker
        if clock is not None:
            self.worker.clock = clock
        self._lifespan: Any = None
        #: Every request, by method and route, with the statuses that came.
        self.seen: set[tuple[str, str, int]] = set()

    def __enter__(self) -> Self:
        self._lifespan = self.app.router.lifespan_context(self.app)
        self.run(self._lifespan.__aenter__())
        self.run(self._until_ready())
        return self

    async def _until_ready(self) -> None:
        for _ in range(10_000):
            if self.worker.is_ready:
                return
            await asyncio.sleep(0.001)
        raise TimeoutError("the bandits were not loaded")

    def __exit__(self, *_: object) -> None:
        self.run(self._lifespan.__aexit__(None, None, None))
        self.run(self._loop.shutdown_default_executor())
        self._loop.close()

    def run(self, work: Awaitable[T]) -> T:
        """Let the event loop run until something is done."""

        async def awaited() -> T:
            return await work

        return self._loop.run_until_complete(awaited())

    # ---- requests ----

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: bytes | str | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> Reply:
        """Send a request, with a body in JSON, or with any content; in pieces, if it is a list."""
        return self.run(self._request(method, path, body, content, headers))

    def together(self, requests: Iterable[tuple[str, str, Any]]) -> list[Reply]:
        """Send requests at the same time: method, path and body of each."""

        async def sent() -> list[Reply]:
            return list(await asyncio.gather(*(self._request(*one, None, ()) for one in requests)))

        return self.run(sent())

    def _request(
        self,
        method: str,
        path: str,
        body: Any,
        content: bytes | str | Iterable[bytes] | None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]],
    ) -> Awaitable[Reply]:
        if body is not None:
            content = json.dumps(body)
        pieces = _pieces(content)
        sent = dict(_raw(headers))
        sent.setdefault(b"host", b"127.0.0.1")
        if content is not None and isinstance(content, (bytes, str)):
            sent.setdefault(b"content-length", str(len(pieces[0])).encode())
            sent.setdefault(b"content-type", b"application/json")
        return self._send(method, path, list(sent.items()), pieces)

    async def _send(
        self, method: str, path: str, headers: list[tuple[bytes, bytes]], pieces: list[bytes]
    ) -> Reply:
        target, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(target),
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        left = list(pieces)
        started: dict[str, Any] = {}
        received: list[bytes] = []
        is_over = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not left:
                await is_over.wait()
                return {"type": "http.disconnect"}
            body = left.pop(0)
            return {"type": "http.request", "body": body, "more_body": bool(left)}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            else:
                received.append(message.get("body", b""))
                if not message.get("more_body"):
                    is_over.set()

        try:
            await self.app(scope, receive, send)
        except Exception:
            # A fault is answered, and raised again for the log of the server.
            if not started:
                raise
        pairs = {k.decode().lower(): v.decode("latin-1") for k, v in started["headers"]}
        route = getattr(scope.get("route"), "path_format", "")
        self.seen.add((method, route, started["status"]))
        return Reply(started["status"], pairs, b"".join(received))

    def get(self, path: str, **options: Any) -> Reply:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        return self.request("POST", path, body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Reply:
        return self.request("PUT", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Reply:
        return self.request("PATCH", path, body, **options)

    # ---- short forms ----

    def create(self, name: str = "news", **changes: Any) -> Reply:
        """Create the bandit of the example, with changes."""
        return self.post("/v1/bandits", NEWS | {"name": name} | changes)

    def decide(self, identifier: str | None = None, name: str = "news", **more: Any) -> Reply:
        """Ask for a decision."""
        own = {} if identifier is None else {"id": identifier}
        return self.post(f"/v1/bandits/{name}/decisions", own | more)

    def learn(self, identifier: str, rewards: Any, name: str = "news", **more: Any) -> Reply:
        """Report rewards."""
        path = f"/v1/bandits/{name}/decisions/{quote(identifier, safe='')}/rewards"
        return self.post(path, {"rewards": rewards} | more)

    def expire(self, identifier: str, name: str = "news", **more: Any) -> Reply:
        """Close a decision."""
        return self.post(f"/v1/bandits/{name}/decisions/{quote(identifier, safe='')}/expire", more)

    def look(self, name: str = "news") -> Any:
        """The bandit, as JSON."""
        reply = self.get(f"/v1/bandits/{name}")
        assert reply.status == 200, reply.text
        return reply.json()

    def log(self, name: str = "news") -> list[Any]:
        """The events of a bandit."""
        reply = self.get(f"/v1/bandits/{name}/log")
        assert reply.status == 200, reply.text
        return [json.loads(line) for line in reply.text.splitlines()]

    # ---- what is behind it ----

    def live(self, name: str = "news") -> ServedBandit:
        """The bandit in memory."""

        async def loaded() -> ServedBandit:
            async with (await self.worker.queue(name)).reading() as bandit:
                return bandit

        return self.run(loaded())

    def live_and_from_log(
        self, name: str = "news", *, use_snapshots: bool = False
    ) -> tuple[dict[str, Any], ServedBandit]:
        """The state of the bandit in memory, and the bandit made from its log at the same moment.

        Decisions expire in the background: nobody may change the bandit in between.
        """

        async def both() -> tuple[dict[str, Any], ServedBandit]:
            async with (await self.worker.queue(name)).reading() as live:
                made = await rebuilt(self.worker.store, name, use_snapshots=use_snapshots)
                async for events in pages(self.worker.store, name, made.number):
                    for event in events:
                        made.apply(event)
                return live.state(), made

        return self.run(both())


def _pieces(content: bytes | str | Iterable[bytes] | None) -> list[bytes]:
    if content is None:
        return [b""]
    if isinstance(content, str):
        return [content.encode()]
    return [content] if isinstance(content, bytes) else list(content)


def _raw(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
