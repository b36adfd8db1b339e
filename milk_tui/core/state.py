"""What a session is besides its turns: the values that are stored with it. They are written by `Session` alone."""

from datetime import datetime
from typing import Literal

from milk_tui.core.messages import AgentRole, Value


class Percept(Value):
    """A fact an agent recorded, and the turn in which it did."""

    text: str
    turn: int = 0


class SessionState(Value):
    """Everything of a session but its turns and percepts."""

    id: str
    cwd: str
    nonce: str
    created_at: datetime
    title: str = ""
    floor: AgentRole = "local"
    need: str = ""
    need_by: Literal["", "user", "local", "claude"] = ""
    need_turn: int | None = None
    """The turn in which the need was set; `None` when there is none."""
    brief: str = ""
    claude_session_id: str | None = None
    forgotten_turn: int = 0
    """The last turn when a session of Claude's was lost; what Claude knew then, it does not know any more."""
    local_summary: str = ""
    claude_summary: str = ""
    handed_over: bool = False
    """Whether a hand-off of Claude's present stay has succeeded, so that a follow-up needs none."""
    is_masked: bool = False
    """Whether the hand-off of Claude's present stay goes out masked."""
