"""Following a turn on the screen: from the prompt that was accepted to the last update, nothing lost if it fails."""

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Conversing:
    """Shows turns as they happen, one at a time."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._talk = screen.talk
        self._sent, self._is_asked_for = "", False

    async def follow(self, updates: AsyncGenerator[Update, None], sent: str) -> None:
        """Show a turn as it happens; `sent` leaves the prompt once it is accepted, and comes back if it is lost."""
        self._sent, self._is_asked_for = sent, False
        self._screen.mishaps.forget()
        try:
            async with contextlib.aclosing(updates):
                async for update in updates:
                    self._screen.mishaps.guard(self.show, update)
        except MilkError as error:
            self._screen.tell(str(error))
        self._give_back()
        if self._is_asked_for and self._talk.escalation == "ask":
            self._pass_on_request()

    def show(self, update: Update) -> None:
        """Show one update everywhere it can be seen."""
        screen, event = self._screen, update.event
        if isinstance(event, ev.TurnStarted):
            screen.remove_class("-fresh")
            if screen.prompt.full_text == self._sent:
                screen.prompt.clear()
        if isinstance(event, ev.EscalationRequested):
            self._is_asked_for = True
        if isinstance(event, ev.PlanningChanged):
            screen.switching.follow(event.plans_only)
        if isinstance(event, ev.Noticed):
            screen.tell(event.text)  # where it can be seen, also before there is a transcript
        else:
            screen.story.tell(event)
        screen.stating.note(event)
        screen.returning.note(event)
        screen.signalling.note(event)
        if update.bricks is not None:
            screen.gauging.show(update.bricks)
        else:
            screen.gauging.soon()
        if isinstance(event, ev.FloorChanged):
            screen.show_floor()
        if isinstance(event, ev.FloorChanged | ev.TurnStarted | ev.TurnEnded):
            screen.queueing.show()

    def _pass_on_request(self) -> None:
        """Open the preview that the local agent asked for, unless that would take a text out of the user's hands."""
        if self._screen.prompt.full_text:
            self._screen.tell(
                "Ctrl+G shows what would be handed over; your text stays in the prompt until then."
            )
        else:
            self._screen.action_escalate()

    def _give_back(self) -> None:
        """A turn that failed before any answer leaves its prompt where it can be sent again."""
        prompt = self._screen.prompt
        last = self._talk.session.turns[-1] if self._talk.session.turns else None
        if last is not None and last.status == "failed" and not last.answer and not prompt.full_text:
            prompt.write(self._sent)
