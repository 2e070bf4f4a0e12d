"""Requests and answers: JSON over HTTP, repeated where that may help."""

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from html import escape
from http.client import HTTPException, HTTPResponse, IncompleteRead
from random import uniform
from typing import Any, TypeVar
from urllib.parse import quote

from matroid_bandits._arguments import integer, real
from matroid_bandits._plain_data import with_tuples
from matroid_bandits._version import __version__
from matroid_bandits.client.connections import (
    Channel,
    Connections,
    ProcessConnections,
    address_of,
)
from matroid_bandits.client.errors import ServiceError, Unavailable, described_error, error_of

__all__ = ["Answer", "Transport"]

T = TypeVar("T")

# Pauses between attempts, in seconds: the first, and the longest.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
# No service should make its clients wait longer than this, whatever it says.
_LONGEST_RETRY_AFTER = 30.0
# So much of a stream is read at once.
_BLOCK = 1 << 16
# Bytes of an answer, or of a line of a stream: several times what a service answers.
_LARGEST = 1 << 27
_EXCERPT = 120


@dataclass(frozen=True)
class Answer:
    """An answer that is a success, or an item of one.

    Attributes
    ----------
    status : int
    value : object
        Its content, with tuples for arrays.
    request_id : str or None
    hide : callable
        Removes the key from a text.
    """

    status: int
    value: Any
    request_id: str | None
    hide: Callable[[str], str] = field(repr=False)

    @property
    def table(self) -> dict[str, Any]:
        """The content, which must be an object."""
        if not isinstance(self.value, dict):
            raise self.bad("it is not an object")
        return self.value

    def get(self, name: str, kind: type[T]) -> T:
        """The value at `name`, which must be there and of this kind."""
        value = self.table.get(name)
        # Truth values are integers, too.
        if type(value) is not kind:
            raise self.bad(f"{name!r} is missing or not of type {kind.__name__}")
        return value

    def items(self, name: str, expected: int) -> list["Answer | ServiceError"]:
        """The items at `name`, as many as expected, or their errors."""
        values = self.get(name, tuple)
        if len(values) != expected:
            raise self.bad(f"{name!r} has {len(values)} items, not {expected}")
        return [described_error(v, self.hide) or replace(self, value=v) for v in values]

    def bad(self, reason: str) -> ServiceError:
        """The error for an answer that is not as it should be."""
        content = self.value if isinstance(self.value, str) else repr(self.value)
        excerpt = _excerpt(self.hide(content))
        return ServiceError(
            f"the answer is not as expected: {reason}: {excerpt}; are client and service of the "
            "same version?",
            status=self.status,
            code="bad_answer",
            request_id=self.request_id,
        )


