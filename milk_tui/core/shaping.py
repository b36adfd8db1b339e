"""What the user makes of the bricks: lines dropped, pinned and edited, parts switched off, bricks kept as they were.

A shape belongs to the key of a line and so survives every rebuilding. `Shapes` applies them in one place, between the
rebuilding of a brick and its budget. Nothing here visits turns or knows how a line is rendered.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from milk_tui.core.bricks import Brick, BrickLine, BrickName, PartName
from milk_tui.core.budget import PERCEPT_LIMIT
from milk_tui.core.cut import cut_end, one_line
from milk_tui.core.exchange import Entry, indented
from milk_tui.core.messages import Value
from milk_tui.core.place import place_of

Change = Literal["drop", "keep", "pin", "unpin", "edit"]
"""What a user does with a line. To keep one is to take back that it was dropped; to edit it to nothing, the edit."""

PINS_SHARE = (3, 4)
"""So much of a brick's room pinned lines may take: the newest exchange always has a say."""
EDIT_LIMIT = 4_000
"""Characters of an edited line."""
FACT = "fact:"
"""How the key of a fact begins; its text follows."""
NEED_KEY = "need"
"""The need has one line, which is shaped by saying another need."""
SHAPES_MOST = 300
"""Lines of one session that may be shaped."""
SOURCES_KEPT = 16
"""Messages remembered of a line that is kept; of a folded row of calls there may be thousands."""


class LineShape(Value):
    """A line as the user wants it."""

    brick: BrickName
    line: BrickLine
    """The line as it stood when it was shaped, or as it was edited."""
    is_dropped: bool = False
    original: str = ""
    """Of an edited line, what it was before."""
    told: int = 0
    """The turn of Claude's that was told of it; 0 if none was."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Its own key and those of what is folded into it."""
        return self.line.key, *self.line.covers

    @property
    def is_kept(self) -> bool:
        """Whether the line stays as it stands here."""
        return not self.is_dropped and (self.line.is_pinned or self.line.is_edited)


class Shaping(Value):
    """All that the user has shaped in a session."""

    lines: tuple[LineShape, ...] = ()
    """In the order in which they were shaped."""
    off: tuple[PartName, ...] = ()
    kept: tuple[Brick, ...] = ()
    """Bricks that are not rebuilt."""

    def of(self, key: str) -> LineShape | None:
        """The shape of a line."""
        return next((shape for shape in self.lines if shape.line.key == key), None)

    def changed(
        self, brick: BrickName, line: BrickLine, change: Change, text: str = "", told: int = 0
    ) -> "Shaping":
        """With one line shaped; `told` is the turn of Claude's that was told of it before, if one was."""
        if not line.key:
            return self
        before = self.of(line.key) or LineShape(brick=brick, line=line, told=told)
        others = tuple(shape for shape in self.lines if shape.line.key != line.key)
        shape = _shaped(before, change, text)
        return self._with(lines=(*others, shape) if shape.is_dropped or shape.is_kept else others)

    def switched(self, part: PartName, is_on: bool) -> "Shaping":
        """With a part of the hand-off switched on or off."""
        others = tuple(name for name in self.off if name != part)
        return self._with(off=others if is_on else (*others, part))

    def frozen(self, brick: Brick) -> "Shaping":
        """With a brick kept as it is given."""
        lines = tuple(short_of_sources(line) for line in brick.lines)
        kept = brick.model_copy(update={"lines": lines, "is_stale": False})
        return self._with(kept=(*(other for other in self.kept if other.name != brick.name), kept))

    def thawed(self, *names: BrickName) -> "Shaping":
        """With these bricks rebuilt again."""
        return self._with(kept=tuple(brick for brick in self.kept if brick.name not in names))

    def told(self, keys: Iterable[str], turn: int) -> "Shaping":
        """Claude was told of these lines in a turn."""
        known = set(keys)
        return self._with(
            lines=tuple(
                shape.model_copy(update={"told": turn}) if shape.line.key in known else shape
                for shape in self.lines
            )
        )

    def until(self, turn: int) -> "Shaping":
        """Without what is about later turns: of a session that goes on from an earlier one's."""
        lines = tuple(shape for shape in self.lines if place_of(shape.line.key)[0] <= turn)
        kept = tuple(brick for brick in self.kept if (brick.frozen_at or 0) <= turn)
        return self if (lines, kept) == (self.lines, self.kept) else self._with(lines=lines, kept=kept)

    def frozen_brick(self, name: BrickName) -> Brick | None:
        """The brick that is kept under this name."""
        return next((brick for brick in self.kept if brick.name == name), None)

    def _with(self, **changes: object) -> "Shaping":
        return self.model_copy(update=changes)


