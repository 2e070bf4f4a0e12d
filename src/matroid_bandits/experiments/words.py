"""What the numbers say, in sentences made from them."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from matroid_bandits.experiments.results import Results
from matroid_bandits.experiments.study import MEASURES
from matroid_bandits.experiments.summary import (
    Comparison,
    by_policy,
    compare,
    growth,
    leading_policy,
    records,
    with_costs,
)

__all__ = ["NAMES", "about_costs", "as_printed", "count", "findings", "number", "ratio"]

T = TypeVar("T")

# So many policies are spoken of one by one; of more, those named first.
_FEW = 3
_SHOWN = 4

#: Measures as they are called in sentences and headings.
NAMES = {
    "seconds": "seconds",
    "oracle_calls": "oracle calls",
    "greedy_calls": "greedy calls",
    "neighborhood_updates": "neighbourhood updates",
}


def findings(results: Results, table: pd.DataFrame) -> list[str]:
    """Sentences about the regret, the counts and the times, one paragraph each.

    Parameters
    ----------
    results : Results
    table : pandas.DataFrame
        Their summary.
    """
    return [
        paragraph
        for paragraph in (
            _missing(results),
            about_costs(results),
            _regret(results, table),
            _bound(table),
            _asking(results, table),
            *(_agreement(results, table, measure) for measure in MEASURES if measure != "seconds"),
            _times(results, table),
        )
        if paragraph
    ]


def about_costs(results: Results) -> str:
    """What regret is where means are costs; nothing where there are none."""
    names = with_costs(results)
    if not names:
        return ""
    everywhere = len(names) == len(results.study["identity"]["instances"])
    where = "Means" if everywhere else f"On {_list(names, str)} means"
    return f"{where} are costs, and regret is the cost above that of the best basis."


def number(value: float) -> str:
    """A number as people write it: 12,308, 38.1, 0.0312."""
    if not np.isfinite(value):
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def count(value: int | None) -> str:
    """A count of any size: 155,117,520, then 1.95e15; nothing where it is not known."""
    if value is None:
        return ""
    if value < 10**9:
        return f"{value:,}"
    # A float would end at 1e308.
    return f"{Decimal(value):.2e}".replace("e+", "e")


def as_printed(value: float) -> str:
    """A published number with all its digits."""
    return f"{value:,.12g}" if np.isfinite(value) else "-"


def ratio(value: float) -> str:
    """A ratio: 1.22, or 1/103 where it is small."""
    if 0 < value < 0.095:
        return f"1/{number(1 / value)}"
    return f"{value:.2f}" if value < 100 else number(value)


# ---- one paragraph each ----


def _missing(results: Results) -> str:
    identity = results.study["identity"]
    every = identity["policies"]
    wanted = identity["runs"] * sum(
        len(origin.get("policies", every)) for origin in identity["instances"].values()
    )
    if len(results.runs) == wanted:
        return ""
    return (
        f"The study is not finished: {len(results.runs):,} of {wanted:,} runs are there, and all "
        "below is about these."
    )


def _regret(results: Results, table: pd.DataFrame) -> str:
    """A few policies one by one, many by their ranks."""
    many = table["policy"].nunique() > _FEW
    return _ranking(results, table) if many else _against_the_leader(results, table)


def _ranking(results: Results, table: pd.DataFrame) -> str:
    """The best policies of every instance."""
    lines = []
    for instance, rows in table.groupby("instance", sort=False):
        ranked = rows.sort_values("regret", kind="stable")["policy"].tolist()
        text = ranked[0]
        for before, policy in pairwise(ranked[:_SHOWN]):
            found = {c.instance: c for c in compare(results, before, policy)}
            # Single runs tell nothing apart.
            apart = str(instance) in found and found[str(instance)].verdict != "level"
            text += f", {policy}" if apart else f" \N{ALMOST EQUAL TO} {policy}"
        if len(ranked) > _SHOWN + 1:
            text += ", ..."
        if len(ranked) > _SHOWN:
            text += f", last {ranked[-1]}"
        lines.append(f"{instance}: {text}")
    best = table.loc[table.groupby("instance", sort=False)["regret"].idxmin(), "policy"]
    winners = _list(best.value_counts().items(), lambda entry: f"{entry[0]} on {entry[1]}")
    return (
        f"Least mean regret: {winners} of {len(best)} instances. {'; '.join(lines)}. (The best "
        "first; \N{ALMOST EQUAL TO} where runs of one seed, compared in pairs, do not tell the two "
        "apart at 95 % confidence, for all instances together.)"
    )


def _against_the_leader(results: Results, table: pd.DataFrame) -> str:
    """Each policy against the one that leads."""
    lead = leading_policy(table)
    others = [name for name in dict.fromkeys(table["policy"]) if name != lead]
    sentences = []
    same = []
    for other in others:
        found = compare(results, lead, other)
        if not found:
            continue
        if all(c.low == c.high == 0 for c in found):
            same.append(other)
            continue
        kinds = {
            verdict: [c for c in found if c.verdict == verdict]
            for verdict in ("lower", "level", "higher")
        }
        words = {"lower": "below", "level": "not distinguishable from", "higher": "above"}
        parts = [
            f"{words[verdict]} it on {_list(comparisons, _change)}"
            for verdict, comparisons in kinds.items()
            if comparisons
        ]
        parts[0] = parts[0].replace(" it ", f" that of {other} ", 1)
        if not kinds["higher"]:
            parts.append("above it on none")
        sentences.append(f"At the horizon, the regret of {lead} is {'; '.join(parts)}.")
    if sentences:
        sentences.append(
            "(Runs of one seed meet the same rewards and are compared in pairs; a difference "
            "counts if a 95 % confidence interval, for all instances together, excludes zero.)"
        )
    if same:
        sentences.append(f"{' and '.join([lead, *same])} have the same regret in every run.")
    return " ".join(sentences)


def _bound(table: pd.DataFrame) -> str:
    """How far from the lower bound each policy is."""
    known = table[table["regret_over_bound"] > 0]
    if known.empty:
        return ""
    factors = {
        str(policy): rows["regret_over_bound"]
        for policy, rows in known.groupby("policy", sort=False)
    }
    order = sorted(factors, key=lambda policy: float(np.log(factors[policy]).mean()))
    text = _ends(order, lambda policy: f"{_range(factors[policy])} for {policy}")
    text = f"The regret at the horizon is, as a multiple of the lower bound, {text}."
    if any(values.min() < 1 for values in factors.values()):
        text += (
            " (The bound is about the long run, and about policies that do not stop exploring: "
            "factors below 1 are no contradiction.)"
        )
    return text


def _change(comparison: Comparison) -> str:
    if comparison.other_regret == 0:
        return comparison.instance
    change = 100 * (comparison.regret / comparison.other_regret - 1)
    percent = f"{change:+.1f} %".replace("-", "\N{MINUS SIGN}")
    return f"{comparison.instance} ({percent})"


def _asking(results: Results, table: pd.DataFrame) -> str:
    """How often the matroid is asked, the frugal against the eager."""
    counted = table[table["oracle_calls"] > 0]
    calls = by_policy(counted, "oracle_calls") if len(counted) else counted
    if calls.shape[1] < 2 or calls.empty:
        return ""
    totals = np.log(calls.astype(float)).mean()
    frugal, eager = str(totals.idxmin()), str(totals.idxmax())
    if totals[frugal] == totals[eager]:
        return ""
    factors = calls[eager] / calls[frugal]
    least, most = str(factors.idxmin()), str(factors.idxmax())
    sentence = f"{eager} asks the oracle {number(factors[least])} times as often as {frugal}"
    sentence += f" on {least}" if len(factors) < 2 or least != most else " on every instance"
    if least != most:
        sentence += f", {number(factors[most])} times on {most}"
        sentence += ", and between on the others" if len(factors) > 2 else ""
    others = totals.drop([frugal, eager]).sort_values(kind="stable").index
    for other in others[:_FEW]:
        sentence += f"; {other} {_range(calls[other] / calls[frugal])} times"
    sentence += "; the others more" if len(others) > _FEW else ""
    growths = []
    for policy in (frugal, eager):
        mine = results.curves[results.curves["policy"] == policy]
        values = [
            growth(curves, "oracle_calls") for _, curves in mine.groupby("instance", sort=False)
        ]
        growths.append(float(np.nanmedian(values)))
    return (
        f"{sentence}. Over the last nine tenths of the rounds the calls of {frugal} grow by a "
        f"factor of {number(growths[0])} (median of the instances), those of {eager} by "
        f"{number(growths[1])}."
    )


def _agreement(results: Results, table: pd.DataFrame, measure: str) -> str:
    """Which means lie near the published ones, and which do not."""
    rows = [row for row in records(table) if row[f"ratio_{measure}"] > 0]
    if not rows:
        return ""
    limit = results.study["reference"]["within"].get(measure, 2)

    def off(row: dict[str, Any]) -> float:
        factor = float(row[f"ratio_{measure}"])
        return max(factor, 1 / factor)

    outside = [row for row in rows if off(row) > limit]
    name = NAMES[measure]
    text = (
        f"{name[0].upper()}{name[1:]}: {len(rows) - len(outside)} of {len(rows)} means lie within "
        f"a factor of {limit:g} of the published ones (median factor "
        f"{np.median([off(row) for row in rows]):.2f})"
    )
    if not outside:
        return f"{text}; farthest is {_beside(max(rows, key=off), measure)}."
    return f"{text}; outside: {_list(outside, lambda row: _beside(row, measure))}."


def _beside(row: dict[str, Any], measure: str) -> str:
    here, there = number(row[measure]), number(row[f"published_{measure}"])
    spread = row[f"{measure}_std"]
    around = f" \N{PLUS-MINUS SIGN} {number(spread)} over the seeds" if spread > 0 else ""
    return f"{row['policy']} on {row['instance']} ({here}{around}, published {there})"


def _times(results: Results, table: pd.DataFrame) -> str:
    """Who is faster here, and by how much it was there."""
    total = results.runs["seconds"].sum()
    text = f"All runs together took {number(total)} seconds of computing."
    if table["policy"].nunique() > _FEW:
        medians = table.groupby("policy", sort=False)["seconds"].median().sort_values()
        each = _ends(medians.items(), lambda entry: f"{entry[0]} {number(entry[1])}")
        return f"{text} Seconds of a run, median of the instances: {each}."
    times = by_policy(table, "seconds")
    if times.shape[1] < 2 or times.empty:
        return text
    order = np.log(times).mean().sort_values().index
    fast, slow = str(order[0]), str(order[-1])
    factors = times[slow] / times[fast]
    text += f" {slow} took {_range(factors)} times as long as {fast}"
    there = table.pivot_table(
        index="instance", columns="policy", values="published_seconds", sort=False
    )
    if {fast, slow} <= set(there.columns) and not there.dropna().empty:
        published = (there[slow] / there[fast]).dropna()
        text += (
            f" (published: {_range(published)} times; the published seconds are from another "
            "machine and another program, so only such ratios within one table compare)"
        )
    return text + "."


def _range(values: "pd.Series[float]") -> str:
    least, most = number(values.min()), number(values.max())
    return least if least == most else f"{least} to {most}"


def _ends(things: Iterable[T], show: Callable[[T], str]) -> str:
    """All of a few, of many the first ones and the last."""
    texts = [show(thing) for thing in things]
    if len(texts) <= 2 * _SHOWN:
        return _list(texts, str)
    return f"{', '.join(texts[: 2 * _SHOWN - 2])}, ..., {texts[-1]}"


def _list(things: Iterable[T], show: Callable[[T], str]) -> str:
    texts = [show(thing) for thing in things]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
