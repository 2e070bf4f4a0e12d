"""A reference of the HTTP interface, as plain data, from its OpenAPI document."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Body", "Field", "Part", "Reference", "Response", "Route", "Shape", "read_reference"]

_METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
_REF = "#/components/schemas/"
# Objects inside of objects are described by longer and longer names, up to this depth.
_DEEPEST = 4
_WIDTH = 88
# Keywords of JSON Schema that bound a value, and how people write them.
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
}

Schema = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A word of the name of a type; `anchor` is the place of the page that describes it."""

    text: str
    anchor: str | None = None


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of an object; `place` is "path", "query", "header" or "body"."""

    name: str
    place: str
    kind: list[Part]
    is_required: bool
    notes: list[str]
    description: str


@dataclass(frozen=True)
class Body:
    """What a request or a response has in it."""

    media: str
    kind: list[Part]
    fields: list[Field]
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class Response:
    """An answer."""

    status: str
    description: str
    bodies: list[Body]


@dataclass(frozen=True)
class Route:
    """A method of an address."""

    method: str
    path: str
    anchor: str
    summary: str
    description: str
    is_deprecated: bool
    needs: list[str]
    is_open_without_keys: bool
    parameters: list[Field]
    bodies: list[Body]
    responses: list[Response]


@dataclass(frozen=True)
class Shape:
    """A schema with a name."""

    name: str
    anchor: str
    description: str
    kind: list[Part]
    fields: list[Field]
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class Reference:
    """All of it; `groups` are the routes by tag."""

    title: str
    version: str
    description: str
    keys: list[tuple[str, str]] = field(default_factory=list)
    groups: list[tuple[str, list[Route]]] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)


def read_reference(openapi: dict[str, Any]) -> Reference:
    """What an OpenAPI document says, in the order of the document, with three exceptions.

    Groups are sorted by name and answers by status; fields that are required come first.
    """
    return _Reader(openapi).reference()


class _Reader:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._components: dict[str, Any] = document.get("components", {})
        self._schemas: dict[str, Schema] = self._components.get("schemas", {})

    def reference(self) -> Reference:
        info = self._document.get("info", {})
        groups: dict[str, list[Route]] = {}
        for path, item in self._document.get("paths", {}).items():
            for method in _METHODS:
                if method in item:
                    tag = (item[method].get("tags") or ["Routes"])[0]
                    route = self._route(method, path, item[method], item.get("parameters", []))
                    groups.setdefault(tag, []).append(route)
        keys = self._components.get("securitySchemes", {})
        return Reference(
            title=info.get("title", "HTTP interface"),
            version=str(info.get("version", "")),
            description="\n\n".join(
                text for text in (info.get("summary"), info.get("description")) if text
            ),
            keys=[(name, _key_text(scheme)) for name, scheme in keys.items()],
            groups=sorted(groups.items()),
            shapes=[self._shape(name, schema) for name, schema in self._schemas.items()],
        )

    def _route(self, method: str, path: str, about: Schema, shared: list[Schema]) -> Route:
        required = about.get("security", self._document.get("security", []))
        responses = about.get("responses", {})
        return Route(
            method=method.upper(),
            path=path,
            anchor=f"{method}-{_slug(path)}",
            summary=about.get("summary", ""),
            description=about.get("description", ""),
            is_deprecated=bool(about.get("deprecated")),
            needs=[" and ".join(names) for names in required if names],
            # An empty requirement is one that is met without a key.
            is_open_without_keys={} in required,
            parameters=[self._parameter(p) for p in [*shared, *about.get("parameters", [])]],
            bodies=self._bodies(about.get("requestBody", {})),
            responses=[
                Response(
                    str(status),
                    self._resolved(answer).get("description", ""),
                    self._bodies(answer),
                )
                for status, answer in sorted(responses.items(), key=lambda item: str(item[0]))
            ],
        )

    def _parameter(self, parameter: Schema) -> Field:
        parameter = self._resolved(parameter)
        schema = parameter.get("schema", {})
        described = {"description": parameter.get("description") or schema.get("description", "")}
        place = parameter.get("in", "")
        return self._field(
            parameter.get("name", ""),
            {**schema, **described},
            place,
            is_required=bool(parameter.get("required")),
        )

    def _bodies(self, holder: Schema) -> list[Body]:
        """The contents of a request or a response, one for each media type."""
        return [
            Body(
                media,
                self._kind(content.get("schema", {})),
                self._fields(content.get("schema", {})),
                self._body_examples(content),
            )
            for media, content in self._resolved(holder).get("content", {}).items()
        ]

    def _body_examples(self, content: Schema) -> list[tuple[str, str]]:
        """The examples of a content and of its schema; of equal ones, the first."""
        schema = self._resolved(content.get("schema", {}))
        found: dict[str, tuple[str, str]] = {}
        for title, text in [*_examples(content), *_examples(schema)]:
            found.setdefault(json.dumps(json.loads(text), sort_keys=True), (title, text))
        return list(found.values())

    def _shape(self, name: str, schema: Schema) -> Shape:
        return Shape(
            name,
            _anchor(name),
            schema.get("description", ""),
            self._kind(schema),
            self._fields(schema),
            _examples(schema),
        )

    def _resolved(self, schema: Schema) -> Schema:
        """What a reference refers to; one that leads nowhere or to itself means anything."""
        seen = set()
        while "$ref" in schema:
            address = schema["$ref"]
            if address in seen:
                return {}
            seen.add(address)
            schema = self._document
            for name in address.removeprefix("#/").split("/"):
                schema = schema.get(name, {})
        return schema

    def _fields(self, schema: Schema, prefix: str = "", depth: int = 0) -> list[Field]:
        """The fields of an object, also of objects inside of it that have no name."""
        schema = self._resolved(schema)
        found: list[Field] = []
        if depth > _DEEPEST:
            return found
        for part in schema.get("allOf", []):
            found += self._fields(part, prefix, depth + 1)
        required = schema.get("required", [])
        properties = schema.get("properties", {})
        for name, inner in sorted(properties.items(), key=lambda item: item[0] not in required):
            full = f"{prefix}{name}"
            found.append(self._field(full, inner, "body", is_required=name in required))
            if "$ref" not in inner:
                found += self._fields(inner, f"{full}.", depth + 1)
        items = schema.get("items")
        if isinstance(items, dict) and ("$ref" not in items or not prefix):
            found += self._fields(items, f"{prefix.removesuffix('.')}[].", depth + 1)
        return found

    def _field(self, name: str, schema: Schema, place: str, *, is_required: bool) -> Field:
        described = schema.get("description") or self._resolved(schema).get("description", "")
        return Field(name, place, self._kind(schema), is_required, list(_notes(schema)), described)

    def _kind(self, schema: Schema) -> list[Part]:
        """The type of a value in words."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_REF)
            return [Part(name, _anchor(name) if name in self._schemas else None)]
        if "const" in schema or "enum" in schema:
            allowed = schema.get("enum", [schema.get("const")])
            return [Part(" or ".join(json.dumps(one, ensure_ascii=False) for one in allowed))]
        for keyword, word in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
            if schema.get(keyword):
                return self._joined(schema[keyword], word)
        kind = schema.get("type", "object" if "properties" in schema else "any value")
        if isinstance(kind, list):
            return self._joined([{**schema, "type": one} for one in kind], " or ")
        return self._simple_kind(kind, schema)

    def _simple_kind(self, kind: str, schema: Schema) -> list[Part]:
        """The same for one of the types of JSON."""
        if kind == "array" and "prefixItems" in schema:
            return [Part("list ["), *self._joined(schema["prefixItems"], ", "), Part("]")]
        if kind == "array":
            return [Part("list of "), *self._kind(schema.get("items", {}))]
        inner = schema.get("additionalProperties")
        if kind == "object" and isinstance(inner, dict) and inner:
            return [Part("object with values: "), *self._kind(inner)]
        is_special = "format" in schema and kind != "null"
        return [Part(f"{kind} ({schema['format']})" if is_special else kind)]

    def _joined(self, schemas: list[Schema], word: str) -> list[Part]:
        parts: list[Part] = []
        for schema in schemas:
            parts += [Part(word)] * bool(parts) + self._kind(schema)
        return parts


