"""What the OpenAPI document says about bodies and answers.

Bodies are read by `body_of`, not by FastAPI: it would take NaN for JSON, and be slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from matroid_bandits._version import __version__
from matroid_bandits.service import schemas
from matroid_bandits.service.schemas import ErrorAnswer

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

__all__ = ["body", "errors", "openapi_of"]

_REFERENCE = "#/components/schemas/{model}"

_MEANINGS = {
    401: "A key is needed, or not known.",
    403: "The role of the key is too low.",
    404: "There is no such bandit, or decision.",
    409: "It contradicts what is there.",
    410: "The decision has expired, or was closed.",
    413: "The body is too large.",
    421: "The server is not called so.",
    422: "Something is wrong in the request; `place` says where.",
    429: "There are too many.",
    503: "The database cannot be used now. Repeat the request, with the same id.",
}


def body(form: type[BaseModel], *, is_required: bool = True) -> dict[str, Any]:
    """The part of the document about a body, for `openapi_extra`."""
    schema = {"$ref": _REFERENCE.format(model=form.__name__)}
    content: dict[str, Any] = {"schema": schema}
    examples = form.model_config.get("json_schema_extra", {})
    if isinstance(examples, dict) and "examples" in examples:
        content["example"] = examples["examples"][0]  # type: ignore[index]
    return {"requestBody": {"required": is_required, "content": {"application/json": content}}}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The part of the document about errors, for `responses`; some can always come."""
    always = (401, 403, 413, 421, 422, 503)
    return {
        status: {"model": ErrorAnswer, "description": _MEANINGS[status]}
        for status in sorted({*always, *statuses})
    }


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
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}, {}]
        app.openapi_schema = document
    return app.openapi_schema
