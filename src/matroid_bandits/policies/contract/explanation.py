"""Why a policy selected a set, in the labels and units of the user."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated
from matroid_bandits._core.matroids.partners import (
    find_circuits,
    find_partners,
    find_replacements,
)
from matroid_bandits._frames import data_frame
from matroid_bandits._html import Html, never_raises, number, panel, paragraph, table
from matroid_bandits._tables import aligned
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.contract.confidence import Confidence
from matroid_bandits.policies.contract.drift import Drift
from matroid_bandits.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Explanation", "Line", "explanation_of", "is_quick"]


# More lines would not be read.
_OTHERS = 20

# So many exchanges are compared within about a fifth of a second; by an oracle in Python, fewer.
_MOST_PAIRS = 1_000_000
_MOST_PAIRS_IN_PYTHON = 20_000
# So many circuits tell about how long they are.
_SAMPLE = 64


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
    estimate : float
        Its mean as a policy with features estimates it; NaN for other policies.
    features : tuple of (str, float)
        Of a policy with features, the names of those that contribute most to the estimate, for or
        against it, and how much: feature times coefficient. The strongest first, three at most.
    """

    element: Any
    mean: float
    count: int
    index: float
    partner: Any
    estimate: float = nan
    features: tuple[tuple[str, float], ...] = ()


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
    confidence : Confidence or None
        Whether the best basis is settled with 95 %: that of the whole problem, also if fewer
        elements were available in this round. None if the policy assumes nothing about the noise,
        or if so many elements can be exchanged that it would take long; `Policy.confidence` answers
        then.
    drift : Drift or None
        Whether means seem to have changed, by :meth:`Policy.drift`; a sentence is printed if they
        do. None if nothing is known about the noise, or if the policy forgets as time goes by.
    """

    why: str
    selected: list[Line]
    others: list[Line]
    n_others: int
    confidence: Confidence | None = field(default=None, compare=False)
    drift: Drift | None = field(default=None, compare=False)

    def __str__(self) -> str:
        lines = [self.why, "", *_table("selected", "would be replaced by", self.selected)]
        if self.others:
            lines += ["", *_table("not selected", "would replace", self.others)]
        if self.n_others > len(self.others):
            lines.append(f"... and {self.n_others - len(self.others):,} more")
        if self.confidence is not None:
            lines += ["", str(self.confidence)]
        if self.drift:
            lines += ["", str(self.drift)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        why = f"why={abbreviated(self.why)}"
        return f"Explanation({len(self.selected)} selected of {self._n_elements()}, {why})"

    def _n_elements(self) -> int:
        return len(self.selected) + self.n_others

    def to_frame(self) -> "pd.DataFrame":
        """The lines of both tables, those that were selected first.

        Columns: ``element``, ``selected``, ``mean``, ``count``, ``index``, ``partner``. Of a policy
        with features also ``estimate`` and ``features``, pairs of a name and a contribution.

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
        >>> policy.update(["car"], [0.25])
        >>> policy.explain().to_frame()[["element", "selected", "mean", "count", "partner"]]
          element  selected  mean  count partner
        0     tea      True  0.50      1     car
        1     car     False  0.25      1     tea
        """
        lines = [*self.selected, *self.others]
        names = ["element", "mean", "count", "index", "partner"]
        if any(line.features for line in lines):
            names += ["estimate", "features"]
        columns = {name: [getattr(line, name) for line in lines] for name in names}
        chosen = [True] * len(self.selected) + [False] * len(self.others)
        return data_frame({"element": columns.pop("element"), "selected": chosen, **columns})

    @never_raises
    def _repr_html_(self) -> Html:
        pieces = [paragraph(self.why)]
        pieces.append(
            _html_table("selected", "would be replaced by", self.selected, len(self.selected))
        )
        if self.others:
            pieces.append(_html_table("not selected", "would replace", self.others, self.n_others))
        pieces += [paragraph(str(said)) for said in (self.confidence, self.drift) if said]
        return panel(type(self).__name__, *pieces)


def explanation_of(
    problem: Problem,
    matroid: Matroid,
    selected: IntArray,
    *,
    why: str,
    means: FloatArray,
    counts: npt.NDArray[np.int64],
    index: FloatArray,
    confidence: Confidence | None,
    drift: Drift | None = None,
    estimates: FloatArray | None = None,
    contributions: Callable[[int], tuple[tuple[str, float], ...]] | None = None,
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
    confidence : Confidence or None
        Whether the best basis is settled, if that is known.
    drift : Drift or None
        Whether means seem to have changed, if that is known.
    estimates : array of float, optional
        The means by features, which then say which elements are weakest.
    contributions : callable, optional
        The strongest features of an element, and what each adds to its estimate.
    """
    playable = np.ones(problem.size, dtype=np.bool_)
    playable[matroid.loops] = False
    playable[selected] = False
    others = np.flatnonzero(playable)
    means_as_gains = problem.gains(means if estimates is None else estimates)
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
            estimate=nan if estimates is None else float(estimates[e]),
            features=() if contributions is None else contributions(e),
        )

    return Explanation(
        why=why,
        selected=[line(e) for e in selected.tolist()],
        others=[line(e) for e in shown.tolist()],
        n_others=len(others),
        confidence=confidence,
        drift=drift,
    )


