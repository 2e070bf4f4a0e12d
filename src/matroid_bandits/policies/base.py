"""The policy contract: select a basis, learn from its rewards."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    distinct_elements,
    element_array,
    real_array,
    weight_array,
)
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.errors import NoBasisError
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.explanation import Explanation, explanation_of
from matroid_bandits.policies.on_offer import Decision, OnOffer
from matroid_bandits.problem import Problem

__all__ = ["CompiledPolicy", "Policy"]


class Policy(ABC):
    """A learner: `select` the basis to play, `update` with the rewards seen.

    To write your own, answer `_select` from ``self.counts``, ``self.mean_rewards`` and
    ``self.greedy_basis(weights)``; statistics, checks, counters, names and costs are seen to for
    you. (A class of your own with `select` and `update` runs in the simulator too.)

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played. With a :class:`~matroid_bandits.Problem` it speaks the problem's
        language: its names, and costs if it has ``sense="min"``.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> class Impatient(mb.Policy):
    ...     '''Play what looked best so far; whatever is unseen looks best of all.'''
    ...     def _select(self):
    ...         return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))
    >>> environment = mb.BernoulliEnvironment([0.1, 0.9, 0.8])
    >>> result = mb.simulate(Impatient(mb.UniformMatroid(2, 3)), environment, horizon=100)
    >>> result.counters["greedy_calls"]
    100
    """

    #: Name in tables and on the command line.
    name: ClassVar[str] = ""

    def __init__(self, matroid: Matroid | Problem) -> None:
        if not isinstance(matroid, (Matroid, Problem)):
            raise TypeError(
                f"{type(self).__name__} needs a matroid, got {matroid!r}; for a function that "
                "tells independent sets, pass OracleMatroid(size, function)"
            )
        self._problem = Problem.of(matroid)
        self._kernel = self._new_kernel(self._problem.matroid)
        self._selected: IntArray | None = None
        # The last one of a round in which not everything was on offer.
        self._decision: Decision[OnOffer] | None = None
        # Whether numbers and rewards are the user's own, so that nothing is to be translated.
        self._is_plain = self._problem.labels is None and self._problem.sense == "max"
        self._pivot = self._find_pivot()

    # ---- what a new policy gives ----

    @abstractmethod
    def _select(self) -> Iterable[int]:
        """The basis to play in this round, as numbers; asked once a round.

        Larger rewards are better, whatever the problem says: costs have been turned round.
        """

    def _new_kernel(self, matroid: Matroid) -> PolicyKernel:
        """Statistics and counters on `matroid`; a compiled policy's kernel decides as well."""
        return PolicyKernel(matroid)

    def _why(self, selected: IntArray) -> str:  # noqa: ARG002  (for those who tell more)
        """The rule by which `selected` was chosen, for `explain`."""
        if self._kernel.n_undersampled:
            return "First rounds: what has not been observed often enough comes first."
        return (type(self).__doc__ or type(self).__name__).strip().partition("\n")[0]

    # ---- for the simulator ----

    def _deciding_kernel(self) -> PolicyKernel | None:
        """The kernel, if it alone decides and learns, so that whole runs can be left to it."""
        return None

    # ---- what users call ----

    def select(self, available: Iterable[Any] | None = None, *, allow_smaller: bool = False) -> Any:
        """The basis to play.

        Asked again before the next `update`, it returns the same basis and changes nothing.

        Parameters
        ----------
        available : iterable, optional
            What is on offer in this round, by default everything. The round is then decided on the
            matroid restricted to it, by all that has been learnt so far.
        allow_smaller : bool, default False
            If what is on offer holds no full basis, select a largest set that may be played,
            instead of raising an error.

        Returns
        -------
        list, or numpy.ndarray
            Names in the order of the problem's labels; numbers, ascending, where it has none.

        Raises
        ------
        NoBasisError
            If what is on offer holds no full basis. Nothing has changed then.
        """
        if available is not None:
            offer = np.sort(self._problem.elements(available))
            if len(offer) < self._problem.size:
                selected = self._select_from(offer, allow_smaller=allow_smaller)
                return self._problem.names(selected.copy())
        self._close_decision()
        return self._problem.names(self._select_elements())

    def _select_elements(self) -> IntArray:
        """The numbers of the basis to play when everything is on offer, a copy."""
        if self._selected is None:
            self._selected = distinct_elements(self._select(), self._problem.size)
        return self._selected.copy()

    def _select_from(self, offer: IntArray, *, allow_smaller: bool) -> IntArray:
        """The numbers of the basis to play when only `offer` is available."""
        last = self._decision
        matroid = (
            last.matroid
            if last is not None and last.matroid.is_for(offer)
            else OnOffer(self.matroid, offer)
        )
        if matroid.rank < self.matroid.rank and not allow_smaller:
            raise NoBasisError(self._no_basis(matroid))
        if last is not None and last.is_open and last.matroid is matroid:
            return last.elements
        whole = self._kernel
        part = whole.for_matroid(matroid, None if last is None else last.kernel)
        # Whatever `_select` asks, it asks about this round.
        self._kernel = part
        try:
            selected = distinct_elements(self._select(), self._problem.size)
            if matroid._why_no_basis(selected):
                raise ValueError(
                    f"{type(self).__name__} selected {self._problem.names(selected)!r}, which is "
                    f"not a basis of {matroid!r}; use self.greedy_basis(weights) in _select"
                )
            why = self._why(selected)
        finally:
            self._kernel = whole
        whole.adopt(part)
        self._decision = Decision(matroid, selected, why, part.index_values(), kernel=part)
        return selected

    def _close_decision(self) -> None:
        """What was selected when not everything was on offer is not to be played any more."""
        if self._decision is not None:
            self._decision.is_open = False

    def _no_basis(self, matroid: OnOffer) -> str:
        names = self._problem.names(matroid.missing)
        return (
            f"no full basis is available: of the {self.matroid.rank} elements of a basis, at most "
            f"{matroid.rank} can be played together. A full one would need more, for instance "
            f"{', '.join(map(str, list(names)[:5]))}; pass allow_smaller=True to play what there is"
        )

    def update(
        self, elements: npt.ArrayLike | Mapping[Any, float], rewards: npt.ArrayLike | None = None
    ) -> None:
        """Learn from rewards, or costs, and end the round.

        Parameters
        ----------
        elements : array_like, or mapping
            What was observed: the basis selected, part of it, or any other elements, each at most
            once, in any order. Nothing at all is allowed too. A mapping gives their rewards as
            well: ``update({"a": 0.3, "b": 0.7})``.
        rewards : array_like of float
            The reward of each of them, finite and in the `reward_range`; costs, if the problem has
            ``sense="min"``.

        Raises
        ------
        ValueError
            If anything is wrong with the input. The policy is then as it was.
        """
        if isinstance(elements, Mapping):
            if rewards is not None:
                raise ValueError("rewards are given twice: in the mapping, and beside it")
            rewards = list(elements.values())
            elements = list(elements)
        elif rewards is None:
            raise ValueError(
                "rewards are missing; write update(elements, rewards) or update({element: reward})"
            )
        if self._is_plain:
            self._kernel.update(element_array(elements), real_array(rewards, "rewards"))
        else:
            self._kernel.update(*self._translated(elements, rewards))
        self._selected = None
        self._close_decision()

    def _translated(self, names: Any, given: npt.ArrayLike) -> tuple[IntArray, FloatArray]:
        """Names and values as numbers and rewards, checked: messages are in the user's words."""
        what = "cost" if self._problem.sense == "min" else "reward"
        elements = self._problem.elements(names)
        values = real_array(given, f"{what}s")
        if len(values) != len(elements):
            raise ValueError(
                f"one {what} per element is needed, got {len(elements)} elements "
                f"and {len(values)} {what}s"
            )
        low, high = self.reward_range
        for e, value in zip(elements.tolist(), values.tolist(), strict=True):
            if not isfinite(value):
                name = self._problem.name(e)
                raise ValueError(f"the {what} of {name!r} is {value}; it must be finite")
            if not low <= value <= high:
                raise ValueError(
                    f"the {what} of {self._problem.name(e)!r} is {value:.6g}, but "
                    f"{type(self).__name__} is for {what}s from {low:g} to {high:g}; rescale them, "
                    "or take an index without bounds, such as UCB(noise=...)"
                )
        return elements, self._turned(values)

    def _turned(self, values: FloatArray) -> FloatArray:
        """Costs as rewards, rewards as costs; as they are, where rewards are to be large."""
        return self._pivot - values if self._problem.sense == "min" else values

    def _find_pivot(self) -> float:
        """What costs are taken from to become rewards that lie in the policy's range."""
        low, high = self.reward_range
        if self._problem.sense == "max" or low == -high:
            return 0.0
        if not isfinite(low + high):
            raise ValueError(
                f"{type(self).__name__} is for rewards from {low:g} to {high:g}: costs cannot be "
                "turned into such rewards; take an index with two bounds or none"
            )
        return low + high

    def explain(self) -> Explanation:
        """Why the set just selected was selected; asked before `select`, it selects.

        Returns
        -------
        Explanation
            Mean, count, index and partner of every element; printed, a table.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> colours = mb.Problem(mb.UniformMatroid(1, 3), labels=["red", "green", "blue"])
        >>> policy = mb.OMM(colours, noise=0.5)
        >>> for colour, reward in [("red", 0.4), ("green", 0.9), ("blue", 0.1)]:
        ...     policy.update([colour], [reward])
        >>> print(policy.explain())
        Optimistic Matroid Maximization: greedy on upper confidence bounds, every round.
        <BLANKLINE>
        selected  mean  count  index  would be replaced by
        green      0.9      1  1.733  red
        <BLANKLINE>
        not selected  mean  count   index  would replace
        red            0.4      1   1.233  green
        blue           0.1      1  0.9326  green
        """
        decision: Decision[Any] | None = self._decision
        if decision is None or not decision.is_open:
            selected = self._select_elements()
            why, index = self._why(selected), self._kernel.index_values()
            decision = Decision(self.matroid, selected, why, index)
        return explanation_of(
            self._problem,
            decision.matroid,
            decision.elements,
            why=decision.why,
            means=self.means,
            counts=self.counts,
            index=self._turned(decision.index),
        )

    def greedy_basis(self, weights: npt.ArrayLike) -> IntArray:
        """The basis of largest weight, ascending, counted in `oracle_calls` and `greedy_calls`.

        For use in `_select`. Ties go to the lowest index; infinite weights are allowed.
        """
        return self._kernel.greedy_basis(weight_array(weights, self._kernel.size))

    @property
    def problem(self) -> Problem:
        """What may be played, with its names and its sense."""
        return self._problem

    @property
    def matroid(self) -> Matroid:
        """What may be played; in `_select`, what may be played in this round."""
        matroid: Matroid = self._kernel.matroid
        return matroid

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward, or cost, that it accepts."""
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
        """Mean of each element so far, in the order of the labels and in the user's units: rewards
        or costs; NaN where it was never observed (a copy).
        """
        return self._turned(self._kernel.means_copy())

    @property
    def mean_rewards(self) -> FloatArray:
        """The same for use in `_select`: larger is better, also where the user has costs."""
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
        return f"{type(self).__name__}({self._played!r}) after {self.rounds} rounds"

    @property
    def _played(self) -> Matroid | Problem:
        """What may be played, as short as it can be said."""
        return self.matroid if self._is_plain else self._problem


class CompiledPolicy(Policy):
    """A policy whose kernel decides; a subclass gives it by `_new_kernel`."""

    @abstractmethod
    def _new_kernel(self, matroid: Matroid) -> PolicyKernel: ...

    def _select(self) -> IntArray:
        return self._kernel.select()

    def _select_elements(self) -> IntArray:
        if type(self)._select is not CompiledPolicy._select:
            return super()._select_elements()
        return self._kernel.select()

    def _deciding_kernel(self) -> PolicyKernel | None:
        # Not if a subclass, or somebody on this very object, has changed how it selects or learns.
        inherits = all(
            getattr(type(self), method) is getattr(CompiledPolicy, method)
            and method not in vars(self)
            for method in ("_select", "select", "update")
        )
        return self._kernel if inherits else None
