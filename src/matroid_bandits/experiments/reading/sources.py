"""Reads the matroid of an instance: from a name, a table, files or other matroids."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits import catalog
from matroid_bandits._arguments import abbreviated
from matroid_bandits._plain_data import with_tuples
from matroid_bandits.experiments.reading.classes import (
    class_at,
    is_own,
    own_object,
    parameters_for,
    with_call_parameters,
)
from matroid_bandits.experiments.reading.files import (
    PARAMETERS,
    Columns,
    matroid_parameter,
    read_csv,
    read_graph,
)
from matroid_bandits.experiments.reading.generated import generated_at
from matroid_bandits.experiments.reading.movies import USUAL, Movies
from matroid_bandits.experiments.reading.sections import Place, Section
from matroid_bandits.experiments.study import StudyError
from matroid_bandits.matroids import GraphicMatroid, Matroid, OracleMatroid
from matroid_bandits.matroids.by_name import matroid_class, name_of_class
from matroid_bandits.problem import Problem
from matroid_bandits.specs.matroids import OF_ONE, OF_SEVERAL

__all__ = ["MissingFileError", "Source", "source_at"]


class MissingFileError(StudyError):
    """A file that need not be there is not: the instance is left out."""


@dataclass(frozen=True)
class Source:
    """A matroid, and what came with it.

    Attributes
    ----------
    matroid : Matroid
    text : str
        Its name, if the instance has no other.
    columns : Columns, optional
        Other columns of its file.
    means : numpy.ndarray, optional
        Means that come with it.
    warning, data : str
        As in :class:`~matroid_bandits.experiments.Instance`.
    sense : {"max", "min"}, optional
        The sense of a problem; None for a matroid.
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
    graphs: Path | None = None,
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
    graphs : Path, optional
        A folder with graph files that are not beside the study.

    Raises
    ------
    MissingFileError
        If an optional file is not there.
    """
    value = section.required("matroid", 'matroid = "K20"')
    return _Reader(seed, means_column, movies, graphs).read(section, ("matroid",), value)


@dataclass(frozen=True)
class _Reader:
    """Reads the matroid of an instance, which may be made of others."""

    seed: int
    means_column: str | None
    movies: Movies
    graphs: Path | None

    def read(self, section: Section, place: Place, value: Any) -> Source:
        """The matroid that `value`, found at a place of `section`, describes."""
        if isinstance(value, Matroid):
            return Source(value, repr(value))
        if isinstance(value, Problem):
            # A study has no use for the names of its elements.
            return Source(value.matroid, repr(value.matroid), sense=value.sense)
        if not isinstance(value, str):
            return self._table(section.section(*place, values=value))
        text = value.replace(" ", "")
        if is_own(value):
            table = section.section(*place, values={"type": value})
            return replace(self._family(table), text=text)
        return Source(section.call(place, partial(catalog.matroid, value, seed=self.seed)), text)

    def _table(self, section: Section) -> Source:
        if "graph" in section:
            return _graph(section, self.graphs)
        if "movielens" in section:
            return _movies(section, self.movies)
        if "generate" in section:
            return Source(*generated_at(section, self.seed))
        for operation in (*OF_ONE, *OF_SEVERAL):
            if operation in section and "type" not in section:
                return self._composition(section, operation)
        return self._family(section)

    def read_all(self, section: Section, key: str) -> list[Source]:
        """The matroids in the list at `key`."""
        entries = enumerate(section.list(key, f'{key} = ["K5", "U(2,4)"]'))
        return [self.read(section, (key, i), entry) for i, entry in entries]

    def _all(self, section: Section, key: str) -> list[Matroid]:
        return [source.matroid for source in self.read_all(section, key)]

    def _composition(self, section: Section, operation: str) -> Source:
        """A matroid made of others: ``{ dual = "K5" }``, ``{ sum = ["K4", "U(2,4)"] }``."""
        if operation in OF_SEVERAL:
            section.check_keys((operation,))
            parts = self.read_all(section, operation)
            make = OF_SEVERAL[operation]
            matroid = section.call(operation, make, *(part.matroid for part in parts))
            return Source(matroid, _SIGNS[operation].join(part.text for part in parts))
        argument = OF_ONE[operation]
        section.check_keys((operation, argument) if argument else (operation,))
        inner = self.read(section, (operation,), section.value(operation))
        method = getattr(inner.matroid, operation)
        if argument is None:
            return replace(
                inner, matroid=section.call(operation, method), text=f"dual({inner.text})"
            )
        given = section.required(argument, _EXAMPLES[argument].format(operation))
        matroid = section.call(argument, method, given)
        if argument == "rank":
            return replace(inner, matroid=matroid, text=f"truncate({inner.text},{given})")
        kept = np.arange(inner.matroid.size)
        kept = kept[np.isin(kept, given, invert=operation != "restrict")]
        columns = inner.columns
        if columns is not None and columns.n_rows == inner.matroid.size:
            columns = columns.part(kept.tolist())
        return replace(
            inner,
            matroid=matroid,
            text=f"{operation}({inner.text},{_short_list(given)})",
            columns=columns,
            means=None if inner.means is None else inner.means[kept],
        )

    def _family(self, section: Section) -> Source:
        """By a class and its parameters."""
        section.required(
            "type", 'type = "uniform"; a table may also begin with ' + ", ".join(_TABLES)
        )
        if section.value("type") == "python":
            raise section.error(
                "a matroid that is written in Python is given by its class or its function, such "
                'as "file.py:Class"',
                "type",
            )
        section, _ = with_call_parameters(section, ("type",))
        cls: type[Any] = class_at(section, matroid_class, catalog.MATROIDS)
        if not issubclass(cls, Matroid):
            raise section.error(f"{cls.__name__} is not a matroid: derive it from Matroid", "type")
        several = inspect.signature(cls).parameters.get("matroids")
        is_variadic = several is not None and several.kind is several.VAR_POSITIONAL
        exclude = ("type", "matroids") if is_variadic else ("type",)
        parameters = parameters_for(cls, section, exclude=exclude)
        parts: list[Matroid] = []
        if is_variadic:
            parts = self._all(section, "matroids")
        elif "matroids" in parameters:
            parameters["matroids"] = self._all(section, "matroids")
        if "matroid" in parameters:
            inner = self.read(section, ("matroid",), parameters["matroid"])
            parameters["matroid"] = inner.matroid
        columns = None
        for key in PARAMETERS:
            if _is_csv(parameters.get(key), cls):
                parameters[key], columns = _from_csv(section, key, self.means_column)
        if name_of_class(cls):
            # Labels may be tuples, which files write as lists.
            lists = {key: partial(with_tuples, value) for key, value in parameters.items()}
            parameters = {key: section.call(key, read) for key, read in lists.items()}
        if cls is OracleMatroid:
            parameters["is_independent"] = _function_at(section, "is_independent")
        make: Callable[..., Matroid] = cls
        matroid = section.call(None, partial(make, *parts, **parameters))
        return Source(matroid, f"{name_of_class(cls) or cls.__name__}({matroid.size})", columns)


_EXAMPLES = {"rank": '{{ {} = "K5", rank = 2 }}', "elements": '{{ {} = "K5", elements = [0, 1] }}'}
# The sign between several matroids.
_SIGNS = {"sum": "+", "union": "|"}
_TABLES = ("graph", "movielens", *OF_ONE, *OF_SEVERAL, "generate")


def _short_list(elements: Sequence[int]) -> str:
    return ",".join(map(str, elements)) if len(elements) <= 6 else f"{len(elements)} elements"


def _is_csv(value: Any, cls: type) -> bool:
    """Whether a parameter is in a file; a class of the user may take texts and tables itself."""
    if name_of_class(cls):
        return isinstance(value, (str, Mapping))
    return isinstance(value, Mapping) and "csv" in value


def _function_at(section: Section, key: str) -> Any:
    value = section.value(key)
    if callable(value):
        return value
    if not isinstance(value, str) or not is_own(value):
        raise section.error(
            f'must be a function, such as "file.py:function", got {abbreviated(value)}', key
        )
    return own_object(section, key, value, kind="function", is_kind=callable)


def _graph(section: Section, folder: Path | None) -> Source:
    section.check_keys(("graph", "format", "optional"))
    elsewhere = None if folder is None else folder / section.text("graph")
    if elsewhere is not None and elsewhere.is_file():
        path = elsewhere
    else:
        try:
            path = section.file("graph")
        except StudyError:
            if not section.flag("optional"):
                raise
            where = "the study is" if folder is None else f"the study is, nor in {folder}"
            raise MissingFileError(
                f"there is no file {section.text('graph')} where {where}; say in which folder it "
                "is: --graphs FOLDER"
            ) from None
    edges, columns = section.call(
        "graph", partial(read_graph, path, kind=section.text("format") or None)
    )
    return Source(GraphicMatroid(edges), path.stem, columns)


def _movies(section: Section, movies: Movies) -> Source:
    section.check_keys(("movielens", "choose", "path"))
    path = section.file("path", or_folder=True) if "path" in section else None
    number = section.integer("movielens", 100, minimum=1)
    way = section.text("choose", "most-rated")
    chosen, warning = section.call("movielens", movies.choose, number, way, path)
    return Source(
        chosen.matroid,
        f"{number} invented movies" if warning else f"{number} {way} movies of {chosen.name}",
        means=chosen.means,
        warning=warning,
        data="" if chosen.name == USUAL else chosen.name,
    )


def _from_csv(section: Section, key: str, means_column: str | None) -> tuple[Any, Columns]:
    """The value of a matroid's parameter, and the file it is in."""
    value = section.value(key)
    inner = section.section(key, values={"csv": value} if isinstance(value, str) else value)
    inner.check_keys(("csv", "columns"))
    inner.required("csv", f'{key} = "{key}.csv"')
    data: Columns = inner.call("csv", read_csv, inner.file("csv"))
    chosen = inner.list("columns", '["a", "b"]') if "columns" in inner else None
    read = partial(matroid_parameter, key, data, chosen, other_than=means_column)
    return section.call(key, read), data
