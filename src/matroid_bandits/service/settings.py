"""Settings of a bandit, and the limits of a server."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["LIMITS", "NO_LIMITS", "STATUSES", "Limits", "Settings"]

#: "paused": it decides and learns, but what the caller shows is the caller's own. "archived": it is
#: only read.
STATUSES = ("active", "paused", "archived")


@dataclass(frozen=True)
class Settings:
    """What can be changed about a bandit without changing its problem or its policy.

    Attributes
    ----------
    status : str
        One of `STATUSES`.
    expire_after : float or None
        Decisions older than this many seconds expire; None: they never do.
    missing_reward : float or None
        What is learned for elements without feedback when a decision expires; None: nothing.
    sticky_for : float
        For this many seconds, a client that is named gets the same decision again; 0: never.
    max_open_decisions : int
        With so many open decisions, new ones are refused.
    """

    status: str = "active"
    expire_after: float | None = None
    missing_reward: float | None = None
    sticky_for: float = 0.0
    max_open_decisions: int = 1_000_000

    def changed(self, changes: dict[str, Any]) -> Settings:
        """The same with some changes."""
        return replace(self, **changes)

    def content(self) -> dict[str, Any]:
        """As JSON has them."""
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """What a server accepts.

    Attributes
    ----------
    body : int
        Bytes of a request.
    elements : int
        Elements of a problem.
    bandits : int
    batch : int
        Items in a batch.
    open_decisions : int
        The largest `max_open_decisions` of a bandit.
    """

    body: int = 8 * 2**20
    elements: int = 100_000
    bandits: int = 1_000
    batch: int = 1_000
    open_decisions: int = 5_000_000


#: Those of a server, if it is not told otherwise.
LIMITS = Limits()
#: What is in a log was checked before.
NO_LIMITS = Limits(elements=2**62)
