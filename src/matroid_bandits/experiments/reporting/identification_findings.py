"""The results of a study of identification in sentences, made from the numbers."""

from itertools import pairwise
from math import exp

import numpy as np
import pandas as pd

from matroid_bandits.experiments.analysis.comparisons import compare_all, compared, was_continued
from matroid_bandits.experiments.analysis.formatting import number
from matroid_bandits.experiments.analysis.stopping_times import (
    has_answer,
    is_cut_off,
    share_interval,
)
from matroid_bandits.experiments.analysis.summary import records
from matroid_bandits.experiments.analysis.timing import time_taken
from matroid_bandits.experiments.reporting.findings import (
    AT_ANY_TIME,
    about_costs,
    listed,
    not_finished,
    open_pairs_text,
    percent,
    some_of,
    span,
)
from matroid_bandits.experiments.storing.results import Results

__all__ = ["findings_of_identification"]

# A ranking names this many of the best rules.
_SHOWN = 4

# The confidence with which all that is said about errors holds together.
_CONFIDENCE = 0.95

_PROCEDURE = (
    "Runs with the same seed have the same rewards and are compared in pairs, by the logarithm of "
    "their rounds; a run that has reached the limit counts with the limit. The intervals of all "
    "pairs of rules on all instances hold together with 95 % confidence"
)


def findings_of_identification(results: Results, table: pd.DataFrame) -> list[str]:
    """Sentences about the rounds, the errors and the lower bound, one paragraph each.

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
            about_costs(results, "the best basis is the one of least cost"),
            _settled(results),
            _fewest_rounds(results),
            open_pairs_text(
                results, players=("rule", "rules"), value="number of rounds", change=_change
            ),
            _errors(table),
            _bound(table),
            _times(results, table),
            time_taken(results),
        )
        if paragraph
    ]


def _settled(results: Results) -> str:
    """How many runs were settled, and where some were not."""
    cut = results.runs[is_cut_off(results.runs)]
    n_runs = len(results.runs)
    if cut.empty:
        return f"All {n_runs:,} runs ended before the limit."
    counts = cut.groupby("instance", sort=False).size()
    totals = results.runs.groupby("instance", sort=False).size()
    where = listed(
        counts.items(), lambda entry: f"{entry[1]:,} of {totals[entry[0]]:,} on {entry[0]}"
    )
    return (
        f"{len(cut):,} of {n_runs:,} runs reached the limit without an answer: {where}. They "
        "would have gone on."
    )


def _fewest_rounds(results: Results) -> str:
    """The rules of every instance by the geometric mean of their rounds."""
    runs = results.runs.assign(compared=compared(results).to_numpy())
    # An answer after a budget is a guess: its rounds say nothing.
    guesses = runs[has_answer(runs) & ~runs["settled"].to_numpy(bool)]["policy"].unique()
    runs = runs[~runs["policy"].isin(guesses)]
    comparisons = compare_all(results)
    lines, winners = [], []
    for instance, mine in runs.groupby("instance", sort=False):
        if is_cut_off(mine).all():
            lines.append(f"{instance}: no run was settled")
            continue
        common = mine.pivot_table(index="seed", columns="policy", values="compared").dropna()
        means = common.mean().sort_values(kind="stable")
        if len(means) < 2:
            continue
        ranked = [str(name) for name in means.index]
        winners.append(ranked[0])
        text = ranked[0]
        for before, rule in pairwise(ranked[:_SHOWN]):
            found = comparisons.get((str(instance), before, rule))
            differ = found is not None and found.verdict != "undecided"
            text += f", {rule}" if differ else f" \N{ALMOST EQUAL TO} {rule}"
        if len(ranked) > _SHOWN + 1:
            text += ", ..."
        factor = number(exp(means.iloc[-1] - means.iloc[0]))
        last = f"last {ranked[-1]}, " if len(ranked) > _SHOWN else "the last one "
        lines.append(f"{instance}: {text}, {last}{factor} times the rounds of the first")
    if not winners:
        return ""
    first = pd.Series(winners).value_counts()
    text = listed(first.items(), lambda entry: f"{entry[0]} on {entry[1]}")
    continued = AT_ANY_TIME if was_continued(results.sessions) else ""
    left_out = f" {listed(guesses, str)}: a budget, not ranked." if len(guesses) else ""
    return (
        f"Fewest rounds, by the geometric mean: {text} of {len(winners)} instances. "
        f"{'; '.join(lines)}.{left_out} (The fewest first; \N{ALMOST EQUAL TO} where the "
        f"confidence interval of the ratio includes 1. {_PROCEDURE}{continued}.)"
    )


def _change(value: float, other: float) -> str:
    """How far a mean of logarithms is from another, in percent of the rounds."""
    return percent(exp(value), exp(other)) if np.isfinite(value - other) else ""


def _errors(table: pd.DataFrame) -> str:
    """Wrong answers, and whether they are more than delta accepts."""
    known = records(table[table["error_rate"].notna()])
    if not known:
        return ""
    errors, runs = (sum(row[name] for row in known) for name in ("errors", "runs"))
    deltas = sorted({row["delta"] for row in known})
    accepted = span(pd.Series([100 * delta for delta in deltas]))
    text = (
        f"Wrong answers: {errors:,} of {runs:,} runs ({number(100 * errors / runs)} %), and delta "
        f"accepts {accepted} %."
    )
    # The intervals of all lines hold together.
    error_rate = (1 - _CONFIDENCE) / len(known)
    high = [
        row
        for row in known
        if share_interval(row["errors"], row["runs"], error_rate).low > row["delta"]
    ]
    if high:
        where = listed(
            high,
            lambda row: (
                f"{row['policy']} on {row['instance']} ({row['errors']} of {row['runs']} runs)"
            ),
        )
        text += f" More than delta, by more than chance explains: {where}."
    else:
        text += " On no instance a rule exceeds delta by more than chance explains."
    text += " (The intervals of all rules and instances hold together with 95 % confidence.)"
    if any(row["threshold"] == "customary" for row in known):
        text += " Nobody has proven that the customary threshold keeps to delta."
    return text


def _bound(table: pd.DataFrame) -> str:
    """How far from the lower bound each rule is."""
    known = table[np.isfinite(table["rounds_over_bound"])]
    if known.empty:
        return ""
    factors = {
        str(rule): rows["rounds_over_bound"] for rule, rows in known.groupby("policy", sort=False)
    }
    order = sorted(factors, key=lambda rule: float(np.log(factors[rule]).mean()))
    text = some_of(order, lambda rule: f"{span(factors[rule])} for {rule}")
    text = (
        "The rounds are, as a multiple of the lower bound of the same run (medians of the "
        f"instances), {text}."
    )
    if any(values.min() < 1 for values in factors.values()):
        text += (
            " (The bound is about the mean over all rewards, and about rules that are right with "
            "the probability that is asked for: factors below 1 are no contradiction.)"
        )
    return text


def _times(results: Results, table: pd.DataFrame) -> str:
    total = results.runs["seconds"].sum()
    medians = table.groupby("policy", sort=False)["seconds"].median().sort_values()
    each = some_of(medians.items(), lambda entry: f"{entry[0]} {number(entry[1])}")
    return (
        f"All runs together took {number(total)} seconds of computing. Seconds of a run, median "
        f"of the instances: {each}."
    )
