"""Finding in the transcript: as one types, near where one reads, and back to there with Escape."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen
from textual.widget import Widget

from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.find_bar import FindBar
from milk_tui.ui.widgets.search import Direction, Place, Search
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_SLICE = 0.01
"""Seconds of looking before keys and paint have their turn."""


@dataclass
class _Origin:
    """Where one was when one began to look."""

    top: Spot
    follows: bool
    focused: Widget | None
    opened: set[str] = field(default_factory=set)
    """Blocks that were folded and were opened to show a hit."""


class Finding:
    """One search after the other, as the text in the bar has it."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._transcript = screen.query_one(Transcript)
        self._bar: FindBar | None = None
        self._origin: _Origin | None = None
        self._search: Search | None = None
        self._place: Place | None = None

    @property
    def is_open(self) -> bool:
        """Whether a text is being looked for."""
        return self._origin is not None

    def open(self, text: str = "") -> None:
        """Open the bar, with this text if there is one."""
        if self._bar is None:
            self._bar = FindBar(id="find")
            self._screen.query_one("#conversation").mount(self._bar, after=self._transcript)
        if self._origin is None:
            viewport = self._transcript.viewport
            self._origin = _Origin(viewport.top, viewport.following, self._screen.focused)
        self._bar.display = True
        if text and text != self._bar.text:
            self._bar.write(text)
        else:
            self.look_for(self._bar.text)
        self._bar.take_focus()

    def look_for(self, text: str) -> None:
        """Look for another text."""
        if self._origin is None:
            return
        self._search = Search(text, self._search)
        self._screen.run_worker(self._look(self._search), group="find", exclusive=True, exit_on_error=False)

    async def _look(self, search: Search) -> None:
        """Show the nearest hit as soon as it is found, and how many there are when all is counted."""
        place = None
        while (origin := self._origin) is not None:
            is_done = search.go_on(self._views, _SLICE, origin.top.block)
            if place is None:
                place = search.near(self._views, origin.top)
                if place or is_done:
                    self._go_to(place, search)
            self._say_how_many(search, is_done)
            if is_done:
                return
            await asyncio.sleep(0)

    def step(self, direction: Direction) -> None:
        """Go to the next hit or the one before; what has arrived meanwhile counts."""
        search = self._search
        if search is None or self._origin is None:
            return
        is_done = search.go_on(self._views, _SLICE)
        if self._place is None or not search.is_at(self._views, self._place):
            self._go_to(search.near(self._views, self._transcript.viewport.top), search)
        else:
            self._go_to(search.step(self._views, self._place, direction), search)
        self._say_how_many(search, is_done)

    def stay(self) -> None:
        """Read on where the hit is; the marks stay."""
        self._transcript.focus()
        if self._place is not None:
            self._transcript.cursor = self._place.block
            self._transcript.refresh()

    def close(self) -> bool:
        """Look no longer, and stay where the hit is; false if nothing was looked for."""
        return self._end() is not None

    def go_back(self) -> None:
        """Look no longer, and be where one was, with all folded as it was."""
        origin = self._end()
        if origin is not None:
            self._transcript.return_to(origin.top, origin.follows, origin.opened)
            self._screen.set_focus(origin.focused)

    def _end(self) -> _Origin | None:
        origin, self._origin = self._origin, None
        if origin is not None and self._bar is not None:
            self._bar.display = False
            self._place = None
            self._transcript.mark(None)
        return origin

    @property
    def _views(self) -> list[BlockView]:
        return self._transcript.viewport.views

    def _go_to(self, place: Place | None, search: Search) -> None:
        self._place = place
        self._transcript.mark(search.needle, place)
        if place is None:
            return
        view = self._views[place.block]
        if view.folded and self._origin is not None:
            self._origin.opened.add(view.block.key)
        self._transcript.show_row(search.spot(self._views, place))

    def _say_how_many(self, search: Search, is_done: bool) -> None:
        total = search.total(self._views)
        if not is_done:
            words = f"{total:,}…"
        elif self._place is None:
            words = "nothing found" if search.needle else ""
        else:
            words = f"{search.number(self._views, self._place):,} of {total:,}"
        if self._bar is not None:
            self._bar.say(words)


class FindActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    finding: Finding

    def action_find(self, text: str = "") -> None:
        """Look for a text in the transcript."""
        self.finding.open(text)

    @on(FindBar.Changed)
    def _look_for(self, event: FindBar.Changed) -> None:
        self.finding.look_for(event.text)

    @on(FindBar.Stepped)
    def _step(self, event: FindBar.Stepped) -> None:
        self.finding.step(event.direction)

    @on(FindBar.Left)
    def _leave(self, event: FindBar.Left) -> None:
        if event.stays:
            self.finding.stay()
        else:
            self.finding.go_back()

    @on(Transcript.FindRequested)
    def _find_on(self, event: Transcript.FindRequested) -> None:
        if event.direction and self.finding.is_open:
            self.finding.step(event.direction)
        else:
            self.action_find()
