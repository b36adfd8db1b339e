"""When a session is saved: at once where a turn begins or ends, and soon after anything that streams.

A store that fails is told of once and tried again each time; the conversation goes on in memory.
"""

import asyncio

from milk_tui.conversation.update import Saves
from milk_tui.core.errors import StoreError
from milk_tui.core.session import Session

SAVE_EVERY = 1.0
"""Seconds after which streamed text is on disk."""


class Saving:
    """Saves one session in a store."""

    def __init__(self, store: Saves, session: Session) -> None:
        self._store = store
        self._session = session
        self._timer: asyncio.TimerHandle | None = None
        self._has_failed = False
        self._notices: list[str] = []

    def soon(self) -> None:
        """Save within `SAVE_EVERY`; must be called in a running event loop."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_EVERY, self.now)

    def now(self) -> None:
        """Save. What goes wrong is kept for `told`."""
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
        """Save unless nothing was ever asked."""
        if self._session.turns or self._session.is_busy:
            self.now()

    def told(self) -> list[str]:
        """What the user should hear since the last time."""
        notices, self._notices = self._notices, []
        return notices
