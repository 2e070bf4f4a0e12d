"""Policies in pairs: which differences of regret the runs of a study establish.

Every pair of policies on every instance gets a confidence interval, and all of them hold together
with 95 % confidence (Bonferroni: Dunn [DUN61]). A report takes all that it says about pairs from
these intervals, so the best policy and the pairs to mention may be chosen from the same runs.

Assumptions, per pair and instance: runs are independent, and the differences are normal, or
symmetric with longer tails, for which Student's interval is too wide rather than too narrow
[BEN83]. No procedure does without such an assumption: with arbitrary distributions, no interval for
a mean is both bounded and valid [BS56]. docs/reference/study-file.md says what skewed differences
do.

Student's intervals are for a number of runs that was fixed beforehand. If a study was continued
after its first results, its intervals are those of a confidence sequence, which hold at every
number of runs at once [WR23].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from matroid_bandits._arguments import choice
from matroid_bandits._types import BoolArray, FloatArray, IntArray
from matroid_bandits.experiments.storing.results import Results, checked_results

__all__ = [
    "Comparison",
    "PairwiseIntervals",
    "all_pairs",
    "compare",
    "compare_all",
    "compared",
    "pairwise_intervals",
    "sequential_factor",
    "sign_test_decides",
    "student_factor",
    "was_continued",
]


#: The confidence with which all comparisons of a study hold together.
CONFIDENCE = 0.95

# Differences whose relative spread is below this are equal up to rounding.
_ROUNDING = 1e-9

# The weight of the prior of a confidence sequence, in runs: the mean difference, in standard
# deviations, is normal around 0 with variance 1 / _PRIOR_RUNS. Any value is valid; with
# this one, intervals are closest to Student's at some tens of runs.
_PRIOR_RUNS = 1.0


@dataclass(frozen=True)
class Comparison:
    """The regrets of two policies on one instance, run by run on the same rewards.

    In a study of identification, the logarithms of the rounds of two rules take the place of the
    regrets; a run that has reached the limit counts with the limit.

    Attributes
    ----------
    instance, policy, other : str
    regret, other_regret : float
        Means over the runs that both have.
    low, high : float
        Confidence interval of the mean of ``regret - other_regret``, paired. The intervals of all
        pairs of policies on all instances of the study hold together with 95 % confidence.
    n_runs : int
        The number of runs that both have.
    std : float
        Standard deviation of the differences of these runs.
    """

    instance: str
    policy: str
    other: str
    regret: float
    other_regret: float
    low: float
    high: float
    n_runs: int
    std: float

    @property
    def verdict(self) -> str:
        """``lower``, ``higher``, or ``undecided`` where noise can explain the difference."""
        if self.high < 0:
            return "lower"
        return "higher" if self.low > 0 else "undecided"

    @property
    def is_same(self) -> bool:
        """Whether the two have the same regret in every run."""
        return self.low == self.high == 0

    @property
    def is_constant(self) -> bool:
        """Whether the difference is the same in every run, up to rounding."""
        return bool(_is_constant(self.regret - self.other_regret, self.std))

    def reversed(self) -> "Comparison":
        """The same with the two policies exchanged."""
        return replace(
            self,
            policy=self.other,
            other=self.policy,
            regret=self.other_regret,
            other_regret=self.regret,
            low=-self.high,
            high=-self.low,
        )


@dataclass(frozen=True, eq=False)
class PairwiseIntervals:
    """Simultaneous intervals of differences; the last axis of the arrays is that of the pairs.

    Attributes
    ----------
    first, second : numpy.ndarray of int
        The two policies of each pair.
    n_runs : numpy.ndarray of int
        The number of runs that both have.
    first_mean, second_mean : numpy.ndarray of float
        The mean regrets over these runs.
    std : numpy.ndarray of float
        The standard deviation of the differences; NaN where there are fewer than two runs.
    low, high : numpy.ndarray of float
        The interval of the mean difference; NaN where there are fewer than two runs.
    """

    first: IntArray
    second: IntArray
    n_runs: IntArray
    first_mean: FloatArray
    second_mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray


def student_factor(n_runs: IntArray, error_rate: float) -> FloatArray:
    """Half the width of Student's interval, in standard errors of the mean."""
    return np.asarray(stdtrit(n_runs - 1.0, 1 - error_rate / 2), dtype=np.float64)


