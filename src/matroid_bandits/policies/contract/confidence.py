"""May I stop? Whether the basis that looks best is known to be the best one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from matroid_bandits._arguments import abbreviated, choice, real
from matroid_bandits._html import Html, never_raises, panel, paragraph
from matroid_bandits.policies.contract.exchange_pairs import ExchangePairs
from matroid_bandits.policies.contract.memory import memory_caveat
from matroid_bandits.stopping import (
    THRESHOLDS,
    Bernoulli,
    Family,
    Gaussian,
    checked_delta,
    thresholds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import CountArray, FloatArray
    from matroid_bandits.policies.contract.translation import Translation
    from matroid_bandits.problem import Problem
    from matroid_bandits.stopping import ThresholdName

__all__ = ["Confidence", "Confident"]


@dataclass(frozen=True)
class Confidence:
    """Whether the basis that looks best is known to be the best one; printed, two sentences.

    Attributes
    ----------
    delta : float
        The probability of a wrong answer that is accepted.
    settled : bool
        Whether all exchanges are known to make the basis worse.
    basis : list, or numpy.ndarray, or None
        The basis that looks best; None as long as elements were never observed.
    statistic : float
        The logarithm of the generalized likelihood ratio: how much less likely the observations are
        if another basis is at least as good. The least over all exchanges, which is the least over
        all bases. Infinite if there is only one basis, 0 if elements were never observed.
    threshold : float
        What the statistic of the hardest pair must exceed.
    threshold_name : str
        "proven" or "customary".
    pair : tuple or None
        The hardest pair: an element of the basis, and the one that could replace it.
    pair_statistic : float
        The statistic of this pair. Thresholds differ between pairs; it is usually `statistic`.
    more_observations : int or None
        About so many more observations of this pair settle it, half of each, if their means stay
        what they are; None if that cannot be said.
    family : str
        "gaussian" or "bernoulli": how rewards are assumed to vary.
    noise : float or None
        Their standard deviation, if they are Gaussian.
    n_unobserved : int
        Elements that could be played and were never observed.
    caveat : str
        Why the answer is not valid, or what it is about where observations are forgotten; empty if
        nothing is known that would speak against it.
    """

    delta: float
    settled: bool
    # Arrays cannot be compared as a whole.
    basis: Any = field(compare=False)
    statistic: float
    threshold: float
    threshold_name: ThresholdName
    pair: tuple[Any, Any] | None
    pair_statistic: float
    more_observations: int | None
    family: str
    noise: float | None
    n_unobserved: int
    caveat: str

    def __str__(self) -> str:
        """What is known, what is hardest, and what speaks against it."""
        sentences = [self._verdict(), self._hardest(), self.caveat]
        return " ".join(sentence for sentence in sentences if sentence)

    def __repr__(self) -> str:
        pair = "" if self.pair is None else f", pair={abbreviated(self.pair)}"
        return (
            f"Confidence(delta={self.delta}, settled={self.settled}, "
            f"statistic={self.statistic:.4g}, threshold={self.threshold:.4g}{pair})"
        )

    @never_raises
    def _repr_html_(self) -> Html:
        return panel("Confidence", paragraph(str(self)))

    def _verdict(self) -> str:
        sure = f"with confidence {100 * (1 - self.delta):.10g} %"
        if self.settled and self.pair is None:
            return "There is only one basis."
        if self.pair is None:
            return f"The best basis is not settled {sure}."
        is_not, above = ("is", "above") if self.settled else ("is not", "not above")
        return (
            f"The best basis {is_not} settled {sure}: the statistic {self.pair_statistic:.4g} is "
            f"{above} the {self.threshold_name} threshold {self.threshold:.4g}."
        )

    def _hardest(self) -> str:
        if self.settled and self.pair is None:
            return ""
        if self.pair is None:
            were = "element was" if self.n_unobserved == 1 else "elements were"
            return f"{self.n_unobserved:,} {were} never observed."
        text = f"The hardest pair is {self.pair[0]!r} in the basis and {self.pair[1]!r} outside"
        if self.settled:
            return f"{text}."
        if self.more_observations is None:
            return f"{text}: nothing tells them apart yet."
        return f"{text}: about {self.more_observations:,} more observations of them would do."


class Confident:
    """A policy's answer to the question whether one may stop."""

    _kernel: PolicyKernel
    _problem: Problem[Any, Any]
    _translation: Translation
    # Elements that were dropped on the way to this problem.
    _n_dropped: int = 0
    # Why there is no answer for a class; empty if there is one.
    _confidence_refusal: ClassVar[str] = ""

    def confidence(
        self,
        delta: float = 0.05,
        *,
        noise: float | None = None,
        family: str | None = None,
        threshold: str = "proven",
    ) -> Confidence:
        """Whether the basis of largest mean is known to be the best one, so that one may stop.

        The answer holds for any way of selecting, and at any time: it may be asked after every
        round, and the probability that it is ever settled on a wrong basis is at most `delta`.

        Parameters
        ----------
        delta : float, default 0.05
            The probability of a wrong answer, above 0 and below 0.5.
        noise : float, optional
            The rewards vary no more than Gaussian ones of this standard deviation; 0.5 holds for
            all rewards between 0 and 1. By default what the policy assumes.
        family : {"gaussian", "bernoulli"}, optional
            "bernoulli" is for rewards between 0 and 1, or between the bounds of the policy. By
            default what the policy assumes.
        threshold : {"proven", "customary"}, default "proven"
            "customary" is what most papers use and needs far fewer observations, but it has
            not been proven that they are enough.

        Returns
        -------
        Confidence

        Raises
        ------
        ValueError
            If the policy assumes nothing about the noise and neither `noise` nor `family` is given;
            or if it has a discount, for which no threshold is known.

        Notes
        -----
        It is assumed that means do not change over time (`drift` watches that), that rewards are
        independent, and that
        statistics from elsewhere (`observe`) are of the same elements. It costs one step for every
        pair of elements that can be exchanged. Circuits are computed anew only if another basis
        looks best.

        References
        ----------
        .. [GK16] A. Garivier and E. Kaufmann, Optimal Best Arm Identification with Fixed
           Confidence, COLT 2016.
        .. [KK21] E. Kaufmann and W. M. Koolen, Mixture Martingales Revisited with Applications to
           Sequential Tests and Confidence Intervals, JMLR 22, 2021.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> colors = mb.Problem(mb.UniformMatroid(1, 3), labels=["red", "green", "blue"])
        >>> policy = mb.MAUB(colors, noise=0.5)
        >>> policy.observe({"red": (0.4, 90), "green": (0.9, 90), "blue": (0.1, 90)})
        >>> print(policy.confidence(0.05))
        The best basis is settled with confidence 95 %: the statistic 22.5 is above the proven \
threshold 15.39. The hardest pair is 'green' in the basis and 'red' outside.
        """
        accepted = checked_delta(delta)
        name = choice(threshold, "threshold", THRESHOLDS)
        kernel = self._kernel
        with kernel.guard.hold():
            counts, means, rounds = kernel.counts_copy(), kernel.means_copy(), kernel.rounds
            chosen = self._family(noise, family)
            matroid = self._problem.matroid
            is_loop = np.zeros(matroid.size, dtype=np.bool_)
            is_loop[matroid.loops] = True
            n_outside = matroid.size - len(matroid.loops) - matroid.rank
            n_unobserved = int(np.count_nonzero((counts == 0) & ~is_loop))
            common: dict[str, Any] = {
                "delta": accepted,
                "threshold_name": name,
                "family": chosen.name,
                "noise": getattr(chosen, "noise", None),
                "n_unobserved": n_unobserved,
                "caveat": f"{memory_caveat(kernel)} {self._caveat()}".strip(),
            }
            # A single basis is the best one, whatever was observed.
            if n_unobserved and n_outside:
                return Confidence(
                    settled=False,
                    basis=None,
                    statistic=0.0,
                    threshold=inf,
                    pair=None,
                    pair_statistic=0.0,
                    more_observations=None,
                    **common,
                )
            pairs = self._exchange_pairs()
            pairs.refresh(np.where(counts > 0, means, 0.0))
            basis = self._names(pairs.basis.copy())  # type: ignore[attr-defined]
            return _judged(
                self._problem,
                pairs,
                chosen,
                means,
                counts,
                n_pairs=len(pairs.basis) * n_outside,
                rounds=rounds,
                basis=basis,
                **common,
            )

    def _exchange_pairs(self) -> ExchangePairs:
        """Those of the last time; a copy of a policy has its own."""
        kept: ExchangePairs | None = vars(self).get("_pairs")
        if kept is None:
            kept = vars(self)["_pairs"] = ExchangePairs(self._problem.matroid)
        return kept

    def _family(self, noise: float | None, family: str | None) -> Family:
        """How rewards are assumed to vary: as is said, or as the policy assumes."""
        if self._confidence_refusal:
            raise ValueError(f"{type(self).__name__} has no confidence: {self._confidence_refusal}")
        low, high = self._kernel.feedback.low, self._kernel.feedback.high
        is_bounded = isfinite(low) and isfinite(high)
        own: float | None = getattr(self, "noise", None)
        if family is not None:
            family = choice(family, "family", ("gaussian", "bernoulli"))
        elif noise is not None or not is_bounded:
            family = "gaussian"
        else:
            family = "bernoulli"
        if family == "bernoulli":
            if noise is not None:
                raise ValueError('noise is for family="gaussian"; Bernoulli rewards have none')
            if not is_bounded:
                # Costs from 0 to 1 are learned as rewards from the pivot less 1 to the pivot.
                high = self._translation.pivot if self._problem.sense == "min" else 1.0
                low = high - 1
            self._refuse_outside(low, high)
            return Bernoulli(low, high)
        spread = own if noise is None else noise
        if spread is None:
            raise ValueError(
                f"{type(self).__name__} assumes nothing about the noise of the rewards: pass "
                'noise=..., their standard deviation, or family="bernoulli" for rewards between 0 '
                "and 1"
            )
        value = real(spread, "noise", minimum=0.0, maximum=1e100)
        if value == 0:
            raise ValueError("noise must be above 0: pass noise=..., the standard deviation")
        return Gaussian(value)

    def _refuse_outside(self, low: float, high: float) -> None:
        means = self._kernel.means_copy()
        outside = np.flatnonzero((means < low) | (means > high))
        if outside.size:
            name = self._problem.name(outside[0])
            mean, *ends = self._translation.in_user_units(
                np.array([means[outside[0]], low, high])
            ).tolist()
            kind = self._translation.kind
            raise ValueError(
                f'family="bernoulli" is for {kind} between {min(ends):g} and {max(ends):g}, but '
                f"{name!r} has the mean {mean:.6g}; pass noise=..., the standard deviation of the "
                f"{kind}"
            )

    def _caveat(self) -> str:
        if not self._n_dropped:
            return ""
        were = "element was" if self._n_dropped == 1 else "elements were"
        return (
            f"This is not valid: {self._n_dropped:,} {were} dropped when the problem changed, "
            "perhaps because of what was observed."
        )


