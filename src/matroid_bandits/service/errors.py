"""Errors of the service: one form for all of them."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["ServiceError", "UnavailableError", "at_place", "in_http", "in_place", "invalid"]

_LONGEST_PLACE = 200
# What the library says to users of Python, and what users of HTTP read instead.
_WORDS = [
    (re.compile(python), http)
    for python, http in (
        (r"pass allow_smaller=True to play", 'send "allow_smaller": true to play'),
        (r"; an id is that of the Decision which decide\(\) returned", ""),
        (r"closed with final=True, or by update or select", 'closed with "final": true'),
        (r" update\(\) takes feedback about any elements", ""),
        (r"pass the class ('.*'), your own, in classes=", r"there is no built-in class \1"),
        (r"(needs a matroid, got .*); for .*", r"\1; the problem stands beside the policy"),
        (r"; for a mask, pass numpy\.flatnonzero\(mask\)", ""),
        (r"pass capacities as a mapping from", "give capacities as an object from"),
        (r"or pass one integer", "or give one integer"),
        (r"such as UCB\(noise=\.\.\.\)", "such as MAUB(index=ucb, noise=0.5)"),
        (r"; compose the matroid in Python instead", "; write it as an object instead"),
        (r"must be hashable, got", "must be a text, a number or a list of them, got"),
        (r"unhashable type: .*", "an object cannot be a name"),
        (r"hashable vertices", "vertices"),
        (r"a list, a tuple or an array of integers", "a list of integers"),
    )
]


class ServiceError(Exception):
    """A request that cannot be granted.

    Parameters
    ----------
    status : int
        Of HTTP.
    code : str
        What it is about, for programs.
    message : str
        A sentence.
    place : str, optional
        Where in the request the mistake is, such as ``rewards.a7``.
    """

    def __init__(self, status: int, code: str, message: str, place: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.place = place

    def content(self, request_id: str | None = None) -> dict[str, Any]:
        """The error as JSON has it."""
        described = {"code": self.code, "message": str(self), "place": self.place}
        return {"error": described | ({"request_id": request_id} if request_id else {})}


class UnavailableError(ServiceError):
    """The database cannot be used now: it is full, locked or away. Nothing has changed.

    If the connection broke while a transaction was committed, nobody knows whether it was. The same
    request with the same id then gets the answer of the first one.

    Attributes
    ----------
    reason : str
        Why, for those who have sent no request.
    """

    def __init__(self, reason: object) -> None:
        self.reason = str(reason)
        super().__init__(
            503,
            "unavailable",
            f"the database cannot be used now ({reason}); nothing was answered, so repeat the "
            "request, with the same id",
        )


def invalid(message: object, place: str | None = None) -> ServiceError:
    """The error for a request with a mistake in it."""
    return ServiceError(422, "invalid", str(message), place)


def in_http(error: Exception) -> str:
    """A message of the library in the words of HTTP."""
    text = str(error)
    for python, http in _WORDS:
        text = python.sub(http, text)
    return text


def in_place(error: Exception) -> str:
    """What was wrong, and where; an error that nobody has foreseen with its class."""
    if isinstance(error, ServiceError) and error.place:
        return f"{error.place}: {error}"
    return str(error) if isinstance(error, (ServiceError, ValueError)) else repr(error)


def at_place(error: Exception, place: str) -> ServiceError:
    """The error for a mistake that the library has found; its messages may begin with a place."""
    text = in_http(error)
    head, colon, rest = text.partition(": ")
    if colon and head.partition(".")[0].partition("[")[0] == place and " " not in head:
        return invalid(rest, head if len(head) <= _LONGEST_PLACE else f"{head[:_LONGEST_PLACE]}...")
    return invalid(text, place)