def sequential_factor(n_runs: IntArray, error_rate: float) -> FloatArray:
    """Half the width of the interval that holds at every number of runs, in standard errors.

    It is the confidence sequence of a Bayes factor with a normal prior on the mean in standard
    deviations [GJLW05], and the right Haar prior on the standard deviation. If the true mean is
    m, the Bayes factor against m is a martingale whose first value is 1. It therefore exceeds
    1 / error_rate, at whatever number of runs, with probability error_rate at most (Ville). The
    interval has all m with a smaller Bayes factor [WR23]. It is unbounded after very few runs.
    """
    # With t^2 = n (mean - m)^2 / std^2 and r = prior_runs / (n + prior_runs), the Bayes factor is
    #     sqrt(r) ((1 + t^2 / (n - 1)) / (1 + r t^2 / (n - 1)))^(n / 2).
    # It is 1 / error_rate where the logarithm of the quotient in brackets is `log_growth`.
    n = np.asarray(n_runs, dtype=np.float64)
    r = _PRIOR_RUNS / (n + _PRIOR_RUNS)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        log_growth = -(2 * np.log(error_rate) + np.log(r)) / n
        # The quotient never reaches 1 / r.
        room = -np.expm1(log_growth + np.log(r))
        factor = np.sqrt((n - 1) * np.expm1(log_growth) / room)
    return np.where(room > 0, factor, np.inf)


def sign_test_decides(n_runs: IntArray, error_rate: float) -> BoolArray:
    """Whether so many differences of the same sign are a claim: the p-value is 2 / 2**n_runs.

    That is valid at every number of runs at once. If all signs are the same after n runs, they
    were so after the first number of runs that suffices: all claims together are one event.
    """
    return np.asarray(2.0 ** (1.0 - n_runs) <= error_rate)


