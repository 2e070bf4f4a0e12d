"""Means that change in a study: when, and the stretches of rounds that a report tells apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matroid_bandits._types import CountArray, FloatArray
from matroid_bandits.environments import ChangingEnvironment, PiecewiseEnvironment
from matroid_bandits.simulation import default_checkpoints

__all__ = [
    "USUAL_SETTLE",
    "ChangeSpec",
    "Stretch",
    "checkpoints_with",
    "period_of",
    "rounds_of",
    "stretches",
]

#: So many rounds after a change a policy should have settled.
USUAL_SETTLE = 2000


@dataclass(frozen=True, eq=False)
class ChangeSpec:
    """An environment whose means change, with its parameters.

    Attributes
    ----------
    cls : type of ChangingEnvironment
    parameters : dict
        As the study has them: a number of changes is spread evenly over the horizon, and a period
        below 1 is a share of it.
    takes_means : bool
        Whether its first parameter is the means; otherwise it is given the number of elements.
    takes_seed : bool
        Whether it draws its means with the seed of the run.
    """

    cls: type[ChangingEnvironment]
    parameters: Mapping[str, Any]
    takes_means: bool = True
    takes_seed: bool = False

    @property
    def pieces(self) -> int | None:
        """How many rows of means it needs; None if it needs one list."""
        if not issubclass(self.cls, PiecewiseEnvironment):
            return None
        changes = self.parameters["changes"]
        return (changes if isinstance(changes, int) else len(changes)) + 1

    def environment(
        self, means: FloatArray | None, *, size: int, horizon: int, seed: int
    ) -> ChangingEnvironment:
        """The environment of a run."""
        given = dict(self.parameters)
        if "changes" in given:
            given["changes"] = rounds_of(given["changes"], horizon)
        if "period" in given:
            given["period"] = period_of(given["period"], horizon)
        if self.takes_seed:
            given["seed"] = seed
        if self.takes_means:
            given["means"] = means
        else:
            given["size"] = size
        return self.cls(**given)


def rounds_of(changes: int | Sequence[int], horizon: int) -> list[int]:
    """The first rounds of pieces; a number of changes is spread evenly over the horizon."""
    if not isinstance(changes, int):
        return list(changes)
    # A change for every round at most, also where there are more of them than rounds.
    return [max(k * horizon // (changes + 1), k) + 1 for k in range(1, changes + 1)]


def period_of(period: Any, horizon: int) -> Any:
    """The rounds of a period; one below 1 is a share of the horizon."""
    is_share = isinstance(period, float) and 0 < period < 1
    return max(2.0, period * horizon) if is_share else period


class Stretch(NamedTuple):
    """Rounds of a run: those after each of `starts`, up to the one in `ends`."""

    name: str
    starts: list[int]
    ends: list[int]

    @property
    def length(self) -> int:
        """Number of rounds."""
        return sum(self.ends) - sum(self.starts)


def stretches(changes: Sequence[int], horizon: int, settle: int) -> list[Stretch]:
    """Before the first change, right after changes, and from `settle` rounds after them.

    The first `settle` rounds of the run, in which a policy learns, are in none of them. A stretch
    that has no rounds is empty.
    """
    begun = [change - 1 for change in changes if change <= horizon]
    ends = [*begun, horizon]
    later = list(zip(begun, ends[1:], strict=True))
    return [
        _stretch("before", [(settle, ends[0])]),
        _stretch("right after", [(start, min(start + settle, end)) for start, end in later]),
        _stretch("later", [(start + settle, end) for start, end in later]),
    ]


def _stretch(name: str, spans: list[tuple[int, int]]) -> Stretch:
    kept = [(start, end) for start, end in spans if start < end]
    return Stretch(name, [start for start, _ in kept], [end for _, end in kept])


def checkpoints_with(changes: Sequence[int], horizon: int, settle: int) -> CountArray:
    """The usual checkpoints, and the first and last rounds of all stretches."""
    more = [r for s in stretches(changes, horizon, settle) for r in (*s.starts, *s.ends)]
    both = np.concatenate([default_checkpoints(horizon), np.array(more, dtype=np.int64)])
    return np.unique(both[both >= 1])
