"""The hand-off: the bounded context that goes to Claude Code, assembled from the bricks on screen.

It has a standing part, which never changes in a session and stays in the prompt cache, and a changing part. Every
text that an agent, a tool or the user wrote is fenced as data. This module builds values and sends nothing.
"""

from typing import Literal

from milk_tui.core.messages import Value

Situation = Literal["first", "agent", "resume"]
PartName = Literal[
    "identity", "escalation_brief", "current_need", "local_summary", "instructions", "percepts"
]


class Part(Value):
    """One named piece of a hand-off, never larger than its budget."""

    name: PartName
    text: str
    """The text exactly as it is sent, heading and fence included."""
    budget: int
    """The most characters this part may take."""

    @property
    def chars(self) -> int:
        """Its size in characters."""
        return len(self.text)


class Handoff(Value):
    """What Claude Code is told at one escalation."""

    situation: Situation
    parts: tuple[Part, ...]
    """In the order in which they are sent, without the absent ones."""
    standing: str
    changing: str
    history_chars: int
    """What the raw history would have taken."""

    @property
    def chars(self) -> int:
        """The size of all that is handed over."""
        return len(self.standing) + len(self.changing)
