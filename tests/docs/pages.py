"""The pages of the documentation and the blocks of code in them.

A block that cannot run is exempt if a comment stands before it, with the reason::

    <!-- not run: needs a cluster -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Written by `make docs`, from sources that are tested where they are.
MADE = ("gallery", "project", "reference/api")
EXEMPT = re.compile(r"<!-- not run: (\S.*?) -->\s*\Z", re.DOTALL)
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w{}-]*)[^\n`]*\n", re.MULTILINE)
# The languages that tests know.
PYTHON = {"python", "pycon", "py"}
SHELL = {"sh", "bash", "shell", "console"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    before: str

    @property
    def exemption(self) -> str | None:
        """Why it is not run, if the page says so."""
        found = EXEMPT.search(self.before)
        return None if found is None else found[1]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        """The file that it is, if its first line or the line before names one."""
        named = re.match(r"# ([\w-]+\.(?:py|toml))\b", self.text)
        before = re.search(r"`([\w./-]+\.\w+)`:\s*\Z", self.before)
        return named[1] if named else before[1] if before else None


def pages() -> list[Path]:
    """All pages that people wrote."""
    found = [
        path
        for path in sorted(DOCS.rglob("*.md"))
        if not any(path.is_relative_to(DOCS / folder) for folder in MADE)
    ]
    return [ROOT / "README.md", *found]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    position = 0
    while start := FENCE.search(text, position):
        end = re.compile(rf"^ *{'```'} *$", re.MULTILINE).search(text, start.end())
        assert end is not None, f"{page}: a block is not closed"
        lines = text[start.end() : end.start()].splitlines(keepends=True)
        content = "".join(line.removeprefix(start["indent"]) for line in lines)
        line = text.count("\n", 0, start.start()) + 1
        found.append(Block(page, line, start["language"], content, text[: start.start()]))
        position = end.end()
    return found


def name(page: Path) -> str:
    """How tests call a page."""
    return page.relative_to(ROOT).as_posix()
