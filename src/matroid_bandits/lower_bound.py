"""How hard an instance is: the gap of every element, and the regret that no policy can avoid.

[TP16]: Talebi & Proutiere, An Optimal Algorithm for Stochastic Matroid Bandit Optimization
(AAMAS 2016), Theorem 1, for Bernoulli rewards; in the same way for other rewards, by [LR85]: Lai &
Robbins, Asymptotically Efficient Adaptive Allocation Rules (1985). Not in [TP16]: where two means
tie, the lowest index counts as better, and a gap of zero adds nothing to the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, freeze, not_whole, weight_array
from matroid_bandits._core.matroids.partners import find_partners
from matroid_bandits._frames import data_frame
from matroid_bandits._html import Html, facts, joined, never_raises, number, panel, table
from matroid_bandits._tables import aligned
from matroid_bandits.environments import Environment
from matroid_bandits.environments.changing import ChangingEnvironment, refuse_changing
from matroid_bandits.errors import no_partner
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from matroid_bandits._types import FloatArray, IntArray

__all__ = ["Gaps", "gaps", "regret_lower_bound"]


# A printed table has this many lines at most, and names this many elements of the basis.
_MAX_LINES = 20
_MAX_MEMBERS = 12


@dataclass(frozen=True, eq=False, repr=False)
class Gaps:
    """How far the other elements are from the best basis; printed as a table.

    Attributes
    ----------
    means : numpy.ndarray
        The mean of every element.
    basis : numpy.ndarray
        The best basis, ascending.
    elements : numpy.ndarray
        All elements outside it that are no loops, ascending.
    partners : numpy.ndarray
        For each of them, the element of the best basis with the worst mean that it can replace:
        the lowest, or, where means are costs, the highest.
    gaps : numpy.ndarray
        For each of them, how much worse its mean is than that of its partner, never negative.
    problem : Problem
        The problem that they belong to; the table has its names.
    """

    means: FloatArray
    basis: IntArray
    elements: IntArray
    partners: IntArray
    gaps: FloatArray
    problem: Problem

    def __repr__(self) -> str:
        smallest = f", the smallest {self.gaps.min():.3g}" if self.gaps.size else ""
        return f"Gaps({self.gaps.size} elements outside the best basis{smallest})"

    def __str__(self) -> str:
        """A table, the smallest gaps first: these take longest to learn."""
        first = np.argsort(self.gaps, kind="stable")[:_MAX_LINES]
        name = self.problem.name
        rows = [("element", "mean", "partner", "mean", "gap")]
        rows += [
            (
                str(name(e)),
                f"{self.means[e]:.4g}",
                str(name(x)),
                f"{self.means[x]:.4g}",
                f"{gap:.3g}",
            )
            for e, x, gap in zip(
                self.elements[first], self.partners[first], self.gaps[first], strict=True
            )
        ]
        lines = aligned(rows)
        if self.gaps.size > _MAX_LINES:
            lines.append(f"... and {self.gaps.size - _MAX_LINES:,} more")
        if not self.gaps.size:
            lines = ["nothing to learn: there is only one basis"]
        members = ", ".join(str(name(e)) for e in self.basis[:_MAX_MEMBERS])
        more = f", ... ({self.basis.size:,} elements)" if self.basis.size > _MAX_MEMBERS else ""
        return "\n".join([f"best basis: {members}{more}", *lines])

    def to_frame(self) -> pd.DataFrame:
        """One line for each element outside the best basis, the smallest gap first.

        Columns: ``element``, ``mean``, ``partner``, ``partner_mean``, ``gap``.

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
        >>> mb.gaps(mb.UniformMatroid(2, 4), [0.9, 0.7, 0.1, 0.6]).to_frame()
           element  mean  partner  partner_mean  gap
        0        3   0.6        1           0.7  0.1
        1        2   0.1        1           0.7  0.6
        """
        order = np.argsort(self.gaps, kind="stable")
        elements, partners = self.elements[order], self.partners[order]
        return data_frame(
            {
                "element": list(self.problem.names(elements)),
                "mean": self.means[elements],
                "partner": list(self.problem.names(partners)),
                "partner_mean": self.means[partners],
                "gap": self.gaps[order],
            }
        )

    @never_raises
    def _repr_html_(self) -> Html:
        name = self.problem.name
        best = facts([("best basis", joined(map(name, self.basis), self.basis.size))])
        first = np.argsort(self.gaps, kind="stable")[:_MAX_LINES]
        rows = [
            (name(e), number(self.means[e]), name(x), number(self.means[x]), number(gap))
            for e, x, gap in zip(
                self.elements[first], self.partners[first], self.gaps[first], strict=True
            )
        ]
        header = ("element", "mean", "partner", "mean", "gap")
        return panel("Gaps", best, table(header, rows, total=self.gaps.size, left=(0, 2)))


def gaps(matroid: Matroid | Problem, means: npt.ArrayLike | Mapping[Any, float]) -> Gaps:
    """The gap of every element outside the best basis to its partner in it.

    The *partner* of an element is the one of lowest mean among those of the best basis that it can
    replace (ties: the lowest index). Where means are costs, the one of highest.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    means : array_like of float, or mapping
        The true mean of every element, finite: in the order of the elements, or by name.

    Returns
    -------
    Gaps

    Raises
    ------
    MatroidAxiomError
        If the answers of a matroid written in Python are those of no matroid.

    Notes
    -----
    Costs one greedy run and one partner per element. Built-in matroids find partners without oracle
    calls; one written in Python needs up to ``rank`` calls for each.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> print(mb.gaps(mb.UniformMatroid(2, 4), [0.9, 0.7, 0.1, 0.6]))
    best basis: 0, 1
    element  mean  partner  mean  gap
          3   0.6        1   0.7  0.1
          2   0.1        1   0.7  0.6
    """
    if not isinstance(matroid, (Matroid, Problem)):
        raise TypeError(f"gaps are those of a matroid, got {abbreviated(matroid)}")
    problem = Problem.of(matroid)
    matroid = problem.matroid
    given = means if not isinstance(means, Mapping) else problem.values(means)
    values = np.array(weight_array(given, problem.size))
    unfit = np.flatnonzero(~np.isfinite(values))
    if unfit.size:
        name = problem.name(unfit[0])
        raise ValueError(f"the mean of element {name} must be finite, got {values[unfit[0]]}")
    gains = problem.gains(values)
    basis = matroid.max_weight_basis(gains)
    outside = np.ones(matroid.size, dtype=np.bool_)
    outside[basis] = False
    outside[matroid.loops] = False
    elements = np.flatnonzero(outside)
    # The first element that can be replaced is then the one of smallest gain.
    ascending = basis[np.argsort(gains[basis], kind="stable")]
    partners = find_partners(matroid._new_kernel(), ascending, elements)
    if (partners < 0).any():
        raise no_partner(matroid, int(elements[partners < 0][0]), basis.tolist())
    return Gaps(
        means=freeze(values),
        basis=freeze(basis),
        elements=freeze(elements),
        partners=freeze(partners),
        gaps=freeze(gains[partners] - gains[elements]),
        problem=problem,
    )


def regret_lower_bound(
    matroid: Matroid | Problem, environment: Environment, rounds: npt.ArrayLike
) -> FloatArray | float:
    """The regret that no policy can avoid in the long run.

    For a policy that is *consistent*, one whose regret grows more slowly than any power of the
    number of rounds for all possible means, [TP16] and [LR85] show::

        lim inf R(T) / ln T  >=  sum over e outside B* of gap(e) / kl(e, partner of e),

    where B* is the best basis and kl(e, x) the Kullback-Leibler divergence of the rewards of e
    from those that e would give with the mean of x. For Gaussian rewards a term is
    ``2 std**2 / gap``. This function returns the right-hand side times ``ln T``.

    It is a statement about large T: after finitely many rounds the regret of a good policy may well
    be below the bound, for instance while elements of tiny gaps cannot be distinguished yet.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    environment : Environment
        Generates the rewards; its class must define :meth:`Environment.divergence`.
    rounds : int, or array_like of int
        Numbers of rounds T, at least 1.

    Returns
    -------
    float, or numpy.ndarray
        The bound after so many rounds.

    Raises
    ------
    NotImplementedError
        If the environment's class does not define a divergence.

    References
    ----------
    .. [LR85] T. L. Lai and H. Robbins, Asymptotically Efficient Adaptive Allocation Rules, Advances
       in Applied Mathematics 6, 1985.
    .. [TP16] M. S. Talebi and A. Proutiere, An Optimal Algorithm for Stochastic Matroid Bandit
       Optimization, AAMAS 2016.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.6], std=0.2)
    >>> round(mb.regret_lower_bound(mb.UniformMatroid(2, 4), environment, 100_000), 2)
    10.75
    """
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {abbreviated(environment)}")
    if isinstance(environment, ChangingEnvironment):
        raise refuse_changing(environment, "the lower bound on the regret")
    if isinstance(matroid, (Matroid, Problem)) and environment.size != matroid.size:
        raise ValueError(
            f"the environment has {environment.size} elements, the matroid {matroid.size}"
        )
    times = _rounds(rounds)
    found = gaps(matroid, environment.means)
    divergence = environment.divergence(found.elements, environment.means[found.partners])
    # Equal means need not be distinguished. Where the divergence is infinite, a term is 0.
    differs = (found.gaps > 0) & (divergence > 0)
    rate = float(np.sum(found.gaps[differs] / divergence[differs]))
    bound: FloatArray = rate * np.log(times)
    return float(bound) if bound.ndim == 0 else bound


def _rounds(rounds: npt.ArrayLike) -> FloatArray:
    array = np.asarray(rounds)
    if array.dtype.kind not in "iufO":
        raise ValueError(f"rounds must be whole numbers, got {abbreviated(rounds)}")
    wrong = [*array.flat[not_whole(array)][:1]] or [*array[array < 1][:1]]
    if wrong:
        raise ValueError(f"rounds must be whole numbers, at least 1, got {wrong[0]}")
    return array.astype(np.float64)
