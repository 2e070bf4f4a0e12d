"""Have means changed? A watch over what a policy keeps, whatever it does about it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from matroid_bandits._core.policies.memory.discount import Discount
from matroid_bandits._core.policies.memory.restart import Restart
from matroid_bandits._core.policies.memory.window import Window
from matroid_bandits._frames import data_frame
from matroid_bandits._html import MOST_ROWS, Html, never_raises, number, panel, paragraph, table
from matroid_bandits.stopping import Gaussian, bernoulli_divergence, checked_delta

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    import pandas as pd

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.policies.contract.translation import Translation
    from matroid_bandits.problem import Problem
    from matroid_bandits.stopping import Family

__all__ = ["Change", "Drift", "DriftWatch"]


# A representation names so many elements.
_MOST_NAMED = 3


class Change(NamedTuple):
    """A mean that seems to have changed."""

    #: The element: its label, or its number.
    element: Any
    #: Its mean before the split that separates its rewards best.
    before: float
    #: Its mean after that.
    after: float
    #: How much less likely the rewards are if the mean has not changed.
    statistic: float
    #: What the statistic had to exceed.
    threshold: float


@dataclass(frozen=True)
class Drift:
    """Elements whose means seem to have changed; printed, a sentence.

    It is true if there are any, and iterates over them.

    Attributes
    ----------
    delta : float
        About the probability that it names any element although no mean has changed.
    changes : tuple of Change
        The elements, the most certain change first.
    n_watched : int
        Elements with enough observations for the test.
    """

    delta: float
    changes: tuple[Change, ...]
    n_watched: int

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __str__(self) -> str:
        """What seems to have changed, and the clearest case."""
        if not self.changes:
            return "No mean seems to have changed."
        first = self.changes[0]
        n = len(self.changes)
        who = "The mean of 1 element seems" if n == 1 else f"The means of {n:,} elements seem"
        return (
            f"{who} to have changed, that of {first.element!r} most clearly: from about "
            f"{first.before:.4g} to about {first.after:.4g}."
        )

    def __repr__(self) -> str:
        names = [repr(change.element) for change in self.changes[:_MOST_NAMED]]
        if len(self.changes) > _MOST_NAMED:
            names.append(f"... {len(self.changes) - _MOST_NAMED:,} more")
        inside = ", ".join(["", *names])
        return f"Drift(delta={self.delta}, {len(self.changes)} of {self.n_watched} changed{inside})"

    def to_frame(self) -> pd.DataFrame:
        """One line for each change: ``element, before, after, statistic, threshold``.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is missing: ``pip install 'matroid-bandits[experiments]'``.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> policy = mb.OMM(mb.UniformMatroid(1, 1), noise=0.2)
        >>> for round in range(64):
        ...     policy.update([0], [0.25 if round < 32 else 0.75])
        >>> policy.drift().to_frame()[["element", "before", "after"]]
           element  before  after
        0        0    0.25   0.75
        """
        return data_frame(
            {name: [getattr(c, name) for c in self.changes] for name in Change._fields}
        )

    @never_raises
    def _repr_html_(self) -> Html:
        if not self.changes:
            return panel("Drift", paragraph(str(self)))
        rows = [
            (c.element, *map(number, (c.before, c.after, c.statistic, c.threshold)))
            for c in self.changes[:MOST_ROWS]
        ]
        return panel("Drift", paragraph(str(self)), table(Change._fields, rows, total=len(self)))


class DriftWatch:
    """A policy's answer to the question whether means have changed."""

    _kernel: PolicyKernel
    _problem: Problem[Any, Any]
    _translation: Translation

    def drift(
        self, delta: float = 0.05, *, noise: float | None = None, family: str | None = None
    ) -> Drift:
        """Whether means seem to have changed, by what the policy keeps anyway.

        For each element the rewards before a split are compared with those after it, by a
        generalized likelihood ratio test. It takes a few operations for each element.

        Parameters
        ----------
        delta : float, default 0.05
            About the probability of naming any element although no mean has changed.
        noise : float, optional
            The standard deviation of the rewards, as for `confidence`. By default what the policy
            assumes.
        family : {"gaussian", "bernoulli"}, optional
            How rewards vary, as for `confidence`.

        Returns
        -------
        Drift

        Raises
        ------
        ValueError
            If the policy has a discount: it keeps nothing to compare. And as for `confidence`, if
            nothing is known about the noise.

        Notes
        -----
        A policy keeps the mean that each element had after 1, 2, 4, 8, ... observations, the last
        two of these; the splits are there. With `window` or `restart` more is kept, and more splits
        are compared. The test cannot see changes of elements that are no longer played.

        Examples
        --------
        >>> import numpy as np
        >>> import matroid_bandits as mb
        >>> policy = mb.OMM(mb.UniformMatroid(1, 1), noise=0.2)
        >>> rng = np.random.default_rng(0)
        >>> for round in range(200):
        ...     policy.update([0], [rng.normal(0.5 if round < 150 else 0.9, 0.2)])
        >>> print(policy.drift())
        The mean of 1 element seems to have changed, that of 0 most clearly: from about 0.5124 to \
about 0.7642.
        """
        accepted = checked_delta(delta)
        kernel = self._kernel
        if self._confidence_refusal:  # type: ignore[attr-defined]
            raise ValueError(
                "drift is for policies that learn the mean of every element by itself; "
                f"{type(self).__name__} does not"
            )
        with kernel.guard.hold():
            chosen: Family = self._family(noise, family)  # type: ignore[attr-defined]
            counts = kernel.counts_copy()
            if isinstance(kernel.memory, Discount):
                raise ValueError(
                    "drift compares rewards of different times, which a policy with discount= does "
                    "not keep apart; use window= or restart="
                )
            # Rewards may be so large that sums or squares overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                statistics, before, after = _splits(kernel, chosen)
        n_elements = max(1, len(counts) - len(self._problem.matroid.loops))
        with np.errstate(divide="ignore"):
            thresholds = log(3 * n_elements / accepted) + 1.5 * np.log(counts)
        found = np.flatnonzero(statistics > np.where(counts > 1, thresholds, inf))
        found = found[np.argsort((thresholds - statistics)[found], kind="stable")]
        units = self._translation.in_user_units
        return Drift(
            accepted,
            tuple(
                Change(self._problem.name(e), b, a, float(statistics[e]), float(thresholds[e]))
                for e, b, a in zip(
                    found.tolist(),
                    units(before[found]).tolist(),
                    units(after[found]).tolist(),
                    strict=True,
                )
            ),
            int(np.count_nonzero(counts > 1)),
        )


