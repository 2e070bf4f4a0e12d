"""The pages of the dashboard: complete HTML documents that work without JavaScript."""

import re
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from matroid_bandits.service.dashboard.bars import IntervalScale, outcome_bar, outcomes
from matroid_bandits.service.dashboard.charts import decisions_chart, is_drawable, mean_chart
from matroid_bandits.service.dashboard.drawing import graph_drawing
from matroid_bandits.service.dashboard.formatting import (
    ago,
    count,
    duration,
    ends,
    iso_time,
    number,
    percent,
    short,
    utc,
)
from matroid_bandits.service.dashboard.reference import read_reference
from matroid_bandits.service.dashboard.views import BanditView, ElementView

__all__ = ["api_page", "bandit_page", "error_page", "list_page"]

# Control characters that HTML does not allow, and halves of surrogate pairs, which UTF-8 does not.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# So many elements of the leader are shown at once; the others are folded away.
_LEADER_SHOWN = 24


def list_page(views: list[BanditView], *, now: float) -> str:
    """The page of all bandits.

    Parameters
    ----------
    views : list of BanditView
        Their tables and series are not used.
    now : float
        Seconds since 1970.
    """
    return _render("list.html.jinja", views=views, now=now)


def bandit_page(view: BanditView, *, now: float) -> str:
    """The page of one bandit.

    Parameters
    ----------
    view : BanditView
    now : float
        Seconds since 1970.
    """
    word = "cost" if view.sense == "min" else "reward"
    series, scale = view.series, IntervalScale.of(view.elements)
    return _render(
        "bandit.html.jinja",
        view=view,
        now=now,
        word=word,
        outcomes=outcomes(view),
        outcome_bar=outcome_bar(view),
        leader=_leader(view),
        leader_shown=_LEADER_SHOWN,
        leading=set(view.leader or ()),
        scale=scale,
        # Numbers of a column have digits to about the same place.
        size=None if scale is None else scale.size,
        drawing=graph_drawing(view.graph, word=word) if view.graph else None,
        decisions_chart=decisions_chart(series, now=now) if series else None,
        mean_chart=mean_chart(series, now=now, word=word) if series else None,
    )


def error_page(status: int, message: str) -> str:
    """The page for a request that cannot be granted.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        A sentence.
    """
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Error"
    sentence = _begun(message.strip())
    if not sentence.endswith((".", "!", "?")):
        sentence += "."
    return _render("error.html.jinja", status=status, phrase=phrase, message=sentence)


def api_page(openapi: dict[str, Any]) -> str:
    """The reference of the HTTP interface.

    Parameters
    ----------
    openapi : dict
        The OpenAPI document.
    """
    return _render("api.html.jinja", reference=read_reference(openapi))


def _leader(view: BanditView) -> list[tuple[str, ElementView | None]]:
    """The elements of the leader, each with what is known about it."""
    rows = {e.label: e for e in view.elements if e.is_in_leader}
    return [(label, rows.get(label)) for label in view.leader or ()]


def _sum(leader: list[tuple[str, ElementView | None]]) -> float | None:
    """The sum of the means of the leader; None unless all are known."""
    means = [row.mean if row else None for _, row in leader]
    known = [mean for mean in means if mean is not None and is_drawable(mean)]
    return sum(known) if means and len(known) == len(means) else None


def _prose(text: str) -> Markup:
    """Paragraphs, with code between backquotes."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        pieces = re.split(r"`+([^`]+)`+", paragraph)
        marked = [
            Markup("<code>{}</code>").format(piece) if k % 2 else escape(piece)
            for k, piece in enumerate(pieces)
        ]
        paragraphs.append(Markup("<p>{}</p>").format(Markup("").join(marked)))
    return Markup("\n").join(paragraphs) if text.strip() else Markup("")


def _begun(text: str) -> str:
    """A text with a capital at its beginning, all other letters as they are."""
    return text[:1].upper() + text[1:]


def _segment(name: str) -> str:
    """A name as a part of an address; unlike the filter of Jinja2, a slash does not stay."""
    return quote(name, safe="", errors="replace")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("matroid_bandits.service.dashboard"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        ago=ago,
        begun=_begun,
        count=count,
        duration=duration,
        ends=ends,
        iso_time=iso_time,
        number=number,
        percent=percent,
        prose=_prose,
        segment=_segment,
        short=short,
        sum_of_means=_sum,
        utc=utc,
    )
    return environment


def _render(template: str, **content: Any) -> str:
    text = _environment().get_template(template).render(**content)
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
