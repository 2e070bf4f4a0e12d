"""Reads ``[[figures]]`` of a study: which policies are drawn together, and where."""

from collections.abc import Mapping

from matroid_bandits.experiments.reading.kinds import REGRET, KindOfStudy
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.experiments.study import FigureSpec, normalized, same_policy, slug

__all__ = ["figures_at"]


def figures_at(
    top: Section, known: Mapping[str, list[str]], kind: KindOfStudy = REGRET
) -> tuple[FigureSpec, ...]:
    """The pages of figures that a study names; empty if it names none.

    Parameters
    ----------
    top : Section
        The study.
    known : dict of str to list of str
        The names of its instances and policies, under ``instance`` and ``policy``.
    kind : KindOfStudy
        That of the study.
    """
    if "figures" not in top:
        return ()
    figures: list[FigureSpec] = []
    players, some = kind.players, f"{kind.players} = {kind.example}"
    for i, entry in enumerate(top.list("figures", f'[{{ name = "indices", {some} }}]')):
        section = top.section("figures", i, values=entry)
        section.check_keys(("name", players, "instances"))
        section.required("name", 'name = "indices"')
        section.required(players, some)
        name = section.name("name", "")
        if any(figure_slug(name) == figure_slug(figure.name) for figure in figures):
            raise section.error(f"{name!r} is there twice; give one of them another name", "name")
        policies = section.chosen(players, known["policy"], what=kind.player, same=same_policy)
        instances = section.chosen(
            "instances", known["instance"], what="an instance", same=_same_instance
        )
        figures.append(FigureSpec(name, policies or (), instances))
    return tuple(figures)


def figure_slug(name: str) -> str:
    """The name of a page as part of the names of its files."""
    return slug(name).lower()


def _same_instance(name: str, wanted: str) -> bool:
    return normalized(name) == normalized(wanted)
