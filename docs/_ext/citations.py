"""Keys such as [DG25] lead to the list of references, which is made from references.bib."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "reference/references"
ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?$", re.MULTILINE)
KEY = re.compile(r"\[([A-Z]{1,6}\d{2})\]")
ACCENTS = {"'": "\u0301", '"': "\u0308", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
# Code stays as it is, and a link has a target already.
LEFT_ALONE = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.raw)


def plain(text: str) -> str:
    r"""The text without TeX: ``{\'e}`` is é, ``{KL}`` is KL, ``--`` is a dash."""
    for accent, mark in ACCENTS.items():
        pattern = rf"\{{?\\{re.escape(accent)}\{{?(\w)\}}*"
        text = re.sub(pattern, lambda m, mark=mark: m[1] + mark, text)
    text = re.sub(r"[{}]", "", text).replace("--", "\u2013").replace(r"\&", "&")
    return unicodedata.normalize("NFC", text)


def read(path: Path) -> dict[str, dict[str, str]]:
    """The fields of every entry, by key."""
    text = path.read_text(encoding="utf-8")
    return {
        key: {name: plain(value) for name, value in FIELD.findall(fields)}
        for _, key, fields in ENTRY.findall(text)
    }


def authors(field: str) -> str:
    """Names as people write them: given name first, "and" before the last one."""
    names = [" ".join(reversed(name.split(", ", 1))) for name in field.split(" and ")]
    names = ["others" if name == "others" else name for name in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def described(entry: dict[str, str]) -> list[nodes.Node]:
    """An entry in words."""
    where = entry.get("journal") or entry.get("booktitle") or entry.get("institution")
    parts = [where, entry.get("series"), entry.get("publisher")]
    if "volume" in entry:
        parts.append(entry["volume"] + (f"({entry['number']})" if "number" in entry else ""))
    elif "number" in entry:
        parts.append(entry["number"])
    parts += [f"pages {entry['pages']}" if "pages" in entry else None, entry["year"]]
    parts.append(entry.get("note"))
    text = ", ".join(part for part in parts if part)
    return [
        nodes.Text(f"{authors(entry['author'])}, "),
        nodes.emphasis("", entry["title"]),
        nodes.Text(f", {text}."),
    ]


class References(SphinxDirective):
    """The list of all references, by key."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / "references.bib"
        self.env.note_dependency(str(path))
        found = nodes.definition_list(classes=["references"])
        for key, entry in sorted(read(path).items()):
            item = nodes.definition_list_item()
            item += nodes.term("", key, ids=[anchor(key)])
            item += nodes.definition("", nodes.paragraph("", "", *described(entry)))
            found += item
        return [found]


def anchor(key: str) -> str:
    """The place of a key on the page."""
    return f"ref-{key.lower()}"


def link_keys(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of the keys in running text."""
    if app.builder.format != "html" or docname == PAGE:
        return
    known = app.env.matroid_bandits_references
    page = app.builder.get_relative_uri(docname, PAGE)
    for text in list(doctree.findall(nodes.Text)):
        if "[" not in text or _within(text, LEFT_ALONE):
            continue
        parts = KEY.split(text.astext())  # text, key, text, key, ..., text
        if not known & set(parts[1::2]):
            continue
        new: list[nodes.Node] = [nodes.Text(parts[0])]
        for key, after in zip(parts[1::2], parts[2::2], strict=True):
            shown = nodes.Text(f"[{key}]")
            if key in known:
                uri = f"{page}#{anchor(key)}"
                new.append(nodes.reference("", "", shown, refuri=uri, internal=True))
            else:
                new.append(shown)
            new.append(nodes.Text(after))
        text.parent.replace(text, new)


def _within(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive ``references`` and the links."""

    def remember(app: Sphinx) -> None:
        app.env.matroid_bandits_references = set(read(Path(app.srcdir) / "references.bib"))

    app.add_directive("references", References)
    app.connect("builder-inited", remember)
    app.connect("doctree-resolved", link_keys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
