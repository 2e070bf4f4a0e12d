"""HTTP as uvicorn speaks it, with bounds on what a client may send, and on how long it may take.

uvicorn has none for its quick parser, and before the headers are complete, no key can be checked.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

__all__ = ["BoundedProtocol"]

# Bytes of the first line and the headers together, and of what stands around a body in pieces.
MOST_HEAD = 2**15
# Requests that are sent before the first of them is answered.
MOST_PIPELINED = 100
# Connections, where the system allows so many, and files that are open besides.
MOST_CONNECTIONS = 10_000
_FILES = 64
# Seconds for the headers, for the body, and for taking some more of an answer.
HEAD_SECONDS = 10.0
BODY_SECONDS = 60.0
ANSWER_SECONDS = 60.0
_END_SECONDS = 1.0

# Clocks say the same for all that happens at once.
_moments = count()


class BoundedProtocol(HttpToolsProtocol):
    """A connection on which clients have to be brief, and not too slow."""

    # The part of a request that is being received: "head", "body", or neither.
    _part = ""
    _n_head = 0
    _has_body = False
    # What the client has to do next, and which of all connections waited first; nothing while the
    # server is at work.
    _awaited = ""
    _since = 0
    _timer: asyncio.TimerHandle | None = None

    # ---- what is received ----

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await("head", HEAD_SECONDS)
        if len(self.connections) > most_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        if self._awaited == "end":
            return
        self._has_body = False
        super().data_received(data)
        if self._part and not self._has_body:
            # A header is known when it is complete: until then, bytes are counted.
            self._n_head += len(data)
            if self._n_head > MOST_HEAD and self._awaited != "end":
                self.send_400_response(f"The headers have more than {MOST_HEAD:,} bytes.")
        if self._part == "body":
            self._await("body", BODY_SECONDS)
        elif self._part == "head" or self._is_idle():
            self._await("head", HEAD_SECONDS)

    def on_message_begin(self) -> None:
        self._part, self._n_head = "head", 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        n_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if n_bytes > MOST_HEAD or len(self.pipeline) >= MOST_PIPELINED:
            # The parser tells uvicorn, which refuses the request.
            raise ValueError("a request is too long, or there are too many")
        self._part, self._n_head = "body", 0
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Those that follow a body are nothing that is asked for.
        if self._part == "head":
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._has_body, self._n_head = True, 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._part = ""
        # An answer to an earlier request may still have to be taken.
        self._await("answer" if self.flow.write_paused else "", ANSWER_SECONDS)
        super().on_message_complete()

    # ---- what is sent ----

    def send_400_response(self, msg: str) -> None:
        """Refuse what comes, and end the connection once the client has, or soon.

        If it were closed at once, the system would tell the client, which may still be sending,
        that the connection is broken, and not what is wrong.
        """
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(msg)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write((head + msg).encode())
        self._await("end", _END_SECONDS)

    def on_response_complete(self) -> None:
        # What was received of a body that nobody wants need not be kept.
        self.cycle.body = bytearray()
        super().on_response_complete()
        if self._is_idle() and not self._awaited:
            # For the next request, uvicorn waits a few seconds.
            self._since = next(_moments)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await("answer", ANSWER_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._awaited == "answer":
            self._await("", 0)

    # ---- waiting for the client ----

    def connection_lost(self, exc: Exception | None) -> None:
        self._await("", 0)
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return not self._part and (self.cycle is None or self.cycle.response_complete)

    def _await(self, what: str, seconds: float) -> None:
        """Wait for something from the client, not longer than this; what is awaited already keeps
        its time.
        """
        if what == self._awaited or (what and self._awaited == "end"):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._awaited, self._since = what, next(_moments)
        self._timer = self.loop.call_later(seconds, self._give_up) if what else None

    def _give_up(self) -> None:
        cycle = self.cycle
        is_answered = cycle is not None and cycle.response_started
        if self._part == "head":
            # That was the request before.
            is_answered = is_answered and not cycle.response_complete
        if self._awaited == self._part and not is_answered:
            self.send_400_response("The request did not come in time.")
        else:
            # Not closed, which would wait until the client has taken what was sent.
            self.transport.abort()

    def _make_room(self) -> None:
        """End the connection whose client has kept the server waiting for longest."""
        waiting = [
            one
            for one in self.connections
            if isinstance(one, BoundedProtocol) and (one._awaited or one._is_idle())
        ]
        # This one, if the server is at work for all others.
        oldest = min(waiting, key=lambda one: one._since)
        self.connections.discard(oldest)
        oldest.transport.abort()


def most_connections() -> int:
    """How many connections there may be, so that files can still be opened."""
    try:
        import resource  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(files - _FILES, files // 2))
