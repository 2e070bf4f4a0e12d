"""Check the built site: every link within it resolves, and nothing comes from another address.

python docs/check_site.py build/site
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself when it shows a page; links are followed by people.
FETCHED = {
    ("audio", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("video", "src"),
}
# In a style sheet or in a script of the theme.
ADDRESS = re.compile(r"""(?:url\(|@import\s*)["']?(?:https?:)?//""")


class Page(HTMLParser):
    """The anchors of a page, its links, and what it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif (tag, name) in FETCHED and not value.startswith("data:"):
                self.fetched.append(value.split()[0])


def mistakes(site: Path) -> list[str]:
    """What is wrong with the site, one line each."""
    site = site.resolve()
    pages = {path: Page(path) for path in pages_of(site)}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: fetches {link}" for link in page.fetched if not is_within(link)]
        for link in [*page.links, *page.fetched]:
            if is_within(link) and (what := mistake(link, path, pages)):
                found.append(f"{name}: {link} {what}")
    sheets = [path for path in site.rglob("*.css") if ADDRESS.search(path.read_text("utf-8"))]
    found += [f"{path.relative_to(site)}: fetches from another address" for path in sheets]
    return sorted(set(found))


def pages_of(site: Path) -> list[Path]:
    """All pages; the theme has templates in `_static` that are none."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def is_within(link: str) -> bool:
    """Whether a link leads to this site."""
    parts = urlsplit(link)
    return parts.scheme == parts.netloc == ""


def mistake(link: str, path: Path, pages: dict[Path, Page]) -> str | None:
    """What is wrong with a link on the page `path`."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "is not there"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "has no such place"
    return None


def main(site: Path) -> int:
    """Print what is wrong; the exit status is 1 if anything is."""
    found = mistakes(site)
    for line in found:
        print(line)  # noqa: T201
    number = len(pages_of(site))
    print(f"{site}: {number} pages, {len(found)} mistakes")  # noqa: T201
    return 1 if found or not number else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