def _notes(schema: Schema) -> Iterator[str]:
    """What else a schema says about a value: default, bounds, examples."""
    if schema.get("default") is not None:
        yield f"default {json.dumps(schema['default'], ensure_ascii=False)}"
    variants = [schema, *schema.get("anyOf", []), *schema.get("oneOf", [])]
    for variant in variants:
        for keyword, words in _BOUNDS.items():
            if keyword in variant:
                bound = variant[keyword]
                text = words.format(f"{bound:g}" if isinstance(bound, float) else bound)
                yield text.removesuffix("s") if bound == 1 else text
    for _, example in _examples(schema):
        yield f"for example {example}"


def _examples(holder: Schema) -> list[tuple[str, str]]:
    """Examples with their titles, of a schema or a content, as JSON."""
    found: list[tuple[str, Any]] = []
    if "example" in holder:
        found.append(("", holder["example"]))
    several = holder.get("examples", [])
    if isinstance(several, dict):
        found += [
            (one.get("summary", name), one["value"])
            for name, one in several.items()
            if "value" in one
        ]
    else:
        found += [("", value) for value in several]
    return [(title, _json(value)) for title, value in found]


def _json(value: Any, margin: str = "") -> str:
    """JSON in short lines: what fits into one stays in one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(flat) <= _WIDTH or not isinstance(value, (dict, list)):
        return flat
    inner = margin + "  "
    if isinstance(value, dict):
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_json(item, inner)}"
            for key, item in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    lines = [f"{inner}{_json(item, inner)}" for item in value]
    return "[\n" + ",\n".join(lines) + f"\n{margin}]"


def _key_text(scheme: Schema) -> str:
    """How a key is sent."""
    if scheme.get("description"):
        return str(scheme["description"])
    if scheme.get("type") == "http":
        return f"the header Authorization: {str(scheme.get('scheme', '')).title()} KEY"
    return f"the {scheme.get('in', 'header')} {scheme.get('name', '')}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "root"


def _anchor(name: str) -> str:
    return f"schema-{re.sub(r'[^A-Za-z0-9_]+', '-', name)}"
