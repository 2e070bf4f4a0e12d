"""Reads files of users: edges, vectors, neighbors, groups and means from CSV, and graphs.

A CSV file has a header line that names its columns, as pandas and R write it.
"""

import csv
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits.adapters._numbers import whole_as_integers
from matroid_bandits.experiments.study import StudyError

__all__ = ["PARAMETERS", "Columns", "matroid_parameter", "read_csv", "read_graph"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a file, one entry per line; of a graph, the attributes of its edges."""

    path: Path
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int] = field(default=())

    def column(self, name: str) -> Sequence[Any]:
        """The entries of the column called `name`."""
        if name not in self.columns:
            raise StudyError(
                f"{self.path} has no column {name!r}; {suggestion(name, self.columns)}"
                if self.columns
                else f"{self.path} has no columns"
            )
        return self.columns[name]

    def numbers(self, name: str, *, optional: bool = False) -> npt.NDArray[np.float64]:
        """The entries of a column of finite numbers; NaN for empty ones, if it is optional."""
        if optional and name not in self.columns:
            return np.full(len(self.lines), np.nan)
        values = np.full(len(self.column(name)), np.nan)
        for i, entry in enumerate(self.column(name)):
            if not (optional and entry == ""):
                values[i] = _number(entry, self.place(i, name))
        return values

    def filled(self, name: str) -> Sequence[Any]:
        """The entries of a column that has no empty ones."""
        for i, entry in enumerate(self.column(name)):
            if entry == "":
                raise StudyError(f"{self.place(i, name)}: is empty")
        return self.column(name)

    @property
    def n_rows(self) -> int:
        """The number of entries of every column."""
        return len(next(iter(self.columns.values()), ()))

    def part(self, rows: Sequence[int]) -> "Columns":
        """Some of the rows."""
        columns = {name: [column[i] for i in rows] for name, column in self.columns.items()}
        return Columns(self.path, columns, [self.lines[i] for i in rows] if self.lines else ())

    def place(self, i: int, name: str) -> str:
        """The place of an entry, for messages."""
        where = f"line {self.lines[i]}" if self.lines else f"edge {i}"
        return f"{self.path}, {where}, {name}"


def read_csv(path: Path) -> Columns:
    """The columns of a CSV file as texts."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            rows, lines = [], []
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise StudyError(
                        f"{path}, line {reader.line_num}: {len(row)} entries, but the header has "
                        f"{len(header)}: {', '.join(header)}"
                    )
                rows.append([entry.strip() for entry in row])
                lines.append(reader.line_num)
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not a text in UTF-8: {error}") from None
    except csv.Error as error:
        raise StudyError(f"{path} is not CSV: {error}") from None
    while rows and not any(rows[-1]):
        # Some spreadsheets add lines of commas.
        rows.pop()
        lines.pop()
    if not header:
        raise StudyError(f"{path} is empty; its first line must name the columns")
    doubled = [name for name in header if header.count(name) > 1]
    if doubled:
        raise StudyError(f"{path}: two columns are called {doubled[0]!r}")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(header)}
    return Columns(path, columns, lines)


# ---- parameters of matroids ----


def _edges(data: Columns, columns: Sequence[str]) -> list[tuple[Hashable, Hashable]]:
    if len(columns) != 2:
        raise StudyError(f"edges need two columns, got {abbreviated(list(columns))}")
    tails, heads = map(data.filled, columns)
    return list(zip(tails, heads, strict=True))


def _vectors(data: Columns, columns: Sequence[str]) -> list[list[float]]:
    if all(_is_number(name) for name in data.columns):
        raise StudyError(
            f"{data.path}: the first line must name the columns, got {', '.join(data.columns)}"
        )
    entries = [data.numbers(name) for name in columns]
    vectors: list[list[float]] = whole_as_integers(np.array(entries).T).tolist()
    return vectors


def _neighbors(data: Columns, columns: Sequence[str]) -> list[list[Hashable]]:
    """One line per pair; an element without neighbors has a line whose second entry is empty."""
    if len(columns) != 2:
        raise StudyError(f"neighbors need two columns, got {abbreviated(list(columns))}")
    elements, vertices = data.filled(columns[0]), data.column(columns[1])
    found: dict[Hashable, list[Hashable]] = {}
    for element, vertex in zip(elements, vertices, strict=True):
        found.setdefault(element, [])
        if vertex != "":
            found[element].append(vertex)
    return list(found.values())


def _groups(data: Columns, columns: Sequence[str]) -> list[Hashable]:
    if len(columns) != 1:
        raise StudyError(f"groups need one column, got {abbreviated(list(columns))}")
    names = data.filled(columns[0])
    # Numbers, so that capacities can be a list; names otherwise.
    are_numbers = all(name.isascii() and name.isdecimal() for name in names)
    return [int(name) for name in names] if are_numbers else list(names)


