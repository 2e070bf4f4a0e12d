"""The policy contract: select a basis, learn from its rewards."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from math import inf
from threading import get_ident
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never

import numpy as np

from matroid_bandits._arguments import (
    distinct_elements,
    element_array,
    real_array,
    truth_value,
    unknown_argument,
    weight_array,
)
from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._overrides import overridden
from matroid_bandits._types import Selection
from matroid_bandits.errors import no_features
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.contract.availability import Availability, availability_mask
from matroid_bandits.policies.contract.confidence import Confidence, Confident
from matroid_bandits.policies.contract.counters import Counters
from matroid_bandits.policies.contract.drift import Drift, DriftWatch
from matroid_bandits.policies.contract.explanation import Explanation, explanation_of, is_quick
from matroid_bandits.policies.contract.late_feedback import LateFeedback, pairs
from matroid_bandits.policies.contract.moving import Moving
from matroid_bandits.policies.contract.notebook import Notebook
from matroid_bandits.policies.contract.own_state import LEARNING
from matroid_bandits.policies.contract.parameters import Parametrized
from matroid_bandits.policies.contract.saving import Saving
from matroid_bandits.policies.contract.translation import Translation
from matroid_bandits.problem import Problem, not_a_matroid

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self

    import numpy.typing as npt

    from matroid_bandits._types import FloatArray, IntArray, MatroidLike
    from matroid_bandits.policies.contract.log import Log

__all__ = ["CompiledPolicy", "Policy"]

# How a policy selects and learns.
_DECIDING = ("_select", "_observe", "select", "update", "decide", "learn", "expire")


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


class Policy(
    Counters,
    LateFeedback[Selection],
    Confident,
    DriftWatch,
    Moving,
    Saving,
    Notebook,
    Parametrized,
    Generic[Selection],
):
    """A learner: `select` the basis to play, `update` with the rewards seen.

    Where rewards come late, or for several users at a time, `decide` and `learn` take their place.

    To write your own, answer `_select` from ``self.counts``, ``self.mean_rewards`` and
    ``self.greedy_basis(weights)``. Statistics, checks, counters, labels, costs, available elements
    and late feedback are handled for you, and so are `get_params`, `clone` and `repr`. An
    ``__init__`` of your own stores its parameters and calls ``super().__init__(matroid)``. If means
    and counts are not enough, `_observe` receives every reward. (A class of your own with `select`
    and `update` runs in the simulator too.)

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
    #: reason. Subclasses inherit them; None in place of a reason takes one back.
    _check_exemptions: ClassVar[Mapping[str, str | None]] = {}

    # Whether the kernel decides; if not, `_select` does.
    _kernel_decides: ClassVar[bool] = False
    # What a subclass overrides to learn something of its own, and to say what that is.
    _own_learning: ClassVar[frozenset[str]] = frozenset()
    _has_hook: ClassVar[bool] = False
    _own_state_methods: ClassVar[frozenset[str]] = frozenset()

    # `Policy[list[str]]` in annotations, also where the parameter has a default.
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_learning = overridden(cls, Policy, LEARNING)
        cls._has_hook = "_observe" in cls._own_learning
        cls._own_state_methods = overridden(cls, Policy, ("_get_state", "_set_state", "_reseed"))

    def __init__(self, matroid: MatroidLike[Selection]) -> None:
        if not isinstance(matroid, (Matroid, Problem)):
            raise not_a_matroid(type(self).__name__, matroid)
        self._problem = Problem.of(matroid)
        # The thread in which `_select` is running, if it is.
        self._rule_thread: int | None = None
        # Whether numbers and rewards are the user's own, so that nothing is to be translated.
        self._is_plain = self._problem.labels is None and self._problem.sense == "max"

    # ---- what a new policy gives ----

    @abstractmethod
    def _select(self) -> Iterable[int]:
        """The basis to play in this round, as numbers; called once a round.

        Larger rewards are better, whatever the problem says: costs have become rewards.
        """

    def _observe(self, elements: IntArray, rewards: FloatArray) -> None:
        """Receive feedback, for a policy that keeps more than counts and means; does nothing here.

        It is called once for each `update`, and for each decision that `learn` or `expire` bring
        feedback for, before the statistics change. If it raises, nothing is learned.

        Parameters
        ----------
        elements : numpy.ndarray
            Numbers of elements, each at most once.
        rewards : numpy.ndarray
            The reward of each: larger is better, costs have become rewards.
        """

    def _new_kernel(self, matroid: Matroid) -> PolicyKernel:
        """Statistics and counters on `matroid`; a compiled policy's kernel decides as well."""
        return PolicyKernel(matroid)

    def _why(self, kernel: PolicyKernel, selected: IntArray) -> str:  # noqa: ARG002  (for subclasses)
        """The rule by which `kernel` has chosen `selected`, for `explain`."""
        return (type(self).__doc__ or type(self).__name__).strip().partition("\n")[0]

    def _explained(self, kernel: PolicyKernel) -> dict[str, Any]:  # noqa: ARG002
        """What `explain` says besides, for a policy with features."""
        return {}

    @classmethod
    def _example(cls, matroid: MatroidLike[Any]) -> Self:
        """A policy for checks of the class, with the defaults of its parameters."""
        return cls(matroid)

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
            kernel.feedback.assume_noise(noise)

    def _make_kernel(self) -> PolicyKernel:
        problem = self._problem
        self._kernel = kernel = self._new_kernel(problem.matroid)
        low, high = self.reward_range
        self._translation = Translation(problem, (low, high), type(self).__name__)
        index = kernel.index
        kernel.feedback.limit("the policy" if index is None else index.name, low, high)
        kernel.feedback.use_units(problem.labels, problem.sense == "min", self._translation.pivot)
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
        self,
        available: Iterable[Any] | None = None,
        *,
        allow_smaller: bool = False,
        features: Any = None,
        **unknown: Never,
    ) -> Selection:
        """The basis to play.

        Called again before the next `update`, it returns the same basis and changes nothing.

        Parameters
        ----------
        available : iterable, or array of bool, optional
            The elements that are available in this round, by default all: labels (numbers, where
            there are none), or a mask with one truth value per element. The round is then decided
            on the matroid restricted to them, by everything learned so far. Within a round, each
            set of available elements has one answer; the round is the one of the set selected last.
        allow_smaller : bool, default False
            If the available elements contain no full basis, select a largest set that may be
            played, instead of raising an error.
        features : array_like, mapping or data frame, optional
            For a policy with features: those of this round, as
            :class:`~matroid_bandits.LinearFeatures` takes them. By default those that the round has
            already, else the fixed ones. With others than before, the round is decided anew.

        Returns
        -------
        list, or numpy.ndarray
            Labels in the order of the problem; numbers, ascending, where it has none.

        Raises
        ------
        NoBasisError
            If the available elements contain no full basis. Nothing has changed then.
        RuntimeError
            If the call comes from inside another one: from a matroid, an index, an environment or a
            rule that this policy is calling. Nothing has changed then.
        """
        if unknown:
            raise unknown_argument(f"{type(self).__name__}.select", unknown, Policy.select)
        if available is None and features is None and self._kernel_decides:
            selected = self._kernel.select()
            return selected if self._is_plain else self._problem.names(selected)  # type: ignore[return-value]
        mask = None if available is None else availability_mask(self._problem, available)
        smaller = truth_value(allow_smaller, "allow_smaller")
        if features is None:
            return self._names(self._kernel.select_from(mask, smaller, self._rule))
        with self._round_features(features, mask, to_decide=False):
            return self._names(self._kernel.select_from(mask, smaller, self._rule))

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
            If the call comes from inside another one: from a matroid, an index, an environment or a
            rule that this policy is calling. Nothing has changed then.
        """
        if rewards is None:
            elements, rewards = pairs(elements)
        elif type(elements) is not np.ndarray and isinstance(elements, Mapping):
            raise ValueError("rewards are given twice: in the mapping, and beside it")
        if self._is_plain:
            observed, learned = element_array(elements), real_array(rewards, "rewards")
        else:
            observed, learned = self._translation.feedback(elements, rewards)  # type: ignore[arg-type]
        if self._has_hook or "_observe" in self.__dict__:
            self._kernel.update(observed, learned, self._observe)
        else:
            self._kernel.update(observed, learned)

    def explain(self, *, features: Any = None) -> Explanation:
        """Why `select` has selected its set.

        If nothing is selected, also after `decide`, it explains what `select` would return now. It
        begins no round and changes nothing about later ones.

        Parameters
        ----------
        features : array_like, mapping or data frame, optional
            For a policy with features: explain what `select` would return with these.

        Returns
        -------
        Explanation
            Mean, count, index and partner of every element; printed, a table. Its `confidence`, the
            last lines, says whether the best basis is settled. That is about the whole problem,
            also in a round with fewer `available` elements.

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
        <BLANKLINE>
        The best basis is not settled with confidence 95 %: the statistic 0.25 is not above the
        proven threshold 12.38. The hardest pair is 'green' in the basis and 'red' outside: about
        120 more observations of them would do.
        """
        if features is not None:
            other = copy.deepcopy(self)
            other.select(features=features)
            return other.explain()
        kernel = self._kernel
        with kernel.guard.hold():
            confidence = self._quick_confidence()
            if self._kernel_decides and not kernel.is_chosen:
                kernel = kernel.copy_without_decisions()
            selected = kernel.peek(self._rule)
            return explanation_of(
                self._problem,
                self._matroid_of_round(kernel),
                selected,
                why=self._why(kernel, selected),
                means=self.means,
                counts=self.counts,
                index=self._in_user_units(kernel.index_values()),
                confidence=confidence,
                drift=self._quick_drift(),
                **self._explained(kernel),
            )

    def _quick_drift(self) -> Drift | None:
        """Whether means seem to have changed; None if that is not known, or taken care of."""
        if self._kernel.memory is not None or self._confidence_refusal:
            return None
        try:
            with self._kernel.guard.lend_to_loop():
                return DriftWatch.drift(self)
        except ValueError:
            return None

    def _quick_confidence(self) -> Confidence | None:
        """Whether the best basis is settled; None if that is not known, or takes long."""
        kernel = self._kernel
        if not is_quick(self._problem.matroid, kernel.means_copy(), kernel.counts_copy()):
            return None
        try:
            # Where an oracle contradicts itself, counts may be 0.
            with kernel.guard.lend_to_loop(), np.errstate(divide="raise", invalid="raise"):
                # Not `self.confidence`: a subclass may have an attribute of its own of that name.
                return Confident.confidence(self)
        except (ValueError, FloatingPointError):
            return None

    def greedy_basis(self, weights: npt.ArrayLike) -> IntArray:
        """The basis of largest weight, ascending, counted in `oracle_calls` and `greedy_calls`.

        For use in `_select`. Ties go to the lowest element; infinite weights are allowed.
        """
        return self._kernel.greedy_basis(weight_array(weights, self._kernel.size))

    def _names(self, elements: IntArray) -> Selection:
        """Elements as the user calls them."""
        names: Selection = elements if self._is_plain else self._problem.names(elements)  # type: ignore[assignment]
        return names

    def _round_features(
        self,
        features: Any,  # noqa: ARG002
        mask: Any,  # noqa: ARG002
        *,
        to_decide: bool,  # noqa: ARG002
    ) -> AbstractContextManager[None]:
        """A context in which a round has features of its own."""
        raise no_features(type(self).__name__)

    def _check_log(self, log: Log, is_known: list[bool]) -> None:
        """Refuse a log that `learn` and `update` would refuse for a reason of this class.

        Parameters
        ----------
        log : Log
        is_known : list of bool
            Which of its decisions are decisions of this policy.
        """

    # ---- rules and hooks written in Python; the guard is held ----

    @property
    def _rule(self) -> Callable[[], IntArray] | None:
        """What decides, if the kernel does not."""
        return None if self._kernel_decides else self._ask_rule

    @property
    def _hook(self) -> Callable[[IntArray, FloatArray], None] | None:
        """What receives the feedback, besides the kernel."""
        return self._observe if self._has_hook or "_observe" in vars(self) else None

    def _ask_rule(self) -> IntArray:
        """What `_select` selects, checked to be a basis of what is available."""
        kernel = self._kernel
        self._rule_thread = get_ident()
        try:
            selected = distinct_elements(self._select(), kernel.size)
            # What greedy found is a basis already.
            if not kernel.is_found(selected):
                reason = self.matroid._why_no_basis(selected)
                if reason:
                    names = self._problem.names(selected)
                    raise ValueError(
                        f"{type(self).__name__} selected {names!r}, which is not a basis of "
                        f"{self.matroid!r}: {reason}; use self.greedy_basis(weights) in _select"
                    )
        finally:
            self._rule_thread = None
        return selected

    def _matroid_of_round(self, kernel: PolicyKernel) -> Matroid:
        """What may be played in the round of `kernel`."""
        available = kernel.available_elements()
        if available is None:
            return self._problem.matroid
        return Availability(self._problem.matroid, available)

    # ---- what users read ----

    @property
    def problem(self) -> Problem[Any, Selection]:
        """What may be played, with its labels and its sense."""
        return self._problem

    @property
    def matroid(self) -> Matroid:
        """What may be played; in `_select`, what may be played in this round."""
        is_in_rule = self._rule_thread is not None and self._rule_thread == get_ident()
        return self._matroid_of_round(self._kernel) if is_in_rule else self._problem.matroid

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward, or cost, that it accepts."""
        index = self._kernel.index
        return (-inf, inf) if index is None else (index.low, index.high)

    def __getstate__(self) -> dict[str, Any]:
        kernel = self._kernel
        with kernel.guard.hold():
            state = vars(self) | {"_kernel": copy.deepcopy(kernel), "_rule_thread": None}
        # A cache of `confidence`, which can be large.
        state.pop("_pairs", None)
        return state

    def __copy__(self) -> Self:
        # A copy that shared the statistics would learn with the original.
        return copy.deepcopy(self)


class CompiledPolicy(Policy[Selection]):
    """A policy whose kernel decides; a subclass gives it by `_new_kernel`."""

    _kernel_decides = True
    # Those of `_DECIDING` that a subclass has changed.
    _overrides: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._overrides = overridden(cls, CompiledPolicy, _DECIDING)
        cls._kernel_decides = "_select" not in cls._overrides

    @abstractmethod
    def _new_kernel(self, matroid: Matroid) -> PolicyKernel: ...

    def _select(self) -> IntArray:
        return self._kernel.own_rule()

    def _why(self, kernel: PolicyKernel, selected: IntArray) -> str:
        if kernel.is_initial:
            return "Initial rounds: elements that were not observed often enough come first."
        return super()._why(kernel, selected)

    def _deciding_kernel(self) -> PolicyKernel | None:
        # Not if a subclass, or an attribute of this object, overrides how it selects or learns.
        is_changed = self._overrides or not vars(self).keys().isdisjoint(_DECIDING)
        return None if is_changed else self._kernel
