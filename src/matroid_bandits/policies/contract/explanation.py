"""Why a policy selected a set, in the labels and units of the user."""

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.partners import find_partners, find_replacements
from matroid_bandits._tables import aligned
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem

__all__ = ["Explanation", "Line", "explanation_of"]


# More lines would not be read.
_OTHERS = 20


@dataclass(frozen=True)
class Line:
    """The statistics of an element in an explanation.

    Attributes
    ----------
    element
        Its name, or its number where there are no names.
    mean : float
        Its mean so far, NaN if it was never observed.
    count : int
        How often it was observed.
    index : float
        How optimistic the policy was about it in this round; NaN if that played no part.
    partner
        Of an element that was selected, the one that would take its place: of all that can replace
        it, the one with the best index (the best mean, where there is no index). Of any other, the
        one it would take the place of: of all it can replace, the one with the worst mean. None if
        there is none.
    """

    element: Any
    mean: float
    count: int
    index: float
    partner: Any


@dataclass(frozen=True)
class Explanation:
    """Why these elements were selected; printed, a table.

    Attributes
    ----------
    why : str
        The rule that decided.
    selected : list of Line
        The set selected, in the order of the labels.
    others : list of Line
        The nearest contenders, the best index first, 20 at most.
    n_others : int
        How many others could have been selected in this round.
    """

    why: str
    selected: list[Line]
    others: list[Line]
    n_others: int

    def __str__(self) -> str:
        lines = [self.why, "", *_table("selected", "would be replaced by", self.selected)]
        if self.others:
            lines += ["", *_table("not selected", "would replace", self.others)]
        if self.n_others > len(self.others):
            lines.append(f"... and {self.n_others - len(self.others):,} more")
        return "\n".join(lines)


def explanation_of(
    problem: Problem,
    matroid: Matroid,
    selected: IntArray,
    *,
    why: str,
    means: FloatArray,
    counts: npt.NDArray[np.int64],
    index: FloatArray,
) -> Explanation:
    """Explain `selected`, a basis of `matroid`.

    Parameters
    ----------
    problem : Problem
        Names and sense.
    matroid : Matroid
        What could be played in this round; what could not is a loop.
    selected : array of int
        The basis, ascending.
    why : str
        The rule that decided.
    means, index : array of float
        In the user's units, NaN where there is none.
    counts : array of int
        How often each element was observed.
    """
    playable = np.ones(problem.size, dtype=np.bool_)
    playable[matroid.loops] = False
    playable[selected] = False
    others = np.flatnonzero(playable)
    means_as_gains = problem.gains(means)
    # What was never observed is as promising as can be.
    known = np.where(np.isnan(index), means_as_gains, problem.gains(index))
    promise = np.where(np.isnan(known), np.inf, known)
    others = others[np.argsort(-promise[others], kind="stable")]
    weakest_first = selected[np.argsort(means_as_gains[selected], kind="stable")]
    shown = others[:_OTHERS]
    kernel = matroid._new_kernel()
    partner = {
        e: other
        for elements, found in (
            (weakest_first, find_replacements(kernel, weakest_first, others)),
            (shown, find_partners(kernel, weakest_first, shown)),
        )
        for e, other in zip(elements.tolist(), found.tolist(), strict=True)
    }

    def line(e: int) -> Line:
        other = partner[e]
        return Line(
            element=problem.name(e),
            mean=float(means[e]),
            count=int(counts[e]),
            index=float(index[e]),
            partner=None if other < 0 else problem.name(other),
        )

    return Explanation(
        why=why,
        selected=[line(e) for e in selected.tolist()],
        others=[line(e) for e in shown.tolist()],
        n_others=len(others),
    )


def _cells(line: Line) -> tuple[str, ...]:
    partner = "-" if line.partner is None else str(line.partner)
    return str(line.element), _number(line.mean), f"{line.count:,}", _number(line.index), partner


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.4g}"


def _table(first: str, last: str, lines: list[Line]) -> list[str]:
    """Names to the left, numbers to the right."""
    rows = [(first, "mean", "count", "index", last), *map(_cells, lines)]
    return aligned(rows, left=(0, 4))
