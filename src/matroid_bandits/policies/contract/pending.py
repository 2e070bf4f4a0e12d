"""How plays count whose feedback has not come."""

from typing import Literal

__all__ = ["PENDING", "PendingOption"]

#: Not at all, or as observations.
PENDING: tuple[Literal["ignore"], Literal["count"]] = ("ignore", "count")


class PendingOption:
    """The parameter `pending` of a policy."""

    _pending: Literal["ignore", "count"]

    @property
    def pending(self) -> str:
        """How pending plays count: "ignore", not at all; "count", as observations."""
        return self._pending
