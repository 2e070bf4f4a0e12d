"""How many runs are enough: the pairs of policies that are not told apart yet.

Two policies are told apart on an instance if the confidence interval of the difference of their
regrets excludes zero. More runs make it narrower. To go on until that happens, one needs
intervals that hold at every number of runs at once, so these are used for all future runs.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from matroid_bandits._arguments import integer
from matroid_bandits.experiments.analysis.comparisons import (
    CONFIDENCE,
    Comparison,
    all_pairs,
    compare_all,
    compared,
    sequential_factor,
    sign_test_decides,
)
from matroid_bandits.experiments.storing.results import Results, checked_results
from matroid_bandits.experiments.study import MOST_RUNS

__all__ = ["OpenPair", "next_batch", "open_pairs"]


@dataclass(frozen=True)
class OpenPair:
    """Two policies, or two rules, that are not told apart on an instance.

    Attributes
    ----------
    instance, policy, other : str
    regret, other_regret : float
        Means over the runs that both have; NaN if there are none. In a study of identification,
        those of the logarithm of the rounds.
    low, high : float
        Confidence interval of the mean of ``regret - other_regret``; unbounded if the two have
        fewer than two runs in common.
    n_runs : int
        The number of runs that both have.
    more_runs : int or None
        So many more runs of both would tell them apart, if mean and standard deviation of the
        difference stay what they are. None if a million runs would not, or if it is unknown.
    """

    instance: str
    policy: str
    other: str
    regret: float
    other_regret: float
    low: float
    high: float
    n_runs: int
    more_runs: int | None


def open_pairs(results: Results, *, sequential: bool | None = None) -> list[OpenPair]:
    """The pairs of policies that are not told apart, in the order of the study.

    Two policies that have the same regret in every run, and at least two runs, are not among them.

    Parameters
    ----------
    results : Results
    sequential : bool, optional
        Whether to judge the present runs by intervals that hold at every number of runs at once;
        by default as a report does. What is ahead is always judged by these.
    """
    pairs = all_pairs(checked_results(results).study["identity"])
    comparisons = compare_all(results, sequential=sequential)
    error_rate = (1 - CONFIDENCE) / max(len(pairs), 1)
    found = []
    for pair in pairs:
        c = comparisons.get(pair) or _unknown(results, *pair)
        if c.verdict != "undecided" or c.is_same:
            continue
        needed = _runs_needed(c, error_rate)
        found.append(
            OpenPair(
                instance=c.instance,
                policy=c.policy,
                other=c.other,
                regret=c.regret,
                other_regret=c.other_regret,
                low=c.low,
                high=c.high,
                n_runs=c.n_runs,
                more_runs=None if needed is None else max(needed - c.n_runs, 1),
            )
        )
    return found


def next_batch(results: Results, limit: int) -> tuple[set[tuple[str, str]], int] | None:
    """What to run next, if all pairs of policies are to be told apart.

    The number of runs grows to what the open pair that needs most is predicted to need, but at
    least by a quarter, and at most to the double. It is counted from the open pair that has the
    fewest runs, so that the others wait for it.

    Parameters
    ----------
    results : Results
    limit : int
        Most runs of a policy on an instance.

    Returns
    -------
    (set of (str, str), int) or None
        The instances and policies that are in an open pair, and the number of runs that each of
        them is to have in all; None if no pair is open, or all that are have reached the limit.
    """
    limit = integer(limit, "limit", minimum=1)
    pairs = [pair for pair in open_pairs(results, sequential=True) if pair.n_runs < limit]
    if not pairs:
        return None
    present = min(pair.n_runs for pair in pairs)
    needed = max(
        math.inf if pair.more_runs is None else pair.n_runs + pair.more_runs for pair in pairs
    )
    # A single run has no spread.
    least, most = max(math.ceil(1.25 * present), 2), max(2 * present, 2)
    total = int(min(max(needed, least), most, limit))
    tasks = {(pair.instance, name) for pair in pairs for name in (pair.policy, pair.other)}
    return tasks, total


def _unknown(results: Results, instance: str, policy: str, other: str) -> Comparison:
    """Of two policies with fewer than two runs in common."""
    runs = results.runs.assign(compared=compared(results).to_numpy())
    runs = runs[runs["instance"] == instance]
    mine, others = (
        runs[runs["policy"] == name].set_index("seed")["compared"] for name in (policy, other)
    )
    both = mine.index.intersection(others.index)
    return Comparison(
        instance=instance,
        policy=policy,
        other=other,
        regret=float(mine[both].mean()),
        other_regret=float(others[both].mean()),
        low=-math.inf,
        high=math.inf,
        n_runs=len(both),
        std=math.nan,
    )


def _runs_needed(comparison: Comparison, error_rate: float) -> int | None:
    """The least number of runs at which the interval excludes zero, if all else stays as it is."""

    def sign_test(n: int) -> bool:
        return bool(sign_test_decides(np.array(n), error_rate))

    def minus_half_width(n: int) -> float:
        """In standard deviations; it grows with the number of runs."""
        return -float(sequential_factor(np.array(n), error_rate)) / math.sqrt(n)

    possible = range(2, MOST_RUNS + 1)
    if comparison.is_constant:
        place = bisect_left(possible, True, key=sign_test)
    else:
        # NaN, of a pair that cannot be compared yet, is after all numbers.
        effect = abs(comparison.regret - comparison.other_regret) / comparison.std
        place = bisect_right(possible, -effect, key=minus_half_width)
    return possible[place] if place < len(possible) else None