class Transport:
    """Sends requests to one service.

    Parameters
    ----------
    url : str
        Where it is; a path in it comes before all others.
    key : str or None
    timeout : float
        Seconds to wait for a connection, and for each part of an answer.
    retries : int
        How often a request is repeated.

    Attributes
    ----------
    address : Address
    sleep : callable
        Waits for some seconds; tests replace it.
    """

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        self.address = address_of(url)
        self.sleep: Callable[[float], object] = time.sleep
        self._key = _checked_key(key)
        self._forms_of_key = _forms(self._key) if self._key else ()
        self._timeout = real(timeout, "timeout", minimum=0.001, maximum=86_400)
        self._retries = integer(retries, "retries", minimum=0, maximum=100)
        # It checks certificates and names, by the authorities of the system or of SSL_CERT_FILE.
        context = ssl.create_default_context() if self.address.scheme == "https" else None
        self._new_channel = partial(Channel, self.address, self._timeout, context)
        self._connections = ProcessConnections(self._new_channel)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
        """Send a request, again if need be, and read its answer.

        Parameters
        ----------
        method : str
        path : str
            Quoted, with the query.
        body : dict, optional
            Plain data. All attempts send the same bytes.

        Raises
        ------
        ServiceError
            If the answer is not a success, or none came after all attempts.
        """
        content = None if body is None else _encoded(body)
        attempt = partial(self._attempt, method, path, content)
        response, data = self._repeated(f"{method} {path}", attempt)
        answer = self._empty_answer(response)
        return replace(answer, value=_parsed(data, answer))

    def is_answered(self, path: str) -> bool:
        """Whether a GET is a success; False if the service is unavailable. It is sent once."""
        try:
            self._translated(f"GET {path}", partial(self._attempt, "GET", path, None))
        except Unavailable:
            return False
        return True

    def rows(self, path: str) -> Iterator[dict[str, Any]]:
        """The objects of an answer in JSON lines, one by one, while it is received.

        It has a connection of its own, so that the thread can make other calls meanwhile.
        """
        here = self._connections.here()
        request = f"GET {path}"
        with ExitStack() as opened:

            def attempt() -> HTTPResponse:
                with here.using(opened):
                    channel = self._new_channel()
                    opened.callback(channel.close)
                    response = channel.send("GET", self._target(path), None, self._headers(None))
                    opened.callback(response.close)
                    if response.status != 200:
                        data = self._read(request, response)
                        raise self._error(request, response, data)
                    return response

            response = self._repeated(request, attempt)
            answer = self._empty_answer(response)
            for number, line in enumerate(self._lines(request, here, opened, response)):
                row = replace(answer, value=_parsed(line, answer))
                if not isinstance(row.value, dict):
                    raise row.bad(f"line {number + 1} is not an object")
                yield row.value

    def close(self) -> None:
        """Close all connections. A request under way is finished first, by its thread."""
        self._connections.close()

    # ---- one attempt ----

    def _attempt(self, method: str, path: str, content: bytes | None) -> tuple[HTTPResponse, bytes]:
        with self._connections.here().channel() as channel:
            response = channel.send(method, self._target(path), content, self._headers(content))
            with response:
                data = self._read(f"{method} {path}", response)
        if not 200 <= response.status < 300:
            raise self._error(f"{method} {path}", response, data)
        return response, data

    def _read(self, request: str, response: HTTPResponse) -> bytes:
        """The whole content of an answer."""
        try:
            data = b""
            if (response.length or 0) <= _LARGEST:
                data = response.read(_LARGEST + 1)
            is_too_large = len(data) > _LARGEST or (response.length or 0) > _LARGEST
            if response.length and not is_too_large:
                raise IncompleteRead(data, response.length)
        except (OSError, HTTPException):
            # A refusal is one even if its reason is lost: it is not to be repeated.
            if not 400 <= response.status < 500:
                raise
            raise self._error(request, response, b"") from None
        if is_too_large:
            # What is left is not read, and the connection not used again.
            if response.status >= 300:
                raise self._error(request, response, data[:_BLOCK])
            raise self._too_large(request, response)
        return data

    def _too_large(self, request: str, response: HTTPResponse) -> ServiceError:
        return ServiceError(
            self._hidden(f"the answer of {self.address} to {request}, or a line of it,")
            + f" has more than {_LARGEST:,} bytes; ask for fewer things at once",
            status=response.status,
            code="bad_answer",
            request_id=self._empty_answer(response).request_id,
        )

    def _empty_answer(self, response: HTTPResponse) -> Answer:
        """An answer whose content has not been read yet."""
        request_id = response.getheader("X-Request-Id")
        hidden = None if request_id is None else self._hidden(request_id)
        return Answer(response.status, None, hidden, self._hidden)

    def _target(self, path: str) -> str:
        return self.address.prefix + path

    def _headers(self, content: bytes | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json, */*;q=0.1",
            "User-Agent": f"matroid-bandits/{__version__}",
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        if content is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def _lines(
        self, request: str, here: Connections, opened: ExitStack, response: HTTPResponse
    ) -> Iterator[bytes]:
        """The lines of a stream, without empty ones."""
        parts: list[bytes] = []
        while True:
            if self._connections.here() is not here:
                raise RuntimeError("a log cannot be read on in a forked process; ask for it again")
            try:
                with here.using(opened):
                    block = response.read1(_BLOCK)
                    # An answer that says how long it is must not end before.
                    if not block and response.length:
                        raise IncompleteRead(b"", response.length)
            except (OSError, HTTPException) as error:
                raise self._no_answer(request, error) from error
            first, *others = block.split(b"\n")
            parts.append(first)
            for other in others:
                line = b"".join(parts)
                if line.strip():
                    yield line
                parts = [other]
            if sum(map(len, parts)) > _LARGEST:
                raise self._too_large(request, response)
            if not block:
                break
        rest = b"".join(parts)
        if rest.strip():
            yield rest

    # ---- several attempts ----

    def _repeated(self, request: str, attempt: Callable[[], T]) -> T:
        """The result of the first attempt to which there is an answer."""
        number = 0
        while True:
            try:
                return self._translated(request, attempt)
            except Unavailable as error:
                # A certificate that is wrong now is wrong in a second, too.
                is_final = isinstance(error.__cause__, ssl.SSLCertVerificationError)
                if number == self._retries or is_final:
                    error.add_note(f"attempts: {number + 1}")
                    raise
                # At most 2 ** 10: the pause has reached its limit long before.
                pause = min(_FIRST_PAUSE * 2 ** min(number, 10), _LONGEST_PAUSE)
                # Clients that failed together should not come back together.
                pause *= uniform(0.5, 1.0)  # noqa: S311 (nothing secret here)
                wait = max(pause, error.retry_after)
            self.sleep(wait)
            number += 1

    def _translated(self, request: str, attempt: Callable[[], T]) -> T:
        """The result of an attempt, with our errors in place of those of the network."""
        try:
            return attempt()
        except ServiceError:
            raise
        except (OSError, HTTPException) as error:
            raise self._no_answer(request, error) from error

    # ---- errors ----

    def _no_answer(self, request: str, error: Exception) -> Unavailable:
        if isinstance(error, TimeoutError):
            reason = f"nothing came within {self._timeout:g} seconds"
        elif isinstance(error, IncompleteRead):
            reason = "the answer broke off"
        else:
            reason = str(error) or type(error).__name__
        message = f"no answer from {self.address} to {request}: {reason}"
        return Unavailable(self._hidden(message), code="no_answer")

    def _error(self, request: str, response: HTTPResponse, data: bytes) -> ServiceError:
        """The error that an answer is."""
        status = response.status
        error = None
        with suppress(ValueError, RecursionError):
            error = described_error(json.loads(data), self._hidden, status=status)
        if error is None:
            moved = response.getheader("Location")
            content = f"it points to {moved}" if moved else data.decode(errors="replace")
            error = error_of(
                status,
                self._hidden(f"{self.address} answered {request} with {status} {response.reason}")
                + f", not in the form of the service: {_excerpt(self._hidden(content))!r}; is the "
                "url right, or a proxy in between?",
                code="foreign",
                request_id=self._empty_answer(response).request_id,
            )
        if isinstance(error, Unavailable):
            error.retry_after = _seconds(response.getheader("Retry-After"))
        return error

    def _hidden(self, text: str) -> str:
        """`text` without the key: a page that reports an error may repeat the request."""
        for form in self._forms_of_key:
            text = text.replace(form, "***")
        return text


def _checked_key(key: Any) -> str | None:
    """The key; messages about it do not show it."""
    if key is not None and not isinstance(key, str):
        raise ValueError(f"key must be a text, got an object of type {type(key).__name__}")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError(
            "key must be made of visible ASCII characters, without spaces and line ends; read "
            "from a file, it may need strip()"
        )
    return key


def _forms(key: str) -> tuple[str, ...]:
    """The key as pages, JSON, addresses and messages would write it; the longest form first."""
    forms = {key, escape(key), json.dumps(key)[1:-1], quote(key, safe=""), repr(key)[1:-1]}
    return tuple(sorted(forms, key=len, reverse=True))


def _encoded(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start : error.end]
        raise ValueError(f"a text cannot be sent as UTF-8: it contains {wrong!r}") from None


def _parsed(data: bytes, answer: Answer) -> Any:
    """The content of an answer, with tuples for arrays."""
    try:
        return with_tuples(json.loads(data.decode(), parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        shown = data.decode(errors="replace")
        raise replace(answer, value=shown).bad("it is not JSON") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _excerpt(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text[: 10 * _EXCERPT].split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 3] + "..."


def _seconds(retry_after: str | None) -> float:
    """The value of the header Retry-After, a number or a date, within bounds; 0 if unknown."""
    if retry_after is None:
        return 0.0
    try:
        if retry_after.strip().isdecimal():
            seconds = float(retry_after)
        else:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER)
