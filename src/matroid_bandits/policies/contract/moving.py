"""Statistics from elsewhere, and ground sets that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits._core.policies.contract.decisions import DecisionTable
from matroid_bandits._core.policies.memory.discount import Discount
from matroid_bandits.errors import no_features, reward_too_large
from matroid_bandits.policies.contract.checked_state import SLACK
from matroid_bandits.policies.contract.decision import names_of
from matroid_bandits.policies.contract.memory import missing_elements, moved_memory
from matroid_bandits.policies.contract.own_state import (
    learning_methods,
    reason_for_own_state,
    says_its_state,
)
from matroid_bandits.policies.contract.statistics import Statistics, given_statistics
from matroid_bandits.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import IntArray
    from matroid_bandits.policies.contract.translation import Translation

__all__ = ["Moving", "copy_rows"]


class Moving:
    """A policy's way to other statistics and to other elements."""

    _kernel: PolicyKernel
    _problem: Problem[Any, Any]
    _translation: Translation
    _arguments: dict[str, Any]
    _n_dropped: int
    # Whether the index has a row for each element, and not for something else.
    _index_is_of_elements: ClassVar[bool] = True

    @property
    def statistics(self) -> Statistics:
        """Mean and count of every element so far, for `observe` of another policy (a copy).

        With `window` or `restart`, of the observations that still count.

        Raises
        ------
        ValueError
            If the policy has a discount: discounted counts are no numbers of observations.
        """
        kernel = self._kernel
        if isinstance(kernel.memory, Discount):
            raise ValueError(
                "a policy with discount= has no statistics that another one could learn: its "
                "observations count less from round to round; read means and effective_counts"
            )
        with kernel.guard.hold():
            counts, means, rounds = kernel.counts_copy(), kernel.means_copy(), kernel.rounds
            index = kernel.index if self._index_is_of_elements else None
            rows = {} if index is None else index.state()
        means = np.where(counts > 0, self._translation.in_user_units(means), 0.0)
        return Statistics(
            self._problem, means, counts, rounds, rows, only_grows=kernel.memory is None
        )

    def observe(self, statistics: Statistics | Mapping[Any, tuple[float, int]]) -> None:
        """Add observations that were made elsewhere: a prior, or what another process has learned.

        Parameters
        ----------
        statistics : Statistics, or mapping
            `statistics` of another policy, or ``{label: (mean, count)}``: rewards, or costs if the
            problem has ``sense="min"``. Those of a policy count its rounds, too.

        Raises
        ------
        ValueError
            If anything is wrong with them. Nothing has changed then.

        Notes
        -----
        Of an index that keeps more than means and counts (UCB-V, NormalUCB, BetaThompson), the
        statistics of a policy have that as well. Without it, all rewards of an element count as if
        they had been its mean. Local times of MAUB's leaders are not part of statistics.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> ads = mb.Problem(mb.UniformMatroid(1, 2), labels=["car", "tea"])
        >>> policy = mb.MAUB(ads)
        >>> policy.observe({"car": (0.04, 500), "tea": (0.02, 100)})
        >>> policy.counts
        array([500, 100])
        """
        for name in learning_methods(self)[:1]:
            self._refuse_own_state("observe", f"it defines {name}")
        elements, means, counts, rounds, state = given_statistics(statistics, self._problem)
        memory = self._kernel.memory
        if memory is not None and not memory.accepts_statistics:
            raise ValueError(
                "observe cannot be used with window= or discount=: statistics do not say in which "
                "rounds they were observed; use learn_log, or another policy"
            )
        rewards = self._translation.as_rewards(means)
        low, high = self._kernel.feedback.low, self._kernel.feedback.high
        # A difference of statistics may be a little outside, by rounding.
        near = np.clip(rewards, low, high)
        rewards = np.where(np.abs(near - rewards) <= SLACK, near, rewards)
        for e, reward, mean in zip(elements.tolist(), rewards, means, strict=True):
            if not low <= reward <= high:
                raise ValueError(
                    f"the mean {mean:.6g} of {self._problem.name(e)!r} is not between {low:g} and "
                    f"{high:g}, as the policy needs it"
                )
            if abs(reward) > self._kernel.feedback.largest:
                raise reward_too_large(
                    "mean", repr(self._problem.name(e)), mean, self._kernel.feedback.largest
                )
        with np.errstate(over="ignore"):
            total = counts * rewards
            sums = total + self._kernel.counts_copy()[elements] * np.nan_to_num(
                self._kernel.means_copy()[elements]
            )
        if not np.isfinite(sums).all():
            e = elements[np.flatnonzero(~np.isfinite(sums))[0]]
            raise ValueError(f"the mean of {self._problem.name(e)!r} overflows")
        self._kernel.merge(elements, rewards, counts, rounds, state)

    def moved_to(
        self,
        problem: Problem[Any, Any],
        prior: Mapping[Any, tuple[float, int]] | None = None,
        *,
        features: Any = None,
    ) -> Self:
        """The same policy for a problem with other elements, or other constraints.

        What is known stays attached to labels. Elements that stay keep their statistics and their
        open decisions, new ones start fresh, others are dropped. This policy stays as it is.

        Parameters
        ----------
        problem : Problem
            The new problem, with labels.
        prior : mapping, optional
            ``{label: (mean, count)}`` for new elements: as if they had been observed.
        features : mapping, array_like or data frame, optional
            For a policy with fixed features: those of new elements, ``{label: vector}``, or those
            of all elements of the new problem. Elements without new ones keep theirs.

        Returns
        -------
        Policy
            Of the same class with the same parameters; rounds and random numbers go on.

        Notes
        -----
        Feedback for an element that was dropped is accepted in the decisions that contain it, and
        nothing is learned from it. A set that `select` has returned is forgotten.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> policy = mb.MAUB(mb.Problem(mb.UniformMatroid(1, 2), labels=["car", "tea"]))
        >>> policy.update({"car": 1.0})
        >>> new = mb.Problem(mb.UniformMatroid(1, 3), labels=["tea", "car", "book"])
        >>> moved = policy.moved_to(new, prior={"book": (0.5, 10)})
        >>> moved.counts, moved.rounds
        (array([ 0,  1, 10]), 1)
        """
        said = says_its_state(self)
        self._refuse_own_state(
            "moved_to", f"it defines {said[0]}" if said else reason_for_own_state(self)
        )
        _refuse_other(self._problem, problem)
        arguments = self._arguments_for(problem, features)
        new: Self = self._with_arguments(arguments)  # type: ignore[attr-defined]
        known = {name: e for e, name in enumerate(self._problem.labels or ())}
        for name in prior or ():
            if name in known:
                raise ValueError(
                    f"{name!r} is not new: it keeps its statistics; a prior is for new elements"
                )
        old_numbers = np.array([known.get(name, -1) for name in problem.labels or ()], np.intp)
        with self._kernel.guard.hold():
            moved = self._moved_state(new, old_numbers)
        new._kernel.restore(moved)
        new._n_dropped = self._n_dropped + len(known.keys() - set(problem.labels or ()))
        if prior:
            new.observe(prior)
        return new

    def _arguments_for(self, problem: Problem[Any, Any], features: Any) -> dict[str, Any]:
        """The arguments of the constructor that are others for a new problem."""
        if features is not None:
            raise no_features(type(self).__name__)
        # The matroid is the first argument, whatever a class of one's own calls it.
        return {next(iter(self._arguments)): problem}

    def _moved_state(self, new: Moving, old_numbers: IntArray) -> dict[str, Any]:
        """The state of this policy's kernel for the kernel of `new`.

        Parameters
        ----------
        new : Policy
            The policy for the new problem, which has learned nothing.
        old_numbers : array of int
            The number here of each of its elements; -1 if it is new.
        """
        state, moved = self._kernel.state(), new._kernel.state()
        for name in ("rounds", "calls"):
            moved[name] = state[name]
        if state["stream"] is not None:
            moved["stream"] = state["stream"][:1]
        for name in ("counts", "means", "earlier_means"):
            copy_rows(state[name], moved[name], old_numbers)
        moved["memory"] = moved_memory(
            state["memory"],
            moved["memory"],
            old_numbers,
            missing_elements(new._kernel, moved["counts"]),
        )
        if self._index_is_of_elements:
            for name, rows in moved["index"].items():
                copy_rows(state["index"][name], rows, old_numbers)
        moved["decisions"], moved["former"] = self._moved_decisions(state["decisions"], new)
        return moved

    def _moved_decisions(
        self, table: dict[str, Any], new: Moving
    ) -> tuple[dict[str, Any], list[Any]]:
        """The table of decisions with the numbers of the new problem, and dropped labels."""
        table = _with_fewer_closed(table, max(table["width"], new._problem.rank))
        number = {name: e for e, name in enumerate(new._problem.labels or ())}
        is_used = np.arange(table["width"]) < table["lengths"][:, np.newaxis]
        used, place = np.unique(table["elements"][is_used], return_inverse=True)
        former: dict[Any, int] = {}
        moved_to = np.zeros(len(used), dtype=np.int32)
        for i, name in enumerate(names_of(self._problem, used, self._kernel)):
            if name in number:
                moved_to[i] = number[name]
            else:
                moved_to[i] = -1 - former.setdefault(name, len(former))
        # What is not used goes to the end of its row.
        elements = np.full(table["elements"].shape, np.iinfo(np.int32).max, dtype=np.int32)
        elements[is_used] = moved_to[place]
        order = np.argsort(elements, axis=1)
        elements = np.where(is_used, np.take_along_axis(elements, order, axis=1), 0)
        rewards = np.take_along_axis(table["rewards"], order, axis=1)
        width = max(table["width"], new._problem.rank)
        more = ((0, 0), (0, width - table["width"]))
        moved = {
            "is_reordered": table["is_reordered"]
            | ((order != np.arange(table["width"])) & is_used).any(axis=1),
            "width": width,
            "elements": np.pad(elements, more).astype(np.int32),
            "rewards": np.pad(rewards, more),
        }
        if "propensities" in table:
            propensities = np.take_along_axis(table["propensities"], order, axis=1)
            moved["propensities"] = np.pad(propensities, more)
        return table | moved, list(former)

    def _refuse_own_state(self, method: str, reason: str | None) -> None:
        """Refuse a policy that keeps something of its own, for a reason."""
        if reason is not None:
            raise ValueError(
                f"{type(self).__name__} keeps more than means and counts ({reason}), which "
                f"{method} cannot change; define {method} in the class"
            )


