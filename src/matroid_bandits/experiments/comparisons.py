"""Policies in pairs: which differences of regret the runs of a study establish.

Every pair of policies on every instance gets a confidence interval, and all of them hold together
with 95 % confidence (Bonferroni: Dunn [DUN61]). A report takes all that it says about pairs from
these intervals, so the best policy and the pairs to mention may be chosen from the same runs.

Assumptions, per pair and instance: runs are independent, and the differences are normal, or
symmetric with longer tails, for which Student's interval is too wide rather than too narrow
[BEN83]. No procedure does without such an assumption: with arbitrary distributions, no interval for
a mean is both bounded and valid [BS56]. docs/studies.md says what skewed differences do.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from matroid_bandits._arguments import choice
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.experiments.results import Results, checked_results

__all__ = ["Comparison", "PairwiseIntervals", "compare", "compare_all", "pairwise_intervals"]


#: The confidence with which all comparisons of a study hold together.
CONFIDENCE = 0.95

# Differences whose relative spread is below this are equal up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Comparison:
    """The regrets of two policies on one instance, run by run on the same rewards.

    Attributes
    ----------
    instance, policy, other : str
    regret, other_regret : float
        Means over the runs that both have.
    low, high : float
        Confidence interval of the mean of ``regret - other_regret``, paired. The intervals of all
        pairs of policies on all instances of the study hold together with 95 % confidence.
    """

    instance: str
    policy: str
    other: str
    regret: float
    other_regret: float
    low: float
    high: float

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

    def reversed(self) -> "Comparison":
        """The same with the two policies exchanged."""
        return Comparison(
            instance=self.instance,
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
    low, high : numpy.ndarray of float
        The interval of the mean difference; NaN where there are fewer than two runs.
    """

    first: IntArray
    second: IntArray
    n_runs: IntArray
    first_mean: FloatArray
    second_mean: FloatArray
    low: FloatArray
    high: FloatArray


def pairwise_intervals(regrets: FloatArray, n_claims: int | None = None) -> PairwiseIntervals:
    """Intervals of the mean difference of every pair of policies, which hold together.

    Parameters
    ----------
    regrets : array of shape (..., runs, policies)
        Rows are runs on the same rewards; NaN where a run is missing.
    n_claims : int, optional
        The number of intervals that are to hold together; by default those of one study whose
        instances are all the leading axes.
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
        margin = stdtrit(n_runs - 1.0, 1 - error_rate / 2) * std / np.sqrt(n_runs)
        means = [
            np.where(both, regrets[..., which], 0.0).sum(axis=-2) / n_runs
            for which in (first, second)
        ]
    # Student's interval has no width where all differences are equal, as happens in short runs with
    # few possible regrets. There the sign test decides, whose p-value is 2 / 2**n_runs.
    constant = (mean != 0) & (std <= _ROUNDING * np.abs(mean))
    margin = np.where(constant & (2.0 ** (1.0 - n_runs) > error_rate), np.inf, margin)
    unknown = n_runs < 2
    return PairwiseIntervals(
        first=first,
        second=second,
        n_runs=n_runs,
        first_mean=means[0],
        second_mean=means[1],
        low=np.where(unknown, np.nan, mean - margin),
        high=np.where(unknown, np.nan, mean + margin),
    )


def compare_all(results: Results) -> dict[tuple[str, str, str], Comparison]:
    """Every comparison of a study by instance, policy and other policy, in both orders.

    Only runs that both policies have are compared, and pairs with fewer than two of these are left
    out.
    """
    identity = results.study["identity"]
    instances, policies = list(identity["instances"]), list(identity["policies"])
    table = results.runs.pivot_table(index=["instance", "seed"], columns="policy", values="regret")
    table = table.reindex(columns=policies)
    seeds = table.index.get_level_values("seed").unique()
    regrets = np.full((len(instances), len(seeds), len(policies)), np.nan)
    rows = table.index.get_level_values("instance")
    for i, instance in enumerate(instances):
        mine = table[rows == instance]
        places = seeds.get_indexer(mine.index.get_level_values("seed"))
        regrets[i, places] = mine.to_numpy(np.float64)
    intervals = pairwise_intervals(regrets)
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
