"""The policy contract: select a basis, learn from its rewards."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable
from math import inf
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    distinct_elements,
    element_array,
    real_array,
    weight_array,
)
from matroid_bandits._core.policy import PolicyKernel
from matroid_bandits.matroids import Matroid

__all__ = ["CompiledPolicy", "Policy"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


class Policy(ABC):
    """A learner: `select` the basis to play, `update` with the rewards seen.

    To write your own, answer `_select` from ``self.counts``, ``self.means`` and
    ``self.greedy_basis(weights)``; statistics, checks and counters are kept for you. (A class of
    your own with `select` and `update` runs in the simulator too.)

    Parameters
    ----------
    matroid : Matroid
        What may be played.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> class Impatient(mb.Policy):
    ...     '''Play what looked best so far; whatever is unseen looks best of all.'''
    ...     def _select(self):
    ...         return self.greedy_basis(np.where(self.counts == 0, np.inf, self.means))
    >>> environment = mb.BernoulliEnvironment([0.1, 0.9, 0.8])
    >>> result = mb.simulate(Impatient(mb.UniformMatroid(2, 3)), environment, horizon=100)
    >>> result.counters["greedy_calls"]
    100
    """

    #: Name in tables and on the command line.
    name: ClassVar[str] = ""

    def __init__(self, matroid: Matroid) -> None:
        if not isinstance(matroid, Matroid):
            raise TypeError(
                f"{type(self).__name__} needs a matroid, got {matroid!r}; for a function that "
                "tells independent sets, pass OracleMatroid(size, function)"
            )
        self._kernel = self._new_kernel(matroid)
        self._selected: IntArray | None = None

    # ---- what a new policy gives ----

    @abstractmethod
    def _select(self) -> Iterable[int]:
        """The basis to play in this round; asked once a round."""

    def _new_kernel(self, matroid: Matroid) -> PolicyKernel:
        """Statistics and counters on `matroid`; a compiled policy's kernel decides as well."""
        return PolicyKernel(matroid)

    # ---- for the simulator ----

    def _deciding_kernel(self) -> PolicyKernel | None:
        """The kernel, if it alone decides and learns, so that whole runs can be left to it."""
        return None

    # ---- what users call ----

    def select(self) -> IntArray:
        """The basis to play, ascending.

        Asked again before the next `update`, it returns the same basis and changes nothing.
        """
        if self._selected is None:
            self._selected = distinct_elements(self._select(), self._kernel.size)
        return self._selected.copy()

    def update(self, elements: npt.ArrayLike, rewards: npt.ArrayLike) -> None:
        """Learn from rewards and end the round.

        Parameters
        ----------
        elements : array_like of int
            What was observed: the basis selected, part of it, or any other elements, each at most
            once, in any order. Nothing at all is allowed too.
        rewards : array_like of float
            The reward of each of them, finite and in the `reward_range`.

        Raises
        ------
        ValueError
            If anything is wrong with the input. The policy is then as it was.
        """
        self._kernel.update(element_array(elements), real_array(rewards, "rewards"))
        self._selected = None

    def greedy_basis(self, weights: npt.ArrayLike) -> IntArray:
        """The basis of largest weight, ascending, counted in `oracle_calls` and `greedy_calls`.

        For use in `_select`. Ties go to the lowest index; infinite weights are allowed.
        """
        return self._kernel.greedy_basis(weight_array(weights, self._kernel.size))

    @property
    def matroid(self) -> Matroid:
        """What may be played."""
        matroid: Matroid = self._kernel.matroid
        return matroid

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward that it accepts."""
        index = self._kernel.index
        return (-inf, inf) if index is None else (index.low, index.high)

    @property
    def rounds(self) -> int:
        """Number of rounds ended by `update`."""
        return self._kernel.rounds

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each element was observed (a copy)."""
        return self._kernel.counts_copy()

    @property
    def means(self) -> FloatArray:
        """Mean reward of each element so far, NaN where it was never observed (a copy)."""
        return self._kernel.means_copy()

    @property
    def oracle_calls(self) -> int:
        """Independence questions.

        One per element tested by greedy, one per exchange asked about: by OMM and by
        ``MAUB(matroid, neighborhood="paper")`` as [DG25] counts them, by ``MAUB(matroid)`` those
        really asked.
        """
        return self._kernel.oracle_calls

    @property
    def greedy_calls(self) -> int:
        """Runs of greedy, those of the first rounds included."""
        return self._kernel.greedy_calls

    @property
    def neighborhood_updates(self) -> int:
        """Partner computations while the leader stayed."""
        return self._kernel.neighborhood_updates

    def __copy__(self) -> Self:
        # A copy that shared the statistics would learn with the original.
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.matroid!r}) after {self.rounds} rounds"


class CompiledPolicy(Policy):
    """A policy whose kernel decides; a subclass gives it by `_new_kernel`."""

    @abstractmethod
    def _new_kernel(self, matroid: Matroid) -> PolicyKernel: ...

    def _select(self) -> IntArray:
        return self._kernel.select()

    def select(self) -> IntArray:
        if type(self)._select is not CompiledPolicy._select:
            return super().select()
        return self._kernel.select()

    def _deciding_kernel(self) -> PolicyKernel | None:
        # Not if a subclass, or somebody on this very object, has changed how it selects or learns.
        inherits = all(
            getattr(type(self), method) is getattr(CompiledPolicy, method)
            and method not in vars(self)
            for method in ("_select", "select", "update")
        )
        return self._kernel if inherits else None