def _splits(kernel: PolicyKernel, family: Family) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For every element: the largest statistic, and the means before and after that split."""
    memory = kernel.memory
    if isinstance(memory, Window):
        kept = memory.observations(kernel.rounds)
        return _all_splits(kernel.size, kept["element"], kept["reward"], family)
    counts = kernel.counts_copy()
    means = np.where(counts > 0, kernel.means_copy(), 0.0)
    if isinstance(memory, Restart):
        return _largest(*memory.splits(), means, counts, family)
    earlier = kernel.earlier_means_copy()
    # The largest power of two up to the count, and half of it.
    last = 2.0 ** np.floor(np.log2(np.maximum(counts, 1)))
    found = np.zeros(kernel.size), np.full(kernel.size, np.nan), np.full(kernel.size, np.nan)
    for column, n_before in ((1, last), (0, last / 2)):
        fits = (counts > n_before) & (n_before >= 1) & ~np.isnan(earlier[:, column])
        places = np.flatnonzero(fits)
        _keep_larger(
            found, places, earlier[places, column], n_before[places], means, counts, family
        )
    return found


def _all_splits(
    size: int, elements: IntArray, rewards: FloatArray, family: Family
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for rewards in the order of their rounds: all splits of each element."""
    order = np.argsort(elements, kind="stable")
    elements, rewards = elements[order], rewards[order]
    counts = np.bincount(elements, minlength=size)
    sums = np.bincount(elements, rewards, minlength=size)
    starts = np.cumsum(counts) - counts
    totals = np.cumsum(rewards)
    base = np.where(starts > 0, totals[np.maximum(starts, 1) - 1], 0.0) if len(totals) else sums
    place = np.arange(1, len(elements) + 1)
    n_before = place - starts[elements]
    before = (totals - base[elements]) / n_before
    is_split = n_before < counts[elements]
    means = sums / np.maximum(counts, 1)
    return _largest(elements[is_split], before[is_split], n_before[is_split], means, counts, family)


def _largest(
    elements: IntArray,
    before: FloatArray,
    n_before: npt.NDArray[Any],
    means: FloatArray,
    counts: IntArray,
    family: Family,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for some splits of the elements."""
    size = len(counts)
    found = np.zeros(size), np.full(size, np.nan), np.full(size, np.nan)
    values = _statistic(before, n_before, means[elements], counts[elements], family)
    # Of each element the largest: in ascending order, the last one stays.
    order = np.argsort(values, kind="stable")
    _keep_larger(found, elements[order], before[order], n_before[order], means, counts, family)
    return found


def _keep_larger(
    found: tuple[FloatArray, FloatArray, FloatArray],
    places: IntArray,
    before: FloatArray,
    n_before: npt.NDArray[Any],
    means: FloatArray,
    counts: IntArray,
    family: Family,
) -> None:
    """Take over the splits that have larger statistics than those found so far."""
    values = _statistic(before, n_before, means[places], counts[places], family)
    is_larger = values >= found[0][places]
    places, before, n_before = places[is_larger], before[is_larger], n_before[is_larger]
    total = counts[places] * means[places]
    found[0][places] = values[is_larger]
    found[1][places] = before
    found[2][places] = (total - n_before * before) / (counts[places] - n_before)


def _statistic(
    before: FloatArray,
    n_before: npt.NDArray[Any],
    means: FloatArray,
    counts: IntArray,
    family: Family,
) -> FloatArray:
    """The likelihood ratio of a split, from the mean before it and the mean of all rewards."""
    n_after = counts - n_before
    after = (counts * means - n_before * before) / n_after
    if isinstance(family, Gaussian):
        gaps = (before - after) / family.noise
        ratios: FloatArray = n_before * n_after / counts * gaps**2 / 2
        return ratios
    width = family.high - family.low
    first, second, whole = (
        np.clip((values - family.low) / width, 0.0, 1.0) for values in (before, after, means)
    )
    # Where all rewards were 0, or all were 1, nothing has changed.
    inside = np.where((whole > 0) & (whole < 1), whole, 0.5)
    ratio: FloatArray = n_before * bernoulli_divergence(first, inside)
    ratio += n_after * bernoulli_divergence(second, inside)
    return np.where(inside == whole, ratio, 0.0)