def is_quick(matroid: Matroid, means: FloatArray, counts: npt.NDArray[np.int64]) -> bool:
    """Whether `Policy.confidence` takes a fraction of a second: few elements can be exchanged.

    Parameters
    ----------
    matroid : Matroid
    means : array of float
        Larger is better.
    counts : array of int
        How often each element was observed.
    """
    is_other = np.ones(matroid.size, dtype=np.bool_)
    is_other[matroid.loops] = False
    most = matroid.rank * (int(is_other.sum()) - matroid.rank)
    if np.any(counts[is_other] == 0):
        # Nothing is compared then.
        return True
    kernel = matroid._new_kernel()
    if kernel.is_python:
        return most <= _MOST_PAIRS_IN_PYTHON
    if most <= _MOST_PAIRS:
        return True
    # Most circuits are much shorter than a basis; some of them tell about how long they are.
    basis = np.sort(matroid.max_weight_basis(np.where(counts > 0, means, 0.0)))
    is_other[basis] = False
    others = np.flatnonzero(is_other)
    sample = others[:: max(1, len(others) // _SAMPLE)].copy()
    inside, _ = find_circuits(kernel, basis, sample)
    return len(inside) * len(others) <= _MOST_PAIRS * len(sample)


def _cells(line: Line) -> tuple[str, ...]:
    partner = "-" if line.partner is None else str(line.partner)
    return str(line.element), _number(line.mean), f"{line.count:,}", _number(line.index), partner


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.4g}"


def _table(first: str, last: str, lines: list[Line]) -> list[str]:
    """Names to the left, numbers to the right."""
    rows = [(first, "mean", "count", "index", last), *map(_cells, lines)]
    if not any(line.features for line in lines):
        return aligned(rows, left=(0, 4))
    features = [("estimate", "features"), *map(_feature_cells, lines)]
    return aligned(
        [(*row, *more) for row, more in zip(rows, features, strict=True)], left=(0, 4, 6)
    )


def _html_table(first: str, last: str, lines: list[Line], total: int) -> Html:
    """The same in a notebook."""
    header = [first, "mean", "count", "index", last]
    rows: list[tuple[Any, ...]] = [
        (
            line.element,
            number(line.mean),
            number(line.count),
            number(line.index),
            "-" if line.partner is None else line.partner,
        )
        for line in lines[:_OTHERS]
    ]
    if any(line.features for line in lines):
        header += ["estimate", "features"]
        rows = [(*row, *_feature_cells(line)) for row, line in zip(rows, lines, strict=False)]
    return table(header, rows, total=total, left=(0, 4, 6), most=_OTHERS)


def _feature_cells(line: Line) -> tuple[str, str]:
    parts = ", ".join(f"{name} {value:+.3g}" for name, value in line.features)
    return _number(line.estimate), parts or "-"
