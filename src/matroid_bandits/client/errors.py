"""What the client raises if the service refuses a call, or cannot be reached."""

from collections.abc import Callable
from typing import Any

__all__ = [
    "Conflict",
    "Gone",
    "NotFound",
    "Refused",
    "ServiceError",
    "Unavailable",
    "described_error",
    "error_of",
]


class ServiceError(RuntimeError):
    """The service refused a call, or its answer cannot be understood.

    Attributes
    ----------
    message : str
        What was wrong, in a sentence; also ``str(error)``.
    status : int or None
        The status of the answer. Of an item of a batch, the status that its code has elsewhere.
        None if there was no answer.
    code : str
        What was wrong, in a word: "invalid", "unknown_bandit", "conflict", ... Three codes are the
        client's own: "no_answer", "foreign" (the answer is an error, but not in the service's form:
        a proxy's page) and "bad_answer" (the answer is a success, but not as it should be).
    place : str or None
        Where in the request the mistake is, such as "rewards.a7".
    request_id : str or None
        The number under which the service logged the request.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "bad_answer",
        place: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.place = place
        self.request_id = request_id

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross processes; an OSError would otherwise be rebuilt without its attributes.
        return type(self), (self.message,), vars(self).copy()


class Refused(ServiceError):  # noqa: N818 (a client's words: what happened to the call)
    """The service does not take this call.

    There is a mistake in it, at `place`, and `message` says which (422); or the key is missing,
    unknown, or does not allow this call (401, 403).
    """


class NotFound(ServiceError):  # noqa: N818
    """There is no such bandit, decision or address (404)."""


class Conflict(ServiceError):  # noqa: N818
    """Something else is there already: other feedback, another bandit of this name (409)."""


class Gone(ServiceError):  # noqa: N818
    """The decision is closed or has expired (410)."""


class Unavailable(ServiceError, ConnectionError):  # noqa: N818
    """The service cannot be reached, or not now (502, 503, 504, or no answer at all).

    Raised after the last attempt. Whether the call had an effect is not known, but the same call
    with the same id can be made again.

    Attributes
    ----------
    retry_after : float
        After how many seconds to try again, as the answer has it; 0 if it does not say.
    """

    retry_after: float = 0.0


_CLASSES: dict[int, type[ServiceError]] = {
    401: Refused,
    403: Refused,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Refused,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}

# Items of a batch have codes, but no status of their own.
_STATUSES = {
    "unauthorized": 401,
    "forbidden": 403,
    "unknown_bandit": 404,
    "unknown_decision": 404,
    "unknown_route": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "archived": 409,
    "expired": 410,
    "closed": 410,
    "too_large": 413,
    "invalid": 422,
    "no_basis": 422,
    "too_many_open": 429,
    "unavailable": 503,
}


def error_of(
    status: int | None,
    message: str,
    *,
    code: str,
    place: str | None = None,
    request_id: str | None = None,
) -> ServiceError:
    """An error of the class that belongs to its status."""
    cls = ServiceError if status is None else _CLASSES.get(status, ServiceError)
    return cls(message, status=status, code=code, place=place, request_id=request_id)


def described_error(
    content: Any, hide: Callable[[str], str], *, status: int | None = None
) -> ServiceError | None:
    """The error that `content` describes in the service's form; None if it has another form.

    Parameters
    ----------
    content : object
        ``{"error": {"code": ..., "message": ..., "place": ..., "request_id": ...}}``.
    hide : callable
        Removes from a text what must not be in an exception.
    status : int, optional
        The status of the answer. By default the one that belongs to the code.
    """
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    place, request_id = error.get("place"), error.get("request_id")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return error_of(
        _STATUSES.get(code) if status is None else status,
        hide(message),
        code=hide(code),
        place=hide(place) if isinstance(place, str) else None,
        request_id=hide(request_id) if isinstance(request_id, str) else None,
    )