def pairwise_intervals(
    regrets: FloatArray, n_claims: int | None = None, *, sequential: bool = False
) -> PairwiseIntervals:
    """Intervals of the mean difference of every pair of policies, which hold together.

    Parameters
    ----------
    regrets : array of shape (..., runs, policies)
        Rows are runs on the same rewards; NaN where a run is missing.
    n_claims : int, optional
        The number of intervals that are to hold together; by default those of one study whose
        instances are all the leading axes.
    sequential : bool, default False
        Whether they are to hold at every number of runs at once, and not only at a number that
        was fixed beforehand.
    """
    first, second = np.triu_indices(regrets.shape[-1], k=1)
    differences = regrets[..., first] - regrets[..., second]
    both = ~np.isnan(differences)
    n_runs = both.sum(axis=-2)
    if n_claims is None:
        n_claims = int((n_runs > 1).sum())
    error_rate = (1 - CONFIDENCE) / max(n_claims, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(both, differences, 0.0).sum(axis=-2) / n_runs
        deviations = np.where(both, differences - mean[..., np.newaxis, :], 0.0)
        std = np.sqrt((deviations**2).sum(axis=-2) / (n_runs - 1))
        factor = (sequential_factor if sequential else student_factor)(n_runs, error_rate)
        # Also if the factor is infinite: differences without spread have an interval without width.
        margin = np.where(std > 0, factor * std / np.sqrt(n_runs), 0.0)
        means = [
            np.where(both, regrets[..., which], 0.0).sum(axis=-2) / n_runs
            for which in (first, second)
        ]
    # An interval has no width where all differences are equal, as happens in short runs with few
    # possible regrets. There the sign test decides.
    undecided = _is_constant(mean, std) & ~sign_test_decides(n_runs, error_rate)
    margin = np.where(undecided, np.inf, margin)
    unknown = n_runs < 2
    return PairwiseIntervals(
        first=first,
        second=second,
        n_runs=n_runs,
        first_mean=means[0],
        second_mean=means[1],
        std=std,
        low=np.where(unknown, np.nan, mean - margin),
        high=np.where(unknown, np.nan, mean + margin),
    )


def was_continued(sessions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a study got more runs after its first results could be seen.

    Sessions of earlier versions do not say how many runs they were for, and do not count.
    """
    wanted = {session["runs"] for session in sessions if "runs" in session}
    return len(wanted) > 1 or any(session.get("until_separated") for session in sessions)


def all_pairs(identity: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Every instance of a study with every two policies that are to run on it.

    Parameters
    ----------
    identity : dict
        That of the study, as in ``study.json``.
    """
    every = list(identity["policies"])
    return [
        (name, policy, other)
        for name, origin in identity["instances"].items()
        for policy, other in combinations(
            [p for p in every if p in origin.get("policies", every)], 2
        )
    ]


def compared(results: Results) -> "pd.Series[float]":
    """What the runs are compared by: the regret, or the logarithm of the rounds of rules.

    The logarithm, since the rounds of runs with other means differ by powers of ten.
    """
    if results.kind == "identification":
        return pd.Series(np.log(results.runs["rounds"].to_numpy(np.float64)))
    return results.runs["regret"]


def compare_all(
    results: Results, *, sequential: bool | None = None
) -> dict[tuple[str, str, str], Comparison]:
    """Every comparison of a study by instance, policy and other policy, in both orders.

    Only runs that both policies have are compared, and pairs with fewer than two of these are left
    out.

    Parameters
    ----------
    results : Results
    sequential : bool, optional
        Whether the intervals are to hold at every number of runs at once; by default if the study
        was continued after its first results. They then hold together for all pairs that the
        study is to run, also for those that have no runs yet.
    """
    if sequential is None:
        sequential = was_continued(results.sessions)
    identity = results.study["identity"]
    instances, policies = list(identity["instances"]), list(identity["policies"])
    runs = results.runs.assign(compared=compared(results).to_numpy())
    table = runs.pivot_table(index=["instance", "seed"], columns="policy", values="compared")
    table = table.reindex(columns=policies)
    seeds = table.index.get_level_values("seed").unique()
    regrets = np.full((len(instances), len(seeds), len(policies)), np.nan)
    rows = table.index.get_level_values("instance")
    for i, instance in enumerate(instances):
        mine = table[rows == instance]
        places = seeds.get_indexer(mine.index.get_level_values("seed"))
        regrets[i, places] = mine.to_numpy(np.float64)
    n_claims = len(all_pairs(identity)) if sequential else None
    intervals = pairwise_intervals(regrets, n_claims, sequential=sequential)
    found = {}
    for i, k in np.argwhere(intervals.n_runs > 1):
        comparison = Comparison(
            instance=instances[i],
            policy=policies[intervals.first[k]],
            other=policies[intervals.second[k]],
            regret=float(intervals.first_mean[i, k]),
            other_regret=float(intervals.second_mean[i, k]),
            low=float(intervals.low[i, k]),
            high=float(intervals.high[i, k]),
            n_runs=int(intervals.n_runs[i, k]),
            std=float(intervals.std[i, k]),
        )
        for c in (comparison, comparison.reversed()):
            found[c.instance, c.policy, c.other] = c
    return found


def compare(results: Results, policy: str, other: str) -> list[Comparison]:
    """`policy` against `other` on every instance where both have at least two runs in common.

    The intervals hold together with those of all other pairs of the study, so that the two may be
    chosen after looking at the results.
    """
    known = list(checked_results(results).study["identity"]["policies"])
    for name in (policy, other):
        choice(name, "policy", known)
    if policy == other:
        raise ValueError(f"two policies are compared, got {policy!r} twice")
    found = compare_all(results)
    instances = results.study["identity"]["instances"]
    return [found[i, policy, other] for i in instances if (i, policy, other) in found]


def _is_constant(mean: FloatArray | float, std: FloatArray | float) -> BoolArray:
    """Whether all differences are the same, up to rounding, and not zero."""
    return np.asarray((mean != 0) & (std <= _ROUNDING * np.abs(mean)))
