"""Taking the terminal: Claude Code's own screen, opened from the chat and folded into it when it is left."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from milk_tui.ui.lending import LendingApp

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Taking:
    """Opens Claude Code's own screen. What is written stays in the prompt until it is a turn."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    def open(self, text: str) -> None:
        """Open it with this text as the first prompt, else with the unsent one; without any the user begins there."""
        screen, app = self._screen, self._screen.app
        if text:
            screen.prompt.write(text)
        prompt = screen.prompt.full_text
        if screen.talk.is_busy:
            screen.tell("A turn is running. Esc stops it; then open Claude Code.")
        elif isinstance(app, LendingApp):
            screen.converse(screen.talk.visiting.visit(prompt.strip() and prompt, app.lend), prompt)


class TakeActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    taking: Taking

    def action_open_claude(self, text: str = "") -> None:
        """Open Claude Code's own screen."""
        self.taking.open(text)
