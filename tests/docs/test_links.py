"""Links between pages lead somewhere, as they are read in the repository; figures are small."""

import re
from functools import cache
from pathlib import Path

import pytest

from .pages import DOCS, FENCE, ROOT, blocks, name, pages

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(<?([^()\s>]+)>?\)")
OTHERS = [*sorted(ROOT.glob("*.md")), *(ROOT / f / "README.md" for f in ("tests", "examples"))]
PAGES = list(dict.fromkeys([*pages(), *OTHERS]))
#: The largest figure of the documentation, in bytes.
LARGEST_FIGURE = 500_000


def prose(page: Path) -> str:
    """The page without code, so that nothing in code is taken for a link."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        text = text.replace(block.text, "\n")
    return re.sub(r"`[^`\n]+`", lambda m: re.sub(r"[\[\]()]", "_", m[0]), text)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: its headings, as code hosts and MyST make them, and its labels."""
    text = prose(page)
    found: set[str] = set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))
    for heading in re.findall(r"^#{1,6} +(.*?) *$", FENCE.sub("", page.read_text()), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while slug + (f"-{number}" if number else "") in found:
            number += 1
        found.add(slug + (f"-{number}" if number else ""))
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name(page)}: {link}"


# In the README, how to cite and where to ask come last.
@pytest.mark.parametrize("page", [page for page in PAGES if page != ROOT / "README.md"], ids=name)
def test_pages_end_with_where_to_go_next(page: Path) -> None:
    _, found, last = page.read_text(encoding="utf-8").rpartition("\n## Where to go next\n")
    assert found, f"{name(page)}: the last section must be '## Where to go next'"
    assert "\n## " not in last, name(page)
    assert 2 <= len(LINK.findall(last)) <= 5, name(page)


def test_figures_are_small() -> None:
    for path in (DOCS / "images").iterdir():
        assert path.stat().st_size <= LARGEST_FIGURE, path.name
