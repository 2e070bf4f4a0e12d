"""Copies of a whole database: to a file of SQLite, or to another PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matroid_bandits.service.export import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from matroid_bandits.service.stores import EventStore

__all__ = ["copy_store"]


async def copy_store(
    source: EventStore, target: EventStore, progress: Callable[[int], None] | None = None
) -> dict[str, int]:
    """Copy the logs of all bandits into another store; return how many events each has there.

    Each log is copied up to what it has when its turn comes, so others may go on writing. A copy
    that is there already is continued. Snapshots are not copied: they are a cache of the logs.

    Parameters
    ----------
    source, target : EventStore
        Both open.
    progress : callable, optional
        Called with the number of events that were copied since the last call.

    Raises
    ------
    ValueError
        If the target has other events of a bandit.
    """
    copied = {}
    for row in await source.bandits():
        there = await target.events(row.name, 0, 1)
        if there and there != await source.events(row.name, 0, 1):
            raise ValueError(
                f"the target has another bandit {row.name!r}; name an empty database, or an "
                "earlier copy of this one"
            )
        last = next((one.last_number for one in await target.bandits() if one.name == row.name), 0)
        if last:
            ours = await source.events(row.name, last - 1, 1)
            if ours != await target.events(row.name, last - 1, 1):
                raise ValueError(
                    f"the target has other events of {row.name!r}; name an empty database"
                )
        async for events in pages(source, row.name, last):
            async with target.transaction(row.name) as transaction:
                await transaction.append(events)
            last = events[-1].number
            if progress is not None:
                progress(len(events))
        copied[row.name] = last
    return copied
