"""A rehearsal on the screen: shown as a notice that says so, and gone with the program."""

from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from milk_tui.core import events as ev
from milk_tui.ui.screens.handoff_words import price

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

FLAG = "--dry"
"""What makes an escalation a rehearsal."""


class Rehearsing:
    """Asks the local model what is unclear in the hand-off."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    def begin(self, text: str) -> None:
        """Rehearse with this prompt, else with one made from the session."""
        if self._screen.talk.is_busy:
            self._screen.tell("A turn is running. Esc stops it; then rehearse.")
        elif not self._screen.setup.can_answer:
            self._screen.setup.focus()
        else:
            self._screen.run_worker(self._run(text), group="turn", exclusive=True, exit_on_error=False)

    async def _run(self, text: str) -> None:
        screen = self._screen
        forecast = screen.talk.forecast(text)
        screen.remove_class("-fresh")
        screen.story.note(
            "Rehearsal: the local model alone reads what would be handed over, "
            f"about {forecast.tokens:,} tokens, {price(forecast)}. Nothing leaves this machine."
        )
        screen.stating.note(ev.TurnStarted(agent="local", prompt="", at=datetime.now(UTC)))
        try:
            said = await self._said(text)
        finally:
            screen.stating.note(ev.TurnEnded(at=datetime.now(UTC)))
        screen.story.note(f"Rehearsal, kept nowhere and sent to nobody. The local model says:\n{said}")

    async def _said(self, text: str) -> str:
        said: list[str] = []
        async with aclosing(self._screen.talk.rehearse(text)) as events:
            async for event in events:
                match event:
                    case ev.TextDelta():
                        said.append(event.text)
                    case ev.StepVoided():
                        said.clear()
                    case ev.AgentFailed():
                        said.append(f"\n{event.failure}")
                    case _:
                        pass
                self._screen.stating.note(event)
        return "".join(said).strip() or "(nothing)"
