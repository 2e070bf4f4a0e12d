"""A name with parameters, as people write it in one line: ``MAUB(noise=0.2, index=kl)``."""

import re
from collections.abc import Mapping
from typing import Any

from matroid_bandits._arguments import abbreviated, number_from

__all__ = ["call_text", "parse_call"]

# Of a name with its parameters: texts are read from every parameter on.
_MOST_LETTERS = 10_000
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_CALL = re.compile(rf"""(?P<name>.*?)\((?P<inside>(?:[^()"']|{_QUOTED})*)\)""", re.DOTALL)
_PARAMETER = re.compile(rf"""\s*(?P<key>\w+)\s*=\s*(?P<value>{_QUOTED}|[^,"'=]*?)\s*(?:,|$)""")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_TRUTH = {"true": True, "false": False}


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters: integers, floats, truth values, and words with or without quotes.

    Raises
    ------
    ValueError
        If the text is not of this form; the message says where.
    """
    if len(text) > _MOST_LETTERS:
        raise ValueError(
            f"{abbreviated(text)} has {len(text):,} letters; a name with its parameters may have "
            f"{_MOST_LETTERS:,}"
        )
    compact = text.strip()
    if "(" not in compact and ")" not in compact:
        return compact, {}
    example = "write it like MAUB(noise=0.2)"
    found = _CALL.fullmatch(compact)
    if not found or not found["name"].strip():
        if compact.count("(") > 1:
            example += ', and a value with brackets in quotes, MAUB(index="kl(c=0)")'
        raise ValueError(f"{abbreviated(text)} cannot be read: {example}")
    inside, parameters = found["inside"], dict[str, Any]()
    place = 0
    while inside[place:].strip():
        parameter = _PARAMETER.match(inside, place)
        if not parameter or not parameter["value"]:
            raise ValueError(
                f"{abbreviated(text)} cannot be read at {abbreviated(inside[place:].strip())}: "
                f"parameters are named, with commas between them; {example}"
            )
        if parameter["key"] in parameters:
            raise ValueError(f"{abbreviated(text)} gives {parameter['key']} twice")
        parameters[parameter["key"]] = _value(parameter["value"])
        place = parameter.end()
    return found["name"].strip(), parameters


def call_text(name: str, parameters: Mapping[str, Any]) -> str:
    """The one text for a name with these parameters."""
    inside = ", ".join(f"{key}={_written(value)}" for key, value in parameters.items())
    return f"{name}({inside})" if inside else name


def _value(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    for kind in (int, float):
        # Words like nan and infinity are words.
        if re.match(r"[-+.]?[0-9]|[-+]\.[0-9]", text):
            try:
                return number_from(text, kind)
            except ValueError:
                continue
    return text


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    if _WORD.fullmatch(value) and value.lower() not in _TRUTH:
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'
