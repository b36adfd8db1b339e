"""Keeping a session on disk while it grows: at once where it matters, soon after each fragment."""

import asyncio

from milk_tui.conversation.update import Saves, Update
from milk_tui.core import events as ev
from milk_tui.core.errors import StoreError
from milk_tui.core.events import Event, ToolCallFinished, ToolCallStarted
from milk_tui.core.session import Session

SAVE_EVERY = 1.0
"""Seconds after which streamed text is on disk."""


class Saving:
    """Saves one session. A store that fails is told of once, and tried again each time."""

    def __init__(self, store: Saves, session: Session) -> None:
        self._store = store
        self._session = session
        self._timer: asyncio.TimerHandle | None = None
        self._has_failed = False
        self._notices: list[str] = []

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything is on disk, after one more try."""
        self.if_begun()
        return self._store.is_up_to_date or not self._session.turns

    def soon(self) -> None:
        """Save within a second; many calls in a row are one."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_EVERY, self.now)

    def after(self, event: Event) -> None:
        """Save what an event has changed: calls and their results at once, for something has happened; text soon."""
        if isinstance(event, ToolCallStarted | ToolCallFinished):
            self.now()
        else:
            self.soon()

    def now(self) -> None:
        """Save."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            self._store.save(self._session)
            self._has_failed = False
        except StoreError as error:
            if not self._has_failed:
                self._notices.append(str(error))
            self._has_failed = True

    def if_begun(self) -> None:
        """Save, unless nothing has been said yet."""
        if self._session.turns or self._session.is_busy:
            self.now()

    def told(self) -> list[Update]:
        """What went wrong since the last time."""
        notices, self._notices = self._notices, []
        return [Update(event=ev.Noticed(text=notice)) for notice in notices]
