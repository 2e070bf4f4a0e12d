"""Decisions, and feedback that comes late, in parts, out of order, twice or never."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, Never

import numpy as np

from matroid_bandits._arguments import (
    abbreviated,
    as_list,
    element_array,
    integer,
    not_an_element,
    real,
    real_array,
    truth_value,
    unknown_argument,
)
from matroid_bandits._types import Selection
from matroid_bandits.policies.contract.availability import availability_mask
from matroid_bandits.policies.contract.decision import (
    Decision,
    OpenDecisions,
    decision_id,
    refuse_foreign,
)
from matroid_bandits.policies.contract.learning_from_logs import learn_log
from matroid_bandits.policies.contract.propensities import MOST_DRAWS, refuse_unknown_draws

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.policies.contract.translation import Translation
    from matroid_bandits.problem import Problem

__all__ = ["LateFeedback", "pairs"]


class LateFeedback(Generic[Selection]):
    """What a policy needs behind a web site: many decisions at a time, feedback whenever it comes.

    Any number of threads may use one policy. Calls are made one after the other.
    """

    _kernel: PolicyKernel
    _problem: Problem[Any, Any]
    _translation: Translation
    _is_plain: bool

    if TYPE_CHECKING:

        @property
        def _rule(self) -> Callable[[], IntArray] | None: ...
        @property
        def _hook(self) -> Callable[[IntArray, FloatArray], None] | None: ...
        def _names(self, elements: IntArray) -> Selection: ...
        def _round_features(
            self, features: Any, mask: Any, *, to_decide: bool
        ) -> AbstractContextManager[None]: ...

    def decide(
        self,
        available: Iterable[Any] | npt.NDArray[np.bool_] | None = None,
        *,
        allow_smaller: bool = False,
        id: str | int | None = None,  # noqa: A002
        shown: Iterable[Any] | None = None,
        propensities: int | None = None,
        features: Any = None,
        **unknown: Never,
    ) -> Decision[Selection]:
        """Make a decision: a round of its own, which stays open until its feedback has come.

        Unlike `select`, it begins a new round with every call. So several visitors can be served
        before the first feedback arrives.

        Parameters
        ----------
        available : iterable, or array of bool, optional
            The elements that are available in this round, by default all: labels (numbers, where
            there are none), or a mask with one truth value per element. The round is then decided
            on the matroid restricted to them, by everything learned so far.
        allow_smaller : bool, default False
            If the available elements contain no full basis, play a largest set that may be played,
            instead of raising an error.
        id : str or int, optional
            An id of your own, such as that of a request. By default the number of the round.
        shown : iterable, optional
            What you show in place of the policy's set, for example while the policy only watches
            what another rule does. At most as many elements as a basis has. Feedback is then about
            these elements. The round counts as always, and `proposed` of the decision is the
            policy's set.
        propensities : int, optional
            Estimate how likely each element of the set was, by so many more draws of the rule, for
            :func:`~matroid_bandits.evaluate_log`. They are `propensities` of the decision. The
            plays stay the same. It takes about as long as so many rounds.
        features : array_like, mapping or data frame, optional
            For a policy with features: those of this round, as
            :class:`~matroid_bandits.LinearFeatures` takes them; by default the fixed ones. Feedback
            is learned with them, whenever it comes.

        Returns
        -------
        Decision
            With `id`, `elements`, `round`, `available`, `proposed`, `propensities`.

        Raises
        ------
        NoBasisError
            If the available elements contain no full basis. Nothing has changed then.
        DecisionError
            If the id belongs to another decision.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> ads = mb.Problem(mb.UniformMatroid(1, 3), labels=["car", "tea", "book"])
        >>> policy = mb.MAUB(ads)
        >>> first, second = policy.decide(), policy.decide(available=["tea", "book"])
        >>> first.elements, second.elements
        (['car'], ['tea'])
        >>> policy.learn(second, {"tea": 1.0})
        >>> policy.learn(first.id, {"car": 0.0})
        >>> policy.counts
        array([1, 1, 0])
        """
        if unknown:
            raise unknown_argument(f"{type(self).__name__}.decide", unknown, LateFeedback.decide)
        identifier = None if id is None else decision_id(id)
        mask = None if available is None else availability_mask(self._problem, available)
        smaller = truth_value(allow_smaller, "allow_smaller")
        instead = None if shown is None else self._shown_elements(shown)
        draws = 0 if propensities is None else self._n_draws(propensities, shown)
        own: AbstractContextManager[None] = nullcontext()
        if features is not None:
            own = self._round_features(features, mask, to_decide=True)
        with own:
            made, number, elements, estimated = self._kernel.open(
                identifier, mask, smaller, self._rule, instead, draws
            )
        proposed, guard = self._names(elements), self._kernel.guard
        names = proposed if instead is None else self._names(instead)
        return Decision(made, names, number, self._problem, guard, mask, proposed, estimated)

    def learn(
        self,
        decision: Decision[Selection] | str | int,
        rewards: Mapping[Any, float] | npt.ArrayLike,
        *,
        final: bool = False,
    ) -> None:
        """Learn rewards, or costs, of elements of a decision.

        Feedback may come late, in parts and in any order. The same feedback again changes nothing.
        A decision is closed when all its feedback has come.

        Parameters
        ----------
        decision : Decision, str or int
            The decision, or its id.
        rewards : mapping, or array_like of float
            The reward of each element that was observed: ``{"tea": 1.0}``, or a Series of pandas.
            Without names, those of all elements of the decision, in their order.
        final : bool, default False
            Whether nothing more will come for this decision: it is closed.

        Raises
        ------
        DecisionError
            If there is no such decision, if an element is not in it or has other feedback already,
            or if the decision is closed. Nothing has changed then.
        ValueError
            If anything else is wrong with the input. Nothing has changed then.

        Notes
        -----
        The feedback of the 10,000 decisions that were closed most recently (of those with more than
        400 elements: of 4 million elements) is kept, so that it is recognized if it is delivered
        again. Ids of older ones are unknown.
        """
        identifier = self._id_of(decision)
        elements, values = None, rewards
        if isinstance(decision, Decision) and self._kernel.decisions.has_new_order(identifier):
            rewards = _by_name(decision, rewards)
        if hasattr(rewards, "items"):
            names, values = pairs(rewards)
            elements = self._elements_in_decisions(names)
            given = named_rewards(names, values, self._translation.kind)
        else:
            given = rewards_in_order(values, self._translation.kind)
        is_final = truth_value(final, "final")
        learned = given if self._is_plain else self._translation.as_rewards(given)
        self._kernel.learn_decision(identifier, elements, learned, is_final, self._hook)

    def expire(
        self,
        ids: Iterable[Decision[Selection] | str | int] | Decision[Selection] | str | int,
        reward: float | None = None,
    ) -> None:
        """Close decisions for which nothing more is expected.

        Decisions that are closed already stay as they are.

        Parameters
        ----------
        ids : iterable of Decision, str or int
            The decisions, or their ids; a single one is accepted too.
        reward : float, optional
            What is learned for elements without feedback, such as 0 for "no click"; a cost, if the
            problem has ``sense="min"``. By default nothing is learned about them.

        Raises
        ------
        DecisionError
            If there is no such decision. Nothing has changed then.

        Notes
        -----
        If `_observe` of a policy of your own raises an exception, decisions before that one stay
        expired.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> policy = mb.MAUB(mb.UniformMatroid(1, 3))
        >>> for _ in range(3):
        ...     decision = policy.decide()
        >>> old = [d.id for d in policy.open_decisions.values() if d.round <= 2]
        >>> policy.expire(old, reward=0.0)
        >>> policy.counts, policy.n_pending
        (array([1, 1, 0]), array([0, 0, 1]))
        """
        single = isinstance(ids, (Decision, str, Real))
        given = [ids] if single else as_list(_ids(ids), "ids")
        identifiers = [self._id_of(one) for one in given]
        value = None
        if reward is not None:
            try:
                value = real(reward, "reward", minimum=-np.inf, maximum=np.inf)
            except ValueError:
                raise ValueError(f"reward must be a number, got {abbreviated(reward)}") from None
            if not self._is_plain:
                value = float(self._translation.as_rewards(np.array([value]))[0])
        self._kernel.expire(identifiers, value, self._hook)

    def learn_log(self, frame: Any) -> None:
        """Learn from a log: a table with a row for every element that was shown.

        Every decision of the log becomes a round, as `update` makes it, in the order in which they
        first appear. Rows about a decision of this policy, which has the same id, are its feedback,
        as `learn` takes it: what was learned before is not learned again. (The id 1 and the text
        "1" are different.) That holds for decisions which are open, or were closed recently. Older
        ones, and those of a log that was learned before, would be learned again: leave them out.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, Table of pyarrow, or mapping of columns
            With these columns; others are ignored:

            - `decision`: an id, the same in all rows of a decision;
            - `element`: a label (a number, where there are none);
            - `reward`: a reward, or a cost; null if there was no feedback;
            - `time`, optional: rows are then taken in this order, and as they stand where it is the
              same.

        Raises
        ------
        ValueError
            If anything is wrong, with its row and column: an unknown label, a reward that is not
            finite or out of range, two different rewards of an element in a decision. Nothing has
            been learned then.

        Notes
        -----
        The same reward twice is learned once. If `_observe` of a policy of your own raises an
        exception, what came before it in the log stays learned.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> ads = mb.Problem(mb.UniformMatroid(1, 3), labels=["car", "tea", "book"])
        >>> policy = mb.MAUB(ads, index="kl")
        >>> policy.learn_log({
        ...     "decision": ["a", "b", "c"],
        ...     "element": ["tea", "car", "tea"],
        ...     "reward": [1.0, 0.0, None],
        ... })
        >>> policy.rounds, policy.counts
        (3, array([1, 1, 0]))
        """
        learn_log(self, frame)  # type: ignore[arg-type]

    @property
    def open_decisions(self) -> OpenDecisions[Selection]:
        """The decisions that wait for feedback: a mapping from id to Decision, oldest first.

        What `select` has returned becomes one of them if `decide` is called before `update`.
        """
        return OpenDecisions(self._kernel, self._problem)

    @property
    def n_pending(self) -> CountArray:
        """Of each element, the number of open decisions that contain it and have no feedback for it
        (a copy).
        """
        return self._kernel.pending_copy()

    def _n_draws(self, propensities: Any, shown: Any) -> int:
        """The number of draws for propensities, if they can be estimated."""
        if shown is not None:
            raise ValueError(
                "propensities are those of the policy's own set; how likely you show other "
                "elements is not known to it: leave propensities= or shown= out"
            )
        refuse_unknown_draws(self)
        return integer(propensities, "propensities", minimum=1, maximum=MOST_DRAWS)

    def _shown_elements(self, shown: Iterable[Any]) -> IntArray:
        """The numbers of what is shown in place of the policy's set, ascending."""
        elements = np.sort(self._problem.elements(as_list(shown, "shown")))
        if len(elements) > self._problem.rank:
            raise ValueError(
                f"shown has {len(elements)} elements; a set that may be played has at most "
                f"{self._problem.rank}"
            )
        return elements

    def _id_of(self, decision: Any) -> str | int:
        """The id of a decision, if it may be one of this policy."""
        identifier = decision_id(decision)
        if isinstance(decision, Decision):
            refuse_foreign(decision, self._kernel, self._problem)
        return identifier

    def _elements_in_decisions(self, names: list[Any]) -> IntArray:
        """The numbers of names; below 0 for those of dropped elements."""
        dropped = self._kernel.feedback.former_number
        if not dropped:
            if self._is_plain:
                elements = element_array(names)
                if len(elements) and elements.min() < 0:
                    raise not_an_element(elements.min(), self._kernel.size)
                return elements
            return self._problem.elements(names)
        known = self._problem._number
        return np.array(
            [known[n] if n in known else self._dropped(n, dropped) for n in names], dtype=np.intp
        )

    def _dropped(self, name: Any, dropped: dict[Any, int]) -> int:
        """The number of a dropped element; any other label is unknown."""
        return dropped[name] if name in dropped else int(self._problem.elements([name])[0])


