"""HTML as a tree, which must be well formed, and what every page must be like."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

__all__ = ["Node", "check_page", "parse"]

_APART = {"br", "caption", "dd", "div", "dt", "li", "p", "td", "th", "title"}
_VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class Node:
    """An element; `children` are elements and texts."""

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str | None = None, **attributes: str) -> list[Node]:
        """All elements inside of it with a tag and attributes; `class_` is one of the classes."""
        found = []
        for child in self.children:
            if isinstance(child, Node):
                if child._is(tag, attributes):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str | None = None, **attributes: str) -> Node:
        found = self.all(tag, **attributes)
        assert len(found) == 1, (tag, attributes, len(found))
        return found[0]

    @property
    def text(self) -> str:
        """Its text with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> list[str]:
        texts = [
            text
            for child in self.children
            for text in ([child] if isinstance(child, str) else child._texts())
        ]
        # What a browser puts on lines or in cells of their own.
        return [" ", *texts, " "] if self.tag in _APART else texts

    def _is(self, tag: str | None, attributes: dict[str, str]) -> bool:
        classes = (self.attributes.get("class") or "").split()
        return (tag is None or self.tag == tag) and all(
            value in classes if key == "class_" else self.attributes.get(key) == value
            for key, value in attributes.items()
        )


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(text: str) -> Node:
    """The tree of a text in which every element is closed."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    assert parser.open == [parser.root], parser.open[-1].tag
    return parser.root


def check_page(text: str) -> Node:
    """Check what must hold for every page, and return its tree."""
    text.encode()
    assert text.startswith("<!DOCTYPE html>")
    page = parse(text)
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("head").one("title").text
    assert "width=device-width" in (page.one("meta", name="viewport").attributes["content"] or "")
    _check_parts(page)
    _check_safety(page)
    for table in page.all("table"):
        assert table.one("caption").text
        assert all(th.attributes.get("scope") in {"col", "row"} for th in table.all("th"))
        widths = {len(row.all("th") + row.all("td")) for row in table.all("tr")}
        assert len(widths) == 1
    for svg in page.all("svg"):
        if svg.attributes.get("aria-hidden") != "true":
            assert svg.attributes["role"] == "img"
            assert [child.tag for child in svg.children[:2]] == ["title", "desc"]
            assert all(child.text for child in svg.children[:2])
    return page


def _check_parts(page: Node) -> None:
    """Landmarks, headings, ids and what refers to them."""
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    assert page.one("main").attributes["id"] == "main"
    assert page.one("a", class_="skip").attributes["href"] == "#main"
    levels = [int(node.tag[1]) for node in page.all() if node.tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    for node in page.all():
        for key in ("aria-labelledby", "aria-describedby"):
            assert node.attributes.get(key, "main") in ids
        if (href := node.attributes.get("href") or "").startswith("#"):
            assert href[1:] in ids


def _check_safety(page: Node) -> None:
    """What the Content-Security-Policy forbids, and addresses outside."""
    assert not page.all("style")
    assert not page.all("iframe")
    for node in page.all():
        assert "style" not in node.attributes
        assert not any(key.startswith("on") for key in node.attributes)
        for key in ("href", "src", "action", "xlink:href", "data"):
            value = node.attributes.get(key)
            assert value is None or value.startswith("#") or _is_local(value)
    for script in page.all("script"):
        assert script.attributes["src"] == "/static/live.js"
        assert not script.text


def _is_local(address: str) -> bool:
    return address.startswith("/") and not address.startswith("//")