def _judged(
    problem: Problem[Any, Any],
    pairs: ExchangePairs,
    distribution: Family,
    means: FloatArray,
    counts: CountArray,
    *,
    n_pairs: int,
    rounds: int,
    **common: Any,
) -> Confidence:
    """The answer, by all pairs."""
    if not len(pairs.inside):
        return Confidence(
            settled=True,
            statistic=inf,
            threshold=0.0,
            pair=None,
            pair_statistic=inf,
            more_observations=0,
            **common,
        )
    ends: Sequence[Any] = (pairs.inside, pairs.outside)
    own, other = ((means[end], counts[end]) for end in ends)
    statistics = distribution.likelihood_ratios(*own, *other)
    limit_of = partial(
        thresholds,
        distribution,
        common["threshold_name"],
        delta=common["delta"],
        n_pairs=n_pairs,
        rounds=rounds,
    )
    limits = limit_of(counts=own[1], other_counts=other[1])
    hardest = int(np.argmin(statistics - limits))
    statistic, limit = float(statistics[hardest]), float(limits[hardest])
    settled = statistic > limit
    more: int | None = 0
    if not settled:

        def is_enough(added: FloatArray) -> npt.NDArray[np.bool_]:
            """Whether the pair is settled with so many more observations of each."""
            (mean, count), (other_mean, other_count) = (
                (values[hardest], numbers[hardest] + added) for values, numbers in (own, other)
            )
            many = np.ones(len(added))
            ratios = distribution.likelihood_ratios(
                mean * many, count, other_mean * many, other_count
            )
            enough: npt.NDArray[np.bool_] = ratios > limit_of(
                counts=count, other_counts=other_count
            )
            return enough

        needed = _least(is_enough)
        more = None if needed is None else 2 * needed
    return Confidence(
        settled=settled,
        statistic=float(statistics.min()),
        threshold=limit,
        pair=(problem.name(pairs.inside[hardest]), problem.name(pairs.outside[hardest])),
        pair_statistic=statistic,
        more_observations=more,
        **common,
    )


def _least(is_enough: Callable[[FloatArray], npt.NDArray[np.bool_]]) -> int | None:
    """The least whole number that is enough, about; None if none is."""
    # As far as all whole numbers are floats.
    powers: FloatArray = 2.0 ** np.arange(52.0)
    passes = np.flatnonzero(is_enough(powers))
    if not passes.size:
        return None
    high = powers[passes[0]]
    low = high / 2
    while high - low > 1:
        # A thousand places at once.
        places: FloatArray = np.unique(np.floor(np.linspace(low, high, 1001)))
        first = int(np.argmax(is_enough(places)))
        if first == 0:
            return int(places[0])
        low, high = places[first - 1], places[first]
    return int(high)
