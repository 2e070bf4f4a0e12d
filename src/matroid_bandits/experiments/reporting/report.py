"""The report of a study: tables, figures and sentences, from stored results alone."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, Undefined
from markupsafe import Markup

from matroid_bandits.experiments.analysis.formatting import count, duration
from matroid_bandits.experiments.analysis.losses import change_text, changing_instances, losses
from matroid_bandits.experiments.analysis.summary import instances_with_costs, summarize
from matroid_bandits.experiments.reading.late import delay_text
from matroid_bandits.experiments.reporting.escaping import csv_cell, markdown, tex
from matroid_bandits.experiments.reporting.identification_pages import IDENTIFICATION
from matroid_bandits.experiments.reporting.pages import KindOfReport, pages
from matroid_bandits.experiments.reporting.plots import FORMATS, saved
from matroid_bandits.experiments.reporting.regret_pages import REGRET
from matroid_bandits.experiments.storing.json_files import unwritable, write_atomically
from matroid_bandits.experiments.storing.provenance import SESSION_KEYS
from matroid_bandits.experiments.storing.results import Results, gather
from matroid_bandits.experiments.study import Kind, StudyError, counted

__all__ = ["Report", "write_report"]

# The table of instances, which all studies have.
_INSTANCES = "table-instances.tex"

# A report lists so many sessions; more are put together.
_MOST_SESSIONS = 20

# What sessions have in common that are put together.
_ORIGIN = SESSION_KEYS - {"started", "command", "jobs"}


@dataclass(frozen=True, eq=False)
class Report:
    """The report that was written.

    Attributes
    ----------
    files : list of Path
    findings : list of str
        The results in sentences.
    warnings : list of str
        What readers must know before they use the numbers.
    table : pandas.DataFrame
        One line per instance and policy; also in ``table.csv``.
    kind : {"regret", "identification"}
        What the study is about.
    """

    files: list[Path]
    findings: list[str]
    warnings: list[str]
    table: pd.DataFrame
    kind: Kind = "regret"

    def __repr__(self) -> str:
        folder = f", folder={str(self.files[0].parent)!r}" if self.files else ""
        return (
            f"Report({counted(len(self.files), 'files')}, "
            f"{counted(len(self.findings), 'findings')}, "
            f"{counted(len(self.warnings), 'warnings')}{folder})"
        )


def write_report(folder: str | PathLike[str]) -> Report:
    """Write tables, figures and report into a study's folder; nothing is run.

    ``report.html`` (one file, opens without a network), ``report.md``, ``table.csv``,
    ``table.tex`` and ``table-instances.tex`` (they need the package booktabs), ``figure-regret``
    and ``figure-oracle-calls`` as png, svg and pdf, or several of each where the study has
    ``[[figures]]``. Where means change, ``table-losses.csv`` has the loss per round before and
    after. The figure of a study of identification is ``figure-stopping-times``.

    Parameters
    ----------
    folder : str or path
        Where :func:`~matroid_bandits.experiments.run_study` has put the results.
    """
    results = gather(folder)
    if results.runs.empty:
        raise StudyError(f"{results.folder} has no finished run yet")
    kind = IDENTIFICATION if results.kind == "identification" else REGRET
    table = summarize(results)
    files: dict[str, bytes] = {"table.csv": table.map(csv_cell).to_csv(index=False).encode()}
    if changing_instances(results):
        lost = losses(results).map(csv_cell)
        files["table-losses.csv"] = lost.to_csv(index=False).encode()
    content = _content(results, table, kind)
    for page in pages(results):
        entry: dict[str, Any] = {"name": page.name, **kind.about_page(page.results)}
        for what, draw in kind.figures.items():
            name = page.file_name(f"figure-{what.replace('_', '-')}")
            figure = draw(page.results)
            files |= {f"{name}.{kind}": saved(figure, kind) for kind in FORMATS}
            entry[what] = name
            entry[f"{what}_address"] = _data_address(files[f"{name}.svg"])
        content["pages"].append(entry)
    for name, template in (*kind.templates.items(), (_INSTANCES, _INSTANCES)):
        files[name] = _render(template, content)
    for name, data in files.items():
        try:
            write_atomically(results.folder / name, data)
        except OSError as error:
            raise unwritable(results.folder / name, error) from error
    return Report(
        files=[results.folder / name for name in sorted(files)],
        findings=content["findings"],
        warnings=content["warnings"],
        table=table,
        kind=results.kind,
    )


def _content(results: Results, table: pd.DataFrame, kind: KindOfReport) -> dict[str, Any]:
    """The variables of the templates."""
    study = results.study
    identity = study["identity"]
    shown = {entry["name"]: entry for entry in study["instances"]}
    first, last = identity["seed"], identity["seed"] + identity["runs"] - 1
    bounded = bool(table["lower_bound"].notna().any())
    return {
        "title": study["title"],
        "warnings": [
            *(f"{name}: {entry['warning']}" for name, entry in shown.items() if entry["warning"]),
            # Folders of older versions do not say.
            *study.get("left_out", ()),
            *results.warnings,
            *_mixed(results),
        ],
        "bounded": bounded,
        "costs": bool(instances_with_costs(results)),
        "stopping": results.kind == "identification",
        "player": kind.players[0],
        "players": kind.players[1],
        "changing": bool(changing_instances(results)),
        "delayed": any("delay" in origin for origin in identity["instances"].values()),
        "pages": [],
        "instances": _instances(study),
        # Folders of older versions have no counts.
        "counted": all("n_bases" in entry for entry in shown.values()),
        "uncounted": any(entry.get("n_bases") is None for entry in shown.values()),
        "seeds": str(first) if first == last else f"{first} to {last}",
        # Of policies that were hard to tell apart.
        "last_seed": int(results.runs["seed"].max()),
        "more_seeds": int(results.runs["seed"].max()) > last,
        "sessions": _sessions(results),
        "identity": json.dumps(identity, indent=1, ensure_ascii=False),
        **kind.content(results, table),
    }


def _instances(study: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = {entry["name"]: entry for entry in study["instances"]}
    return [
        {
            "name": name,
            "matroid": origin["matroid"],
            "means": "costs" if origin.get("sense") == "min" else "rewards",
            "delay": delay_text(origin.get("delay")),
            "change": change_text(origin),
            "size": f"{origin['size']:,}",
            "rank": f"{origin['rank']:,}",
            "n_bases": count(entries[name].get("n_bases")) or "*",
            "horizon": f"{origin['horizon']:,}",
            "delta": f"{origin['delta']:g}" if "delta" in origin else "",
            "threshold": origin.get("threshold", ""),
            "note": " ".join(entries[name]["note"].split()),
        }
        for name, origin in study["identity"]["instances"].items()
    ]


def _sessions(results: Results) -> list[dict[str, Any]]:
    """The sessions with their numbers of runs; many on equal machines are one line."""
    counts = results.runs["session"].value_counts()
    found = [
        {**session, "runs": int(counts.get(session["name"], 0)), "took": _took(session)}
        for session in results.sessions
    ]
    if len(found) <= _MOST_SESSIONS:
        return found
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for session in found:
        alike.setdefault(tuple(session[key] for key in sorted(_ORIGIN)), []).append(session)
    return [
        group[0]
        | {
            "runs": sum(session["runs"] for session in group),
            "took": "",
            "command": f"{group[0]['command']} (the first of {len(group)} sessions)",
            "host": f"{len({session.get('host') for session in group})} hosts",
        }
        for group in alike.values()
    ]


def _took(session: Mapping[str, Any]) -> str:
    elapsed = session.get("last_run", session.get("elapsed"))
    if elapsed is None:
        return "cut off"
    return duration(elapsed) if "ended" in session else f"cut off after {duration(elapsed)}"


def _mixed(results: Results) -> list[str]:
    """A warning if runs were made by different versions, which need not give the same numbers."""
    versions = dict.fromkeys(
        f"matroid-bandits {session['matroid-bandits']}, commit {session['commit'] or 'unknown'}, "
        f"NumPy {session['numpy']}"
        for session in _sessions(results)
        if session["runs"]
    )
    if len(versions) < 2:
        return []
    return [f"runs come from different versions: {'; '.join(versions)}"]


def _render(name: str, content: Mapping[str, Any]) -> bytes:
    is_tex = name.endswith(".tex")
    environment = Environment(
        loader=PackageLoader("matroid_bandits.experiments.reporting"),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_escaped_markdown if name.endswith(".md") else None,
        # Braces are TeX's own.
        variable_start_string="<<" if is_tex else "{{",
        variable_end_string=">>" if is_tex else "}}",
        block_start_string="<%" if is_tex else "{%",
        block_end_string="%>" if is_tex else "%}",
    )
    environment.filters["tex"] = tex
    return environment.get_template(f"{name}.jinja").render(content).encode()


def _escaped_markdown(value: Any) -> Any:
    """Whatever a template inserts is escaped, unless it is marked as safe there."""
    return value if isinstance(value, (Markup, Undefined)) else markdown(str(value))


def _data_address(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
