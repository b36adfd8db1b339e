"""What a conversation yields to whoever watches it, and what it asks of a store."""

from typing import Literal, Protocol

from milk_tui.core.bricks import Bricks
from milk_tui.core.events import AgentEvent, EscalationRequested, Event, Noticed
from milk_tui.core.messages import Value
from milk_tui.core.session import Session

Escalation = Literal["ask", "auto", "off"]
"""What happens when the local agent asks for Claude: the user decides, it is done, or it is only told."""


class Update(Value):
    """One event, applied; and the bricks if the event may have changed them."""

    event: Event
    bricks: Bricks | None = None


class Saves(Protocol):
    """The part of a store that a conversation needs."""

    @property
    def is_up_to_date(self) -> bool:
        """Whether the last save succeeded; a store need not raise the same trouble twice."""
        ...

    def save(self, session: Session) -> None:
        """Write what is new in the session. Raises `StoreError`."""
        ...


def allowed(event: AgentEvent, escalation: Escalation) -> AgentEvent:
    """With escalation switched off, the local agent's request is only told."""
    if isinstance(event, EscalationRequested) and escalation == "off":
        return Noticed(text=f"The local agent asks for Claude, which is switched off: {event.reason}")
    return event
