"""What a policy has observed, to be added to what another one has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, integer, real
from matroid_bandits._frames import data_frame

if TYPE_CHECKING:
    import pandas as pd

    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.problem import Problem

__all__ = ["Statistics", "given_statistics"]


class Statistics(Mapping[Any, tuple[float, int]]):
    """Mean and count of every element that was observed: a mapping, by label.

    Sums and differences are those of the observations. So what a policy has learned since some
    moment is ``policy.statistics - before``, and ``other.observe(...)`` adds it elsewhere.

    Attributes
    ----------
    means, counts : numpy.ndarray
        In the order of the elements; means in the user's units, 0 where the count is 0.
    rounds : int
        The number of rounds they took.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> ads = mb.Problem(mb.UniformMatroid(1, 2), labels=["car", "tea"])
    >>> first, second = mb.OMM(ads), mb.OMM(ads)
    >>> first.update({"car": 1.0})
    >>> second.update({"car": 0.0})
    >>> second.update({"tea": 0.5})
    >>> first.observe(second.statistics)
    >>> dict(first.statistics), first.rounds
    ({'car': (0.5, 2), 'tea': (0.5, 1)}, 3)
    """

    def __init__(
        self,
        problem: Problem[Any, Any],
        means: FloatArray,
        counts: CountArray,
        rounds: int,
        index_state: dict[str, FloatArray],
        *,
        only_grows: bool = True,
    ) -> None:
        self._problem = problem
        self.means = means
        self.counts = counts
        self.rounds = rounds
        # What the index keeps besides, by name, with a row for each element.
        self._index_state = index_state
        # Whether nothing was forgotten: only then is a difference what was observed in between.
        self._only_grows = only_grows

    def __getitem__(self, name: Any) -> tuple[float, int]:
        try:
            (e,) = self._problem.elements([name])
        except ValueError:
            raise KeyError(name) from None
        if not self.counts[e]:
            raise KeyError(name)
        return float(self.means[e]), int(self.counts[e])

    def __iter__(self) -> Iterator[Any]:
        return (self._problem.name(e) for e in np.flatnonzero(self.counts).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.counts))

    def __add__(self, other: Statistics) -> Statistics:
        return self._combined(other, 1)

    def __sub__(self, other: Statistics) -> Statistics:
        return self._combined(other, -1)

    def _combined(self, other: Statistics, sign: int) -> Statistics:
        """These observations with those of `other`, or without them."""
        if not isinstance(other, Statistics):
            return NotImplemented
        if self._problem.labels != other._problem.labels or len(self.counts) != len(other.counts):
            raise ValueError("both statistics must be of the same elements, in the same order")
        _refuse_other_sense(other._problem, self._problem)
        only_grows = self._only_grows and other._only_grows
        if sign < 0 and not only_grows:
            raise ValueError(
                "statistics of a policy with window= or restart= cannot be subtracted: between the "
                "two, observations were forgotten as well; log the feedback and use learn_log"
            )
        counts = self.counts + sign * other.counts
        if counts.min(initial=0) < 0 or self.rounds + sign * other.rounds < 0:
            raise ValueError("the statistics to be subtracted are not part of the others")
        shared = {name for name in self._index_state if name in other._index_state}
        total = np.maximum(counts, 1)
        means = (self.counts * self.means + sign * other.counts * other.means) / total
        # An element that only one of them has observed keeps its mean as it is.
        means = np.where(other.counts == 0, self.means, means)
        if sign > 0:
            means = np.where(self.counts == 0, other.means, means)
        means[counts == 0] = 0.0
        state = {}
        if "tallies" in shared:
            state["tallies"] = self._index_state["tallies"] + sign * (
                other._index_state["tallies"] - 1
            )
        if "squares" in shared:
            # Chan, Golub & LeVeque 1979: the sum of squared deviations of the whole is that of the
            # parts, plus a term for the difference of their means.
            part = self.means if sign > 0 else means
            own = self.counts if sign > 0 else counts
            whole = np.maximum(own + other.counts, 1)
            between = (part - other.means) ** 2 * own * (other.counts / whole)
            squares = self._index_state["squares"] + sign * (
                other._index_state["squares"] + between
            )
            state["squares"] = np.maximum(squares, 0.0)
        rounds = self.rounds + sign * other.rounds
        return Statistics(self._problem, means, counts, rounds, state, only_grows=only_grows)

    def to_frame(self) -> pd.DataFrame:
        """One line for each element that was observed: ``element``, ``mean``, ``count``.

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
        >>> policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, 2), labels=["tea", "car"]))
        >>> policy.update(["tea"], [0.5])
        >>> policy.statistics.to_frame()
          element  mean  count
        0     tea   0.5      1
        """
        seen = np.flatnonzero(self.counts)
        names = list(self._problem.names(seen))
        return data_frame({"element": names, "mean": self.means[seen], "count": self.counts[seen]})

    def __repr__(self) -> str:
        return f"Statistics({len(self)} elements, {self.counts.sum()} observations)"


def _refuse_other_sense(given: Problem[Any, Any], own: Problem[Any, Any]) -> None:
    if given.sense != own.sense:
        raise ValueError(
            f"the statistics are of a problem with sense={given.sense!r}, this one has "
            f"{own.sense!r}: rewards and costs cannot be mixed"
        )


def given_statistics(
    given: Any, problem: Problem[Any, Any]
) -> tuple[IntArray, FloatArray, CountArray, int, dict[str, FloatArray]]:
    """Elements, means, counts, rounds and index state of `Statistics`, or of a plain mapping.

    Raises
    ------
    ValueError
        If anything about them is wrong; the message names the element.
    """
    if isinstance(given, Statistics):
        _refuse_other_sense(given._problem, problem)
        elements = np.flatnonzero(given.counts)
        numbers = problem.elements([given._problem.name(e) for e in elements.tolist()])
        state = {name: rows[elements] for name, rows in given._index_state.items()}
        return numbers, given.means[elements], given.counts[elements], given.rounds, state
    if not isinstance(given, Mapping):
        raise ValueError(
            "observe needs a mapping from elements to (mean, count), or the statistics of a "
            f"policy, got {abbreviated(given)}"
        )
    means, counts = [], []
    for name, pair in given.items():
        values = list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else ()
        if len(values) != 2:
            raise ValueError(
                f"the statistics of {name!r} must be a mean and a count, such as (0.5, 10), got "
                f"{abbreviated(pair)}"
            )
        largest = np.finfo(float).max
        means.append(real(values[0], f"the mean of {name!r}", minimum=-largest, maximum=largest))
        counts.append(integer(values[1], f"the count of {name!r}", minimum=0, maximum=2**53))
    return (
        problem.elements(list(given)),
        np.array(means, dtype=float),
        np.array(counts, dtype=np.int64),
        0,
        {},
    )
