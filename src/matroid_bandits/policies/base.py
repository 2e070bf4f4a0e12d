"""The policy contract: select a basis, learn from its rewards."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from math import inf
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from matroid_bandits._arguments import (
    distinct_elements,
    element_array,
    real_array,
    weight_array,
)
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._overrides import overridden
from matroid_bandits._types import Selection
from matroid_bandits.errors import NoBasisError
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.availability import Availability, Decision, Decisions
from matroid_bandits.policies.counters import Counters
from matroid_bandits.policies.explanation import Explanation, explanation_of
from matroid_bandits.policies.parameters import Parametrized
from matroid_bandits.policies.translation import Translation
from matroid_bandits.problem import Problem, not_a_matroid

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from matroid_bandits._types import IntArray, MatroidLike

__all__ = ["CompiledPolicy", "Policy"]


class _MadeOnDemand:
    """An attribute that comes with the kernel, which is made when it is first needed.

    That is at the end of construction, unless an ``__init__`` uses what it inherits.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, policy: Any, owner: type) -> Any:
        if policy is None:
            return self
        if "_problem" not in vars(policy):
            raise TypeError(
                f"{owner.__name__}.__init__ did not call super().__init__(matroid); a Policy does "
                "so before it uses anything that it inherits"
            )
        policy._make_kernel()
        return vars(policy)[self._name]


