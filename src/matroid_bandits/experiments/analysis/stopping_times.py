"""Runs of identification in numbers: rounds until the answer, wrong answers, lower bounds."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from matroid_bandits._types import FloatArray
from matroid_bandits.experiments.storing.results import Results

__all__ = [
    "Interval",
    "has_answer",
    "is_cut_off",
    "quantile",
    "share_interval",
    "stopping_times",
    "summary_of_identification",
]

_CONFIDENCE = 0.95

# Of the rounds, besides the median.
_LOW, _HIGH = 0.1, 0.9


class Interval(NamedTuple):
    """From low to high."""

    low: float
    high: float


def summary_of_identification(results: Results) -> pd.DataFrame:
    """One line per instance and rule.

    Columns: what was run; ``settled``, the share of the runs that were; ``rounds``, the median of
    the rounds until a run ended, with the quantiles ``rounds_10`` and ``rounds_90``; the median of
    the ``observations``; ``errors``, the runs that ended with a wrong basis, their share of all
    runs ``error_rate``, and its 95 % confidence interval of Clopper and Pearson, ``error_low`` to
    ``error_high``; the median of the ``lower_bound`` and of the rounds of each run over its own
    (``rounds_over_bound``); the mean ``seconds``. A run that has reached the limit would have gone
    on: its rounds count as infinite, and so does a quantile that falls on it;
    ``least_observations`` and ``least_over_bound`` are medians in which it counts with what it has
    up to the limit. Errors are NaN where no run has an answer.
    """
    identity = results.study["identity"]
    entries = {entry["name"]: entry for entry in results.study["instances"]}
    rows = []
    for key, runs in results.runs.groupby(["instance", "policy"], sort=False):
        instance, policy = map(str, key)
        origin = identity["instances"][instance]
        rounds = stopping_times(runs)
        answered = has_answer(runs)
        errors = int((answered & ~runs["correct"].to_numpy(bool)).sum())
        interval = share_interval(errors, len(runs))
        bounds = runs["lower_bound"].to_numpy(np.float64)
        some = bool(answered.any())
        row: dict[str, Any] = {
            "instance": instance,
            "policy": policy,
            "size": origin["size"],
            "rank": origin["rank"],
            "limit": origin["horizon"],
            "delta": origin["delta"],
            "threshold": identity["policies"][policy].get("threshold", origin["threshold"]),
            "runs": len(runs),
            "settled": float(runs["settled"].to_numpy(bool).mean()),
            "rounds": quantile(rounds, 0.5),
            "rounds_10": quantile(rounds, _LOW),
            "rounds_90": quantile(rounds, _HIGH),
            "observations": quantile(stopping_times(runs, "observations"), 0.5),
            "least_observations": quantile(runs["observations"].to_numpy(np.float64), 0.5),
            "errors": errors,
            "error_rate": errors / len(runs) if some else np.nan,
            "error_low": interval.low if some else np.nan,
            "error_high": interval.high if some else np.nan,
            "lower_bound": quantile(bounds, 0.5),
            "rounds_over_bound": _over_bound(rounds, bounds),
            "least_over_bound": _over_bound(runs["rounds"].to_numpy(np.float64), bounds),
            "seconds": float(runs["seconds"].mean()),
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    if rows:
        counts = [entries[row["instance"]].get("n_bases") for row in rows]
        place = list(table.columns).index("rank") + 1
        table.insert(place, "n_bases", pd.Series(counts, dtype="object"))
    return table


def is_cut_off(runs: pd.DataFrame) -> Any:
    """Which runs have reached the limit without an answer."""
    return ~runs["settled"].to_numpy(bool) & (runs["rounds"] >= runs["horizon"]).to_numpy(bool)


def has_answer(runs: pd.DataFrame) -> Any:
    """Which runs have ended by themselves: settled, or at the end of a budget."""
    return ~is_cut_off(runs)


def stopping_times(runs: pd.DataFrame, column: str = "rounds") -> FloatArray:
    """The rounds of each run, infinite for one that has reached the limit."""
    values: FloatArray = np.where(is_cut_off(runs), np.inf, runs[column].to_numpy(np.float64))
    return values


def quantile(values: FloatArray, share: float) -> float:
    """A quantile, interpolated as usual, of values some of which may be infinite."""
    if not len(values) or np.isnan(values).any():
        return float("nan")
    ordered = np.sort(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    # A difference of infinite values is no number.
    return low if low == high or place == below else low + (place - below) * (high - low)


def share_interval(count: int, total: int, error_rate: float = 1 - _CONFIDENCE) -> Interval:
    """The interval of Clopper and Pearson of a probability, from `count` events in `total` runs."""
    low = betaincinv(count, total - count + 1, error_rate / 2) if count else 0.0
    high = betaincinv(count + 1, total - count, 1 - error_rate / 2) if count < total else 1.0
    return Interval(float(low), float(high))


def _over_bound(rounds: FloatArray, bounds: FloatArray) -> float:
    if not (bounds > 0).all():
        return float("nan")
    return quantile(rounds / bounds, 0.5)
