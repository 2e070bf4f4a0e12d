"""The pages of a report's figures: parts of the results that are drawn together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from matroid_bandits.experiments.reading.figures import figure_slug
from matroid_bandits.experiments.storing.results import Results

__all__ = ["KindOfReport", "Page", "pages"]

# The page of policies that no other page has.
_OTHERS = {"regret": "other policies", "identification": "other rules"}


@dataclass(frozen=True)
class KindOfReport:
    """What the report of one kind of study has of its own.

    Attributes
    ----------
    content : callable
        Variables of the templates, from the results and their summary.
    figures : dict of str to callable
        The figures of a page, by name.
    about_page : callable
        Variables of a page.
    templates : dict of str to str
        Name of a file to that of its template.
    players : (str, str)
        What is compared, one and several.
    """

    content: Callable[[Results, pd.DataFrame], dict[str, Any]]
    figures: Mapping[str, Callable[[Results], Figure]]
    about_page: Callable[[Results], dict[str, Any]]
    templates: Mapping[str, str]
    players: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Page:
    """Results that are drawn together.

    Attributes
    ----------
    name : str
        Heading; empty if this is the only page.
    results : Results
        Only the policies and instances of the page; policies in the order of their colors.
    """

    name: str
    results: Results

    def file_name(self, figure: str) -> str:
        """The name of a figure's file on this page, without its ending."""
        return f"{figure}-{figure_slug(self.name)}" if self.name else figure


def pages(results: Results) -> list[Page]:
    """What ``[[figures]]`` of the study names, or one page of everything.

    Policies and instances without runs are left out, and so are pages whose policies and instances
    are all on another page. Policies that are on no page get a page of their own.
    """
    figures = results.study.get("figures") or []
    if not figures:
        return [Page("", results)]
    found: list[Page] = []
    for figure in figures:
        page = _page(results, figure["name"], figure["policies"], figure["instances"])
        if not page.results.runs.empty:
            found.append(page)
    found = [page for i, page in enumerate(found) if not _is_superfluous(page, i, found)]
    drawn = {policy for page in found for policy in page.results.runs["policy"]}
    others = [name for name in results.study["identity"]["policies"] if name not in drawn]
    rest = _page(results, _OTHERS[results.kind], others, None)
    if not rest.results.runs.empty:
        found.append(rest)
    return found if len(found) > 1 else [Page("", page.results) for page in found]


def _page(results: Results, name: str, policies: list[str], instances: list[str] | None) -> Page:
    identity: dict[str, Any] = results.study["identity"]
    wanted = list(identity["instances"]) if instances is None else instances

    def mine(table: Any) -> Any:
        return table[table["policy"].isin(policies) & table["instance"].isin(wanted)]

    runs = mine(results.runs)
    here, there = set(runs["policy"]), set(runs["instance"])
    part = identity | {
        "policies": {p: identity["policies"][p] for p in policies if p in here},
        "instances": {i: origin for i, origin in identity["instances"].items() if i in there},
    }
    return Page(
        name,
        replace(
            results,
            runs=runs,
            curves=mine(results.curves),
            study=results.study | {"identity": part},
        ),
    )


def _is_superfluous(page: Page, place: int, every: list[Page]) -> bool:
    """Whether another page has all that is drawn here."""
    mine = _content(page)
    for i, other in enumerate(every):
        theirs = _content(other)
        if i != place and mine <= theirs and (mine != theirs or i < place):
            return True
    return False


def _content(page: Page) -> set[tuple[str, str]]:
    runs = page.results.runs
    return set(zip(runs["instance"], runs["policy"], strict=True))