class Shapes:
    """A shaping made ready for the rebuilding of one brick."""

    def __init__(self, shaping: Shaping, name: BrickName) -> None:
        own = [shape for shape in shaping.lines if shape.brick == name]
        self._by_key = {shape.line.key: shape.line for shape in own if not shape.is_dropped}
        self._pins = sorted(
            (shape for shape in own if shape.line.is_pinned and not shape.is_dropped),
            key=lambda shape: place_of(shape.line.key),
            reverse=True,
        )
        self._hidden = {
            key for shape in own for key in (shape.keys if shape.is_dropped else shape.line.covers)
        }
        self._reserved: dict[str, Entry] = {}
        self.dropped = sum(shape.is_dropped for shape in own)
        """Lines that the user has dropped."""

    def reserve(self, room: int, since: int = 0, forgotten: int = 0) -> int:
        """Keep room for pinned lines, newest first, and give the characters they take.

        Those of turns before `since` count only as long as Claude's session, begun after the turn `forgotten`, was
        not told of them.
        """
        limit = pins_room(room)
        taken = 0
        self._reserved = {}
        for shape in self._pins:
            entry = _entry(shape.line, is_pinned=True)
            is_new = entry.place[0] >= since or shape.told <= forgotten
            if is_new and taken + entry.size <= limit:
                self._reserved[shape.line.key] = entry
                taken += entry.size
        return taken

    def entry(self, entry: Entry) -> Entry | None:
        """An entry as the user wants it; `None` where it was dropped, or stands in another line."""
        key = entry.keys[0]
        if key in self._hidden:
            return None
        if key in self._reserved:
            return replace(self._reserved[key], is_prompt=entry.is_prompt)
        line = self._by_key.get(key)
        return replace(_entry(line), is_prompt=entry.is_prompt) if line else entry

    def entries(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Entries as the user wants them."""
        for entry in entries:
            shaped = self.entry(entry)
            if shaped is not None:
                yield shaped

    def others(self, entries: Iterable[Entry]) -> list[Entry]:
        """The pinned lines that are not among these entries."""
        there = {entry.keys[0] for entry in entries if entry.is_pinned}
        return [entry for key, entry in self._reserved.items() if key not in there]

    def applied(self, brick: Brick, room: int) -> Brick:
        """A brick that is kept as it was, with its lines as the user wants them, within the room."""
        self.reserve(room)
        lines: list[BrickLine] = []
        left = room + 1
        for line in reversed(brick.lines):
            entry = self.entry(_entry(line)) if line.key else _entry(line)
            if entry is None or entry.size > left:
                continue
            left -= entry.size
            lines.append(entry.line())
        lines.reverse()
        text = "\n".join(line.text for line in lines)
        shown = {"lines": tuple(lines), "text": text, "left_out": self.dropped}
        return brick.model_copy(update=shown)


def pins_room(room: int) -> int:
    """The characters that pinned lines of a brick may take, line ends included."""
    part, whole = PINS_SHARE
    return max(room, 0) * part // whole


def pinned(shaping: Shaping, name: BrickName) -> int:
    """The characters that a brick's pinned lines take, line ends included."""
    shapes = (shape for shape in shaping.lines if shape.brick == name and shape.line.is_pinned)
    return sum(len(shape.line.text) + 1 for shape in shapes if not shape.is_dropped)


def _entry(line: BrickLine, *, is_pinned: bool = False) -> Entry:
    return Entry(
        line.text,
        line.sources,
        place=place_of(line.key),
        keys=(line.key, *line.covers),
        is_pinned=is_pinned,
        is_edited=line.is_edited,
    )


def _shaped(shape: LineShape, change: Change, text: str) -> LineShape:
    """The shape after one more change."""
    line, original = shape.line, shape.original
    match change:
        case "drop" | "keep":
            line = line.model_copy(update={"is_pinned": False})
        case "pin" | "unpin":
            line = line.model_copy(update={"is_pinned": change == "pin"})
        case "edit":
            original = original or line.text
            words = _edited(shape.brick, text)
            line = line.model_copy(update={"text": words or original, "is_edited": bool(words)})
    return shape.model_copy(
        update={
            "line": short_of_sources(line),
            "is_dropped": change == "drop",
            "original": original if line.is_edited else "",
        }
    )


def _edited(brick: BrickName, text: str) -> str:
    """The user's words as a line: nothing in them can pose as another one."""
    if brick != "percepts":
        return indented(cut_end(text.strip(), EDIT_LIMIT))
    fact = one_line(text.strip().removeprefix("-"), PERCEPT_LIMIT)
    return f"- {fact}" if fact else ""


def to_edit(line: BrickLine) -> str:
    """A line as it is given to be edited: without what keeps it in its place."""
    return line.text.removeprefix("- ") if line.key.startswith(FACT) else line.text.replace("\n  ", "\n")


def short_of_sources(line: BrickLine) -> BrickLine:
    """A line to be kept: what stays true of it, and with a bounded number of sources."""
    return line.model_copy(update={"sources": line.sources[:SOURCES_KEPT], "falls_next": False})