#: Parameters of matroids that may come from a file, how, and the columns they are in by default
#: (for vectors: all).
PARAMETERS: dict[str, tuple[Callable[[Columns, Sequence[str]], Any], tuple[str, ...]]] = {
    "edges": (_edges, ("source", "target")),
    "vectors": (_vectors, ()),
    "neighbors": (_neighbors, ("element", "neighbor")),
    "groups": (_groups, ("group",)),
}


def matroid_parameter(
    name: str, data: Columns, columns: Sequence[str] | None, *, other_than: str | None = None
) -> Any:
    """The value of a matroid's parameter from a file.

    Parameters
    ----------
    name : str
        One of `PARAMETERS`.
    data : Columns
        The file.
    columns : sequence of str, optional
        Where it is in the file.
    other_than : str, optional
        A column that holds something else.
    """
    read, usual = PARAMETERS[name]
    for column in columns or ():
        if not isinstance(column, str):
            raise StudyError(f"columns must be a list of names, got {abbreviated(column)} in it")
    if columns is None:
        columns = usual or [column for column in data.columns if column != other_than]
        missing = [column for column in columns if column not in data.columns]
        if missing:
            raise StudyError(
                f"{data.path} has no column {missing[0]!r} (it has {', '.join(data.columns)}); "
                f"say which to take: {name} = {{ csv = {data.path.name!r}, columns = [...] }}"
            )
    if not data.lines:
        raise StudyError(f"{data.path} has a header but no lines")
    return read(data, columns)


# ---- graphs ----

_SUFFIXES = {
    ".graphml": "graphml",
    ".gml": "gml",
    ".edgelist": "edgelist",
    ".edges": "edgelist",
    ".net": "pajek",
    ".paj": "pajek",
}


def read_graph(path: Path, *, kind: str | None = None) -> tuple[list[tuple[Any, Any]], Columns]:
    """The edges of a graph file with their attributes.

    Parameters
    ----------
    path : Path
        The file.
    kind : str, optional
        ``graphml``, ``gml``, ``edgelist`` (two ends and perhaps a ``weight`` a line) or
        ``pajek``; by default what the name of the file ends in.
    """
    kind = kind or _SUFFIXES.get(path.suffix.lower())
    kinds = sorted(set(_SUFFIXES.values()))
    if kind not in kinds:
        raise StudyError(
            f"{path}: say what it is, format = one of {', '.join(kinds)}"
            if kind is None
            else f"unknown graph format {kind!r}; {suggestion(kind, kinds)}"
        )
    try:
        import networkx as nx  # noqa: PLC0415  # an extra, for those who have graph files
    except ImportError:
        raise StudyError(
            "graph files need networkx: pip install 'matroid-bandits[graphs]'"
        ) from None
    read: Mapping[str, Callable[[Path], Any]] = {
        "graphml": nx.read_graphml,
        "gml": _read_gml,
        "edgelist": _read_edge_list,
        "pajek": nx.read_pajek,
    }
    try:
        graph = read[kind](path)
    except Exception as error:
        # Parsers of XML, Unicode and numbers raise exceptions of many kinds.
        raise StudyError(f"{path} cannot be read as {kind}: {error}") from error
    links = list(graph.edges(data=True))
    if graph.is_directed() or kind == "edgelist":
        links = _one_for_both_directions(links)
    if not links:
        raise StudyError(f"{path} has no edges")
    names = dict.fromkeys(name for *_, attributes in links for name in attributes)
    columns = {name: [attributes.get(name) for *_, attributes in links] for name in names}
    return [(tail, head) for tail, head, _ in links], Columns(path, columns)


def _one_for_both_directions(links: list[Any]) -> list[Any]:
    """A link given twice, in one or both directions, is one edge, unless its attributes differ."""
    kept: list[Any] = []
    seen: dict[frozenset[Any], list[Any]] = {}
    for tail, head, attributes in links:
        known = seen.setdefault(frozenset((tail, head)), [])
        if attributes not in known:
            known.append(attributes)
            kept.append((tail, head, attributes))
    return kept


def _read_gml(path: Path) -> Any:
    """With the labels of the nodes, or their numbers where they have none."""
    import networkx as nx  # noqa: PLC0415

    try:
        return nx.read_gml(path)
    except nx.NetworkXError:
        return nx.read_gml(path, label="id")


def _read_edge_list(path: Path) -> Any:
    """Lines of two ends, perhaps with a number, which becomes ``weight``, or a dictionary."""
    import networkx as nx  # noqa: PLC0415

    try:
        return nx.read_weighted_edgelist(path, create_using=nx.MultiGraph)
    except (TypeError, IndexError):
        return nx.read_edgelist(path, create_using=nx.MultiGraph)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(entry: Any, place: str) -> float:
    try:
        value = float(entry)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise StudyError(f"{place}: must be a finite number, got {entry!r}")
    return value
