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


async def _client(port: int, requests: list[bytes], times: list[float], n_bad: list[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in requests:
            start = perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            place = head.index(b"content-length:")
            length = int(head[place + 15 : head.index(b"\r", place)])
            body = await reader.readexactly(length)
            times.append(perf_counter() - start)
            if head[9:10] != b"2":
                n_bad.append(head[:40] + body[:200])
    finally:
        writer.close()


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
