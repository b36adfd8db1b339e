"""Looking for words in all sessions while one writes; Enter goes to the message."""

from dataclasses import dataclass

from textual import work
from textual.content import Content

from milk_tui.conversation.library import Library
from milk_tui.core.errors import MilkError
from milk_tui.storage.search.searcher import Hit
from milk_tui.storage.search.words import Excerpt, Query
from milk_tui.ui.screens.filtering import FilterScreen

LIMIT = 100
"""Hits that are shown; more words bring the right ones."""

_EMPTY = (
    "Every word must be in the message; a word is found by its beginning, and words in double quotes next to each "
    "other. Case and accents make no difference."
)
_NOTHING = "Nothing that was said has these words."
_WHO = {"user": "You", "local": "Local", "claude": "Claude", "tool": "Result"}


@dataclass(frozen=True)
class Goal:
    """A message to go to, and the words that were looked for."""

    hit: Hit
    words: str


class SearchScreen(FilterScreen[Goal]):
    """Gives the message to go to, or nothing."""

    TITLE_TEXT = "Search all sessions"
    HINT = "Enter goes to the message · Esc closes"
    PLACEHOLDER = "words"

    def __init__(self, library: Library, words: str = "") -> None:
        super().__init__(words)
        self._library = library
        self._hits: tuple[Hit, ...] = ()
        self._indexed: str | None = "Looking what is new…"
        """How far the index is; `None` once it is up to date."""

    def on_mount(self) -> None:
        """Search in what is there, and bring the index up to date meanwhile."""
        self.run_worker(self._catch_up(), group="index", exit_on_error=False)
        self.fit()

    def fit(self) -> None:
        """Search; words written meanwhile are what counts."""
        self._search()

    def take(self, index: int) -> None:
        """Go to a message."""
        self.dismiss(Goal(self._hits[index], self.words))

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self) -> None:
        query = Query(self.words)
        try:
            found = await self._library.search(query, LIMIT)
        except MilkError as error:
            self.state(str(error))
            return
        self._hits = found.hits
        self.show_rows([row(hit) for hit in found.hits], _EMPTY if query.is_empty else _NOTHING)
        more = f"The newest {LIMIT} are shown: write more words." if found.has_more else ""
        self.state(self._indexed or more)

    async def _catch_up(self) -> None:
        try:
            await self._library.catch_up(self._told)
        except MilkError as error:
            self._indexed = str(error)
            self.state(self._indexed)
        else:
            self._indexed = None
            self.fit()

    def _told(self, part: float) -> None:
        """Called from the thread that indexes."""
        if self.is_running:
            self.app.call_from_thread(self._show, part)

    def _show(self, part: float) -> None:
        if self._indexed is not None and self.is_attached:
            self._indexed = f"Indexing, the newest first: {part:.0%}."
            self.state(self._indexed)


def row(hit: Hit) -> Content:
    """A hit as two lines: who, when and in which session; and what was said, the words marked."""
    who = f"{_WHO[hit.by]}, {hit.tool}" if hit.tool else _WHO[hit.by]
    head = f" · {hit.at.astimezone():%Y-%m-%d %H:%M} · {hit.title}"
    return Content.assemble((who, "bold"), (head, "$foreground-muted"), "\n  ", _marked(hit.excerpt))


def _marked(excerpt: Excerpt) -> Content:
    content = Content(excerpt.text)
    for start, end in excerpt.marks:
        content = content.stylize("bold $text-accent", start, end)
    return content
