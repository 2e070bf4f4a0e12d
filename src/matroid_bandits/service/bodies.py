"""Bodies of requests: JSON of a form, or an error that names the place of the mistake."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from matroid_bandits._arguments import abbreviated
from matroid_bandits.service.errors import ServiceError, invalid

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["body_of", "validation_error"]

Form = TypeVar("Form", bound=BaseModel)

# Parts of pydantic's places that name a type rather than a place.
_TYPES = ("dict[", "list[", "function-", "nullable", "str", "float", "int")
# Of a value in a message.
_LONGEST = 60
# What Python's JSON knows and JSON does not.
_CONSTANTS = (b"NaN", b"Infinity")


async def body_of(request: Request, form: type[Form]) -> Form:
    """The body of a request, checked; an empty one is an empty object."""
    data = await request.body() or b"{}"
    if any(word in data for word in _CONSTANTS):
        _refuse_constants(data)
    try:
        return form.model_validate_json(data)
    except ValidationError as error:
        raise validation_error(error.errors(include_url=False)) from error


def _refuse_constants(data: bytes) -> None:
    """Refuse NaN and infinities, also inside labels."""
    try:
        json.loads(data, parse_constant=_no_constant)
    except ServiceError:
        raise
    except (ValueError, RecursionError):
        # The form says what is wrong.
        return


def _no_constant(text: str) -> NoReturn:
    raise invalid(f"{text} is not a value of JSON; leave out what is not known")


def validation_error(errors: list[Any]) -> ServiceError:
    """The error for what pydantic has found: the mistake that lies deepest."""
    if errors[0]["type"] == "json_invalid":
        reason = errors[0]["ctx"]["error"] if "ctx" in errors[0] else errors[0]["msg"]
        return invalid(f"the body is not JSON: {reason}")
    # Of a choice of forms, the one that the value has gone furthest with.
    found = max(errors, key=lambda error: len(error["loc"]))
    place = ".".join(str(part) for part in found["loc"] if not str(part).startswith(_TYPES))
    message = found["msg"].removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        return invalid(f"unknown key {found['loc'][-1]!r}; see /api for the keys", place)
    if found["type"] == "missing":
        return invalid("is missing", place)
    return invalid(f"{message}, got {_as_json(found['input'])}", place or None)


def _as_json(value: Any) -> str:
    """The beginning of a value, as JSON has it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return abbreviated(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
