"""Turns become a text within a budget: newest first, whole exchanges, oldest dropped.

The cost depends on the budget and not on the number of turns: turns are visited newest first, and only as many as
the budget can hold. There is always something in a summary when there is anything to say: an exchange that is too
large for all the room there is keeps its prompt and its end. Of the newest exchanges that are left out, what the user
asked is still named.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.exchange import Entry, continues, folded, prompt_entry, reply_entries
from milk_tui.core.messages import Turn
from milk_tui.core.place import Place, place_of
from milk_tui.core.shaping import Shapes, Shaping

_DROPPED_ROOM = 60
"""Room kept for the line that says how many exchanges were left out."""
_ASKED_FROM = 4_000
"""With less room all of it is for the exchanges that are held."""
_ASKED_SHARE = 16
"""One part in so many of the room is kept for what was asked in those that are not."""
_ASKED_CAP = 100
"""Characters of a request that is only named."""
_ASKED_MOST = 12
"""Requests that are named; no older turn is read for them."""
_SMALLEST = 200
"""With less room an exchange is cut to the head of its prompt."""
_WORTH_CUTTING = 80
"""An entry is not shortened to less than this."""

_CALLS_MOST = 5_000
"""Folded calls take no room, so they are limited by their number: after so many no older turn is read."""

_MORE_ASKED = "\n  …"
_MIDDLE = Entry("[… the middle of this turn is left out]")


def summary(
    name: BrickName,
    turns: Iterable[Turn],
    total: int,
    room: int,
    budget: int,
    shapes: Shapes | None = None,
    pinned: int = 0,
) -> Brick:
    """A brick of the given turns.

    Args:
        name: Which brick it is.
        turns: The turns it is about, newest first; read only as far as the room goes.
        total: How many turns it is about, read or not.
        room: The most characters of text.
        budget: What the brick may take in a hand-off, heading and fence included.
        shapes: What the user has made of its lines.
        pinned: Characters for which those have reserved room.
    """
    asked = room // _ASKED_SHARE if room >= _ASKED_FROM else 0
    kept = _DROPPED_ROOM + asked if total > 1 and room > _DROPPED_ROOM + _SMALLEST else 0
    held = _Held(room - kept - pinned, shapes or Shapes(Shaping(), name))
    older = iter(turns)
    over = held.fill(older)
    dropped = max(total - held.count - held.removed, 0)
    entries = held.entries[::-1]
    others = held.shapes.others(entries)
    if dropped and kept:
        unheld = chain(over, older) if asked else iter(())
        text = _left_out(dropped, unheld, held.shapes, held.left + kept)
        place = entries[0].place if entries else max(map(_place, others), default=(0, 0, 0))
        entries.insert(0, Entry(text, place=place))
    if others:
        entries = sorted([*others, *entries], key=_place)
    lines = tuple(entry.line() for entry in entries)
    return Brick(
        name=name,
        text="\n".join(line.text for line in lines),
        budget=budget,
        lines=_marked(lines, held, dropped),
        held=held.count,
        dropped=dropped,
        collapsed=sum(entry.collapsed for entry in entries),
        left_out=held.shapes.dropped,
    )


class _Held:
    """The exchanges chosen so far, and the room that is left."""

    def __init__(self, room: int, shapes: Shapes) -> None:
        self.entries: list[Entry] = []
        """Newest first."""
        self.count = 0
        self.removed = 0
        """Exchanges of which the user has left nothing."""
        self.shapes = shapes
        self.left = room + 1  # the last entry has no line end behind it
        self._room = self.left
        self._calls = 0
        self._first_calls: int | None = None
        """Where the calls are that only prompts stand before: calls of an older turn would be in one row with them."""

    def fill(self, turns: Iterator[Turn]) -> list[Turn]:
        """Take as many turns as there is room for. The one that was read and not taken is given back."""
        for turn in turns:
            count = self.count
            if not self.take(turn):
                return [turn] if self.count == count else []
        return []

    def take(self, turn: Turn) -> bool:
        """Add an older turn whole; shortened if most of the room would stay empty without it. False ends the row."""
        if self._calls > _CALLS_MOST:
            return False
        before = self.entries[self._first_calls] if self._first_calls is not None else None
        exchange = _exchange(turn, self.shapes, self.left + (before.size if before else 0))
        if exchange is not None and not exchange:
            self.removed += 1
            return True
        if exchange is not None and before is not None and continues(exchange[0], before):
            exchange[0] = folded(exchange[0], before)
        else:
            before = None
        if exchange is not None and _size(exchange) - (before.size if before else 0) <= self.left:
            self._add(exchange, replaced=before)
            return True
        if self.left > max(self._room // 2, 1):
            self._add(_shortened(turn, self.shapes, self.left))
        return False

    def _add(self, exchange: list[Entry], replaced: Entry | None = None) -> None:
        if replaced is not None and self._first_calls is not None:
            del self.entries[self._first_calls]
            self.left += replaced.size
            self._calls -= len(replaced.uses)
            self._first_calls = None
        replies = [place for place, entry in enumerate(exchange) if not entry.is_prompt]
        if replies:
            oldest = replies[-1]
            self._first_calls = len(self.entries) + oldest if exchange[oldest].uses else None
        self.entries += exchange
        self.count += 1
        self.left -= _size(exchange)
        self._calls += sum(len(entry.uses) for entry in exchange)


def _left_out(count: int, turns: Iterator[Turn], shapes: Shapes, room: int) -> str:
    """How many exchanges were left out, and what was asked in the newest of them, oldest first."""
    head = f"[{count:,} earlier {'exchange' if count == 1 else 'exchanges'} left out]"
    room -= len(head) + len(_MORE_ASKED) + 1
    asked: list[str] = []
    for turn in islice(turns, _ASKED_MOST):
        prompt = shapes.entry(prompt_entry(turn))
        if prompt is None or prompt.is_pinned:
            continue
        line = f"\n  asked: {one_line(prompt.text.removeprefix('User: '), _ASKED_CAP)}"
        room -= len(line)
        if room < 0:
            break
        asked.append(line)
    more = _MORE_ASKED if 0 < len(asked) < count else ""
    return "".join((head, more, *reversed(asked)))


def _marked(lines: tuple[BrickLine, ...], held: _Held, dropped: int) -> tuple[BrickLine, ...]:
    """The lines, those of the oldest exchange marked once it would make room for another one of usual size."""
    if held.count < 2 or (not dropped and held.left > sum(len(line.text) for line in lines) // held.count):
        return lines
    oldest = held.entries[-1].place[0]
    return tuple(
        line.model_copy(update={"falls_next": True})
        if line.key and not line.is_pinned and place_of(line.key)[0] == oldest
        else line
        for line in lines
    )


def _place(entry: Entry) -> Place:
    return entry.place


def _size(entries: Iterable[Entry]) -> int:
    return sum(_room_of(entry) for entry in entries)


def _room_of(entry: Entry) -> int:
    """What an entry takes of the room; for a pinned one it was kept beforehand."""
    return 0 if entry.is_pinned else entry.size


def _exchange(turn: Turn, shapes: Shapes, room: int) -> list[Entry] | None:
    """The turn's entries, newest first; `None` as soon as it is clear that they do not fit."""
    prompt = shapes.entry(prompt_entry(turn))
    last = [prompt] if prompt else []
    left = room - _size(last)
    entries: list[Entry] = []
    for entry in shapes.entries(reply_entries(turn)):
        left -= _room_of(entry)
        if left < 0:
            return None
        entries.append(entry)
    return [*entries, *last] if left >= 0 else None


def _shortened(turn: Turn, shapes: Shapes, room: int) -> list[Entry]:
    """A turn that is larger than the room, newest entry first: its end as far as it fits, and its prompt."""
    prompt = shapes.entry(prompt_entry(turn))
    last = [prompt] if prompt else []
    if room <= _SMALLEST:
        return [_cut(entry, room) for entry in last or islice(shapes.entries(reply_entries(turn)), 1)]
    left = room - min(_size(last), room // 3) - _MIDDLE.size
    entries: list[Entry] = []
    for entry in shapes.entries(reply_entries(turn)):
        if _room_of(entry) > left:
            if left >= _WORTH_CUTTING:
                entries.append(_cut(entry, left))
            entries.append(replace(_MIDDLE, place=entry.place))
            break
        entries.append(entry)
        left -= _room_of(entry)
    return [*entries, *(_cut(entry, room - _size(entries)) for entry in last)]


def _cut(entry: Entry, size: int) -> Entry:
    return entry if _room_of(entry) <= size else replace(entry, text=cut_middle(entry.text, size - 1))
