"""What the report of a study of identification has of its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matroid_bandits.experiments.analysis.formatting import number
from matroid_bandits.experiments.analysis.summary import records
from matroid_bandits.experiments.reporting.identification_findings import findings_of_identification
from matroid_bandits.experiments.reporting.pages import KindOfReport
from matroid_bandits.experiments.reporting.stopping_time_plots import stopping_time_figure
from matroid_bandits.experiments.storing.results import Results

__all__ = ["IDENTIFICATION", "cells_of_identification"]

_LEGEND = (
    "Rounds: the median of the runs; between the 10 % and the 90 % quantile are the middle 80 % of "
    "them. Observations: the median. A sign > means that the run in this place had reached the "
    "limit. Wrong answers: runs that ended with a basis that is not the best one, with the "
    "interval of Clopper and Pearson for their share."
)
_ABOUT_BOUND = (
    " Lower bound: the mean number of rounds that every rule needs, if it is wrong with "
    "probability delta at most (Garivier & Kaufmann 2016), the median of the runs; rounds / "
    "bound: the median of each run's own."
)


def cells_of_identification(row: Mapping[str, Any]) -> dict[str, str]:
    """A line of the summary as texts."""
    limit = row["limit"]
    factor = number(row["rounds_over_bound"])
    if np.isinf(row["rounds_over_bound"]):
        factor = f"> {number(row['least_over_bound'])}"
    low, high = (_at_most(row[name], limit) for name in ("rounds_10", "rounds_90"))
    answered = np.isfinite(row["error_rate"])
    return {
        "instance": row["instance"],
        "policy": row["policy"],
        "runs": str(row["runs"]),
        "settled": f"{100 * row['settled']:.0f} %",
        "rounds": _at_most(row["rounds"], limit),
        "range": low if low == high else f"{low} to {high}",
        "observations": f"> {number(row['least_observations'])}"
        if np.isinf(row["observations"])
        else number(row["observations"]),
        "errors": str(row["errors"]) if answered else "-",
        "interval": f"{_percent(row['error_low'])} to {_percent(row['error_high'])} %"
        if answered
        else "-",
        "bound": number(row["lower_bound"]),
        "factor": factor,
        "seconds": number(row["seconds"]),
    }


def _at_most(rounds: float, limit: int) -> str:
    """Rounds; those of a run that has reached the limit are more."""
    return f"> {limit:,}" if np.isinf(rounds) else number(rounds)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def _content(results: Results, table: pd.DataFrame) -> dict[str, Any]:
    bounded = bool(table["lower_bound"].notna().any())
    return {
        "findings": findings_of_identification(results, table),
        "rows": [cells_of_identification(row) for row in records(table)],
        "legend": _LEGEND + (_ABOUT_BOUND if bounded else ""),
    }


def _about_page(results: Results) -> dict[str, Any]:  # noqa: ARG001
    return {}


IDENTIFICATION = KindOfReport(
    content=_content,
    figures={"stopping_times": stopping_time_figure},
    about_page=_about_page,
    templates={
        "report.html": "identification.html",
        "report.md": "identification.md",
        "table.tex": "table-identification.tex",
    },
    players=("rule", "rules"),
)
