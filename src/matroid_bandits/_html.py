"""Pieces of HTML for notebooks: everything escaped, no scripts, no outside addresses, bounded.

Colors come from the page around them, so that light and dark notebooks look right.
"""

from __future__ import annotations

import functools
import html
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Sequence

    from matroid_bandits._types import CountArray, FloatArray

__all__ = [
    "MOST_ROWS",
    "Html",
    "curve",
    "element",
    "facts",
    "joined",
    "never_raises",
    "number",
    "panel",
    "paragraph",
    "shown",
    "table",
]

#: So many rows of a table are shown.
MOST_ROWS = 10

# So many letters of a label, and of a longer text.
_LONGEST_LABEL = 60
_LONGEST_TEXT = 600
# So many elements of a set.
_MOST_MEMBERS = 12

#: A color that can be read on white and on black.
ACCENT = "#3d8fd1"
_LINE = "rgba(128,128,128,0.35)"
_CELL = f"padding:2px 10px;border:none;border-bottom:1px solid {_LINE};white-space:nowrap;"
_DASH = "\N{EN DASH}"

# Joiners within a letter or an emoji; all other characters that cannot be printed become blanks.
_JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")


class Html(str):
    """Text that is HTML already; any other text is escaped."""

    __slots__ = ()


T = TypeVar("T")


def never_raises(method: Callable[[T], Html]) -> Callable[[T], str]:
    """Show the plain representation of an object if its HTML cannot be made.

    A label, a matroid or a policy written in Python may raise anything. A notebook must still show
    the object.
    """

    @functools.wraps(method)
    def wrapped(self: T) -> str:
        try:
            return str(method(self))
        except Exception:  # noqa: BLE001
            name = type(self).__name__
            try:
                text = repr(self)
            except Exception:  # noqa: BLE001
                text = f"<{name}>"
            return str(element("pre", shown(text, _LONGEST_TEXT)))

    return wrapped


# ---- texts ----


def shown(value: Any, longest: int = _LONGEST_LABEL) -> Html:
    """A value as escaped text, at most `longest` letters; HTML as it is."""
    if isinstance(value, Html):
        return value
    text = str(value)
    if len(text) > longest:
        text = f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in _JOINERS else " " for c in text)
    return Html(html.escape(text))


def number(value: float) -> str:
    """A number to four digits, a dash for NaN; whole numbers with separators.

    Examples
    --------
    >>> number(1234567), number(0.123456)
    ('1,234,567', '0.1235')
    """
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isnan(value):
        return _DASH
    if not isfinite(value):
        return "\N{INFINITY}" if value == inf else "\N{MINUS SIGN}\N{INFINITY}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def joined(names: Iterable[Any], total: int) -> Html:
    """The first of `total` names with commas between them, and how many more there are."""
    first = [shown(name) for name, _ in zip(names, range(_MOST_MEMBERS), strict=False)]
    more = total - len(first)
    return Html(", ".join(first) + (f", {_more(more)}" if more > 0 else "") if first else "none")


def _more(count: int) -> str:
    return f"\N{HORIZONTAL ELLIPSIS} {count:,} more"


# ---- pieces ----


def element(name: str, *children: Any, **attributes: str | float) -> Html:
    """An element; children that are not HTML are escaped.

    Attributes have ``_`` in place of ``-``.

    Examples
    --------
    >>> print(element("td", "a < b", style="color:red"))
    <td style="color:red">a &lt; b</td>
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        text = f"{value:.1f}" if isinstance(value, float) else value
        parts.append(f' {key.replace("_", "-")}="{html.escape(str(text))}"')
    inside = (shown(child, _LONGEST_TEXT) for child in children)
    return Html("".join([*parts, ">", *inside, f"</{name}>"]))


def panel(title: str, *pieces: Html, note: str = "") -> Html:
    """An object: what it is, and its pieces one below the other."""
    heading = [element("strong", title)]
    if note:
        heading.append(element("span", f" {note}", style="opacity:0.7"))
    return element(
        "div",
        element("div", *heading, style="margin-bottom:4px"),
        *pieces,
        style="font-size:13px;line-height:1.4;margin:4px 0;max-width:100%;overflow-x:auto",
    )


def paragraph(text: str) -> Html:
    """A paragraph of text."""
    return element("p", text, style="margin:6px 0;max-width:48em")


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Names and values in two columns."""
    rows = [
        element(
            "tr",
            element("td", name, style=f"{_CELL}text-align:left;opacity:0.7"),
            element("td", value, style=f"{_CELL}text-align:left;white-space:normal"),
            style="background:transparent",
        )
        for name, value in pairs
    ]
    return _table_of(rows)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    total: int,
    left: Container[int] = (0,),
    marked: Collection[int] = (),
    most: int = MOST_ROWS,
) -> Html:
    """A table: the first rows, and how many more there are.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequences
        At least the first `most` rows.
    total : int
        How many rows there are.
    left : container of int
        Columns of text, aligned to the left.
    marked : collection of int
        Rows in bold letters.
    most : int
        How many rows are shown.
    """
    aligned = [f"{_CELL}text-align:{'left' if k in left else 'right'}" for k in range(len(header))]
    lines = [
        element(
            "tr",
            *(
                element("th", shown(name), style=f"{style};font-weight:normal;opacity:0.7")
                for name, style in zip(header, aligned, strict=True)
            ),
            style="background:transparent",
        )
    ]
    for k, row in zip(range(min(most, total)), rows, strict=False):
        bold = ";font-weight:bold" if k in marked else ""
        cells = (
            element("td", shown(cell), style=style + bold)
            for cell, style in zip(row, aligned, strict=True)
        )
        lines.append(element("tr", *cells, style="background:transparent"))
    rest = total - (len(lines) - 1)
    more = element("div", _more(rest), style="opacity:0.7;padding:2px 10px") if rest > 0 else ""
    return Html(_table_of(lines) + more)


def _table_of(rows: list[Html]) -> Html:
    return element(
        "table",
        element("tbody", *rows),
        style="border-collapse:collapse;border:none;margin:4px 0;font-size:inherit",
    )


# ---- drawings ----


def curve(x: CountArray, y: FloatArray, title: str) -> Html:
    """A small curve without axes, beginning at zero.

    Parameters
    ----------
    x, y : numpy.ndarray
        At least one point; `x` ascending and positive.
    title : str
        What is drawn, for screen readers and the mouse.
    """
    width, height, room = 220.0, 56.0, 4.0
    every = max(1, len(x) // 100)
    places = np.r_[0.0, x[::every], x[-1]]
    values = np.r_[0.0, y[::every], y[-1]]
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    across = room + (width - 2 * room) * places / max(float(x[-1]), 1e-300)
    up = height - room - (height - 2 * room) * (values - low) / max(high - low, 1e-300)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
    base = height - room - (height - 2 * room) * (0.0 - low) / max(high - low, 1e-300)
    return picture(
        width,
        height,
        title,
        element(
            "line", x1=room, y1=base, x2=width - room, y2=base, stroke="currentColor", opacity="0.4"
        ),
        element("polyline", points=points, fill="none", stroke=ACCENT, stroke_width="1.5"),
    )


def picture(width: float, height: float, title: str, *children: Html) -> Html:
    """A drawing in SVG that keeps its size, and is narrower where there is no room."""
    return element(
        "svg",
        element("title", title),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        style="max-width:100%;display:block;margin:4px 0",
    )
