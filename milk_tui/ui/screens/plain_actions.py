"""The chat's plain actions: what a key or a command does that needs nothing but the screen itself."""

from time import monotonic
from typing import TYPE_CHECKING

from textual.actions import SkipAction
from textual.screen import Screen
from textual.widgets import Input

from milk_tui.ui.screens.help import HelpScreen
from milk_tui.ui.screens.keys import all_places
from milk_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from milk_tui.conversation.controller import Conversation
    from milk_tui.ui.screens.asking import Asking
    from milk_tui.ui.screens.finding import Finding
    from milk_tui.ui.screens.returning import Returning
    from milk_tui.ui.screens.setup import Setup
    from milk_tui.ui.screens.stating import Stating
    from milk_tui.ui.widgets.prompt import Prompt

_QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""


class PlainActions(Screen[None]):
    """The part of the chat's actions that is about the screen, the clipboard and leaving."""

    talk: "Conversation"
    prompt: "Prompt"
    asking: "Asking"
    returning: "Returning"
    finding: "Finding"
    setup: "Setup"
    stating: "Stating"
    keymap: dict[str, str]
    _interrupted_at = -_QUIT_WITHIN

    def action_stop(self) -> None:
        """Refuse an open question, or stop the turn; where there is nothing to stop, close what was looked for."""
        is_reading = isinstance(self.focused, Transcript)
        if (is_reading and self.finding.close()) or self.asking.refuse():
            return
        if self.talk.is_busy:
            self._stop_turn()
        elif not self.finding.close() and is_reading:
            self.prompt.focus()

    def _stop_turn(self) -> None:
        self.stating.stopping()
        self.talk.stop()

    def action_copy_or_stop(self) -> None:
        """Copy the selection; without one stop the turn, with every question in it; pressed twice while idle, quit."""
        if self.get_selected_text():
            self.action_copy_text()
        elif self.talk.is_busy:
            self._stop_turn()
        elif monotonic() - self._interrupted_at < _QUIT_WITHIN:
            self.app.exit()
        else:
            self._interrupted_at = monotonic()
            self.notify("Press Ctrl+C again to quit.", timeout=_QUIT_WITHIN, markup=False)

    def action_quit_if_empty(self) -> None:
        """Quit, unless something is written; then the key is what it is in any text."""
        if self.prompt.full_text or isinstance(self.focused, Input):
            raise SkipAction
        self.app.exit()

    def action_next(self) -> None:
        """Go to an open question, else to what came back from Claude, else to the next pane."""
        if not self.asking.focus() and not self.returning.focus():
            self.focus_next()

    def action_toggle_bricks(self, _text: str = "") -> None:
        """Show or hide the bricks: beside the conversation, or on narrow terminals instead of it."""
        self.toggle_class("-bricks-toggled")

    def action_help(self, _text: str = "") -> None:
        """Show keys and commands."""
        self.app.push_screen(HelpScreen(all_places(self.app, self.keymap)))

    def action_read(self, action: str) -> None:
        """Do what a key of the transcript does, from wherever one is, and read on there."""
        transcript = self.query_one(Transcript)
        transcript.focus()
        getattr(transcript, f"action_{action}")()

    def action_doctor(self, _text: str = "") -> None:
        """Look at the surroundings again."""
        self.setup.report()

    def action_change_theme(self, _text: str = "") -> None:
        """Choose a theme."""
        self.app.search_themes()

    def action_quit(self, _text: str = "") -> None:
        """Leave; the session is kept."""
        self.app.exit()
