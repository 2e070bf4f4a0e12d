"""Files of the repository that are outside `docs`, in the site.

A page under `docs` may link to any file of the repository, as it would on a code host. Here such a
link leads to the page that shows the file, if there is one in `PAGES`; otherwise the name of the
file stays, without a link. The pages of `PAGES` are written into `docs/project` before every build.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Files whose text is a page of the site.
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "tests/README.md": "project/tests.md",
}
# Other files and folders that a page stands for.
PLACES = {
    "README.md": "index.md",
    "examples": "gallery/index.rst",
    "examples/README.md": "gallery/index.rst",
    "docs/decisions": "decisions/index.md",
    "docs/benchmarks": "benchmarks/README.md",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^\s*(```+|~~~+|:::+)")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its parts outside fenced blocks changed."""
    parts: list[str] = []
    prose: list[str] = []
    fence = None
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence is None and mark and mark[1][0] != ":":
            fence = mark[1]
            parts += [change("".join(prose)), line]
            prose = []
        elif fence is not None:
            parts.append(line)
            if line.strip() == fence:
                fence = None
        else:
            prose.append(line)
    return "".join([*parts, change("".join(prose))])


def place_of(name: str) -> Path | None:
    """The source of the page, or the file in `docs`, that a link to a file leads to."""
    path = ROOT / name
    if name in PAGES:
        return DOCS / PAGES[name] if path.exists() else None
    if name in PLACES:
        return DOCS / PLACES[name]
    if example := re.fullmatch(r"examples/(\w+)\.py", name):
        return DOCS / "gallery" / f"{example[1]}.rst"
    if path.is_dir():
        return path / "index.md" if (path / "index.md").exists() else None
    return path if path.is_relative_to(DOCS) else None


def relinked(text: str, file: Path, page: Path) -> str:
    """`text` of `file`, with links that hold on `page`."""

    def link(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        address, hash_, anchor = target.partition("#")
        if not address or re.match(r"[a-z]+:", address):
            return match[0]
        path = Path(os.path.normpath(file.parent / address))
        try:
            name = path.relative_to(ROOT).as_posix()
        except ValueError:
            return match[0]
        place = place_of(name)
        if place is None:
            return words if "`" in words or path.is_relative_to(DOCS) else f"`{words}`"
        where = os.path.relpath(place, page.parent)
        return f"{mark}[{words}]({Path(where).as_posix()}{hash_}{anchor})"

    return outside_code(text, lambda prose: LINK.sub(link, prose))


def write_pages() -> None:
    """Write the pages of `PAGES` whose files exist; pages that have not changed are left alone."""
    for name, place in PAGES.items():
        file, page = ROOT / name, DOCS / place
        if file.exists():
            write(page, relinked(file.read_text(encoding="utf-8"), file, page))


def write(page: Path, text: str) -> None:
    """Write a page that is made, unless it has this text: Sphinx reads anew what is newer."""
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def relink(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the links of a page when it is read."""
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        source[0] = relinked(source[0], page, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write pages, and change links when pages are read."""
    app.connect("config-inited", lambda _app, _config: write_pages())
    app.connect("source-read", relink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
