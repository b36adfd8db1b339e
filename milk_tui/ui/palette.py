"""What the command palette finds beside our commands: sessions to reopen and themes to put on, once something is typed.

Commands themselves are the app's. It is imported when the palette is opened for the first time.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.command import Hit, Hits, Provider
from textual.markup import escape

from milk_tui.core.errors import MilkError
from milk_tui.core.text import sanitize

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class SessionsAndThemes(Provider):
    """Finds them by the letters of their names."""

    async def startup(self) -> None:
        """List the sessions."""
        self._chat = chat = _chat_of(self)
        self._sessions: list[tuple[str, str]] = []
        library = chat.bench.library if chat is not None else None
        if library is None:
            return
        try:
            listed = await library.listed()
        except MilkError:
            return  # the list of sessions says why
        self._sessions = [(each.entry.id, sanitize(each.entry.title)) for each in listed]

    async def search(self, query: str) -> Hits:
        """What fits the letters."""
        matcher = self.matcher(query)
        for words, run, what in (*self._themes(), *self._reopenings()):
            score = matcher.match(words)
            if score > 0:
                yield Hit(score, matcher.highlight(escape(words)), run, text=words, help=what)

    def _themes(self) -> Iterator[tuple[str, Callable[[], None], str]]:
        for name in self.app.available_themes:
            yield f"Theme {name}", partial(setattr, self.app, "theme", name), "Change the colours"

    def _reopenings(self) -> Iterator[tuple[str, Callable[[], None], str]]:
        if self._chat is None:
            return
        for session_id, title in self._sessions:
            yield f"Session {title}", partial(self._chat.reopening.open, session_id), "Open this session"


def _chat_of(provider: Provider) -> "ChatScreen | None":
    from milk_tui.ui.screens.chat import ChatScreen

    return provider.screen if isinstance(provider.screen, ChatScreen) else None
