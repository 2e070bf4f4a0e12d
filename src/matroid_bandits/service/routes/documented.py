"""What the OpenAPI document says about bodies and answers.

Bodies are read by `body_of`, not by FastAPI: it would take NaN for JSON, and be slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from matroid_bandits._version import __version__
from matroid_bandits.service import schemas
from matroid_bandits.service.schemas import ErrorAnswer

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

__all__ = ["BanditName", "DecisionId", "body", "errors", "openapi_of", "reading", "writing"]

BanditName = Annotated[str, Path(description="The name of a bandit.", examples=["news"])]
DecisionId = Annotated[
    str,
    Path(
        description="The id of a decision; signs such as / and % are written as %2F and %25.",
        examples=["abc"],
    ),
]

_REFERENCE = "#/components/schemas/{model}"

_FOREIGN = ("HTTPValidationError", "ValidationError")

_MEANINGS = {
    401: "A key is needed, or the key is not known.",
    403: "The role of the key is too low, or a page of another site has asked.",
    404: "There is no such bandit, or decision.",
    409: "The request contradicts what is stored.",
    410: "The decision has expired, or was closed.",
    413: "The body is too large.",
    421: "The header `Host` is none of the server's names; see `--host`.",
    422: "Something is wrong in the request; `place` says where.",
    429: "There are too many open decisions, or too many bandits.",
    503: "The database cannot be used now. Repeat the request, with the same id.",
}


def body(form: type[BaseModel]) -> dict[str, Any]:
    """The part of the document about a body, for `openapi_extra`; none is an empty object."""
    is_required = any(field.is_required() for field in form.model_fields.values())
    schema = {"$ref": _REFERENCE.format(model=form.__name__)}
    content: dict[str, Any] = {"schema": schema}
    examples = form.model_config.get("json_schema_extra", {})
    if isinstance(examples, dict) and "examples" in examples:
        content["example"] = examples["examples"][0]  # type: ignore[index]
    return {"requestBody": {"required": is_required, "content": {"application/json": content}}}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The part of the document about errors, for `responses`; one can always come."""
    return {
        status: {"model": ErrorAnswer, "description": _MEANINGS[status]}
        for status in sorted({421, *statuses})
    }


def reading(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The same for what is read from the database with a key."""
    return errors(401, 503, *statuses)


def writing(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The same for what has a body and changes something."""
    return reading(403, 413, 422, *statuses)


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The document, with the forms of bodies."""
    if app.openapi_schema is None:
        document = get_openapi(
            title="matroid-bandits",
            version=__version__,
            summary="Decisions for sets of things, under constraints, that are learned from.",
            routes=app.routes,
        )
        forms = [getattr(schemas, name) for name in schemas.__all__]
        _, definitions = models_json_schema(
            [(form, "validation") for form in forms], ref_template=_REFERENCE
        )
        components = document.setdefault("components", {})
        known = components.setdefault("schemas", {})
        for name, schema in definitions["$defs"].items():
            known.setdefault(name, schema)
        limits = app.state.worker.limits
        for name, field, key, most in (
            ("DecisionBatch", "decisions", "maxItems", limits.batch),
            ("RewardBatch", "rewards", "maxItems", limits.batch),
            ("BanditRequest", "max_open_decisions", "maximum", limits.open_decisions),
            ("BanditChanges", "max_open_decisions", "maximum", limits.open_decisions),
        ):
            known[name]["properties"][field][key] = most
        _remove_foreign(document)
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}, {}]
        app.openapi_schema = document
    return app.openapi_schema


def _remove_foreign(document: dict[str, Any]) -> None:
    """Remove FastAPI's errors about parameters in paths: any text is a name that may be unknown."""
    foreign = [_REFERENCE.format(model=model) for model in _FOREIGN]
    for about in document["paths"].values():
        for operation in about.values():
            answer = operation["responses"].get("422", {})
            content = answer.get("content", {}).get("application/json", {})
            if content.get("schema", {}).get("$ref") in foreign:
                del operation["responses"]["422"]
    for model in _FOREIGN:
        document["components"]["schemas"].pop(model, None)
