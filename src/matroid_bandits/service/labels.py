"""Labels of any JSON type, as hashable Python values, and back.

A text is itself and so is an integer. Every other value of JSON is a `JSONValue`, which is compared
by its text: so 1 and true are different labels, as they are in JSON, and an object can be a label.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any

__all__ = [
    "EarlyLabels",
    "JSONValue",
    "as_json",
    "is_same",
    "json_text",
    "label_of",
    "shown_text",
]

# Deeper labels are a mistake.
_MAX_DEPTH = 20
# Integers above are not exact in all programs that read JSON.
_EXACT = 2**53
# `json.dumps` would make an encoder for each label.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_encode_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


class JSONValue:
    """A label that is neither a text nor an integer.

    Parameters
    ----------
    value : object
        As JSON has it.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = _encode_sorted(_normal(value, 0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JSONValue) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)

    def __str__(self) -> str:
        return shown_text(self)


def _normal(value: Any, depth: int) -> Any:
    """`value` with integers in place of floats that are whole: JSON has one kind of numbers."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"a label may be nested {_MAX_DEPTH} levels deep, this is deeper")
    kind = type(value)
    if kind is list:
        return [_normal(item, depth + 1) for item in value]
    if kind is dict:
        return {key: _normal(item, depth + 1) for key, item in value.items()}
    if kind is float and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value


def label_of(value: Any) -> Any:
    """The label that a value of JSON means."""
    kind = type(value)
    if kind is str or kind is int or kind is JSONValue:
        return value
    if kind is float and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return JSONValue(value)


class EarlyLabels:
    """Makes the labels of a request before it is handled, while others are answered.

    More than `most` have no time when it is handled; they are left as they are. So are lists with a
    value that is no label. Both are refused then.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._left = most

    def of(self, values: list[Any]) -> list[Any]:
        """The labels that values mean."""
        self._left -= len(values)
        if self._left < 0:
            return values
        try:
            return [label_of(value) for value in values]
        except ValueError:
            return values


def as_json(label: Any) -> Any:
    """The label as JSON has it."""
    return label.value if isinstance(label, JSONValue) else label


def json_text(label: Any) -> str:
    """The label as a text of JSON."""
    if type(label) is str:
        return encode_basestring_ascii(label)
    return _encode(as_json(label))


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON: 1 is 1.0, but 1 is not true, as in Python."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def shown_text(label: Any) -> str:
    """The label as people read it: a text as it is, the items of a list with a dash."""
    value = as_json(label)
    if type(value) is int:
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(x, (str, int)) for x in value):
        return " \N{EN DASH} ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)
