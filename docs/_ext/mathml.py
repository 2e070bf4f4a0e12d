"""Formulas as MathML, made while the site is built: a page loads no script for them."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
# latex2mathml puts the number of an equation into a table; ours stands beside the formula.
TAG = re.compile(r"\\tag\{([^{}]*)\}")


def mathml(latex: str, display: str, node: nodes.Node) -> str:
    """The formula as MathML, or as its source, with a warning, if it is not understood."""
    try:
        return convert(latex, display=display)
    except Exception as error:  # noqa: BLE001 - the package raises many kinds of errors
        LOGGER.warning("formula %r: %r", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    latex = node.astext()
    tag = TAG.search(latex)
    number = f'<span class="equation-number">({escape(tag[1])})</span>' if tag else ""
    formula = mathml(TAG.sub("", latex), "block", node)
    translator.body.append(f'<div class="math-block">{formula}{number}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make `html_math_renderer = "mathml"` available."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
