"""The bibliography: it can be parsed, and it has every work that is cited."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"
CITATION = re.compile(r"\[([A-Z]{1,6}\d{2})\]")
# The same in running text, however it is written: what is no plain [KEY] becomes no link.
BRACKETED = re.compile(r"\[([A-Z][A-Za-z]{0,6}\d{2}\b[^\]\n]*)\](?!\()")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FOLDERS = ("src", "docs", "tests", "benchmarks", "examples")
SUFFIXES = {".py", ".pyx", ".pxd", ".pyi", ".md", ".toml", ".bib"}

#: The fields that BibTeX requires, beside title and year.
REQUIRED = {
    "article": {"author", "journal"},
    "book": {"author", "publisher"},
    "inproceedings": {"author", "booktitle"},
    "misc": {"author"},
    "techreport": {"author", "institution"},
}


class BibliographyError(ValueError):
    """A text that is not BibTeX as we write it."""


def parse(text: str) -> dict[str, dict[str, str]]:
    """The entries by key, each with its fields and its type under ``ENTRYTYPE``.

    Strict: fields are ``name = {value}`` with balanced braces, and nothing stands between entries.
    """
    entries: dict[str, dict[str, str]] = {}
    rest = text.strip()
    while rest:
        head = re.match(r"@([a-z]+)\{([A-Za-z0-9]+),\s*", rest)
        if head is None:
            raise BibliographyError(f"an entry must begin here: {rest[:40]!r}")
        kind, key = head.groups()
        if key in entries:
            raise BibliographyError(f"{key} is there twice")
        fields = {"ENTRYTYPE": kind}
        rest = rest[head.end() :]
        while not rest.startswith("}"):
            field = re.match(r"([a-z]+)\s*=\s*\{", rest)
            if field is None:
                raise BibliographyError(f"{key}: a field or }} must stand here: {rest[:40]!r}")
            if field[1] in fields:
                raise BibliographyError(f"{key}: {field[1]} is there twice")
            end = _closing_brace(rest, field.end(), key)
            fields[field[1]] = rest[field.end() : end]
            rest = rest[end + 1 :].lstrip()
            if rest.startswith(","):
                rest = rest[1:].lstrip()
            elif not rest.startswith("}"):
                raise BibliographyError(f"{key}: , or }} must stand here: {rest[:40]!r}")
        entries[key] = fields
        rest = rest[1:].lstrip()
    return entries


def _closing_brace(text: str, start: int, key: str) -> int:
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise BibliographyError(f"{key}: a brace is not closed")


@pytest.mark.parametrize(
    "text, message",
    [
        ("@misc{A1,\n  title = {x}\n\n@misc{B1,\n  title = {y}\n}", "A1: , or } must stand here"),
        ("@misc{A1,\n  title = {x}", "A1: , or } must stand here"),
        ("@misc{A1,\n  title = {x {y}\n", "A1: a brace is not closed"),
        ("@misc{A1, title = {x}} @misc{A1, title = {y}}", "A1 is there twice"),
        ("@misc{A1, title = {x}, title = {y}}", "A1: title is there twice"),
        ("@misc{A1, title = x}", "A1: a field or } must stand here"),
        ("title = {x}", "an entry must begin here"),
    ],
)
def test_the_parser_is_strict(text: str, message: str) -> None:
    with pytest.raises(BibliographyError) as error:
        parse(text)
    assert message in str(error.value)


def test_the_bibliography_is_bibtex() -> None:
    for key, fields in parse(BIBLIOGRAPHY.read_text(encoding="utf-8")).items():
        missing = REQUIRED[fields["ENTRYTYPE"]] | {"title", "year"}
        assert missing <= fields.keys(), key
        assert all(fields.values()), key
        assert key.endswith(fields["year"][-2:]), key


def test_every_citation_is_in_the_bibliography() -> None:
    known = parse(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    files = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    cited = {
        key: path.relative_to(ROOT)
        for path in files
        for key in CITATION.findall(path.read_text(encoding="utf-8"))
    }
    assert "DG25" in cited
    assert {key: where for key, where in cited.items() if key not in known} == {}


def test_every_citation_in_a_page_becomes_a_link() -> None:
    known = parse(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        prose = CODE.sub("", path.read_text(encoding="utf-8"))
        assert set(BRACKETED.findall(prose)) <= known.keys(), path.relative_to(ROOT)
