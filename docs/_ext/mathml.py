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

# What latex2mathml does otherwise than TeX. Names of functions get thin spaces, except before "(".
THIN = '<mspace width="0.167em" />'
FUNCTION = r"<mi>(?:arg|cos|det|exp|ln|log|sin)</mi>"
OPEN = r'<mo stretchy="false">&#x00028;</mo>'
REFINEMENTS = [
    (re.compile(r'<mrow>((?:<mi mathvariant="normal">\w</mi>){2,})</mrow>'), "letters"),
    (re.compile(rf"<mo>(max|min|sup|inf)</mo>(?={re.escape(OPEN)})"), r"<mi>\1</mi>"),
    (re.compile(rf"({FUNCTION})(?=<m(?!o\b)|<mo>(?:max|min|sup))"), rf"\1{THIN}"),
    (re.compile(rf"(</m(?:i|n|sub|sup|subsup|sqrt|frac)>)(?={FUNCTION})"), rf"\1{THIN}"),
    (re.compile(r">\\([{}])</mo>"), r">\1</mo>"),
    (re.compile("<mi>&#x029F5;</mi>"), "<mo>&#x02216;</mo>"),  # a glyph that more fonts have
    (re.compile("<mi>:</mi><mo>&#x0003D;</mo>"), "<mo>:=</mo>"),
    (re.compile("<mi>&#x02032;</mi>"), '<mo lspace="0" rspace="0">&#x02032;</mo>'),
]


def mathml(latex: str, display: str, node: nodes.Node) -> str:
    """The formula as MathML, or as its source, with a warning, if it is not understood."""
    try:
        return refined(convert(latex, display=display))
    except Exception as error:  # noqa: BLE001 - the package raises many kinds of errors
        LOGGER.warning("formula %r: %r", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def refined(formula: str) -> str:
    """The formula with the spaces and names that TeX would give it."""
    for pattern, replacement in REFINEMENTS:
        if replacement == "letters":
            formula = pattern.sub(lambda m: f"<mi>{re.sub('<[^>]*>', '', m[1])}</mi>", formula)
        else:
            formula = pattern.sub(replacement, formula)
    return formula


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
