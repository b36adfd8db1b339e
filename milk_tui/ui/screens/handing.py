"""Handing over to Claude Code and taking the floor back: what the keys and the commands for it do."""

from typing import TYPE_CHECKING

from milk_tui.ui.screens.preview import PreviewScreen
from milk_tui.ui.screens.rehearsing import FLAG, Rehearsing

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_BUSY = "A turn is running. Esc stops it; then hand over."


class Handing:
    """The way to Claude and back. Nothing is sent before the user has said so, and no text is lost on the way."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._talk = screen.talk
        self._rehearsing = Rehearsing(screen)

    def preview(self, text: str, reason: str = "") -> None:
        """Show what would be sent: with this text, else the unsent prompt, else one made from the session."""
        words = text.split(maxsplit=1)
        if words[:1] == [FLAG]:
            self._rehearsing.begin(words[1] if len(words) > 1 else "")
            return
        if text:
            self._screen.prompt.write(text)
        if self._talk.is_busy:
            self._screen.tell(_BUSY)
        elif self._talk.floor == "claude" and self._talk.session.state.handed_over:
            self._screen.tell("Claude has the floor already: just write. F9 gives it back.")
        else:
            self._screen.run_worker(self._preview(reason), group="preview", exit_on_error=False)

    def send(self, text: str) -> None:
        """Hand over at once."""
        prompt = text or self._talk.forecast().prompt
        if self._talk.is_busy:
            self._keep(f"/escalate! {text}" if text else "", _BUSY)
        elif prompt:
            self._screen.converse(self._talk.escalate(prompt), prompt)
        else:
            self._screen.tell("There is nothing to hand over yet: write what Claude should do.")

    def give_back(self, text: str) -> None:
        """Give the floor to the local agent, and this text with it if there is one."""
        self._screen.run_worker(self._give_back(text), group="return", exit_on_error=False)

    def decline(self) -> None:
        """The user does something else than the local agent asked for."""
        if self._talk.session.state.brief:
            self._screen.show(self._talk.decline_escalation())

    async def _preview(self, reason: str) -> None:
        unsent = self._screen.prompt.full_text
        forecast = self._talk.forecast(unsent, reason)
        setup = self._screen.setup
        screen = PreviewScreen(
            lambda fresh, is_masked: self._talk.forecast(unsent, reason, fresh, is_masked=is_masked),
            setup.claude,
            setup.look_at_claude,
            self._screen.shaping.take,
        )
        prompt = await self._screen.app.push_screen_wait(screen)
        if prompt is not None or screen.written != forecast.prompt:
            self._screen.prompt.write(screen.written)
        if prompt is not None and self._talk.is_busy:
            self._screen.tell(_BUSY)  # its Enter came just before the preview
        elif prompt is not None:
            updates = self._talk.escalate(prompt, reason, screen.fresh, is_masked=screen.is_masked)
            self._screen.converse(updates, prompt)
        elif screen.jump_to is not None:
            self._screen.shaping.go_to(screen.jump_to)
        elif reason:
            self.decline()

    async def _give_back(self, text: str) -> None:
        if self._talk.is_busy:
            self._keep(
                f"/local {text}" if text else "", "A turn is running. Esc stops it; then take the floor."
            )
            return
        if self._talk.floor == "claude":
            self._screen.show(await self._talk.return_to_local())
        elif not text:
            self._screen.returning.focus()
        if text:
            self._screen.converse(self._talk.send(text), text)

    def _keep(self, command: str, why: str) -> None:
        """Say why a command cannot be done, and leave it where it can be sent again."""
        self._screen.tell(why)
        if command:
            self._screen.prompt.write(command)
