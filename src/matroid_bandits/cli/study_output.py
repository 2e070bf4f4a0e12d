"""What the commands for studies print."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from matroid_bandits._tables import aligned
from matroid_bandits.cli.texts import echo, plus_minus

if TYPE_CHECKING:
    from matroid_bandits.experiments import Instance, Plan, Report, RunsFailedError, Study

__all__ = ["headline", "print_failures", "print_list", "print_plan", "print_report", "warn"]

# So many runs that failed are listed.
_SHOWN_FAILURES = 10


def headline(study: "Study") -> str:
    """The study in a line."""
    numbers = [(len(study.instances), "instance"), (study.runs, "run")]
    instances, runs = (f"{n:,} {what}{'s' * (n > 1)}" for n, what in numbers)
    policies = ", ".join(policy.name for policy in study.policies)
    if len(study.policies) > 6:
        players = "policies" if study.kind == "regret" else "rules"
        policies = f"{len(study.policies)} {players}"
    return f"{study.title}: {instances}, {policies}, {runs} each"


def print_list(study: "Study") -> None:
    """What would be run."""
    from matroid_bandits.experiments.reading.late import delay_text  # noqa: PLC0415

    echo(headline(study))
    is_regret = study.kind == "regret"
    header = ["instance", "elements", "rank", "rounds" if is_regret else "limit"]
    rows = [
        [i.name, f"{i.matroid.size:,}", f"{i.matroid.rank:,}", f"{i.horizon:,}"]
        for i in study.instances
    ]
    header += [] if is_regret else ["delta", "threshold"]
    rows = [[*row, *_stopping(i)] for row, i in zip(rows, study.instances, strict=True)]
    if any(i.sense == "min" for i in study.instances):
        header.append("means")
        for row, i in zip(rows, study.instances, strict=True):
            row.append("costs" if i.sense == "min" else "rewards")
    if any(i.delay is not None for i in study.instances):
        header.append("delay")
        for row, i in zip(rows, study.instances, strict=True):
            row.append(delay_text(i.origin.get("delay")))
    if any(i.policies is not None for i in study.instances):
        header.append("policies" if is_regret else "rules")
        for row, i in zip(rows, study.instances, strict=True):
            row.append("all" if i.policies is None else ", ".join(i.policies))
    for line in aligned([header, *rows], left=(0,)):
        echo(f"  {line}")
    for line in study.left_out:
        echo(line)


def _stopping(instance: "Instance") -> list[str]:
    """When the runs of an instance of identification end; empty for others."""
    if instance.stopping is None:
        return []
    return [f"{instance.stopping.delta:g}", instance.stopping.threshold]


def print_plan(study: "Study", plan: "Plan", folder: Path, *, is_download: bool) -> None:
    """How long a study would take; `is_download` if its movies would be downloaded."""
    from matroid_bandits.experiments.reading.movies import SYNTHETIC  # noqa: PLC0415

    echo(f"{headline(study)}, into {folder}")
    for line in [*plan.lines(), *study.left_out]:
        echo(line)
    if is_download and any(i.data == SYNTHETIC for i in study.instances):
        echo("MovieLens is not downloaded for a plan; the times are those of invented movies.")


def warn(warning: str) -> None:
    """Print a warning that cannot be overlooked."""
    lines = textwrap.wrap(f"WARNING: {warning}", 76)
    bar = "!" * 80
    echo("\n".join([bar, *(f"! {line}" for line in lines), bar]), error=True)


def print_failures(error: "RunsFailedError") -> None:
    """The traceback of the first run that failed, and the others in a line each."""
    first, *others = error.failures
    echo(f"{first.task} failed:\n{first.trace}", error=True)
    for failure in others[:_SHOWN_FAILURES]:
        echo(f"{failure.task} failed: {failure.error}", error=True)
    if len(others) > _SHOWN_FAILURES:
        echo(f"... and {len(others) - _SHOWN_FAILURES} more", error=True)


def print_report(report: "Report", *, quiet: bool) -> None:
    """The results in a table and in sentences, and the files of the report."""
    if not quiet:
        table = _table if report.kind == "regret" else _table_of_identification
        for line in table(report):
            echo(line)
        for paragraph in report.findings:
            echo("\n" + textwrap.fill(paragraph, 100))
        for warning in report.warnings:
            echo("")
            warn(warning)
        echo("")
    for file in report.files:
        echo(str(file))


def _table(report: "Report") -> list[str]:
    from matroid_bandits.experiments.analysis.formatting import number, ratio  # noqa: PLC0415
    from matroid_bandits.experiments.analysis.summary import records  # noqa: PLC0415

    compared = bool(report.table["published_oracle_calls"].notna().any())
    bounded = bool(report.table["lower_bound"].notna().any())
    header = ["instance", "policy", "runs", "regret"]
    header += ["/ bound"] if bounded else []
    header += ["seconds", "oracle calls"]
    header += ["paper", "ratio"] if compared else []
    rows = []
    for row in records(report.table):
        around = f" {plus_minus()} {number(row['regret_ci'])}" if row["runs"] > 1 else ""
        cells = [row["instance"], row["policy"], str(row["runs"])]
        cells += [number(row["regret"]) + around]
        cells += [number(row["regret_over_bound"])] if bounded else []
        cells += [number(row["seconds"]), number(row["oracle_calls"])]
        if compared:
            cells += [number(row["published_oracle_calls"]), ratio(row["ratio_oracle_calls"])]
        rows.append(cells)
    return aligned([header, *rows], left=(0, 1))


def _table_of_identification(report: "Report") -> list[str]:
    from matroid_bandits.experiments.analysis.summary import records  # noqa: PLC0415
    from matroid_bandits.experiments.reporting.identification_pages import (  # noqa: PLC0415
        cells_of_identification,
    )

    columns = {
        "instance": "instance",
        "policy": "rule",
        "runs": "runs",
        "settled": "settled",
        "rounds": "rounds",
        "range": "10 % to 90 %",
        "factor": "/ bound",
        "errors": "wrong",
        "interval": "95 % interval",
        "seconds": "seconds",
    }
    if not report.table["lower_bound"].notna().any():
        del columns["factor"]
    rows = [cells_of_identification(row) for row in records(report.table)]
    cells = [[row[name] for name in columns] for row in rows]
    return aligned([list(columns.values()), *cells], left=(0, 1))
