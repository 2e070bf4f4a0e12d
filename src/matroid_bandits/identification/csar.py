"""CSAR: the best basis within a budget.

[CLKLC14], Algorithm 2. Departures: in the basis model a phase has as many rounds as the paper's has
observations, and each round observes a basis, active elements first; so every active element is
observed at least as often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import integer
from matroid_bandits._core.identification.eliminating import CSARKernel
from matroid_bandits.identification.base import CompiledRule

if TYPE_CHECKING:
    from matroid_bandits.identification.base import Model
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.problem import Problem

__all__ = ["CSAR"]


class CSAR(CompiledRule):
    """Successive accepts and rejects: the best guess after a number of rounds fixed beforehand.

    Parameters
    ----------
    matroid : Matroid or Problem
    budget : int
        The most rounds; at least as many as there are elements that are no loops.
    model : {"basis", "element"}, default "basis"

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> from matroid_bandits.identification import CSAR
    >>> environment = mb.GaussianEnvironment([0.9, 0.7, 0.1, 0.5], std=0.2)
    >>> found = mb.identify(CSAR(mb.UniformMatroid(2, 4), budget=100), environment)
    >>> found.basis, found.settled
    (array([0, 1]), False)
    """

    name = "CSAR"
    can_stop = True
    only_stops_itself = True
    is_sure = False

    def __init__(
        self, matroid: Matroid | Problem[Any, Any], budget: int, *, model: Model = "basis"
    ) -> None:
        super().__init__(matroid, model=model)
        size = self.problem.size - len(self.problem.matroid.loops)
        self._budget = integer(budget, "budget", minimum=max(size, 1), maximum=2**53)

    @property
    def budget(self) -> int:
        """The most rounds."""
        return self._budget

    def _new_kernel(self) -> CSARKernel:
        return CSARKernel(self._budget)

    def _shown_parameters(self) -> str:
        return f", budget={self._budget}"
