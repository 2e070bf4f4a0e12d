"""The results of a study in sentences, made from the numbers."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from matroid_bandits.experiments.analysis.comparisons import (
    Comparison,
    all_pairs,
    compare_all,
    was_continued,
)
from matroid_bandits.experiments.analysis.formatting import number
from matroid_bandits.experiments.analysis.losses import changing_instances, losses
from matroid_bandits.experiments.analysis.separation import OpenPair, open_pairs
from matroid_bandits.experiments.analysis.summary import (
    by_policy,
    growth,
    instances_with_costs,
    leading_policy,
    records,
    with_common_regret,
)
from matroid_bandits.experiments.analysis.timing import time_taken
from matroid_bandits.experiments.storing.results import Results
from matroid_bandits.experiments.study import MEASURES, Task

__all__ = [
    "AT_ANY_TIME",
    "NAMES",
    "about_changes",
    "about_costs",
    "findings",
    "listed",
    "not_finished",
    "open_pairs_text",
    "percent",
    "some_of",
    "span",
]

T = TypeVar("T")

# How policies are compared; docs/reference/study-file.md has the reasons and the assumptions.
_PROCEDURE = (
    "Runs with the same seed have the same rewards and are compared in pairs; the intervals of all "
    "pairs of policies on all instances hold together with 95 % confidence"
)
#: Added if the number of runs was not fixed beforehand.
AT_ANY_TIME = ", at every number of runs at once, since the number of runs was not fixed beforehand"

# Up to this number, policies are compared one by one; more are ranked.
_FEW = 3
# A ranking names this many of the best policies.
_SHOWN = 4

#: Measures as they are called in sentences and headings.
NAMES = {
    "seconds": "seconds",
    "oracle_calls": "oracle calls",
    "greedy_calls": "greedy calls",
    "neighborhood_updates": "neighborhood updates",
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
            not_finished(results),
            about_costs(results),
            about_changes(results),
            _recovery(results),
            _regret(results, table),
            open_pairs_text(results),
            _bound(table),
            _oracle_calls(results, table),
            *(_agreement(results, table, measure) for measure in MEASURES if measure != "seconds"),
            _times(results, table),
            time_taken(results),
        )
        if paragraph
    ]


def about_costs(
    results: Results, meaning: str = "regret is the cost above that of the best basis"
) -> str:
    """A sentence about what costs mean if means are costs; empty if none are."""
    names = instances_with_costs(results)
    if not names:
        return ""
    everywhere = len(names) == len(results.study["identity"]["instances"])
    where = "Means" if everywhere else f"On {listed(names, str)} means"
    return f"{where} are costs, and {meaning}."


def about_changes(results: Results) -> str:
    """A sentence about what regret is if means change; empty if none do."""
    names = changing_instances(results)
    if not names:
        return ""
    everywhere = len(names) == len(results.study["identity"]["instances"])
    where = "The" if everywhere else f"On {some_of(names, str)} the"
    return f"{where} regret is dynamic: against the best basis of every round."


# ---- one paragraph each ----


def _recovery(results: Results) -> str:
    """How much is lost in a round long after changes, against what was lost before."""
    table = losses(results)
    if table.empty:
        return ""
    known = table[table["factor"].notna()]
    if known.empty:
        return ""
    factors = {str(policy): rows["factor"] for policy, rows in known.groupby("policy", sort=False)}
    order = sorted(factors, key=lambda policy: float(factors[policy].max()))
    text = some_of(order, lambda policy: f"{span(factors[policy])} for {policy}")
    settle = span(known["settle"])
    return (
        f"From {settle} rounds after a change on, the loss per round is, as a multiple of that "
        f"before the first change, {text}."
    )


def not_finished(results: Results) -> str:
    """How many runs are there, if some are missing; empty otherwise."""
    if results.n_finished() == results.n_wanted():
        return ""
    return (
        f"The study is not finished: {results.n_finished():,} of {results.n_wanted():,} runs are "
        f"there, and all below is about these.{_failed(results)}"
    )


def _failed(results: Results) -> str:
    """Runs that have failed and were not made since."""
    finished = results.finished()
    failed: dict[Task, tuple[str, str]] = {}
    for session in results.sessions:
        for failure in session.get("failures", ()):
            task = Task(*(failure[name] for name in Task._fields))
            if task not in finished:
                failed[task] = failure["error"], session["name"]
    if not failed:
        return ""
    task, (error, session_name) = next(iter(failed.items()))
    runs = "1 run has failed" if len(failed) == 1 else f"{len(failed)} runs have failed"
    return f" {runs}, the first one {task}: {error} (sessions/{session_name}.json has tracebacks)."


def _regret(results: Results, table: pd.DataFrame) -> str:
    """A few policies one by one, many by their ranks."""
    table = with_common_regret(results, table)
    many = table["policy"].nunique() > _FEW
    return _ranking(results, table) if many else _against_the_leader(results, table)


def _ranking(results: Results, table: pd.DataFrame) -> str:
    """The best policies of every instance."""
    comparisons = compare_all(results)
    lines = []
    for instance, rows in table.groupby("instance", sort=False):
        ranked = rows.sort_values("regret", kind="stable")["policy"].tolist()
        text = ranked[0]
        for before, policy in pairwise(ranked[:_SHOWN]):
            # Single runs cannot be compared.
            found = comparisons.get((str(instance), before, policy))
            differ = found is not None and found.verdict != "undecided"
            text += f", {policy}" if differ else f" \N{ALMOST EQUAL TO} {policy}"
        if len(ranked) > _SHOWN + 1:
            text += ", ..."
        if len(ranked) > _SHOWN:
            text += f", last {ranked[-1]}"
        lines.append(f"{instance}: {text}")
    best = table.loc[table.groupby("instance", sort=False)["regret"].idxmin(), "policy"]
    winners = listed(best.value_counts().items(), lambda entry: f"{entry[0]} on {entry[1]}")
    return (
        f"Least mean regret: {winners} of {len(best)} instances. {'; '.join(lines)}. (The best "
        "first; \N{ALMOST EQUAL TO} where the confidence interval of the difference includes zero. "
        f"{_procedure(results)})"
    )


def _against_the_leader(results: Results, table: pd.DataFrame) -> str:
    """Each policy against the one that leads."""
    lead = leading_policy(table)
    others = [name for name in dict.fromkeys(table["policy"]) if name != lead]
    comparisons = compare_all(results)
    instances = results.study["identity"]["instances"]
    sentences = []
    same = []
    for other in others:
        found = [
            comparisons[name, lead, other]
            for name in instances
            if (name, lead, other) in comparisons
        ]
        if not found:
            continue
        if all(comparison.is_same for comparison in found):
            same.append(other)
            continue
        sentences.append(f"At the horizon, the regret of {lead} is {_verdicts(found, other)}.")
    if sentences:
        sentences.append(
            f"(A difference counts if its confidence interval excludes zero. {_procedure(results)})"
        )
    if same:
        sentences.append(f"{' and '.join([lead, *same])} have the same regret in every run.")
    return " ".join(sentences)


def _verdicts(found: list[Comparison], other: str) -> str:
    """On which instances the regret is below that of `other`, and on which it is not."""
    words = {"lower": "below", "undecided": "not distinguishable from", "higher": "above"}
    parts: list[str] = []
    for verdict, text in words.items():
        mine = [comparison for comparison in found if comparison.verdict == verdict]
        if mine:
            whose = "it" if parts else f"that of {other}"
            parts.append(f"{text} {whose} on {listed(mine, _change)}")
    if all(comparison.verdict != "higher" for comparison in found):
        return f"{'; '.join(parts)}. It is higher on no instance"
    return "; ".join(parts)


def _procedure(results: Results) -> str:
    return f"{_PROCEDURE}{AT_ANY_TIME if was_continued(results.sessions) else ''}."


def open_pairs_text(
    results: Results,
    *,
    players: tuple[str, str] = ("policy", "policies"),
    value: str = "regret",
    change: Callable[[float, float], str] | None = None,
) -> str:
    """Which pairs are not told apart, and how many runs would do it.

    Parameters
    ----------
    results : Results
    players : (str, str)
        What is compared, one and several.
    value : str
        What of them is compared.
    change : callable, optional
        How far a value is from another, as a text; by default in percent.
    """
    player, several = players
    n_pairs = len(all_pairs(results.study["identity"]))
    found = open_pairs(results)
    if not n_pairs:
        return ""
    if not found:
        same = any(comparison.is_same for comparison in compare_all(results).values())
        besides = f", except those with the same {value} in every run" if same else ""
        return f"All pairs of {several} are told apart on all instances{besides}."
    are = "is" if len(found) == 1 else "are"
    text = f"{len(found)} of {n_pairs} pairs of {several} {are} not told apart yet."
    # Pairs of one need are in the order of the study.
    needs = sorted((p.more_runs, i) for i, p in enumerate(found) if p.more_runs is not None)
    if needs:
        shown = [found[i] for i in sorted(i for _, i in needs[:_SHOWN])]
        text += (
            f" If the differences stay as they are, this takes so many more runs of each {player}: "
            f"{_needs(shown, change or percent)}"
        )
        if len(needs) > _SHOWN:
            text += f"; up to about {_about(needs[-1][0])} for {len(needs) - _SHOWN} more"
        text += "."
    unknown = sum(pair.n_runs < 2 for pair in found)
    hopeless = len(found) - len(needs) - unknown
    if hopeless:
        text += f" A million runs would not settle {hopeless}."
    if unknown:
        text += f" For {unknown} there are fewer than two runs to compare."
    limit = max((session.get("limit", 0) for session in results.sessions), default=0)
    if limit and all(pair.n_runs >= limit for pair in found):
        text += f" The limit of {limit:,} runs is reached; a larger --limit goes on."
    return text


def _needs(pairs: list[OpenPair], change: Callable[[float, float], str]) -> str:
    """What each pair needs, by instance."""
    by_instance: dict[str, list[OpenPair]] = {}
    for pair in pairs:
        by_instance.setdefault(pair.instance, []).append(pair)
    return "; ".join(
        f"on {instance} {listed(mine, lambda pair: _need(pair, change))}"
        for instance, mine in by_instance.items()
    )


def _need(pair: OpenPair, change: Callable[[float, float], str]) -> str:
    how_far = change(pair.regret, pair.other_regret)
    return (
        f"about {_about(pair.more_runs or 0)} for {pair.policy} against {pair.other}"
        f"{how_far and f' ({how_far})'}"
    )


def _about(count: int) -> str:
    """A number to two digits."""
    return f"{float(f'{count:.1e}'):,.0f}"


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
    text = some_of(order, lambda policy: f"{span(factors[policy])} for {policy}")
    text = f"The regret at the horizon is, as a multiple of the lower bound, {text}."
    if any(values.min() < 1 for values in factors.values()):
        text += (
            " (The bound is about the long run, and about policies that do not stop exploring: "
            "factors below 1 are no contradiction.)"
        )
    return text


def _change(comparison: Comparison) -> str:
    change = percent(comparison.regret, comparison.other_regret)
    return f"{comparison.instance}{change and f' ({change})'}"


def percent(regret: float, other_regret: float) -> str:
    """How far a regret is from another; empty if that is zero."""
    if other_regret == 0:
        return ""
    return f"{100 * (regret / other_regret - 1):+.1f} %".replace("-", "\N{MINUS SIGN}")


def _oracle_calls(results: Results, table: pd.DataFrame) -> str:
    """Oracle calls of the other policies against those of the policy with the fewest."""
    counted = table[table["oracle_calls"] > 0]
    calls = by_policy(counted, "oracle_calls") if len(counted) else counted
    if calls.shape[1] < 2 or calls.empty:
        return ""
    totals = np.log(calls.astype(float)).mean()
    fewest, busiest = str(totals.idxmin()), str(totals.idxmax())
    if totals[fewest] == totals[busiest]:
        return ""
    factors = calls[busiest] / calls[fewest]
    closest, farthest = str(factors.idxmin()), str(factors.idxmax())
    sentence = f"{busiest} calls the oracle {number(factors[closest])} times as often as {fewest}"
    varies = closest != farthest
    sentence += f" on {closest}" if len(factors) < 2 or varies else " on every instance"
    if varies:
        sentence += f", {number(factors[farthest])} times on {farthest}"
        sentence += ", and between on the others" if len(factors) > 2 else ""
    others = totals.drop([fewest, busiest]).sort_values(kind="stable").index
    for other in others[:_FEW]:
        times = span(calls[other] / calls[fewest])
        sentence += (
            f"; {other} as often as {fewest}" if times == "1" else f"; {other} {times} times"
        )
    sentence += "; the others more" if len(others) > _FEW else ""
    growths = []
    for policy in (fewest, busiest):
        is_mine = results.curves["policy"] == policy
        mine = results.curves.loc[is_mine, ["instance", "round", "oracle_calls"]]
        values = [
            growth(curves, "oracle_calls")
            for _, curves in mine.groupby("instance", sort=False, observed=True)
        ]
        growths.append(float(np.nanmedian(values)))
    return (
        f"{sentence}. Over the last nine tenths of the rounds the calls of {fewest} grow by a "
        f"factor of {number(growths[0])} (median of the instances), those of {busiest} by "
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
    return f"{text}; outside: {listed(outside, lambda row: _beside(row, measure))}."


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
        each = some_of(medians.items(), lambda entry: f"{entry[0]} {number(entry[1])}")
        return f"{text} Seconds of a run, median of the instances: {each}."
    times = by_policy(table, "seconds")
    if times.shape[1] < 2 or times.empty:
        return text
    order = np.log(times).mean().sort_values().index
    fast, slow = str(order[0]), str(order[-1])
    factors = times[slow] / times[fast]
    text += f" {slow} took {span(factors)} times as long as {fast}"
    there = table.pivot_table(
        index="instance", columns="policy", values="published_seconds", sort=False
    )
    if {fast, slow} <= set(there.columns) and not there.dropna().empty:
        published = (there[slow] / there[fast]).dropna()
        text += (
            f" (published: {span(published)} times; the published seconds are from another "
            "machine and another program, so only such ratios within one table compare)"
        )
    return text + "."


def span(values: "pd.Series[float]") -> str:
    """The smallest and the largest of some numbers."""
    low, high = number(values.min()), number(values.max())
    return low if low == high else f"{low} to {high}"


def some_of(things: Iterable[T], show: Callable[[T], str]) -> str:
    """All of a few, of many the first ones and the last."""
    texts = [show(thing) for thing in things]
    if len(texts) <= 2 * _SHOWN:
        return listed(texts, str)
    return f"{', '.join(texts[: 2 * _SHOWN - 2])}, ..., {texts[-1]}"


def listed(things: Iterable[T], show: Callable[[T], str]) -> str:
    """Things in a sentence: a, b and c."""
    texts = [show(thing) for thing in things]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
