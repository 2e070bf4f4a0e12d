"""What every request passes first: ids, hosts, keys, sizes, time, one line of log.

Pure ASGI: the middleware classes of Starlette cost more than a decision.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import secrets
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from matroid_bandits._arguments import abbreviated
from matroid_bandits.service.dashboard import error_page
from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.keys import KeyFile, allows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from matroid_bandits.service.metrics import Metrics
    from matroid_bandits.service.settings import Limits

__all__ = ["Gate", "error_response"]

_access = logging.getLogger("matroid_bandits.service.access")

_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_OPEN = ("/healthz", "/readyz", "/static/")
_WRITING = re.compile(r"/v1/bandits/[^/]+/(?:decisions|rewards)(?:/|$)")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(?::[0-9]{0,5})?")
# Shorter bodies are always received. Of longer ones, so many of the greatest length at a time: what
# is read from them takes many times as much memory.
_SHORT = 2**16
_LONG_BODIES = 4
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Only our own pages, styles and scripts.
_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    b"img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", _POLICY),
]


class Gate:
    """The outermost part of the application.

    Parameters
    ----------
    app : ASGI application
    keys : KeyFile or None
        None: everybody may do everything.
    hosts : iterable of str or None
        The names by which the server may be called; None: any. Without it, a page of somebody
        else's could reach a server on this machine by a name of its own.
    limits : Limits
    metrics : Metrics
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFile | None,
        hosts: Iterable[str] | None,
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self._app = app
        self._keys = keys
        self._hosts = None if hosts is None else frozenset(hosts)
        self._limits = limits
        self._metrics = metrics
        self._held = _Held()
        # A random number for each request would cost a call of the system.
        self._prefix = secrets.token_hex(8)
        self._numbers = count(1)

    def _new_id(self) -> bytes:
        return f"{self._prefix}-{next(self._numbers):x}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given if _REQUEST_ID.fullmatch(given) else self._new_id()
        scope["request_id"] = request_id.decode()
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = [*message["headers"], (b"x-request-id", request_id), *_HEADERS]
                message = {**message, "headers": own}
            await send(message)

        try:
            try:
                self._check(scope, headers)
            except ServiceError as error:
                await error_response(scope, error)(scope, receive, answer)
            else:
                limited = _Limited(receive, self._limits.body, self._held)
                try:
                    await self._app(scope, limited, answer)
                finally:
                    limited.release()
        finally:
            seconds = perf_counter() - start
            self._metrics.observe(scope, status, seconds)
            if _access.isEnabledFor(logging.INFO):
                _access.info(
                    "request",
                    extra={
                        "request_id": scope["request_id"],
                        "method": scope["method"],
                        "path": scope["path"],
                        "status": status,
                        "ms": round(1e3 * seconds, 3),
                        "key": scope.get("key_name"),
                    },
                )

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Refuse a request before anything of it is read."""
        # Of several, a proxy in between may have looked at another one.
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        host = hosts[-1] if hosts else ""
        if len(hosts) > 1 or (host and _HOST.fullmatch(host) is None):
            raise ServiceError(
                421,
                "unknown_host",
                "the header Host must be there once, a name and perhaps a port, got "
                f"{abbreviated(', '.join(hosts))}",
            )
        if self._hosts is not None and _name_of(host) not in self._hosts:
            raise ServiceError(
                421, "unknown_host", f"this server is not called {host!r}; see --host"
            )
        if scope["method"] not in _SAFE:
            origin = headers.get(b"origin")
            if origin is not None and origin.partition(b"://")[2].decode("latin-1") != host:
                raise ServiceError(
                    403, "forbidden", "a page of another site must not change anything here"
                )
        length = headers.get(b"content-length", b"0")
        # Python reads no integers with thousands of digits.
        if length.isdigit() and (len(length) > 18 or int(length) > self._limits.body):
            raise too_large(self._limits.body)
        if self._keys is not None and not scope["path"].startswith(_OPEN):
            _check_key(self._keys, scope, headers)


class _Held:
    """Bytes of all long bodies of requests that are not answered yet."""

    n = 0


class _Limited:
    """Receives a body, but not more than the limit, nor too many long ones at a time."""

    __slots__ = ("_all", "_held", "_limit", "_n", "_receive")

    def __init__(self, receive: Receive, limit: int, all_held: _Held) -> None:
        self._receive = receive
        self._limit = limit
        self._all = all_held
        self._n = self._held = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._n += len(message.get("body", b""))
            if self._n > self._limit:
                raise too_large(self._limit)
            if self._n > _SHORT:
                self._hold()
        return message

    def _hold(self) -> None:
        if self._all.n + self._n - self._held > _LONG_BODIES * self._limit:
            raise ServiceError(
                503,
                "unavailable",
                "too many long bodies are on their way at the same time; repeat the request, with "
                "the same id",
            )
        self._all.n += self._n - self._held
        self._held = self._n

    def release(self) -> None:
        """The request was answered."""
        self._all.n -= self._held
        self._held = 0


def _check_key(keys: KeyFile, scope: Scope, headers: dict[bytes, bytes]) -> None:
    """Refuse a request without a key that allows it."""
    is_safe = scope["method"] in _SAFE
    given = _given_key(headers.get(b"authorization", b"").decode("latin-1"), is_safe)
    key = None if given is None else keys.find(given)
    if key is None:
        reason = "a key is needed" if given is None else "the key is not known"
        raise ServiceError(
            401, "unauthorized", f"{reason}: send the header Authorization: Bearer KEY"
        )
    scope["key_name"] = key.name
    needed = "reader" if is_safe else "writer" if _WRITING.match(scope["path"]) else "admin"
    if not allows(key.role, needed):
        raise ServiceError(
            403, "forbidden", f"the key {key.name!r} has the role {key.role}; this needs {needed}"
        )


def too_large(limit: int) -> ServiceError:
    """The error for a body above the limit."""
    return ServiceError(
        413, "too_large", f"the body has more than {limit:,} bytes; send several smaller ones"
    )


def _name_of(host: str) -> str:
    """The name in a Host header, without the port."""
    if host.startswith("["):
        return host.partition("]")[0].lstrip("[").lower()
    return host.partition(":")[0].lower()


def _given_key(header: str, is_safe: bool) -> str | None:
    """The key in a header: Bearer, or Basic (from a browser, as the password, only to read)."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    if scheme.lower() == "basic" and is_safe:
        try:
            text = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        return text.partition(":")[2] or None
    return None


def error_response(scope: Scope, error: ServiceError) -> Response:
    """The answer for an error: JSON, or a page where people look at pages."""
    headers: dict[str, str] = {}
    if error.status == 503:
        headers["retry-after"] = "1"
    is_page = scope["path"] == "/" or scope["path"].startswith(("/bandits/", "/api"))
    if error.status == 401:
        kind = "Basic" if is_page else "Bearer"
        headers["www-authenticate"] = f'{kind} realm="matroid-bandits"'
    if is_page:
        page = error_page(error.status, str(error))
        return Response(page, error.status, headers, media_type="text/html")
    content: dict[str, Any] = error.content(scope.get("request_id"))
    return Response(json.dumps(content), error.status, headers, media_type="application/json")
