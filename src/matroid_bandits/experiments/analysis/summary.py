"""Results in numbers: means over the runs, with published figures beside them."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from matroid_bandits._types import FloatArray
from matroid_bandits.experiments.analysis.stopping_times import summary_of_identification
from matroid_bandits.experiments.storing.results import Results, checked_results
from matroid_bandits.experiments.study import MEASURES

__all__ = [
    "band",
    "by_policy",
    "growth",
    "half_width",
    "instances_with_costs",
    "leading_policy",
    "median_bound",
    "records",
    "summarize",
    "with_common_regret",
]

_CONFIDENCE = 0.95


def summarize(results: Results) -> pd.DataFrame:
    """One line per instance and policy.

    Columns: what was run, with the number of bases, None where it was not counted; mean, standard
    deviation (``_std``) and half the width of a 95 % confidence interval (``_ci``) of the regret;
    the median of the lower bounds of these runs and of the regret of each run over its own
    (``regret_over_bound``), NaN where there is none; for every measure its mean and standard
    deviation, the published figure (``published_``) and the ratio to it (``ratio_``), NaN where
    there is none or it is for another horizon. There is no ratio for an instance with a warning,
    whose data are invented.

    For a study of identification: the limit, delta and the threshold; the share of the runs that
    were settled; medians and quantiles of the rounds, wrong answers, and lower bounds.
    """
    identity = checked_results(results).study["identity"]
    if results.kind == "identification":
        return summary_of_identification(results)
    published = _published(results.study)
    entries = {entry["name"]: entry for entry in results.study["instances"]}
    rows = []
    for key, runs in results.runs.groupby(["instance", "policy"], sort=False):
        instance, policy = map(str, key)
        origin = identity["instances"][instance]
        row: dict[str, Any] = {
            "instance": instance,
            "policy": policy,
            "size": origin["size"],
            "rank": origin["rank"],
            "horizon": origin["horizon"],
            "runs": len(runs),
            "regret": runs["regret"].mean(),
            "regret_std": _std(runs["regret"].to_numpy()),
            "regret_ci": half_width(runs["regret"].to_numpy()),
        }
        bound = median_bound(runs)
        row["lower_bound"] = bound
        row["regret_over_bound"] = (
            float(np.median(runs["regret"] / runs["lower_bound"])) if bound > 0 else np.nan
        )
        reference = published.get((instance, policy, origin["horizon"]), {})
        for measure in MEASURES:
            # A policy of the user's own may not count.
            values: FloatArray = np.asarray(
                runs[measure].astype("Float64").to_numpy(na_value=np.nan), dtype=np.float64
            )
            row[measure] = values.mean()
            row[f"{measure}_std"] = _std(values)
            row[f"published_{measure}"] = reference.get(measure, np.nan)
            # Invented data cannot be compared with published figures.
            invented = bool(entries[instance]["warning"])
            compared = np.nan if invented else reference.get(measure, np.nan)
            row[f"ratio_{measure}"] = row[measure] / compared
        rows.append(row)
    table = pd.DataFrame(rows)
    if rows:
        # Integers of any size, some of them missing: NumPy has no such column.
        counts = [entries[row["instance"]].get("n_bases") for row in rows]
        place = list(table.columns).index("rank") + 1
        table.insert(place, "n_bases", pd.Series(counts, dtype="object"))
    return table


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The lines of a table, each as a dictionary by column."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def with_common_regret(results: Results, table: pd.DataFrame) -> pd.DataFrame:
    """The summary with mean regrets over the seeds that all policies of an instance have.

    Policies may have different numbers of runs. Their order must be that of the same runs, or it
    may contradict the comparisons, which are made run by run.
    """
    means: dict[tuple[Any, Any], float] = {}
    for instance, runs in results.runs.groupby("instance", sort=False):
        common = runs.pivot_table(index="seed", columns="policy", values="regret").dropna()
        if len(common):
            means |= {(instance, policy): value for policy, value in common.mean().items()}
    pairs = zip(table["instance"], table["policy"], table["regret"], strict=True)
    return table.assign(regret=[means.get((i, p), regret) for i, p, regret in pairs])


def half_width(values: FloatArray) -> float:
    """Half the width of Student's 95 % confidence interval of a mean; NaN for a single value."""
    return float(_half_width(_std(values), len(values)))


def median_bound(runs: pd.DataFrame) -> float:
    """The median lower bound of runs on one instance, each seed once; NaN if one has none.

    Not the mean: one run whose means have a tiny gap would outweigh all others.
    """
    bounds = runs.drop_duplicates("seed")["lower_bound"].to_numpy(np.float64)
    return float(np.median(bounds)) if len(bounds) else float("nan")


def instances_with_costs(results: Results) -> list[str]:
    """The instances whose means are costs."""
    instances = results.study["identity"]["instances"]
    return [name for name, origin in instances.items() if origin.get("sense") == "min"]


def band(curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean of a column at each round over the runs, and half the width of its interval (``ci``)."""
    table = curves.groupby("round")[column].agg(["mean", "std", "count"])
    ci = _half_width(table["std"].to_numpy(), table["count"].to_numpy())
    return pd.DataFrame(
        {"round": table.index.to_numpy(), "mean": table["mean"].to_numpy(), "ci": ci}
    )


# ---- over all instances ----


def leading_policy(table: pd.DataFrame) -> str:
    """The policy of least regret, by the geometric mean of its ratios to the best.

    Only the policies that run on most instances count, on the instances they have in common.
    """
    regrets = by_policy(table, "regret")
    if regrets.empty:
        return str(table["policy"].iloc[0])
    # The regret may be zero on tiny instances.
    positive = regrets.clip(lower=1e-12)
    ratios = np.log(positive.div(positive.min(axis="columns"), axis="index")).mean()
    return str(ratios.idxmin())


def by_policy(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """A column of the summary as a table of instances and policies without missing values.

    It has the policies that run on most instances, and the instances they have in common.
    """
    values = table.pivot_table(index="instance", columns="policy", values=column, sort=False)
    counts = values.notna().sum()
    kept = [name for name in values.columns if counts[name] == counts.max()]
    return values[kept].dropna()


def growth(curves: pd.DataFrame, column: str) -> float:
    """How many times larger a mean counter is at the end than at a tenth of the rounds."""
    means = curves.groupby("round")[column].mean().astype(float)
    tenth = means.index[-1] / 10
    nearest = min(means.index, key=lambda r: abs(r - tenth))
    return float(means.iloc[-1] / means[nearest]) if means[nearest] else float("nan")


def _published(study: dict[str, Any]) -> dict[tuple[str, str, int], dict[str, float]]:
    reference = study["reference"]
    if reference is None:
        return {}
    return {
        (row["instance"], row["policy"], row["horizon"]): {
            measure: row[measure] for measure in MEASURES if measure in row
        }
        for row in reference["rows"]
    }


def _half_width(std: Any, count: Any) -> Any:
    """The same from standard deviations and numbers of values."""
    quantile = stdtrit(np.maximum(count - 1.0, 1.0), (1 + _CONFIDENCE) / 2)
    return np.where(np.asarray(count) > 1, quantile * std / np.sqrt(count), np.nan)


def _std(values: FloatArray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
