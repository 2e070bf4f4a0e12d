"""Rebuild a bandit from its log alone, and compare it with what snapshots say."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits.service.bandit_queue import rebuilt
from matroid_bandits.service.export import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from matroid_bandits.service.granting import ServedBandit
    from matroid_bandits.service.stores import EventStore

__all__ = ["Replay", "first_difference", "replay"]


@dataclass(frozen=True)
class Replay:
    """What came out.

    Attributes
    ----------
    name : str
    n_events : int
    snapshot : int or None
        The number of the last event in the newest snapshot.
    n_differences : int
        Decisions that this version of the library would have made differently.
    difference : str or None
        Where the bandit from the snapshot differs from the one from the log; None: nowhere.
    seconds : float
        For the log alone.
    seconds_from_snapshot : float
    """

    name: str
    n_events: int
    snapshot: int | None
    n_differences: int
    difference: str | None
    seconds: float
    seconds_from_snapshot: float

    def __str__(self) -> str:
        rate = self.n_events / max(self.seconds, 1e-9)
        lines = [f"{self.name}: {self.n_events:,} events in {self.seconds:.2f} s ({rate:,.0f} a s)"]
        if self.n_differences:
            lines.append(
                f"  {self.n_differences:,} decisions would be made differently by this version; "
                "the recorded ones were used"
            )
        else:
            lines.append("  every decision of the log would be made again")
        if self.snapshot is None:
            lines.append("  there is no snapshot to compare with")
        elif self.difference is None:
            lines.append(
                f"  the same as from the snapshot after event {self.snapshot:,}, bit for bit "
                f"({self.seconds_from_snapshot:.2f} s)"
            )
        else:
            lines.append(
                f"  NOT the same as from the snapshot after event {self.snapshot:,}: "
                f"{self.difference}"
            )
        return "\n".join(lines)


async def replay(
    store: EventStore, name: str, progress: Callable[[int], None] | None = None
) -> Replay:
    """Rebuild a bandit from its log alone, and from its newest snapshot, and compare.

    Parameters
    ----------
    store : EventStore
    name : str
    progress : callable, optional
        Called with the number of events that were applied since the last call.
    """
    start = perf_counter()
    bandit = await rebuilt(store, name, use_snapshots=False)
    await _apply_rest(store, bandit, progress)
    seconds = perf_counter() - start
    snapshots = await store.snapshots(name)
    difference, seconds_from_snapshot = None, 0.0
    if snapshots:
        start = perf_counter()
        cached = await rebuilt(store, name)
        await _apply_rest(store, cached, None)
        seconds_from_snapshot = perf_counter() - start
        # Others may have gone on meanwhile.
        await _apply_rest(store, bandit, progress, until=cached.number)
        difference = first_difference(bandit.state(), cached.state())
    return Replay(
        name,
        bandit.number,
        snapshots[0][0] if snapshots else None,
        bandit.n_differences,
        difference,
        seconds,
        seconds_from_snapshot,
    )


async def _apply_rest(
    store: EventStore,
    bandit: ServedBandit,
    progress: Callable[[int], None] | None,
    until: int | None = None,
) -> None:
    async for events in pages(store, bandit.name, bandit.number):
        for event in events:
            if until is not None and event.number > until:
                return
            bandit.apply(event)
        if progress is not None:
            progress(len(events))


def first_difference(one: Any, other: Any, place: str = "state") -> str | None:
    """Where two states differ first; None, if they are the same to the last bit."""
    if type(one) is not type(other):
        return f"{place}: {type(one).__name__} and {type(other).__name__}"
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return f"{place}: other keys"
        pairs = ((f"{place}.{key}", one[key], other[key]) for key in one)
    elif isinstance(one, (list, tuple)):
        if len(one) != len(other):
            return f"{place}: {len(one)} and {len(other)} items"
        pairs = ((f"{place}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
    else:
        is_array = isinstance(one, np.ndarray)
        is_same = one.tobytes() == other.tobytes() if is_array else one == other
        return None if is_same else f"{place}: {one!r:.100} and {other!r:.100}"
    return next((found for p, a, b in pairs if (found := first_difference(a, b, p))), None)
