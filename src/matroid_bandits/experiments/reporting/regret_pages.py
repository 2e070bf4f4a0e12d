"""What the report of a study of regret has of its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matroid_bandits.experiments.analysis.delay_costs import delay_costs
from matroid_bandits.experiments.analysis.formatting import as_printed, number, ratio
from matroid_bandits.experiments.analysis.losses import changes_of, loss_cells, losses
from matroid_bandits.experiments.analysis.summary import records
from matroid_bandits.experiments.reporting.findings import (
    NAMES,
    about_changes,
    about_costs,
    findings,
    span,
)
from matroid_bandits.experiments.reporting.pages import KindOfReport
from matroid_bandits.experiments.reporting.plots import (
    is_logarithmic,
    oracle_calls_figure,
    regret_figure,
)
from matroid_bandits.experiments.storing.results import Results
from matroid_bandits.experiments.study import MEASURES

__all__ = ["REGRET"]


def _content(results: Results, table: pd.DataFrame) -> dict[str, Any]:
    reference = results.study["reference"]
    compared = reference is not None and bool(
        table[[f"published_{measure}" for measure in MEASURES]].notna().to_numpy().any()
    )
    lost = losses(results)
    return {
        "findings": findings(results, table),
        "columns": _columns(compared=compared),
        "rows": [_cells(row, compared=compared) for row in records(table)],
        "compared": compared,
        "costs": about_costs(results),
        "delay_costs": delay_costs(results),
        "dynamic": about_changes(results),
        "has_changes": any(map(changes_of, results.study["identity"]["instances"].values())),
        "losses": loss_cells(lost),
        "settle": span(lost["settle"]) if len(lost) else "",
        "not_compared": reference is not None and not compared,
        "reference": reference,
        "measures": [NAMES[measure] for measure in MEASURES],
    }


def _about_page(results: Results) -> dict[str, Any]:
    return {"logarithmic": is_logarithmic(results)}


def _columns(*, compared: bool) -> list[str]:
    """What each measure's columns are called."""
    return ["here", "paper", "ratio"] if compared else ["here"]


def _cells(row: Mapping[str, Any], *, compared: bool) -> dict[str, Any]:
    measures = []
    for measure in MEASURES:
        cells = [number(row[measure])]
        if compared:
            cells += [as_printed(row[f"published_{measure}"]), ratio(row[f"ratio_{measure}"])]
        measures.append(cells)
    half = row["regret_ci"]
    return {
        "instance": row["instance"],
        "policy": row["policy"],
        "horizon": f"{row['horizon']:,}",
        "runs": row["runs"],
        "regret": number(row["regret"]),
        "half": number(half) if np.isfinite(half) else "",
        "bound": number(row["lower_bound"]),
        "factor": number(row["regret_over_bound"]),
        "measures": measures,
    }


REGRET = KindOfReport(
    content=_content,
    figures={"regret": regret_figure, "oracle_calls": oracle_calls_figure},
    about_page=_about_page,
    templates={name: name for name in ("report.html", "report.md", "table.tex")},
    players=("policy", "policies"),
)
