"""Blocking work off the event loop, and what happens to it when nobody waits for it any more."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from milk_tui.tools.trouble import ToolError

T = TypeVar("T")

Stop = Event
"""Set when the work was cancelled: look at it in every loop and before anything that cannot be undone."""


async def off_loop(work: Callable[[Stop], T]) -> T:
    """What the work returns. Cancelling asks the work to stop and waits until it has."""
    stop = Stop()
    running = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()
        raise


def check(stop: Stop) -> None:
    """Leave the work if it was cancelled."""
    if stop.is_set():
        raise ToolError("Cancelled.")
