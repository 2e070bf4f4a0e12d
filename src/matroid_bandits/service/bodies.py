"""Bodies of requests: JSON of a form, or an error that names the place of the mistake."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits.service.background import in_background
from matroid_bandits.service.errors import ServiceError, invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

__all__ = ["body_of", "validation_error"]

Form = TypeVar("Form", bound=BaseModel)
T = TypeVar("T")

# Parts of pydantic's places that name a type rather than a place.
_TYPES = re.compile(r"(?:dict|list)\[.*\]|function-.*|nullable|str|float|int", re.DOTALL)
# Of a value, or of a part of a place, in a message.
_LONGEST = 60
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Lists and objects: making very many takes long, and nobody else goes on.
_MOST_LISTS = 1_000_000
# In an object.
_MOST_KEYS = 200_000
# Shorter bodies are read at once, in less time than a decision takes.
_SHORT = 2**14


def _same(form: Any) -> Any:
    return form


async def body_of(request: Request, form: type[Form], make: Callable[[Form], T] = _same) -> T:
    """What `make` makes of the body of a request, checked; an empty one is an empty object."""
    try:
        data = await request.body() or b"{}"
    except ClientDisconnect:
        # Nobody reads this, but it is not a fault either.
        raise ServiceError(400, "incomplete", "the body did not come to its end") from None
    if len(data) <= _SHORT:
        return make(_checked(data, form))
    return await in_background(lambda: make(_checked(data, form)))


def _checked(data: bytes, form: type[Form]) -> Form:
    """A body, read once."""
    if data.count(b"[") + data.count(b"{") > _MOST_LISTS:
        raise invalid(f"the body has more than {_MOST_LISTS:,} lists and objects; send several")
    try:
        try:
            value = _STRICT.decode(data.decode())
        except (ValueError, RecursionError):
            # This says what is wrong.
            return form.model_validate_json(data)
        # Half of a surrogate pair is no text; only this finds it.
        if _SURROGATE.search(data):
            return form.model_validate_json(data)
        return form.model_validate(value)
    except ValidationError as error:
        raise validation_error(error.errors(include_url=False), form) from error


# ---- what means nothing certain, anywhere: also inside labels ----


def _no_constant(text: str) -> NoReturn:
    raise invalid(f"{text} is not a value of JSON; leave out what is not known")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise invalid(f"{text[:_LONGEST]} is too large for a number")
    return number


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that has each key once, and not too many of them."""
    found = dict(pairs)
    if len(pairs) > _MOST_KEYS:
        raise invalid(f"an object has {len(pairs):,} keys; it may have {_MOST_KEYS:,} at most")
    if len(found) < len(pairs):
        # Which value would be meant?
        (doubled, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise invalid(f"an object has the key {_as_json(doubled)} twice; give each key once")
    return found


_STRICT = json.JSONDecoder(
    object_pairs_hook=_plain_object, parse_constant=_no_constant, parse_float=_finite
)


# ---- what is wrong ----


def validation_error(errors: list[Any], form: type[BaseModel] | None = None) -> ServiceError:
    """The error for what pydantic has found in a form: the mistake that lies deepest."""
    if errors[0]["type"] == "json_invalid":
        reason = errors[0]["ctx"]["error"] if "ctx" in errors[0] else errors[0]["msg"]
        return invalid(f"the body is not JSON: {reason}")
    # Of a choice of forms, the one that the value has gone furthest with.
    # A key that is misspelled is missing, too.
    found = max(errors, key=lambda one: (len(one["loc"]), one["type"] == "extra_forbidden"))
    parts = [_shortened(str(part)) for part in found["loc"] if not _TYPES.fullmatch(str(part))]
    place = ".".join(parts)
    message = found["msg"].removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        *before, key = found["loc"]
        hint = suggestion(str(key)[:_LONGEST], [] if form is None else _keys_at(form, before))
        return invalid(f"unknown key {_as_json(key)}; {hint}", place)
    if found["type"] == "missing":
        return invalid("is missing", place)
    return invalid(f"{message}, got {_as_json(found['input'])}", place or None)


def _keys_at(form: type[BaseModel], place: list[Any]) -> list[str]:
    """The keys that a form has at one of pydantic's places."""
    forms = [form]
    for part in place:
        fields = [one.model_fields[part] for one in forms if part in one.model_fields]
        inside = [one for field in fields for one in _forms_in(field.annotation)]
        # Of a choice of forms, the place names the type.
        forms = inside or [one for one in forms if one.__name__ in str(part)] or forms
    return list(dict.fromkeys(key for one in forms for key in one.model_fields))


def _forms_in(annotation: Any) -> list[type[BaseModel]]:
    """The forms in a type, such as that of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [form for part in get_args(annotation) for form in _forms_in(part)]


def _as_json(value: Any) -> str:
    """The beginning of a value, as JSON has it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a value that is nested very deeply"
    except (ValueError, TypeError):
        return abbreviated(value)
    return _shortened(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