def _with_fewer_closed(table: dict[str, Any], width: int) -> dict[str, Any]:
    """The table with as many closed decisions as there may be of this width, the last ones."""
    kept = table["closed"][-DecisionTable(width).max_closed() :]
    is_kept = np.ones(len(table["ids"]), dtype=bool)
    is_kept[table["closed"]] = False
    is_kept[kept] = True
    place = np.cumsum(is_kept) - 1
    rows = {
        name: values[is_kept] if isinstance(values, np.ndarray) else values
        for name, values in table.items()
        if name != "closed"
    }
    ids = [one for one, stays in zip(table["ids"], is_kept.tolist(), strict=True) if stays]
    return rows | {"ids": ids, "closed": place[kept]}


def copy_rows(old: Any, new: Any, old_numbers: IntArray) -> None:
    """Copy to each row of `new` the row of `old` with its number, where that is not below 0."""
    stays = old_numbers >= 0
    new[stays] = old[old_numbers[stays]]


def _refuse_other(old: Problem[Any, Any], new: Any) -> None:
    """Refuse a problem to which nothing can be moved."""
    if not isinstance(new, Problem) or new.labels is None or old.labels is None:
        raise ValueError(
            "moved_to needs labels, in the old problem and in the new one: without them nothing "
            f"says which element is which; got {abbreviated(new)}"
        )
    if new.sense != old.sense:
        raise ValueError(
            f"the problem has sense={old.sense!r}, the new one {new.sense!r}: rewards and costs "
            "cannot be mixed"
        )
