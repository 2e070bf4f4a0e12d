"""The result of a benchmark: one table per question, printed and stored for the docs."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import fill
from time import perf_counter

from matroid_bandits.experiments.storing.provenance import new_session

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "benchmarks"

# The page that uses a table, from the folder of the tables.
_PAGES = {
    "change": "../howto/change.md",
    "changing_means": "../howto/change.md",
    "compositions": "../reference/matroids.md",
    "decisions": "../howto/availability.md",
    "draws": "../explanation/rounds.md",
    "escb": "../explanation/escb.md",
    "exploring": "../explanation/rounds.md",
    "faster_cucb": "../explanation/faster-cucb.md",
    "features": "../howto/features.md",
    "growth": "../explanation/rounds.md",
    "identification": "../howto/identification.md",
    "index_growth": "../explanation/other-indices.md",
    "indices": "../explanation/other-indices.md",
    "installation": "../reference/installation.md",
    "joint": "../explanation/many-exchanges.md",
    "joint_calls": "../explanation/many-exchanges.md",
    "large_ranks": "../explanation/large-ranks.md",
    "live": "../howto/production.md",
    "omm": "../explanation/maub.md",
    "oracle_calls": "../explanation/lean-exchange.md",
    "propensities": "../howto/evaluation.md",
    "sagemath": "../explanation/compared-with.md",
    "scale_out": "../howto/cluster.md",
    "service": "../howto/service.md",
}
_SIGNS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


@dataclass(frozen=True)
class Table:
    """The answer to one question.

    Attributes
    ----------
    name : str
        File stem in ``docs/benchmarks/``.
    question : str
        The title.
    method : str
        What is compared, and how.
    columns, rows : list
        The table, its cells as they are shown.
    remarks : list of str
        Lines under the table.
    """

    name: str
    question: str
    method: str
    columns: list[str]
    rows: list[list[str]]
    remarks: list[str]


# ---- measuring ----


@dataclass(frozen=True)
class Timing:
    """The minimum and the median of some repeats, in seconds."""

    least: float
    median: float

    @classmethod
    def of(cls, times: list[float]) -> "Timing":
        """The median of all repeats."""
        return cls(min(times), median(times))


def in_turn(repeats: int, *functions: Callable[[], object]) -> list[Timing]:
    """The time of each function, all of them run one after the other, `repeats` times.

    A machine that is busy with other things for a while then slows all of them alike.
    """
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, own in zip(functions, times, strict=True):
            start = perf_counter()
            function()
            own.append(perf_counter() - start)
    return [Timing.of(own) for own in times]


# ---- cells ----


def seconds(value: float) -> str:
    """A time in the unit that suits it: ``0.35 s``, ``12 ms``, ``140 ns``."""
    for unit, size, least in (("s", 1, 0.1), ("ms", 1e-3, 1e-3), ("us", 1e-6, 1e-6)):
        if value >= least:
            number = value / size
            digits = 0 if number >= 10 else 1 if number >= 1 else 2
            return f"{number:.{digits}f} {unit}"
    return f"{1e9 * value:.0f} ns"


def goal(value: float, sign: str, limit: float) -> str:
    """The goal, and whether it is met: ``<= 2: met``."""
    return f"{sign} {limit:g}: {'met' if _SIGNS[sign](value, limit) else 'missed'}"


# ---- showing ----


def as_text(table: Table) -> str:
    """For a terminal."""
    widths = [max(map(len, column)) for column in _by_column(table)]
    rights = _right_aligned(table)
    lines = [
        "  ".join(
            f"{cell:{'>' if right else '<'}{width}}"
            for cell, width, right in zip(row, widths, rights, strict=True)
        ).rstrip()
        for row in (table.columns, *table.rows)
    ]
    return "\n".join([table.question, fill(table.method, 100), "", *lines, "", *table.remarks])


def as_markdown(table: Table) -> str:
    """For GitHub, with what the numbers were measured on."""
    rules = ["---:" if right else "---" for right in _right_aligned(table)]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (table.columns, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (cells[0], rules, *cells[1:])]
    machine = new_session(command=[])
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy"))
    measured = (
        f"Measured with matroid-bandits {machine['matroid-bandits']}, {versions}, on one core of "
        f"{machine['processor']}. Ratios carry over to other machines, seconds do not."
    )
    remarks = [f"- {remark}" for remark in (*table.remarks, measured)]
    head = [f"<!-- Generated by `make bench ARGS={table.name}`; do not edit. -->", ""]
    body = [f"# {table.question}", "", table.method, "", *lines, "", *remarks, ""]
    return "\n".join([*head, *body, *where_next(table.name), ""])


def where_next(name: str) -> list[str]:
    """The last section of the page: links to the other tables, and to the page that uses this."""
    lines = ["## Where to go next", "", "- [All tables, and how to read them](README.md)"]
    if name in _PAGES:
        title = (FOLDER / _PAGES[name]).read_text(encoding="utf-8").partition("\n")[0]
        lines.append(f"- [{title.removeprefix('# ')}]({_PAGES[name]})")
    return lines


def store(table: Table) -> Path:
    """Write the table into the docs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{table.name}.md"
    path.write_text(as_markdown(table), encoding="utf-8")
    return path


def _by_column(table: Table) -> list[tuple[str, ...]]:
    return list(zip(table.columns, *table.rows, strict=True))


def _right_aligned(table: Table) -> list[bool]:
    """Numbers are aligned to the right, text to the left."""
    return [
        i > 0 and not all(cell[:1].isalpha() for cell in column[1:])
        for i, column in enumerate(_by_column(table))
    ]
