"""Coming back from Claude: the incoming brick on its card, what is decided about it, and the files that changed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from milk_tui.core import events as ev
from milk_tui.core.messages import Turn
from milk_tui.ui.screens.changes import ChangesScreen
from milk_tui.ui.widgets.incoming_card import IncomingCard

if TYPE_CHECKING:
    from milk_tui.conversation.controller import Conversation
    from milk_tui.ui.screens.chat import ChatScreen
    from milk_tui.ui.widgets.prompt import Prompt


class Returning:
    """Keeps the card as the session has it."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._card: IncomingCard | None = None

    def note(self, event: ev.Event) -> None:
        """Follow what may bring something back or take it along."""
        turns = ev.TurnStarted | ev.TurnEnded | ev.ExchangeUndone
        if isinstance(event, ev.FloorChanged | ev.IncomingDecided | turns):
            self.show()

    def show(self) -> None:
        """Draw what is waiting for the local agent. The card is there only as long as something is."""
        brick, card = self._screen.talk.incoming(), self._card
        if brick is not None and card is not None:
            card.show(brick)
        elif brick is not None:
            self._card = IncomingCard(brick)
            self._screen.query_one("#conversation").mount(self._card, before="#strip")
        elif card is not None:
            if card.is_in_focus:
                self._screen.prompt.focus()
            self._card = None
            card.remove()

    def focus(self) -> bool:
        """Go to the card; tells whether there is one to go to."""
        if self._card is None or self._card.is_in_focus:
            return False
        self._card.enter()
        return True

    def settle(self) -> None:
        """A prompt is about to go: words that are still being written go with it."""
        words = self._card.words if self._card else None
        if words is not None:
            kept = bool(words.strip())
            self._screen.talk.decide("accepted" if kept else "discarded", words if kept else None)

    def decided(self, decided: IncomingCard.Decided) -> None:
        """Pass the user's decision on."""
        self._screen.show(self._screen.talk.decide(decided.choice, decided.text))
        self._screen.prompt.focus()

    def files(self, turns: Sequence[Turn], title: str) -> None:
        """Show the files that these turns changed."""
        screen = self._screen
        screen.app.push_screen(ChangesScreen(title, lambda: screen.bench.changes(turns), screen.copying.text))


class ReturnActions(Screen[None]):
    """The part of the chat that is about it."""

    talk: "Conversation"
    prompt: "Prompt"
    returning: Returning

    def action_changes(self, _text: str = "") -> None:
        """Show what either agent has changed in files."""
        session = self.talk.session
        running = (session.running,) if session.running else ()
        self.returning.files((*session.turns, *running), "Files changed in this session")

    @on(IncomingCard.Decided)
    def _decided(self, event: IncomingCard.Decided) -> None:
        self.returning.decided(event)

    @on(IncomingCard.FilesWanted)
    def _files_wanted(self) -> None:
        self.returning.files(self.talk.session.stay, "Files that Claude changed")

    @on(IncomingCard.Left)
    def _leave_incoming(self) -> None:
        self.prompt.focus()
