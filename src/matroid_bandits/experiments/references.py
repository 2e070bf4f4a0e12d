"""Published figures that a study is compared with."""

from collections.abc import Mapping
from typing import Any

from matroid_bandits._arguments import suggestion
from matroid_bandits.experiments.reading.files import Columns, read_csv
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.experiments.study import MEASURES, Reference, StudyError

__all__ = ["reference_at"]

_KEYS = ("instance", "policy")
_NUMBERS = ("horizon", *MEASURES)


def reference_at(section: Section, names: Mapping[str, list[str]]) -> Reference:
    """The figures that `section` names.

    Parameters
    ----------
    section : Section
        The table ``[reference]``.
    names : dict of str to list of str
        Names of the study's instances and policies.
    """
    section.check_keys(("source", "machine", "figures", "within"))
    section.required("figures", 'figures = "table-1.csv"')
    data: Columns = section.call("figures", read_csv, section.file("figures"))
    within = section.section("within", values=section.value("within", {}))
    within.check_keys(MEASURES)
    for measure, factor in within.parameters().items():
        if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not factor >= 1:
            raise within.error(f"must be a factor of at least 1, got {factor!r}", measure)
    section.call("figures", _check, data, names)
    return Reference(
        source=section.text("source", "published"),
        machine=section.text("machine", "another machine"),
        within=within.parameters(),
        rows=tuple(section.call("figures", _rows, data)),
    )


def _check(data: Columns, names: Mapping[str, list[str]]) -> None:
    """Refuse unknown columns, instances and policies, and lines given twice."""
    for column in data.columns:
        if column not in (*_KEYS, *_NUMBERS):
            hint = suggestion(column, (*_KEYS, *_NUMBERS))
            raise StudyError(f"{data.path}: unknown column {column!r}; {hint}")
    for key in _KEYS:
        for i, name in enumerate(data.column(key)):
            if name not in names[key]:
                hint = suggestion(name, names[key])
                raise StudyError(f"{data.place(i, key)}: unknown {key} {name!r}; {hint}")
    lines = list(zip(*(data.column(key) for key in (*_KEYS, "horizon")), strict=True))
    for i, line in enumerate(lines):
        if line in lines[:i]:
            raise StudyError(f"{data.place(i, 'instance')}: {', '.join(line)} is there twice")


def _rows(data: Columns) -> list[dict[str, Any]]:
    """Lines as dictionaries; what was not published is left out."""
    rows: list[dict[str, Any]] = [
        dict(zip(_KEYS, pair, strict=True)) for pair in zip(*map(data.column, _KEYS), strict=True)
    ]
    for measure in _NUMBERS:
        optional = measure in MEASURES
        for i, value in enumerate(data.numbers(measure, optional=optional)):
            if value <= 0:
                raise StudyError(f"{data.place(i, measure)}: must be positive, got {value:g}")
            if value > 0:  # not NaN, which means an empty cell
                rows[i][measure] = float(value) if optional else int(value)
    return rows
