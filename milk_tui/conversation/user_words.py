"""What the user says beside the prompts: what the need is, what the session is called, what the local agent may hear.

The part of the conversation that asks no agent.
"""

from collections.abc import Callable
from datetime import datetime

from milk_tui.agents.base import Agent
from milk_tui.conversation.incoming import incoming_brick, share
from milk_tui.conversation.saving import Saving
from milk_tui.conversation.turns import TurnRunner
from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.incoming import Choice, IncomingBrick
from milk_tui.core.messages import AgentRole
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize


class UserWords:
    """Each word of the user's is an event, applied and saved."""

    session: Session
    agents: dict[AgentRole, Agent]
    _turns: TurnRunner
    _saving: Saving
    _now: Callable[[], datetime]

    def incoming(self) -> IncomingBrick | None:
        """What the local agent is told of Claude's stay with its next prompt; `None` if there is nothing."""
        return incoming_brick(self.session, self._share)

    def decide(self, choice: Choice, text: str | None = None) -> Update:
        """The user decides whether the local agent is told that, and in which words."""
        update = self._turns.apply(
            ev.IncomingDecided(choice=choice, text=None if text is None else sanitize(text))
        )
        self._saving.now()
        return update

    def edit_need(self, text: str) -> Update:
        """The user says what the need is; empty text gives the word back to the agents."""
        update = self._turns.apply(ev.NeedEdited(text=sanitize(text), at=self._now()))
        self._saving.if_begun()
        return update

    def rename(self, title: str) -> Update:
        """The user says what the session is called; empty text lets it name itself again."""
        update = self._turns.apply(ev.Renamed(title=sanitize(title)))
        self._saving.if_begun()
        return update

    def decline_escalation(self) -> Update:
        """The user does not want the hand-off the local agent asked for."""
        return self._turns.apply(ev.BriefSet(text=""))

    @property
    def _share(self) -> int:
        return share(self.agents["local"], self._turns.local_window)
