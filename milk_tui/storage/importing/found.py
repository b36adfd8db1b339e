"""What was found in another program's file: a session of ours, with what had to be left out of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from milk_tui.core.messages import Turn
from milk_tui.core.state import Percept, SessionState
from milk_tui.core.versions import BrickVersion


class ImportedState(SessionState):
    """The state of a session that was imported and has not been gone on with.

    The mark is gone as soon as the session is saved from an ordinary state: from then on the session is ours, and the
    file it came from is not read into it again.
    """

    source_mark: str
    """What tells the source's content from any other."""


@dataclass
class Found:
    """A session in a file. The turns are read from the file while they are asked for."""

    state: ImportedState
    used_at: datetime
    turns: Iterator[Turn]
    left_out: Counter[str] = field(default_factory=Counter)
    """How much of what was not taken; complete after the last turn."""
    notes: list[str] = field(default_factory=list)
    """Sentences about what was taken otherwise than it stands in the file."""
    percepts: tuple[Percept, ...] = ()
    """The facts that were recorded in it."""
    versions: tuple[BrickVersion, ...] = ()
    """What its bricks were before."""
