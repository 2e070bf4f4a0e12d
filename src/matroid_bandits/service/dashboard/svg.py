"""Elements of SVG, with everything escaped."""

from functools import cache

from markupsafe import Markup, escape

__all__ = ["described", "element", "share"]


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element; children that are not markup are escaped.

    Attributes are written with ``_`` in place of ``-`` and behind names that Python has taken:
    ``text_anchor``, ``class_``. Those that are None are left out.

    Examples
    --------
    >>> print(element("text", "a < b", x=3.14159, class_="tick"))
    <text x="3.14" class="tick">a &lt; b</text>
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if isinstance(value, str):
            parts.append(f' {_attribute(key)}="{escape(value)}"')
        elif value is not None:
            parts.append(f' {_attribute(key)}="{_length(value)}"')
    # Pictures have thousands of elements, so texts are joined once. All of them are escaped.
    return Markup("".join([*parts, ">", *map(escape, children), f"</{name}>"]))  # noqa: S704


def described(
    name: str, title: str, description: str, *children: str, **attributes: str | float | None
) -> Markup:
    """A picture that screen readers call `title` and can describe; `name` is its id."""
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        *children,
        id=name,
        role="img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-desc",
        **attributes,
    )


def share(part: float) -> str:
    """A part of 1 as a length in percent, so that a picture can have any width."""
    return f"{_length(100 * part)}%"


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _length(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
