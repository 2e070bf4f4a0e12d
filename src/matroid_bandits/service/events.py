"""Events: what has happened to a bandit. The list of its events is the truth about it.

Events of a bandit are numbered 1, 2, 3, ... Their data are JSON:

===========  ======================================================================================
created      ``problem``, ``policy``, ``settings``, ``library``
decided      ``elements``, ``round``; where they apply: ``shown`` (what the caller showed instead),
             ``propensities`` (how likely each element was), ``available`` (a mask, base64),
             ``allow_smaller``, ``client``, ``random`` (the position in the random stream
             afterwards), ``why``, ``paused``
rewarded     ``rewards``: pairs of element and reward; ``final``, if nothing more will come
expired      ``reward``: what was learned for elements without feedback, or null
moved        ``problem``, ``prior``
configured   ``settings``: those that have changed
===========  ======================================================================================

Elements are labels. A mask has a bit for each label of the problem, in their order.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["Event", "RecordedDecision", "mask_from_text", "mask_text"]


class Event(NamedTuple):
    """Something that has happened to a bandit.

    Attributes
    ----------
    number : int
        Counted from 1.
    time : float
        Seconds since 1970, in whole microseconds; never less than that of the event before.
    kind : str
        "created", "decided", "rewarded", "expired", "moved" or "configured".
    decision : str or None
        The id of the decision that it is about.
    data : str
        JSON.
    """

    number: int
    time: float
    kind: str
    decision: str | None
    data: str

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Event:
        """The event in a row of a store, which has microseconds."""
        number, microseconds, kind, decision, data = row
        return cls(number, microseconds / 1e6, kind, decision, data)

    def row(self) -> tuple[int, int, str, str | None, str]:
        """The other way."""
        return self.number, round(self.time * 1e6), self.kind, self.decision, self.data

    def content(self) -> Any:
        """The data."""
        return json.loads(self.data)


def mask_text(is_available: npt.NDArray[np.uint8]) -> str:
    """A mask of available elements as text."""
    return b64encode(np.packbits(is_available).tobytes()).decode()


def mask_from_text(text: str, size: int) -> npt.NDArray[np.uint8]:
    """The other way."""
    bits = np.frombuffer(b64decode(text), dtype=np.uint8)
    return np.unpackbits(bits, count=size)


class RecordedDecision:
    """A decision as the log has it.

    Parameters
    ----------
    events : list of Event
        All that are about it, in their order; the first is "decided".
    """

    def __init__(self, events: list[Event]) -> None:
        first, *others = events
        self.id = first.decision or ""
        self.time = first.time
        self._text = first.data
        self._events = events
        self._others = others

    def followed_by(self, events: list[Event]) -> RecordedDecision:
        """The same after more events."""
        return RecordedDecision([*self._events, *events]) if events else self

    @cached_property
    def data(self) -> dict[str, Any]:
        """What was decided."""
        content: dict[str, Any] = json.loads(self._text)
        return content

    @property
    def elements(self) -> list[Any]:
        """What was shown: feedback is about these."""
        data = self.data
        shown: list[Any] = data.get("shown", data["elements"])
        return shown

    @cached_property
    def rewards(self) -> list[tuple[Any, float]]:
        """Elements with their rewards, in the order in which they came."""
        return [
            (element, reward)
            for event in self._others
            if event.kind == "rewarded"
            for element, reward in event.content()["rewards"]
        ]

    @property
    def missing_reward(self) -> float | None:
        """What was learned for elements without feedback when it expired."""
        found = [event.content()["reward"] for event in self._others if event.kind == "expired"]
        return found[0] if found else None

    @property
    def status(self) -> str:
        """The status: "open", "rewarded" (completely), "closed" (with `final`) or "expired"."""
        if any(event.kind == "expired" for event in self._others):
            return "expired"
        elements = self.elements
        if elements and len(self.rewards) == len(elements):
            return "rewarded"
        is_final = any(
            event.kind == "rewarded" and event.content().get("final") for event in self._others
        )
        return "closed" if is_final or not elements else "open"
