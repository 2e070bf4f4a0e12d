"""Errors of the service: one form for all of them."""

from __future__ import annotations

from typing import Any

__all__ = ["ServiceError", "UnavailableError", "at_place", "invalid"]


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
    """

    def __init__(self, reason: object) -> None:
        super().__init__(
            503,
            "unavailable",
            f"the database cannot be used now ({reason}); nothing was answered, so repeat the "
            "request, with the same id",
        )


def invalid(message: object, place: str | None = None) -> ServiceError:
    """The error for a request with a mistake in it."""
    return ServiceError(422, "invalid", str(message), place)


def at_place(error: Exception, place: str) -> ServiceError:
    """The error for a mistake that the library has found; its messages may begin with a place."""
    text = str(error)
    head, colon, rest = text.partition(": ")
    if colon and head.partition(".")[0].partition("[")[0] == place and " " not in head:
        return invalid(rest, head)
    return invalid(text, place)
