"""HTML that notebooks can show: closed elements, no scripts, no outside addresses, bounded."""

from html.parser import HTMLParser

ELEMENTS = {
    *("div", "span", "strong", "p", "pre", "br", "table", "tbody", "tr", "th", "td"),
    *("svg", "g", "title", "path", "circle", "line", "polyline", "text"),
}
ATTRIBUTES = {
    *("style", "viewbox", "width", "height", "role", "d", "fill", "stroke", "stroke-width"),
    *("stroke-opacity", "opacity", "cx", "cy", "r", "x", "y", "x1", "y1", "x2", "y2", "points"),
    *("text-anchor", "font-size"),
}

#: However hostile its labels are, no object has more letters.
LONGEST = 60_000


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        assert tag in ELEMENTS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            assert "url(" not in value
            assert "http" not in value
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.texts.append(data)

    def handle_comment(self, data) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def text_of(html: str) -> str:
    """The text of well-formed HTML, pieces with blanks between them."""
    assert len(html) < LONGEST
    html.encode()
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return " ".join(reader.texts)


def shown(thing: object) -> str:
    """The text that a notebook shows of an object, which is no mere representation."""
    html = thing._repr_html_()
    assert not html.startswith("<pre>"), html
    return text_of(html)
