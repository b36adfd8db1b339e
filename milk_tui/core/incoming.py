"""What comes back from Claude, and what the user decided about it: whether and in which words the local agent is told.

As long as nothing was decided, sending a prompt is as good as a yes.
"""

from typing import Literal

from milk_tui.core.messages import Value

Choice = Literal["open", "accepted", "discarded"]


class Incoming(Value):
    """A summary of Claude's last stay that the local agent has not been told yet."""

    turn: int
    """The last turn of the stay that it is about."""
    choice: Choice = "open"
    text: str | None = None
    """The user's own words in its place; `None` where the summary is as it was made."""


class IncomingBrick(Value):
    """The same as it is shown, and exactly as it is told."""

    text: str
    """What is told, without heading and fence."""
    room: int
    """The most characters it may have."""
    choice: Choice = "open"
    is_edited: bool = False
    files: tuple[str, ...] = ()
    """The files that Claude's tool calls changed."""
    may_be_more: bool = False
    """Commands ran as well, and what those change is not known."""
