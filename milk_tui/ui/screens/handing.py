"""Handing over to Claude Code and taking the floor back: what the keys and the commands for it do."""

from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.ui.screens.preview import PreviewScreen

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Handing:
    """The way to Claude and back. Nothing is sent before the user has said so."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._talk = screen.talk

    def preview(self, text: str, reason: str = "") -> None:
        """Show what would be sent: with this text, else the unsent prompt, else one made from the session."""
        if text:
            self._screen.prompt.write(text)
        if self._talk.session.is_busy:
            self._screen.tell("A turn is running. Esc stops it; then hand over.")
        elif self._talk.floor == "claude" and self._talk.session.state.handed_over:
            self._screen.tell("Claude has the floor already: just write. F9 gives it back.")
        else:
            self._screen.run_worker(self._preview(reason), group="preview", exit_on_error=False)

    def send(self, text: str) -> None:
        """Hand over at once."""
        prompt = text or self._talk.forecast().prompt
        if self._talk.session.is_busy:
            self._screen.tell("A turn is running. Esc stops it; then hand over.")
        elif prompt:
            self._screen.converse(self._talk.escalate(prompt), prompt)
        else:
            self._screen.tell("There is nothing to hand over yet: write what Claude should do.")

    def give_back(self, text: str) -> None:
        """Give the floor to the local agent, and this text with it if there is one."""
        self._screen.run_worker(self._give_back(text), group="return", exit_on_error=False)

    async def _preview(self, reason: str) -> None:
        unsent = self._screen.prompt.full_text
        screen = PreviewScreen(self._talk.forecast(unsent, reason), self._screen.setup.claude)
        prompt = await self._screen.app.push_screen_wait(screen)
        if prompt is not None:
            self._screen.converse(self._talk.escalate(prompt, reason), unsent)
        elif reason:
            self._screen.show(self._talk.decline_escalation())

    async def _give_back(self, text: str) -> None:
        try:
            if self._talk.floor == "claude":
                self._screen.show(await self._talk.return_to_local())
            if text:
                self._screen.converse(self._talk.send(text), text)
        except MilkError as error:
            self._screen.tell(str(error))
