"""What is lost in a round before means change, right after, and later."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matroid_bandits._types import FloatArray
from matroid_bandits.experiments.analysis.formatting import number, ratio
from matroid_bandits.experiments.analysis.summary import half_width
from matroid_bandits.experiments.changes import period_of, rounds_of, stretches
from matroid_bandits.experiments.storing.results import Results

__all__ = ["change_text", "changes_of", "changing_instances", "loss_cells", "losses"]

#: The stretches of rounds, as the table's columns are called.
STRETCHES = ("before", "right_after", "later")


def changing_instances(results: Results) -> list[str]:
    """The instances whose means change: their regret is dynamic."""
    instances = results.study["identity"]["instances"]
    return [name for name, origin in instances.items() if "settle" in origin]


def changes_of(origin: Mapping[str, Any]) -> list[int]:
    """The rounds of a run in which all means change at once."""
    given = origin["environment"]["parameters"].get("changes", ()) if "settle" in origin else ()
    return [change for change in rounds_of(given, origin["horizon"]) if change <= origin["horizon"]]


def change_text(origin: Mapping[str, Any]) -> str:
    """How the means of an instance change, for readers."""
    if "settle" not in origin:
        return "stay"
    environment = origin["environment"]
    parameters = environment["parameters"]
    name = str(environment["type"]).rpartition(":")[2].removesuffix("Environment").lower()
    if name == "piecewise":
        changes = changes_of(origin)
        if len(changes) == 1:
            return f"change in round {changes[0]:,}"
        return f"change {len(changes)} times" if changes else "stay"
    if name == "drifting":
        return f"drift, step {parameters['step']:g}"
    if name == "seasonal":
        return f"seasons of {period_of(parameters['period'], origin['horizon']):,g} rounds"
    return name


def losses(results: Results) -> pd.DataFrame:
    """Loss per round in the stretches of every changing instance, one line for each policy.

    Columns: ``instance, policy, runs, settle``; for each stretch the mean over the runs and half
    the width of its 95 % confidence interval (``_ci``), NaN for a stretch without rounds;
    ``factor`` is the loss later over that before the first change, with half of its interval.
    """
    instances = results.study["identity"]["instances"]
    rows = []
    for name in changing_instances(results):
        origin = instances[name]
        parts = stretches(changes_of(origin), origin["horizon"], origin["settle"])
        here = results.curves[results.curves["instance"] == name]
        for policy in results.study["identity"]["policies"]:
            curves = here[here["policy"] == policy].pivot_table(
                index="seed", columns="round", values="regret", observed=True
            )
            if curves.empty:
                continue
            curves[0] = 0.0
            row: dict[str, Any] = {
                "instance": name,
                "policy": policy,
                "runs": len(curves),
                "settle": origin["settle"],
            }
            found = {}
            for column, part in zip(STRETCHES, parts, strict=True):
                lost = curves[part.ends].sum(axis=1) - curves[part.starts].sum(axis=1)
                values = (lost / part.length if part.length else lost * np.nan).to_numpy()
                found[column] = values
                row[column] = values.mean()
                row[f"{column}_ci"] = half_width(values)
            row["factor"], row["factor_ci"] = _factor(found["later"], found["before"])
            rows.append(row)
    return pd.DataFrame(rows)


def _factor(later: FloatArray, before: FloatArray) -> tuple[float, float]:
    """The ratio of two means of paired values, and half the width of its interval.

    The interval is that of the linear approximation of the ratio (delta method).
    """
    if not (np.isfinite(later).all() and np.isfinite(before).all() and before.mean() > 0):
        return float("nan"), float("nan")
    factor = later.mean() / before.mean()
    return float(factor), half_width(later - factor * before) / before.mean()


def loss_cells(table: pd.DataFrame) -> list[dict[str, str]]:
    """The same as texts."""
    cells = []
    for row in table.to_dict("records"):
        texts = {"instance": str(row["instance"]), "policy": str(row["policy"])}
        for column in STRETCHES:
            texts[column] = _with_half(number(row[column]), number(row[f"{column}_ci"]))
        known = np.isfinite(row["factor"])
        half = f"{row['factor_ci']:.2f}" if np.isfinite(row["factor_ci"]) else "-"
        texts["factor"] = _with_half(ratio(row["factor"]), half) if known else "-"
        cells.append(texts)
    return cells


def _with_half(text: str, half: str) -> str:
    return text if "-" in {text, half} else f"{text} \N{PLUS-MINUS SIGN} {half}"
