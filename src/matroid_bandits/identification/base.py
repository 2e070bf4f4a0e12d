"""The contract of sampling rules: what to observe next, to find the best basis soon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from matroid_bandits._arguments import choice, distinct_elements, element_array
from matroid_bandits._core.identification.python_rule import PythonRule
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem, not_a_matroid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matroid_bandits._core.identification.learner import Learner
    from matroid_bandits._core.identification.rule import RuleKernel
    from matroid_bandits._types import CountArray, FloatArray, IntArray

__all__ = ["CompiledRule", "Knowledge", "SamplingRule"]

Model = Literal["basis", "element"]


@dataclass(frozen=True)
class Knowledge:
    """What a rule of your own decides by: everything is numbers, and larger means are better.

    Attributes
    ----------
    rounds : int
        How many there were; each element that is no loop was observed.
    counts, means : numpy.ndarray
        By element.
    basis : numpy.ndarray
        The best basis by the means, ascending.
    inside, outside, statistics : numpy.ndarray
        All pairs: an element of the basis, one that can replace it, and how sure it is that the
        first one is better.
    delta : float
        The probability of a wrong answer that is accepted.
    """

    rounds: int
    counts: CountArray
    means: FloatArray
    basis: IntArray
    inside: IntArray
    outside: IntArray
    statistics: FloatArray
    delta: float


class SamplingRule(ABC):
    """Says which elements to observe next; :func:`~matroid_bandits.identify` runs it.

    To write your own, answer `_targets`. Elements that were never observed come first, and what is
    left of a basis is filled with the least observed elements, so `_targets` may be short.

    Parameters
    ----------
    matroid : Matroid or Problem
        What the best basis of is wanted.
    model : {"basis", "element"}, default "basis"
        Whether a basis is played in each round and all of its rewards are seen, or one element.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import SamplingRule
    >>> class Hardest(SamplingRule):
    ...     '''Observe the pair that is hardest to tell apart.'''
    ...     def _targets(self, known):
    ...         k = np.argmin(known.statistics)
    ...         return [known.inside[k], known.outside[k]]
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> mb.identify(Hardest(mb.UniformMatroid(2, 4)), environment, seed=1).basis
    array([0, 1])
    """

    #: Name in tables.
    name: ClassVar[str] = ""
    #: Whether the rule can end a run itself (``threshold="own"``).
    can_stop: ClassVar[bool] = False
    #: Whether nothing else can end it.
    only_stops_itself: ClassVar[bool] = False
    #: Whether its own end keeps the probability of a wrong answer below delta.
    is_sure: ClassVar[bool] = True

    def __init__(self, matroid: Matroid | Problem[Any, Any], *, model: Model = "basis") -> None:
        if not isinstance(matroid, (Matroid, Problem)):
            raise not_a_matroid(type(self).__name__, matroid)
        self._problem = Problem.of(matroid)
        self._model: Model = choice(model, "model", ("basis", "element"))

    @abstractmethod
    def _targets(self, known: Knowledge) -> Iterable[int]:
        """The elements to observe, as numbers, in the order of your wishes; each at most once."""

    def _new_kernel(self) -> RuleKernel:
        """The rule in a run; a compiled one does not call `_targets`."""
        return PythonRule(self._ask)

    def _ask(self, learner: Learner) -> IntArray:
        inside, outside, statistics = learner.pairs_copy()
        known = Knowledge(
            rounds=learner.rounds,
            counts=learner.counts_copy(),
            means=learner.means_copy(),
            basis=learner.basis_copy(),
            inside=inside,
            outside=outside,
            statistics=statistics,
            delta=learner.delta,
        )
        # In the order of the wishes; the check sorts.
        wanted = element_array(list(self._targets(known)))
        distinct_elements(wanted, self._problem.size)
        loops = wanted[np.isin(wanted, self._problem.matroid.loops)]
        if loops.size:
            raise ValueError(
                f"{type(self).__name__}._targets returned {self._problem.name(loops[0])!r}, which "
                "is in no basis"
            )
        return wanted

    @property
    def problem(self) -> Problem[Any, Any]:
        """What the best basis of is wanted."""
        return self._problem

    @property
    def model(self) -> Model:
        """What is observed in a round: a basis, or an element."""
        return self._model

    def __repr__(self) -> str:
        shown = self._problem if self._problem.labels is not None else self._problem.matroid
        model = "" if self._model == "basis" else f", model={self._model!r}"
        return f"{type(self).__name__}({shown!r}{self._shown_parameters()}{model})"

    def _shown_parameters(self) -> str:
        return ""


class CompiledRule(SamplingRule):
    """A rule whose kernel chooses."""

    def _targets(self, known: Knowledge) -> Iterable[int]:
        raise NotImplementedError

    @abstractmethod
    def _new_kernel(self) -> RuleKernel: ...