def rewards_in_order(values: Any, what: str) -> FloatArray:
    """Rewards without names."""
    try:
        return real_array(values, what)
    except ValueError as error:
        raise ValueError(f"{error}; pass numbers, or a mapping: {{element: number}}") from None


def named_rewards(names: list[Any], values: list[Any], what: str) -> FloatArray:
    """The rewards of `names`; the message about a wrong one says whose it is."""
    try:
        return real_array(values, what)
    except ValueError:
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, (Real, np.number)):
                raise ValueError(
                    f"{what} must be numbers, got {abbreviated(value)} for {name!r}; leave out "
                    "elements without feedback"
                ) from None
        raise


def pairs(given: Any) -> tuple[list[Any], list[Any]]:
    """The keys and values of a mapping, or of a Series of pandas."""
    if not hasattr(given, "items"):
        raise ValueError(
            "rewards are missing; write update(elements, rewards) or update({element: reward})"
        )
    items = list(given.items())
    return [key for key, _ in items], [value for _, value in items]


def _by_name(decision: Decision[Any], rewards: Any) -> Any:
    """Rewards in the order of a decision as a mapping; what does not fit stays as it is."""
    if hasattr(rewards, "items"):
        return rewards
    names, values = list(decision.elements), real_array(rewards, "rewards").tolist()
    return dict(zip(names, values, strict=True)) if len(names) == len(values) else rewards


def _ids(ids: Any) -> Any:
    """The ids of a mapping, such as `open_decisions`; other iterables as they are."""
    return list(ids) if isinstance(ids, Mapping) else ids
