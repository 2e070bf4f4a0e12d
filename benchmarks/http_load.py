"""A load of requests on loopback, from one process: clients that wait for each answer.

``python -m benchmarks.http_load`` reads a plan from standard input and prints what came out, both
as JSON. It is a process of its own, so that it does not share an interpreter with what it measures.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from uvloop import run

__all__ = ["Outcome", "measured"]


@dataclass(frozen=True)
class Outcome:
    """How fast answers came.

    Attributes
    ----------
    rate : float
        Answers a second.
    p50, p99 : float
        Quantiles of the time until an answer, in seconds.
    """

    rate: float
    p50: float
    p99: float


class _Client(asyncio.Protocol):
    """Sends one request after the other, each when the one before was answered.

    Without streams: they would take more of the processor than the requests deserve.
    """

    def __init__(self, requests: list[bytes], times: list[float], bad: list[bytes]) -> None:
        self._requests = iter(requests)
        self._times = times
        self._bad = bad
        self._data = b""
        self._start = 0.0
        self._transport: Any = None
        self.is_done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send_next()

    def _send_next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            self.is_done.set_result(None)
        else:
            self._start = perf_counter()
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._data = data = self._data + data if self._data else data
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        place = data.index(b"content-length:", 0, end)
        length = int(data[place + 15 : data.index(b"\r", place)])
        if len(data) < end + length:
            return
        self._times.append(perf_counter() - self._start)
        if data[9:10] != b"2":
            self._bad.append(data[:300])
        self._data = b""
        self._send_next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.is_done.done():
            self.is_done.set_exception(error or ConnectionError("the server has hung up"))


async def _client(port: int, requests: list[bytes], times: list[float], bad: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(
        lambda: _Client(requests, times, bad), "127.0.0.1", port
    )
    await client.is_done


async def _load(plan: list[dict[str, Any]]) -> dict[str, Any]:
    """Send the requests of all clients at once."""
    clients = []
    times: list[float] = []
    bad: list[bytes] = []
    for part in plan:
        for bodies in part["clients"]:
            paths = part["path"] if isinstance(part["path"], list) else [part["path"]] * len(bodies)
            requests = [
                _request(part["method"], path, body)
                for path, body in zip(paths, bodies, strict=True)
            ]
            clients.append((part["port"], requests))
    start = perf_counter()
    await asyncio.gather(*(_client(port, requests, times, bad) for port, requests in clients))
    seconds = perf_counter() - start
    times.sort()
    return {
        "rate": len(times) / seconds,
        "p50": times[len(times) // 2],
        "p99": times[int(0.99 * len(times))],
        "bad": [one.decode(errors="replace") for one in bad[:3]],
    }


def _request(method: str, path: str, body: str) -> bytes:
    data = body.encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


async def measured(plan: list[dict[str, Any]]) -> Outcome:
    """Let another process send a load.

    Parameters
    ----------
    plan : list of dict
        ``port``, ``method``, ``path`` (one, or one for each body), and ``clients``: the bodies that
        each client sends.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.http_load"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate(json.dumps(plan).encode())
    outcome = json.loads(output)
    if outcome.pop("bad"):
        raise RuntimeError(f"requests failed: {json.loads(output)['bad']}")
    return Outcome(**outcome)


if __name__ == "__main__":
    print(json.dumps(run(_load(json.load(sys.stdin)))))
