"""Work that takes longer than a decision: in a thread, so that decisions do not wait for it.

There is one thread, and what waits for it is done one after the other. With several, decisions
would wait for the interpreter's lock, and what is in memory for large requests would add up.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["finished", "in_background"]

P = ParamSpec("P")
T = TypeVar("T")

_thread = ThreadPoolExecutor(1, thread_name_prefix="background")


async def in_background(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns; it has ended when this returns, even if the task is cancelled."""
    loop = asyncio.get_running_loop()
    result: T = await finished(loop.run_in_executor(_thread, lambda: work(*args, **kwargs)))
    return result


async def finished(future: asyncio.Future[Any]) -> Any:
    """The result of a future that is waited for even if this task is cancelled."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
