"""Bricks: the named, bounded texts that are shown beside the conversation and handed over from it.

A brick is a value. It is built from a session's turns after each turn; a panel draws it; the hand-off is made of
the same value. What the user sees is what Claude is told.
"""

from typing import Literal

from milk_tui.core.budget import estimated_tokens
from milk_tui.core.messages import Situation, Value
from milk_tui.core.need import PastNeed

BrickName = Literal["current_need", "escalation_brief", "local_summary", "claude_summary", "percepts"]

PartName = Literal[
    "identity",
    "escalation_brief",
    "current_need",
    "claude_summary",
    "local_summary",
    "instructions",
    "percepts",
]
"""A part of a hand-off. A part that is made of a brick has the brick's name."""


class BrickLine(Value):
    """One entry of a brick, and the messages it was made from."""

    text: str
    sources: tuple[str, ...] = ()
    """Ids of messages; empty where the line says what is missing, or where nobody knows."""
    key: str = ""
    """What the line is of, the same at each rebuilding; empty for a line that says what is missing."""
    covers: tuple[str, ...] = ()
    """Keys of older calls that are folded into it."""
    is_pinned: bool = False
    is_edited: bool = False
    """Whether these are the user's words."""
    falls_next: bool = False
    """Whether it is the next to make room for what comes."""


class Brick(Value):
    """A named, bounded, pre-rendered piece of context."""

    name: BrickName
    text: str = ""
    budget: int = 0
    """The most characters it may take in a hand-off, heading and fence included."""
    lines: tuple[BrickLine, ...] = ()
    held: int = 0
    """Exchanges that are in it."""
    dropped: int = 0
    """Exchanges that it is about and that did not fit."""
    collapsed: int = 0
    """Tool calls folded into the first of their kind."""
    is_stale: bool = False
    """True once, but the conversation has moved on."""
    by: str = ""
    """Who said it: `user`, `local` or `claude`; `inferred` for a guess, empty for what the program made."""
    earlier: tuple[PastNeed, ...] = ()
    """What a need was before, newest first; only the latest ones."""
    left_out: int = 0
    """Lines that the user has dropped from it."""
    frozen_at: int | None = None
    """The turn as of which it is kept as it was; `None` while it is rebuilt."""
    is_off: bool = False
    """Whether the user has switched it off: it is shown and not handed over."""

    @property
    def chars(self) -> int:
        """The size of its text in characters."""
        return len(self.text)


class Segment(Value):
    """One part of the next hand-off in the gauge."""

    name: str
    chars: int
    budget: int


class Gauge(Value):
    """How full the next hand-off is, and with what."""

    segments: tuple[Segment, ...]
    limit: int
    """The hard edge: the sum of all parts' budgets."""
    prompt_chars: int
    """The unsent prompt, which comes on top."""
    history_chars: int
    """What the raw history would take."""
    situation: Situation
    route: str = ""
    """In words, whether Claude's session is resumed or starts fresh, and why."""
    carried: tuple[Segment, ...] = ()
    """What each request to the local model carries before anything is said; empty where nobody knows."""

    @property
    def chars(self) -> int:
        """Characters of the hand-off without the prompt."""
        return sum(segment.chars for segment in self.segments)

    @property
    def tokens(self) -> int:
        """Estimated tokens of hand-off and prompt together."""
        return estimated_tokens(self.chars + self.prompt_chars)


class Bricks(Value):
    """All that the brick column shows."""

    need: Brick
    local_summary: Brick
    claude_summary: Brick
    facts: Brick = Brick(name="percepts")
    gauge: Gauge
