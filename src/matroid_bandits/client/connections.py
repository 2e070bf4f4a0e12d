"""Connections to one address: kept open, one per thread and process."""

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from threading import RLock, local
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlsplit
from weakref import WeakSet

from matroid_bandits._arguments import abbreviated

__all__ = ["Address", "Channel", "Connections", "ProcessConnections", "address_of"]

_EXAMPLE = "such as 'https://bandits.example.org' or 'http://127.0.0.1:8000'"
_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """Where the service is.

    Attributes
    ----------
    scheme, host, port
    prefix : str
        What comes before every path, without a slash at the end.
    """

    scheme: str
    host: str
    port: int
    prefix: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def address_of(url: Any) -> Address:
    """A checked url, in its parts.

    Raises
    ------
    ValueError
        If it is not one. The message does not show passwords.
    """
    if not isinstance(url, str):
        raise ValueError(f"the url must be a text, {_EXAMPLE}, got {abbreviated(url)}")
    shown = "this url (not shown, as it has an @)" if "@" in url else abbreviated(url)
    if any(character <= " " or character == "\x7f" for character in url):
        raise ValueError(f"a url has no spaces or control characters, got {shown}")
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
        # Names in other alphabets travel in this form.
        host = host if host is None or host.isascii() else host.encode("idna").decode("ascii")
    except ValueError as error:
        raise ValueError(f"not a url: {shown} ({error}); pass one {_EXAMPLE}") from None
    if scheme not in _PORTS or not host:
        raise ValueError(f"the url must begin with http:// or https:// and a host, got {shown}")
    if "@" in parts.netloc:
        raise ValueError("the url must not contain a user or a password; pass the key as key=...")
    if parts.query or parts.fragment:
        raise ValueError(f"the url must end with its path, without ? and #, got {shown}")
    prefix = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=")
    return Address(scheme, host, _PORTS[scheme] if port is None else port, prefix)


class Closable(Protocol):
    """Anything with a connection in it."""

    def close(self) -> None: ...


class Channel:
    """A connection, for one request after the other.

    Parameters
    ----------
    address : Address
        Where to.
    timeout : float
        Seconds to wait for the connection, and for each part of an answer.
    context : ssl.SSLContext or None
        How certificates are checked; None for http.
    """

    def __init__(self, address: Address, timeout: float, context: ssl.SSLContext | None) -> None:
        # The port is passed even if it is the usual one: without it, "::1" is host "::", port 1.
        self._connection = (
            HTTPConnection(address.host, address.port, timeout=timeout)
            if context is None
            else HTTPSConnection(address.host, address.port, timeout=timeout, context=context)
        )

    def send(
        self, method: str, target: str, content: bytes | None, headers: dict[str, str]
    ) -> HTTPResponse:
        """Send a request, and read the head of the answer.

        A server may close a connection that was idle. If this one was used before and turns out to
        be closed, the request is sent again over a new one, once.
        """
        was_open = self._connection.sock is not None
        try:
            return self._exchange(method, target, content, headers)
        except TimeoutError:
            raise
        except OSError:
            if not was_open:
                raise
        self._connection.close()
        return self._exchange(method, target, content, headers)

    def _exchange(
        self, method: str, target: str, content: bytes | None, headers: dict[str, str]
    ) -> HTTPResponse:
        # A server need not read a body that is too large: its answer may be there already.
        with suppress(BrokenPipeError):
            self._connection.request(method, target, body=content, headers=headers)
        return self._connection.getresponse()

    def close(self) -> None:
        """Close the connection; `send` would open it again."""
        self._connection.close()

    # Of a thread that has ended, or of the process that this one was forked from. Only this
    # process's handle is closed.
    __del__ = close


class Connections:
    """The connections of one client in one process: one per thread, others for streams.

    A connection that is in use is closed when its user has finished, all others by `close`.

    Parameters
    ----------
    new_channel : callable
        Makes a connection.
    """

    def __init__(self, new_channel: Callable[[], Channel]) -> None:
        self._new_channel = new_channel
        # A signal handler may use the client in the middle of a call.
        self._lock = RLock()
        self._of_thread = local()
        self._idle: WeakSet[Closable] = WeakSet()
        self._is_closed = False

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        """The connection of this thread, for one request. After an exception it is closed."""
        # Out of reach while it is used, also for a signal handler.
        channel: Channel | None = self._of_thread.__dict__.pop("channel", None)
        if channel is None:
            channel = self._new_channel()
        with self.using(channel):
            yield channel
        self._of_thread.channel = channel

    @contextmanager
    def using(self, thing: Closable) -> Iterator[None]:
        """Use `thing`, which `close` then leaves alone. After an exception it is closed."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this client is closed; make a new one")
            self._idle.discard(thing)
        try:
            yield
        except BaseException:
            thing.close()
            raise
        with self._lock:
            if not self._is_closed:
                self._idle.add(thing)
                return
        thing.close()

    def close(self) -> None:
        """Close what is not in use, and refuse all further use."""
        with self._lock:
            self._is_closed = True
            idle = list(self._idle)
            self._idle.clear()
        for thing in idle:
            thing.close()


class ProcessConnections:
    """The connections of whichever process asks: a fork must not use those of its parent.

    Parameters
    ----------
    new_channel : callable
        Makes a connection.
    """

    def __init__(self, new_channel: Callable[[], Channel]) -> None:
        self._new_channel = new_channel
        self._by_process: dict[int, Connections] = {}
        self._is_closed = False

    def here(self) -> Connections:
        """The connections of this process."""
        own = os.getpid()
        connections = self._by_process.get(own)
        if connections is None:
            # Several threads may come here at once; all get what the first of them has stored.
            connections = self._by_process.setdefault(own, Connections(self._new_channel))
            for parent in [pid for pid in list(self._by_process) if pid != own]:
                self._by_process.pop(parent, None)
            if self._is_closed:
                connections.close()
        return connections

    def close(self) -> None:
        """Close the connections of this process, and refuse all further use."""
        self._is_closed = True
        self.here().close()
