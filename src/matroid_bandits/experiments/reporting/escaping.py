"""Names and notes of users as plain text in Markdown, TeX and spreadsheets."""

import re

__all__ = ["csv_cell", "markdown", "tex"]

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKDOWN = frozenset("\\`*_[]|~")
# At the beginning of a paragraph, these make it a heading, a list or a rule.
_MARKDOWN_START = re.compile(r"\d*(?=#+(\s|$)|[-+]\s|--|(?<=\d)[.)](\s|$))")

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}

# A spreadsheet takes a cell that begins with one of these, in normal or full width, for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def markdown(text: str) -> str:
    """`text` in one line, with nothing that Markdown or HTML would interpret."""
    line = " ".join(text.split())
    signs = [_HTML.get(c, f"\\{c}" if c in _MARKDOWN else c) for c in line]
    if start := _MARKDOWN_START.match(line):
        signs[start.end()] = f"\\{signs[start.end()]}"
    return "".join(signs)


def tex(text: str) -> str:
    """`text` in one line, with nothing that TeX would interpret."""
    return "".join(_TEX.get(c, c) for c in " ".join(text.split()))


def csv_cell(value: object) -> object:
    """`value` as it goes into a CSV file that may be opened in a spreadsheet.

    A text that would be a formula there gets an apostrophe before it. Numbers stay as they are.
    """
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA):
        return f"'{value}"
    return value