class Policy(Counters, Parametrized, Generic[Selection]):
    """A learner: `select` the basis to play, `update` with the rewards seen.

    To write your own, answer `_select` from ``self.counts``, ``self.mean_rewards`` and
    ``self.greedy_basis(weights)``. Statistics, checks, counters, labels, costs and available
    elements are handled for you, and so are `get_params`, `clone` and `repr`. An ``__init__`` of
    your own stores its parameters and calls ``super().__init__(matroid)``. (A class of your own
    with `select` and `update` runs in the simulator too.)

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played. With a :class:`~matroid_bandits.Problem` the policy uses its labels, and
        costs if it has ``sense="min"``.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> class Impatient(mb.Policy):
    ...     '''Play what looked best so far; what is unobserved looks best of all.'''
    ...     def _select(self):
    ...         return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))
    >>> environment = mb.BernoulliEnvironment([0.1, 0.9, 0.8])
    >>> result = mb.simulate(Impatient(mb.UniformMatroid(2, 3)), environment, horizon=100)
    >>> result.counters["greedy_calls"]
    100
    """

    #: Name in tables and on the command line.
    name: ClassVar[str] = ""

    #: Checks of :func:`~matroid_bandits.check_policy` that do not apply to the class, each with the
    #: reason. Subclasses inherit them.
    _check_exemptions: ClassVar[Mapping[str, str]] = {}

    # Whether the kernel decides; if not, `_select` does.
    _kernel_decides: ClassVar[bool] = False

    # `Policy[list[str]]` in annotations, also where the parameter has a default.
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, matroid: MatroidLike[Selection]) -> None:
        if not isinstance(matroid, (Matroid, Problem)):
            raise not_a_matroid(type(self).__name__, matroid)
        self._problem = Problem.of(matroid)
        self._decisions = Decisions()
        # Whether numbers and rewards are the user's own, so that nothing is to be translated.
        self._is_plain = self._problem.labels is None and self._problem.sense == "max"

    # ---- what a new policy gives ----

    @abstractmethod
    def _select(self) -> Iterable[int]:
        """The basis to play in this round, as numbers; called once a round.

        Larger rewards are better, whatever the problem says: costs have become rewards.
        """

    def _new_kernel(self, matroid: Matroid) -> PolicyKernel:
        """Statistics and counters on `matroid`; a compiled policy's kernel decides as well."""
        return PolicyKernel(matroid)

    def _why(self, selected: IntArray) -> str:  # noqa: ARG002  (for subclasses that say more)
        """The rule by which `selected` was chosen, for `explain`."""
        return (type(self).__doc__ or type(self).__name__).strip().partition("\n")[0]

    def _assumed_noise(self) -> float | None:
        """The noise level that the policy assumes by default, None if it assumes none."""
        return None

    # ---- making it ----

    def _finish(self, arguments: dict[str, Any]) -> None:
        """Called after ``__init__``, whatever that is: record its arguments, make the kernel."""
        super()._finish(arguments)
        kernel = self._kernel
        noise = self._assumed_noise()
        if noise is not None:
            kernel.assume_noise(noise)

    def _make_kernel(self) -> PolicyKernel:
        problem = self._problem
        self._kernel = kernel = self._new_kernel(problem.matroid)
        low, high = self.reward_range
        self._translation = Translation(problem, (low, high), type(self).__name__)
        kernel.limit_rewards(low, high)
        kernel.use_units(problem.labels, problem.sense == "min", self._translation.pivot)
        return kernel

    if not TYPE_CHECKING:
        _kernel = _MadeOnDemand()
        _translation = _MadeOnDemand()

    # ---- for the simulator ----

    def _deciding_kernel(self) -> PolicyKernel | None:
        """The kernel, if it alone decides and learns, so that it can run whole simulations."""
        return None

    # ---- what users call ----

    def select(
        self, available: Iterable[Any] | None = None, *, allow_smaller: bool = False
    ) -> Selection:
        """The basis to play.

        Called again before the next `update`, it returns the same basis and changes nothing.

        Parameters
        ----------
        available : iterable, optional
            The elements that are available in this round, by default all. The round is then decided
            on the matroid restricted to them, by everything learned so far. Within a round, each
            set of available elements has one answer; the round is the one of the set selected last.
        allow_smaller : bool, default False
            If the available elements contain no full basis, select a largest set that may be
            played, instead of raising an error.

        Returns
        -------
        list, or numpy.ndarray
            Labels in the order of the problem; numbers, ascending, where it has none.

        Raises
        ------
        NoBasisError
            If the available elements contain no full basis. Nothing has changed then.
        RuntimeError
            If the policy is in use in another thread, or further up in this one. Nothing has
            changed then.
        """
        if available is not None:
            elements = np.sort(self._problem.elements(available))
            if len(elements) < self._problem.size:
                with self._kernel.guard.hold():
                    decision = self._decide(elements, allow_smaller=allow_smaller)
                return self._names(decision.elements.copy())
        if self._kernel_decides:
            selected = self._kernel.select()
        else:
            with self._kernel.guard.hold():
                selected = self._select_everything()
        return self._names(selected)

    def update(
        self, elements: npt.ArrayLike | Mapping[Any, float], rewards: npt.ArrayLike | None = None
    ) -> None:
        """Learn from rewards, or costs, and end the round.

        Parameters
        ----------
        elements : array_like, or mapping
            What was observed: the basis selected, part of it, or any other elements, each at most
            once, in any order. Nothing at all is allowed too. A mapping, or a Series of pandas,
            gives their rewards as well: ``update({"a": 0.3, "b": 0.7})``.
        rewards : array_like of float
            The reward of each of them, finite and in the `reward_range`; costs, if the problem has
            ``sense="min"``.

        Raises
        ------
        ValueError
            If anything is wrong with the input. The policy is then as it was.
        RuntimeError
            If the policy is in use in another thread, or further up in this one. Nothing has
            changed then.
        """
        if rewards is None:
            elements, rewards = _pairs(elements)
        elif isinstance(elements, Mapping):
            raise ValueError("rewards are given twice: in the mapping, and beside it")
        if self._is_plain:
            self._kernel.update(element_array(elements), real_array(rewards, "rewards"))
        else:
            self._kernel.update(*self._translation.feedback(elements, rewards))  # type: ignore[arg-type]

    def explain(self) -> Explanation:
        """Why the set just selected was selected; called before `select`, it selects.

        Returns
        -------
        Explanation
            Mean, count, index and partner of every element; printed, a table.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> colors = mb.Problem(mb.UniformMatroid(1, 3), labels=["red", "green", "blue"])
        >>> policy = mb.OMM(colors, noise=0.5)
        >>> for color, reward in [("red", 0.4), ("green", 0.9), ("blue", 0.1)]:
        ...     policy.update([color], [reward])
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
        kernel = self._kernel
        with kernel.guard.hold():
            last = None if kernel.selected is None else self._decisions.last
            if last is None:
                matroid, selected = self.matroid, self._select_everything()
                why, index = self._why(selected), kernel.index_values()
            else:
                matroid, selected, why, index = last.matroid, last.elements, last.why, last.index
            return explanation_of(
                self._problem,
                matroid,
                selected,
                why=why,
                means=self.means,
                counts=self.counts,
                index=self._in_user_units(index),
            )

    def greedy_basis(self, weights: npt.ArrayLike) -> IntArray:
        """The basis of largest weight, ascending, counted in `oracle_calls` and `greedy_calls`.

        For use in `_select`. Ties go to the lowest element; infinite weights are allowed.
        """
        return self._kernel.greedy_basis(weight_array(weights, self._kernel.size))

    def _names(self, elements: IntArray) -> Selection:
        """Elements as the user calls them."""
        names: Selection = elements if self._is_plain else self._problem.names(elements)  # type: ignore[assignment]
        return names

    # ---- deciding; the guard is held ----

    def _select_everything(self) -> IntArray:
        """The basis to play when all elements are available, a copy."""
        kernel = self._kernel
        if self._kernel_decides:
            with kernel.guard.lend_to_rule():
                return kernel.select()
        decisions = self._decisions.in_round(kernel.rounds)
        if decisions.everything is None:
            kernel.begin()
            selected = self._ask_rule()
            kernel.settle(selected)
            decisions.everything = selected
        kernel.select_here()
        return decisions.everything.copy()

    def _decide(self, available: IntArray, *, allow_smaller: bool) -> Decision:
        """Select from `available`, which are not all elements."""
        kernel = self._kernel
        decisions = self._decisions.in_round(kernel.rounds)
        decision = decisions.get(available)
        matroid = decision.matroid if decision else decisions.matroid(kernel.matroid, available)
        if matroid.rank < kernel.rank and not allow_smaller:
            raise NoBasisError(self._no_basis(matroid))
        if decision is None:
            part = kernel.for_matroid(matroid, decisions.kernel)
            # While `_select` runs, everything that it uses is about this matroid.
            self._kernel = part
            try:
                selected = self._ask_rule()
                why = self._why(selected)
                decision = Decision(matroid, selected, why, part.index_values(), part.outcome())
            finally:
                self._kernel = kernel
                kernel.end_part()
            decisions.add(available, decision, part)
        kernel.select_outcome(decision.outcome)
        decisions.last = decision
        return decision

    def _ask_rule(self) -> IntArray:
        """What `_select` selects, checked to be a basis."""
        kernel = self._kernel
        with kernel.guard.lend_to_rule():
            selected = distinct_elements(self._select(), kernel.size)
        # What greedy found is a basis already.
        if not kernel.is_found(selected):
            reason = kernel.matroid._why_no_basis(selected)
            if reason:
                names = self._problem.names(selected)
                raise ValueError(
                    f"{type(self).__name__} selected {names!r}, which is not a basis of "
                    f"{kernel.matroid!r}: {reason}; use self.greedy_basis(weights) in _select"
                )
        return selected

    def _no_basis(self, matroid: Availability) -> str:
        names = self._problem.names(matroid.missing)
        return (
            f"no full basis is available: of the {self.matroid.rank} elements of a basis, at most "
            f"{matroid.rank} can be played together. A full one would need more, for instance "
            f"{', '.join(map(str, list(names)[:5]))}; pass allow_smaller=True to play what there is"
        )

    # ---- what users read ----

    @property
    def problem(self) -> Problem[Any, Selection]:
        """What may be played, with its labels and its sense."""
        return self._problem

    @property
    def matroid(self) -> Matroid:
        """What may be played; in `_select`, what may be played in this round."""
        kernel = vars(self).get("_kernel")
        return self._problem.matroid if kernel is None else kernel.matroid

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward, or cost, that it accepts."""
        index = self._kernel.index
        return (-inf, inf) if index is None else (index.low, index.high)

    def __copy__(self) -> Self:
        # A copy that shared the statistics would learn with the original.
        return copy.deepcopy(self)


