"""What each brick was before: its last versions, with when and why, and how two of them differ.

A version is noted when the text of a brick has changed after a turn or by the user's hand. It decides nothing; to go
back to a version is an event like any other.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.messages import Value
from milk_tui.core.shaping import short_of_sources

KEPT = 50
"""Versions of one brick that are kept."""


class BrickVersion(Value):
    """A brick as it was."""

    number: int
    """Counted from 1 in its session, over all bricks; never reused."""
    brick: BrickName
    lines: tuple[BrickLine, ...] = ()
    turn: int = 0
    """The last turn that had ended."""
    why: str = ""
    """What made it, in words."""
    at: datetime | None = None

    @property
    def text(self) -> str:
        """The brick's text."""
        return "\n".join(line.text for line in self.lines)


class Versions:
    """The versions of one session's bricks."""

    def __init__(self, stored: Iterable[BrickVersion] = ()) -> None:
        self._kept: dict[BrickName, deque[BrickVersion]] = {}
        self.last_number = 0
        """Of all that were ever noted."""
        for version in stored:
            self._add(version)

    def note(self, brick: Brick, turn: int, why: str, at: datetime | None) -> None:
        """Keep a brick as it is now, if its text is another one than before."""
        before = self._kept.get(brick.name)
        if brick.text == (before[-1].text if before else ""):
            return
        self._add(
            BrickVersion(
                number=self.last_number + 1,
                brick=brick.name,
                lines=tuple(short_of_sources(line) for line in brick.lines),
                turn=turn,
                why=why,
                at=at,
            )
        )

    def of(self, name: BrickName) -> tuple[BrickVersion, ...]:
        """A brick's versions, oldest first; the last is how it is now."""
        return tuple(self._kept.get(name, ()))

    def since(self, number: int) -> Iterator[BrickVersion]:
        """All that were noted after that number."""
        for versions in self._kept.values():
            yield from (version for version in versions if version.number > number)

    def _add(self, version: BrickVersion) -> None:
        self._kept.setdefault(version.brick, deque(maxlen=KEPT)).append(version)
        self.last_number = max(self.last_number, version.number)


Mark = Literal["+", "-", " "]


def difference(before: str, after: str) -> list[tuple[Mark, str]]:
    """Two texts line by line: what went, what came, and what stayed."""
    from difflib import SequenceMatcher  # not on the way to the first frame

    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    rows: list[tuple[Mark, str]] = []
    for kind, i, i_end, j, j_end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += [(" ", line) for line in old[i:i_end]]
        else:
            rows += [*(("-", line) for line in old[i:i_end]), *(("+", line) for line in new[j:j_end])]
    return rows
