"""Where the matroid of an instance comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits import catalog
from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits.experiments.classes import parameters_for
from matroid_bandits.experiments.files import (
    PARAMETERS,
    Columns,
    matroid_parameter,
    read_csv,
    read_graph,
)
from matroid_bandits.experiments.movies import USUAL, Movies
from matroid_bandits.experiments.sections import Section
from matroid_bandits.matroids import GraphicMatroid, Matroid
from matroid_bandits.problem import Problem

__all__ = ["Source", "source_at"]


@dataclass(frozen=True)
class Source:
    """A matroid, and what came with it.

    Attributes
    ----------
    matroid : Matroid
    text : str
        What it is called where it has no other name.
    columns : Columns, optional
        Other columns of its file.
    means : numpy.ndarray, optional
        Means that belong to it.
    warning, data : str
        As in :class:`~matroid_bandits.experiments.Instance`.
    sense : {"max", "min"}, optional
        What it says itself about its means, if it is a problem.
    """

    matroid: Matroid
    text: str
    columns: Columns | None = None
    means: npt.NDArray[np.float64] | None = None
    warning: str = ""
    data: str = ""
    sense: Literal["max", "min"] | None = None


def source_at(
    section: Section,
    *,
    seed: int,
    means_column: str | None,
    movies: Movies,
) -> Source:
    """The matroid at the key ``matroid`` of an instance.

    Parameters
    ----------
    section : Section
        The instance.
    seed : int
        Seed of a random matroid.
    means_column : str, optional
        Column of the matroid's file that holds the means.
    movies : Movies
        Those of the study.
    """
    value = section.required("matroid", 'matroid = "K20"')
    if isinstance(value, Matroid):
        return Source(value, repr(value))
    if isinstance(value, Problem):
        # Its names are for people, of whom there are none in a study.
        return Source(value.matroid, repr(value.matroid), sense=value.sense)
    if isinstance(value, str):
        matroid = section.at("matroid", catalog.matroid, value, seed)
        return Source(matroid, value.replace(" ", ""))
    inner = section.section("matroid")
    if "graph" in inner:
        return _graph(inner)
    if "movielens" in inner:
        return _movies(inner, movies)
    return _family(inner, means_column)


def _graph(section: Section) -> Source:
    section.only(("graph", "format"))
    path = section.file("graph")
    edges, columns = section.at("graph", read_graph, path, section.text("format") or None)
    return Source(GraphicMatroid(edges), path.stem, columns)


def _movies(section: Section, movies: Movies) -> Source:
    section.only(("movielens", "choose", "path"))
    path = section.file("path", or_folder=True) if "path" in section else None
    number = section.integer("movielens", 100, minimum=1)
    way = section.text("choose", "most-rated")
    chosen, warning = section.at("movielens", movies.choose, number, way, path)
    return Source(
        chosen.matroid,
        f"{number} invented movies" if warning else f"{number} {way} movies of {chosen.name}",
        means=chosen.means,
        warning=warning,
        data="" if chosen.name == USUAL else chosen.name,
    )


def _family(section: Section, means_column: str | None) -> Source:
    """By a class and its parameters."""
    families = ", ".join(catalog.MATROIDS)
    family = section.required("type", f'type = "uniform" (or {families}), graph, movielens')
    if not isinstance(family, str) or family.lower() not in catalog.MATROIDS:
        hint = suggestion(str(family), catalog.MATROIDS)
        raise section.error(f"unknown matroid {abbreviated(family)}; {hint}", "type")
    cls = catalog.MATROIDS[family.lower()]
    parameters = parameters_for(cls, section, beside=("type",))
    columns = None
    for key in PARAMETERS:
        if isinstance(parameters.get(key), (str, Mapping)):
            parameters[key], columns = _from_csv(section, key, means_column)
    matroid = section.at(None, partial(cls, **parameters))
    return Source(matroid, f"{family.lower()}({matroid.size})", columns)


def _from_csv(section: Section, key: str, means_column: str | None) -> tuple[Any, Columns]:
    """The value of a matroid's parameter, and the file it is in."""
    value = section.value(key)
    inner = section.section(key, values={"csv": value} if isinstance(value, str) else value)
    inner.only(("csv", "columns"))
    inner.required("csv", f'{key} = "{key}.csv"')
    data: Columns = inner.at("csv", read_csv, inner.file("csv"))
    chosen = inner.list("columns", '["a", "b"]') if "columns" in inner else None
    read = partial(matroid_parameter, key, data, chosen, other_than=means_column)
    return section.at(key, read), data
