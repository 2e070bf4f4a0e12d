"""Lists of pages in an order of their own, to which new pages are added by themselves.

``toctree`` gets two more options: with ``:if-present:``, pages that do not exist are left out; with
``:rest:``, the pages of the folder that the page names nowhere else are added at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.directives.other import TocTree

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec


class PageList(TocTree):
    """``toctree`` with the options ``if-present`` and ``rest``."""

    option_spec: ClassVar[OptionSpec] = {
        **TocTree.option_spec,
        "if-present": directives.flag,
        "rest": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        page = Path(self.env.doc2path(self.env.docname))
        entries = list(self.content)
        if "if-present" in self.options:
            suffixes = self.env.app.config.source_suffix
            entries = [
                entry
                for entry in entries
                if any((page.parent / f"{entry}{suffix}").exists() for suffix in suffixes)
            ]
        if "rest" in self.options:
            named = {line.strip() for line in page.read_text(encoding="utf-8").splitlines()}
            beside = sorted(
                self.env.path2doc(path).rpartition("/")[2]
                for path in page.parent.iterdir()
                if path != page and self.env.path2doc(path) in self.env.found_docs
            )
            entries += [name for name in beside if name not in named]
            self.env.note_reread()  # a page may have been added
        self.content = StringList(entries, source=str(page))
        return super().run() if entries else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the directive."""
    app.add_directive("toctree", PageList, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
