"""Item-level inverse-propensity estimates.

The value of a set is the sum of the mean rewards of its elements. So each element is weighted by
its own inverse propensity [HT52], not the set by that of the set, which is far smaller. This is the
item-position model of [LAKM18] without positions; [SKAD17] need no such assumption but a linear
one. It holds if the reward of an element does not depend on what is played beside it, the
assumption of semi-bandits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matroid_bandits._arguments import choice, real, truth_value
from matroid_bandits.evaluation.reading import RandomLog, read_random_log
from matroid_bandits.evaluation.targets import Plays, plays_of
from matroid_bandits.stopping import checked_delta

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matroid_bandits.policies import Policy

__all__ = ["Evaluation", "evaluate_log"]

ESTIMATORS = ("ips", "snips")

# An element is doubtful if its coverage is so many standard errors below 1.
_DOUBTFUL = 3.0
# -ln of the probability that corresponds to that.
_MISSING = 6.6
_LARGEST_CLIP = 1e12


@dataclass(frozen=True)
class Evaluation:
    """What a policy would have earned in a decision, on average; printed, a few sentences.

    Attributes
    ----------
    value : float
        The estimate: the total reward, or cost, of the elements of a decision.
    standard_error : float
        Its standard error.
    interval : tuple of float
        Where the value is with probability ``1 - delta``, by the normal distribution.
    delta : float
        The probability that the interval misses it.
    estimator : str
        "ips" or "snips".
    logged_value : float
        What the decisions of the log have earned, on average.
    n_decisions : int
        The number of decisions.
    effective_size : float
        As many decisions of the evaluated policy itself would say about as much: ``sum(u)**2 /
        sum(u**2)``, where u is the sum of the weights of a decision.
    coverage : dict
        Of every element that would have been played: the mean of its inverse propensity, 0 where it
        was not shown. It is near 1 if the element always had a chance.
    doubtful : list
        Elements whose coverage is more than 3 standard errors below 1: in some decisions they had
        no chance, or hardly any. Their rewards are counted too low.
    n_clipped : int
        How many weights were clipped.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    delta: float
    estimator: str
    logged_value: float
    n_decisions: int
    effective_size: float
    coverage: dict[Any, float] = field(repr=False)
    doubtful: list[Any] = field(repr=False)
    n_clipped: int = 0

    def __str__(self) -> str:
        low, high = self.interval
        sure = f"{100 * (1 - self.delta):.10g}%"
        text = (
            f"{self.value:.4g} a decision, with probability {sure} from {low:.4g} to {high:.4g} ("
            f"{self.estimator.upper()}); the log has {self.logged_value:.4g}. "
            f"{self.n_decisions} decisions, as good as {self.effective_size:.0f} of its own."
        )
        if self.n_clipped:
            text += f" {self.n_clipped} weights were clipped, so the estimate is biased."
        if self.doubtful:
            some = ", ".join(repr(name) for name in self.doubtful[:5])
            text += f" Not always possible in the log, and counted too low: {some}."
        return text