class CompiledPolicy(Policy[Selection]):
    """A policy whose kernel decides; a subclass gives it by `_new_kernel`."""

    _kernel_decides = True
    # Those of `_select`, `select` and `update` that a subclass has changed.
    _overrides: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._overrides = overridden(cls, CompiledPolicy, ("_select", "select", "update"))
        cls._kernel_decides = "_select" not in cls._overrides

    @abstractmethod
    def _new_kernel(self, matroid: Matroid) -> PolicyKernel: ...

    def _select(self) -> IntArray:
        return self._kernel.select()

    def _why(self, selected: IntArray) -> str:
        if self._kernel.n_undersampled:
            return "Initial rounds: elements that were not observed often enough come first."
        return super()._why(selected)

    def _deciding_kernel(self) -> PolicyKernel | None:
        # Not if a subclass, or an attribute of this object, overrides how it selects or learns.
        is_changed = self._overrides or not vars(self).keys().isdisjoint(
            ("_select", "select", "update")
        )
        return None if is_changed else self._kernel


def _pairs(given: Any) -> tuple[list[Any], list[Any]]:
    """The keys and values of a mapping, or of a Series of pandas."""
    if not hasattr(given, "items"):
        raise ValueError(
            "rewards are missing; write update(elements, rewards) or update({element: reward})"
        )
    pairs = list(given.items())
    return [key for key, _ in pairs], [value for _, value in pairs]
