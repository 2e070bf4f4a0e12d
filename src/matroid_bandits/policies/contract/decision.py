"""A decision: a set to play, whose feedback comes later."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from threading import get_ident
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._types import Selection
from matroid_bandits.errors import DecisionError, foreign_decision

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._core.policies.contract.guard import Guard
    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.problem import Problem

__all__ = ["Decision", "OpenDecisions", "decision_id", "names_of", "refuse_foreign"]


# Ids are kept as long as their decisions.
_LONGEST_ID = 1000


class Decision(Generic[Selection]):
    """A set to play, as ``policy.decide()`` returns it.

    Attributes
    ----------
    id : str or int
        What `learn` and `expire` call it: the id that was passed, else the number of the round.
    elements : list, or numpy.ndarray
        Labels in the order of the problem; numbers, ascending, where it has none.
    round : int
        The number of the round, counted from 1.
    proposed : list, or numpy.ndarray, or None
        What the policy has chosen: `elements`, unless others were shown. None if that was not kept.
    propensities : numpy.ndarray or None
        How likely each of `elements` was, in their order, if ``propensities=`` was given. All are 1
        where nothing is drawn at random.
    """

    __slots__ = (
        "_guard",
        "_is_available",
        "_problem",
        "elements",
        "id",
        "propensities",
        "proposed",
        "round",
    )

    def __init__(
        self,
        identifier: str | int,
        elements: Selection,
        number: int,
        problem: Problem[Any, Any],
        guard: Guard | None = None,
        is_available: npt.NDArray[np.uint8] | None = None,
        proposed: Selection | None = None,
        propensities: FloatArray | None = None,
    ) -> None:
        self.id = identifier
        self.elements = elements
        self.proposed = proposed
        self.propensities = propensities
        self.round = number
        self._problem = problem
        # That of the policy which made it, so that another policy notices.
        self._guard = guard
        self._is_available = is_available

    @property
    def available(self) -> Selection | None:
        """The elements that were available; None if all were, or if that was not kept."""
        if self._is_available is None:
            return None
        available: Selection = self._problem.names(np.flatnonzero(self._is_available))
        return available

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data: `id`, `elements`, `round`, `available`; `propensities`, if it
        has any.

        It can be written as JSON if the labels can: texts, numbers, truth values, None, and tuples
        of these, which become lists.
        """
        available = self.available
        estimated = (
            {} if self.propensities is None else {"propensities": self.propensities.tolist()}
        )
        return {
            "id": self.id,
            "elements": _plain(self.elements),
            "round": self.round,
            "available": None if available is None else _plain(available),
            **estimated,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return self._content() == other._content()

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        # A copy may be for another process, so it is compared by its content.
        arguments = (self.id, self.elements, self.round, self._problem, None)
        return type(self), (*arguments, self._is_available, self.proposed, self.propensities)

    def __hash__(self) -> int:
        return hash(self.id)

    def _content(self) -> tuple[Any, ...]:
        elements: Any = self.elements
        return self.id, self.round, list(elements)

    def __repr__(self) -> str:
        elements: Any = self.elements
        shown = elements.tolist() if isinstance(elements, np.ndarray) else elements
        return f"Decision(id={self.id!r}, elements={shown!r}, round={self.round})"


class OpenDecisions(Mapping[str | int, Decision[Selection]]):
    """The decisions that wait for feedback, by id, in the order in which they were made.

    A view: it changes with the policy. Which elements were available is not kept.
    """

    def __init__(self, kernel: PolicyKernel, problem: Problem[Any, Any]) -> None:
        self._kernel = kernel
        self._problem = problem
        # By thread: decisions that `keys` has listed and that were not looked up yet.
        self._listed: dict[int, dict[str | int, Decision[Selection]]] = {}

    def __getitem__(self, identifier: str | int) -> Decision[Selection]:
        try:
            key = decision_id(identifier)
        except ValueError:
            raise KeyError(identifier) from None
        listed = self._listed.get(get_ident(), {})
        if key in listed:
            return listed.pop(key)
        if key not in self:
            raise KeyError(identifier)
        try:
            number, elements = self._kernel.decisions.decision(key)
            propensities = self._kernel.decisions.propensities(key)
        except DecisionError:
            # Other threads have closed it since, and so many others that it is forgotten.
            raise KeyError(identifier) from None
        names = names_of(self._problem, elements, self._kernel)
        guard = self._kernel.guard
        return Decision(key, names, number, self._problem, guard, propensities=propensities)

    def __contains__(self, identifier: object) -> bool:
        try:
            return self._kernel.decisions.is_open(decision_id(identifier))
        except ValueError:
            return False

    def __iter__(self) -> Iterator[str | int]:
        return iter(self._kernel.decisions.open_ids())

    def __len__(self) -> int:
        return self._kernel.decisions.n_open

    def keys(self) -> _OpenKeys:
        """The ids. What a thread has listed, it can look up once, even if another thread closes it
        meanwhile: so ``dict(policy.open_decisions)`` has all that were open at one time.
        """
        return _OpenKeys(self)

    def items(self) -> _OpenItems[Selection]:
        """Ids and decisions; those that another thread closes meanwhile are left out."""
        return _OpenItems(self)

    def values(self) -> _OpenValues[Selection]:
        """The decisions; those that another thread closes meanwhile are left out."""
        return _OpenValues(self)

    def __repr__(self) -> str:
        first = [repr(identifier) for identifier in list(self)[:4]]
        more = [f"... {len(self)} in all"] if len(self) > 4 else []
        return f"OpenDecisions({', '.join(first + more)})"


class _OpenKeys(KeysView[str | int]):
    _mapping: OpenDecisions[Any]

    def __iter__(self) -> Iterator[str | int]:
        listed = dict(self._mapping.items())
        self._mapping._listed[get_ident()] = listed
        return iter(list(listed))


class _OpenItems(ItemsView[str | int, Decision[Selection]]):
    _mapping: OpenDecisions[Selection]

    def __iter__(self) -> Iterator[tuple[str | int, Decision[Selection]]]:
        for identifier in self._mapping:
            try:
                yield identifier, self._mapping[identifier]
            except KeyError:
                continue


class _OpenValues(ValuesView[Decision[Selection]]):
    _mapping: OpenDecisions[Selection]

    def __iter__(self) -> Iterator[Decision[Selection]]:
        return (decision for _, decision in _OpenItems(self._mapping))

    def __contains__(self, value: object) -> bool:
        return any(decision == value for decision in self)


def names_of(problem: Problem[Any, Any], elements: IntArray, kernel: PolicyKernel) -> Any:
    """Elements as the user calls them, dropped ones included (below 0)."""
    if not len(elements) or elements[0] >= 0:
        return problem.names(elements)
    former = kernel.feedback.former
    return [former[-1 - e] if e < 0 else problem.name(e) for e in elements.tolist()]


def decision_id(value: Any) -> str | int:
    """A checked id, of a Decision or as it is."""
    if isinstance(value, Decision):
        return value.id
    if isinstance(value, str):
        if len(value) > _LONGEST_ID:
            raise ValueError(
                f"the id of a decision may have {_LONGEST_ID} characters, got {len(value)}"
            )
        return value
    # Larger floats stand for several integers each.
    bits = 53 if isinstance(value, (float, np.floating)) else 63
    try:
        return integer(value, "id", minimum=-(2**bits), maximum=2**bits - 1)
    except ValueError:
        is_dict = isinstance(value, Mapping) and "id" in value
        hint = "its value at 'id'" if is_dict else "str(id)"
        raise ValueError(
            f"the id of a decision must be a text or an integer of 64 bits, got "
            f"{abbreviated(value)}; pass {hint}"
        ) from None


def refuse_foreign(
    decision: Decision[Any], kernel: PolicyKernel, problem: Problem[Any, Any]
) -> None:
    """Refuse a decision whose id is that of another decision of this policy."""
    number = kernel.decisions.round_of(decision.id)
    if number is None or (number == decision.round and decision._guard is kernel.guard):
        return
    own = kernel.decisions.decision(decision.id)[1]
    if number != decision.round or set(names_of(problem, own, kernel)) != set(decision.elements):
        raise foreign_decision(decision.id, decision.round, number)


def _plain(elements: Any) -> list[Any]:
    """Labels or numbers as JSON has them: tuples as lists, numbers of NumPy as plain ones."""
    return [
        _plain(e) if isinstance(e, tuple) else e.item() if isinstance(e, np.generic) else e
        for e in (elements.tolist() if isinstance(elements, np.ndarray) else elements)
    ]
