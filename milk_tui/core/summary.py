"""Turns become a text within a budget: newest first, whole exchanges, oldest dropped.

The cost depends on the budget and not on the number of turns: turns are visited newest first, and only as many as
the budget can hold. There is always something in a summary when there is anything to say: an exchange that is too
large for all the room there is keeps its prompt and its end.
"""

from collections.abc import Iterable
from dataclasses import replace

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.cut import cut_middle
from milk_tui.core.exchange import Entry, calls_entry, continues, prompt_entry, reply_entries
from milk_tui.core.messages import Turn

_DROPPED_ROOM = 60
"""Room kept for the line that says how many exchanges were left out."""
_SMALLEST = 200
"""With less room an exchange is cut to the head of its prompt."""
_WORTH_CUTTING = 80
"""An entry is not shortened to less than this."""

_CALLS_MOST = 5_000
"""Folded calls take no room, so they are limited by their number: after so many no older turn is read."""

_MIDDLE = Entry("[… the middle of this turn is left out]")


def summary(name: BrickName, turns: Iterable[Turn], total: int, room: int, budget: int) -> Brick:
    """A brick of the given turns.

    Args:
        name: Which brick it is.
        turns: The turns it is about, newest first; read only as far as the room goes.
        total: How many turns it is about, read or not.
        room: The most characters of text.
        budget: What the brick may take in a hand-off, heading and fence included.
    """
    kept = _DROPPED_ROOM if total > 1 and room > _DROPPED_ROOM + _SMALLEST else 0
    held = _Held(room - kept)
    for turn in turns:
        if not held.take(turn):
            break
    dropped = max(total - held.count, 0)
    entries = held.entries[::-1]
    if dropped and kept:
        noun = "exchange" if dropped == 1 else "exchanges"
        entries.insert(0, Entry(f"[{dropped:,} earlier {noun} left out]"))
    lines: tuple[BrickLine, ...] = tuple(entry.line() for entry in entries)
    return Brick(
        name=name,
        text="\n".join(line.text for line in lines),
        budget=budget,
        lines=lines,
        held=held.count,
        dropped=dropped,
        collapsed=sum(entry.collapsed for entry in entries),
    )


class _Held:
    """The exchanges chosen so far, and the room that is left."""

    def __init__(self, room: int) -> None:
        self.entries: list[Entry] = []
        """Newest first."""
        self.count = 0
        self._room = self._left = room + 1  # the last entry has no line end behind it
        self._calls = 0
        self._first_calls: int | None = None
        """Where the calls are that only prompts stand before: calls of an older turn would be in one row with them."""

    def take(self, turn: Turn) -> bool:
        """Add an older turn whole; shortened if most of the room would stay empty without it. False ends the row."""
        if self._calls > _CALLS_MOST:
            return False
        folded = self.entries[self._first_calls] if self._first_calls is not None else None
        exchange = _exchange(turn, self._left + (folded.size if folded else 0))
        if exchange is not None and folded is not None and continues(exchange[0], folded):
            exchange[0] = calls_entry(folded.uses + exchange[0].uses)
        else:
            folded = None
        if exchange is not None and _size(exchange) - (folded.size if folded else 0) <= self._left:
            self._add(exchange, replaced=folded)
            return True
        if self._left > max(self._room // 2, 1):
            self._add(_shortened(turn, self._left))
        return False

    def _add(self, exchange: list[Entry], replaced: Entry | None = None) -> None:
        if replaced is not None and self._first_calls is not None:
            del self.entries[self._first_calls]
            self._left += replaced.size
            self._calls -= len(replaced.uses)
            self._first_calls = None
        if len(exchange) > 1:
            self._first_calls = len(self.entries) + len(exchange) - 2 if exchange[-2].uses else None
        self.entries += exchange
        self.count += 1
        self._left -= _size(exchange)
        self._calls += sum(len(entry.uses) for entry in exchange)


def _size(entries: Iterable[Entry]) -> int:
    return sum(entry.size for entry in entries)


def _exchange(turn: Turn, room: int) -> list[Entry] | None:
    """The turn's entries, newest first; `None` as soon as it is clear that they do not fit."""
    prompt = prompt_entry(turn)
    left = room - prompt.size
    entries: list[Entry] = []
    for entry in reply_entries(turn):
        left -= entry.size
        if left < 0:
            return None
        entries.append(entry)
    return [*entries, prompt] if left >= 0 else None


def _shortened(turn: Turn, room: int) -> list[Entry]:
    """A turn that is larger than the room, newest entry first: its end as far as it fits, and its prompt."""
    prompt = prompt_entry(turn)
    if room <= _SMALLEST:
        return [_cut(prompt, room)]
    left = room - min(prompt.size, room // 3) - _MIDDLE.size
    entries: list[Entry] = []
    for entry in reply_entries(turn):
        if entry.size > left:
            if left >= _WORTH_CUTTING:
                entries.append(_cut(entry, left))
            entries.append(_MIDDLE)
            break
        entries.append(entry)
        left -= entry.size
    return [*entries, _cut(prompt, room - _size(entries))]


def _cut(entry: Entry, size: int) -> Entry:
    return entry if entry.size <= size else replace(entry, text=cut_middle(entry.text, size - 1))
