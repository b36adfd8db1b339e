"""Holding keys back while one screen takes another's place: none is lost, and none overtakes another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual import events
from textual.app import App
from textual.widget import Widget


class HoldingApp(App[None]):
    """An app whose keys, pastes and clicks can be made to wait."""

    _held: list[events.Event] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Put off what the user does while it is held back."""
        if self._held is not None and isinstance(event, (events.InputEvent, events.Paste)):
            self._held.append(event)
        else:
            await super().on_event(event)

    @asynccontextmanager
    async def held_back(self, focused: Widget) -> AsyncIterator[None]:
        """Begin once this widget has dealt with all that was typed before; at the end give out what came since."""
        held = self._held = []
        is_done = asyncio.Event()
        focused.call_later(is_done.set)
        await is_done.wait()
        try:
            yield
        finally:
            while held:
                await super().on_event(held.pop(0))
            self._held = None
