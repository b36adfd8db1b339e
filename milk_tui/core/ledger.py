"""The drop ledger: what is not in the bricks, because it did not fit or because the user dropped it.

It is made when somebody looks at it, from the newest turns, and ends after a fixed number of items.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.cut import one_line
from milk_tui.core.exchange import prompt_entry, reply_entries
from milk_tui.core.facts import Percept, fact_entries
from milk_tui.core.messages import Turn, Value
from milk_tui.core.place import place_of
from milk_tui.core.shaping import Change, Shaping

ITEMS_MOST = 60
"""Items of one kind that are listed."""
_WORDS = 120


class LedgerItem(Value):
    """One line, or the lines of one exchange, that a hand-off does not carry."""

    brick: BrickName
    lines: tuple[BrickLine, ...]
    why: Literal["dropped", "no room"]
    change: Change
    """What takes it back in."""

    @property
    def turn(self) -> int:
        """The turn it is of; 0 for a fact."""
        return place_of(self.lines[0].key)[0]

    @property
    def words(self) -> str:
        """Its first words."""
        return one_line(self.lines[0].text, _WORDS)

    @property
    def chars(self) -> int:
        """The characters that it would take, line ends included."""
        return sum(len(line.text) + 1 for line in self.lines)


def dropped(shaping: Shaping, bricks: Iterable[Brick]) -> Iterator[LedgerItem]:
    """The lines that the user dropped, the last one first. One whose exchange is not held has to be pinned."""
    held = {place_of(line.key)[0] for brick in bricks for line in brick.lines}
    for shape in reversed(shaping.lines):
        if shape.is_dropped:
            change: Change = "keep" if place_of(shape.line.key)[0] in held else "pin"
            yield LedgerItem(brick=shape.brick, lines=(shape.line,), why="dropped", change=change)


def left_out(brick: Brick, turns: Iterable[Turn], shaping: Shaping) -> Iterator[LedgerItem]:
    """What did not fit of these turns, given newest first: the rest of an exchange as one item."""
    known = _known(brick, shaping)
    items = (_missing(brick.name, turn, known) for turn in turns)
    yield from islice((item for item in items if item is not None), ITEMS_MOST)


def facts_left_out(brick: Brick, percepts: Iterable[Percept], shaping: Shaping) -> Iterator[LedgerItem]:
    """The facts that did not fit."""
    known = _known(brick, shaping)
    lines = (entry.line() for entry in fact_entries(percepts) if entry.keys[0] not in known)
    for line in islice(lines, ITEMS_MOST):
        yield LedgerItem(brick=brick.name, lines=(line,), why="no room", change="pin")


def _known(brick: Brick, shaping: Shaping) -> set[str]:
    """Keys of what is in the brick, or dropped by the user, or part of another line."""
    keys = {key for line in brick.lines for key in (line.key, *line.covers)}
    for shape in shaping.lines:
        keys.update(shape.keys if shape.is_dropped else shape.line.covers)
    return keys


def _missing(name: BrickName, turn: Turn, known: set[str]) -> LedgerItem | None:
    entries = [entry for entry in (*reply_entries(turn), prompt_entry(turn)) if entry.keys[0] not in known]
    lines = tuple(entry.line() for entry in reversed(entries))
    return LedgerItem(brick=name, lines=lines, why="no room", change="pin") if lines else None
