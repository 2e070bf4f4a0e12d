"""A decision: a set to play, whose feedback comes later."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._types import Selection

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import IntArray
    from matroid_bandits.problem import Problem

__all__ = ["Decision", "OpenDecisions", "decision_id"]


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
    """

    __slots__ = ("_is_available", "_problem", "elements", "id", "round")

    def __init__(
        self,
        identifier: str | int,
        elements: Selection,
        number: int,
        problem: Problem[Any, Any],
        is_available: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        self.id = identifier
        self.elements = elements
        self.round = number
        self._problem = problem
        self._is_available = is_available

    @property
    def available(self) -> Selection | None:
        """The elements that were available; None if all were, or if that was not kept."""
        if self._is_available is None:
            return None
        available: Selection = self._problem.names(np.flatnonzero(self._is_available))
        return available

    def to_dict(self) -> dict[str, Any]:
        """The decision as JSON-serializable data: `id`, `elements`, `round`, `available`."""
        available = self.available
        return {
            "id": self.id,
            "elements": _plain(self.elements),
            "round": self.round,
            "available": None if available is None else _plain(available),
        }

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

    def __getitem__(self, identifier: str | int) -> Decision[Selection]:
        if identifier not in self:
            raise KeyError(identifier)
        number, elements = self._kernel.decisions.decision(identifier)
        return Decision(
            identifier, names_of(self._problem, elements, self._kernel), number, self._problem
        )

    def __contains__(self, identifier: object) -> bool:
        return isinstance(identifier, (str, int)) and self._kernel.decisions.is_open(identifier)

    def __iter__(self) -> Iterator[str | int]:
        return iter(self._kernel.decisions.open_ids())

    def __len__(self) -> int:
        return self._kernel.decisions.n_open

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


def names_of(problem: Problem[Any, Any], elements: IntArray, kernel: PolicyKernel) -> Any:
    """Elements as the user calls them, also those that the problem has no more (below 0)."""
    if not len(elements) or elements[0] >= 0:
        return problem.names(elements)
    former = kernel.feedback.former
    return [former[-1 - e] if e < 0 else problem.name(e) for e in elements.tolist()]


def decision_id(value: Any) -> str | int:
    """A checked id, of a Decision or as it is."""
    if isinstance(value, Decision):
        return value.id
    if isinstance(value, str):
        return value
    try:
        return integer(value, "id")
    except ValueError:
        raise ValueError(
            f"the id of a decision must be a text or an integer, got {abbreviated(value)}"
        ) from None


def _plain(elements: Any) -> list[Any]:
    """Labels or numbers as JSON has them: tuples as lists, numbers of NumPy as plain ones."""
    return [
        _plain(e) if isinstance(e, tuple) else e.item() if isinstance(e, np.generic) else e
        for e in (elements.tolist() if isinstance(elements, np.ndarray) else elements)
    ]