def evaluate_log(
    frame: Any,
    policy: Policy[Any] | Mapping[Any, float] | Iterable[Any],
    *,
    estimator: Literal["ips", "snips"] = "ips",
    clip: float | None = None,
    delta: float = 0.05,
    missing_reward: float | None = None,
    available: Mapping[Any, Iterable[Any]] | None = None,
    learn: bool = True,
) -> Evaluation:
    """Estimate what a policy would have earned, from the log of a policy that draws at random.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, Table of pyarrow, or mapping of columns
        With a row for every element that was shown, and these columns; others are ignored:

        - `decision`: an id, the same in all rows of a decision;
        - `element`: a label (a number, where there are none);
        - `reward`: a reward, or a cost;
        - `propensity`: how likely the element was, ``decision.propensities``;
        - `time`, optional: rows are then taken in this order.

        Reward and propensity of an element may be in two rows, as the service exports them.
    policy : Policy, mapping or iterable
        What is evaluated: the elements of a set that is always played; the probability of each
        element, ``{label: probability}``; or a policy, a copy of which decides along the log.
    estimator : {"ips", "snips"}, default "ips"
        Inverse propensity scores, which are unbiased, or self-normalized ones, which usually vary
        less and are biased a little in short logs.
    clip : float, optional
        The largest weight, at least 1. Less variance, but rewards are then counted too low.
    delta : float, default 0.05
        The probability that the interval misses the value.
    missing_reward : float, optional
        The reward of elements without feedback, such as 0 for "no click".
    available : mapping, optional
        For a policy: the elements that were available, by the id of a decision; by default all.
    learn : bool, default True
        Whether a policy learns along the log the rewards of what it would have played and the log
        has shown. Otherwise it stays as it is.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If the log is that of a deterministic policy, if it never shows an element that would be
        played, or if anything else is wrong.

    Notes
    -----
    It is assumed that the reward of an element does not depend on the others that are shown. For a
    set and for probabilities, "ips" is then unbiased, whatever the policy of the log has learned
    meanwhile. For a policy it is unbiased for that policy *as it learns here*: from the rewards of
    elements that both have chosen. On its own it would see all its rewards and learn faster.

    References
    ----------
    .. [HT52] D. G. Horvitz and D. J. Thompson, A Generalization of Sampling Without Replacement
       From a Finite Universe, Journal of the American Statistical Association 47, 1952.
    .. [SJ15] A. Swaminathan and T. Joachims, The Self-Normalized Estimator for Counterfactual
       Learning, NIPS 2015.
    .. [SKAD17] A. Swaminathan, A. Krishnamurthy, A. Agarwal, M. Dudik, J. Langford, D. Jose and
       I. Zitouni, Off-policy Evaluation for Slate Recommendation, NIPS 2017.
    .. [LAKM18] S. Li, Y. Abbasi-Yadkori, B. Kveton, S. Muthukrishnan, V. Vinay and Z. Wen, Offline
       Evaluation of Ranking Policies with Click Models, KDD 2018.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> log = {
    ...     "decision": [1, 2, 3, 4],
    ...     "element": ["car", "tea", "car", "tea"],
    ...     "reward": [1.0, 0.0, 0.0, 1.0],
    ...     "propensity": [0.5, 0.5, 0.5, 0.5],
    ... }
    >>> mb.evaluate_log(log, ["tea"]).value
    0.5
    """
    choice(estimator, "estimator", ESTIMATORS)
    limit = None if clip is None else real(clip, "clip", minimum=1.0, maximum=_LARGEST_CLIP)
    accepted = checked_delta(delta)
    missing = None
    if missing_reward is not None:
        missing = real(missing_reward, "missing_reward", minimum=-1e100, maximum=1e100)
    learns = truth_value(learn, "learn")
    log = read_random_log(frame, missing)
    n = len(log.ids)
    if n < 2:
        raise ValueError(f"at least 2 decisions are needed for a standard error, the log has {n}")
    plays = plays_of(policy, log, available, learn=learns)
    weights = plays.probabilities / log.propensities
    coverage, doubtful = _coverage(plays, log)
    n_clipped = 0
    if limit is not None:
        n_clipped = int(np.count_nonzero(weights > limit))
        weights = np.minimum(weights, limit)
    # By decision: weighted rewards, and weights.
    earned = np.bincount(log.decisions, weights * log.rewards, n)
    weight = np.bincount(log.decisions, weights, n)
    if not weight.any():
        raise ValueError(
            "no decision of the log has an element that the policy would have played; a longer log "
            "is needed, or one that is more random"
        )
    if estimator == "ips":
        value, residuals = float(earned.mean()), earned - earned.mean()
    else:
        # [SJ15], times the number of elements that would have been played in a decision.
        scale = float(plays.wanted.sum()) / n / float(weight.mean())
        value = scale * float(earned.mean())
        residuals = scale * (earned - earned.mean() / weight.mean() * weight)
    error = sqrt(float(residuals @ residuals) / (n - 1) / n)
    margin = NormalDist().inv_cdf(1 - accepted / 2) * error
    return Evaluation(
        value=value,
        standard_error=error,
        interval=(value - margin, value + margin),
        delta=accepted,
        estimator=estimator,
        logged_value=float(log.rewards.sum()) / n,
        n_decisions=n,
        effective_size=float(weight.sum() ** 2 / (weight @ weight)),
        coverage=coverage,
        doubtful=doubtful,
        n_clipped=n_clipped,
    )


def _coverage(plays: Plays, log: RandomLog) -> tuple[dict[Any, float], list[Any]]:
    """The mean inverse propensity of every element, over the decisions in which it would be played;
    and the elements that had no chance somewhere.
    """
    n_labels = len(log.labels)
    inverse = (plays.probabilities > 0) / log.propensities
    total = np.bincount(log.elements, inverse, n_labels)
    squares = np.bincount(log.elements, inverse**2, n_labels)
    likeliest = np.zeros(n_labels)
    np.maximum.at(likeliest, log.elements, log.propensities)
    coverage, doubtful = {}, []
    for i in np.flatnonzero(plays.n_wanted).tolist():
        n = plays.n_wanted[i]
        mean = float(total[i] / n)
        # In decisions in which it was not shown it is 0.
        error = sqrt(max(0.0, squares[i] / n - mean**2) / n)
        coverage[log.labels[i]] = mean
        # Where it was never shown the error is 0. An element of propensity p is missing in n
        # decisions with a probability of at most exp(-n p).
        if mean + _DOUBTFUL * error + _MISSING / (n * likeliest[i]) < 1:
            doubtful.append(log.labels[i])
    return coverage, doubtful
