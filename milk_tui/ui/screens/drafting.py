"""Keeps what is written and not sent, a moment after the typing pauses and at every end, and puts it back."""

import asyncio
from typing import TYPE_CHECKING

from textual.timer import Timer

from milk_tui.storage.drafts import StoredDraft
from milk_tui.ui.widgets.pasted import Draft

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_WITHIN = 1.0
"""Seconds after which what is written is on disk."""


class Drafting:
    """The draft of the session on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._prompt = screen.prompt
        self._timer: Timer | None = None
        self._writing = asyncio.Lock()
        self._kept = screen.bench.first_draft()
        if self._kept is not None:
            self._prompt.restore(Draft(self._kept.text, self._kept.pastes))

    def soon(self) -> None:
        """Something was written; many calls in a row are one. What was sent is no draft any more, and that at once."""
        if not self._prompt.text:
            if self._timer is not None:
                self._timer.stop()
            self._begin()
        elif self._timer is None:
            self._timer = self._screen.set_timer(_WITHIN, self._begin)

    async def finish(self) -> None:
        """Keep the draft as it is, before the screen goes."""
        if self._timer is not None:
            self._timer.stop()
        await self._keep()

    def _begin(self) -> None:
        self._timer = None
        self._screen.run_worker(self._keep(), group="draft", exit_on_error=False)

    async def _keep(self) -> None:
        """Write beside the event loop, for a disk may take its time; in order, so that the last one stays."""
        async with self._writing:
            draft = self._prompt.draft
            stored = StoredDraft(
                cwd=self._screen.talk.session.state.cwd, text=draft.text, pastes=draft.pastes
            )
            if stored != self._kept and (stored.text or self._kept is not None):
                self._kept = stored
                await asyncio.to_thread(self._screen.bench.keep_draft, stored)
