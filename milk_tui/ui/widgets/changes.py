"""Texts and changes of texts as coloured lines: old and new one under the other, or side by side.

Line ends and spaces are as in the file, what cannot be shown is left out, and nothing is shortened without a word.
Knows files by their names only, and no colours: `Paint` gives the style of a name.
"""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

from textual.content import Content
from textual.style import Style

from milk_tui.core.line_diff import edges, is_comparable
from milk_tui.core.text import sanitize
from milk_tui.ui.markdown.highlight import highlight, language_of

SHOWN = 60_000
"""The most characters that are drawn; what is missing is said in the middle."""

COLOURED = 40_000
"""The most characters of one text that are coloured: it happens while the user waits."""

_AROUND = 2
"""Unchanged lines that are shown around changed ones."""

Paint = Callable[[str], Style]
"""The style of a name such as `added` or `keyword`."""


class _Line(NamedTuple):
    """A line of the old or the new text."""

    number: int
    mark: str
    text: Content


_Pair = tuple[_Line | None, _Line | None]


def coloured(text: str, language: str, paint: Paint) -> list[Content]:
    """The lines of a text, coloured where the language is known."""
    text = sanitize(text).expandtabs(4)
    lines = highlight(text, language if len(text) <= COLOURED else "")
    return [Content.assemble(*((part, paint(name)) for part, name in runs)) for runs in lines]


def change(
    before: str | None, after: str | None, path: str, paint: Paint, width: int, *, is_wide: bool
) -> list[Content]:
    """What is written: a text that is new or gone in full, else the lines that change with a few around them.

    Where it is wide the old lines stand on the left and the new ones on the right, within `width` cells.
    """
    language = language_of(path)
    if before is None or after is None:
        what, mark = ("the file is gone:", "-") if after is None else ("a new file:", "+")
        return [Content(what), *_whole(after if before is None else before, mark, language, paint)]
    old, new = (sanitize(text).split("\n") for text in (before, after))
    if old == new:
        return [Content("Only line ends, or characters that cannot be shown, change.")]
    part = _Part(old, new, language, paint)
    if not part.is_comparable:
        return [Content("the whole file becomes:"), *_whole(after, "+", language, paint)]
    groups = list(part.groups())
    digits = len(str(max(line.number for group in groups for pair in group for line in pair if line)))
    rows: list[Content] = []
    for group in groups:
        rows += [Content.styled("⋯", paint("label"))] if rows else []
        rows += _beside(group, digits, width, paint) if is_wide else _under(group, digits, paint)
    return _bounded(rows)


def _whole(text: str | None, mark: str, language: str, paint: Paint) -> list[Content]:
    """Every line of a text as added or removed."""
    lines = coloured(text, language, paint) if text else []
    digits = len(str(len(lines)))
    return _bounded([_joined(_Line(n, mark, line), digits, paint) for n, line in enumerate(lines, 1)])


class _Part:
    """The part of two texts in which they differ, with some lines around it."""

    def __init__(self, old: list[str], new: list[str], language: str, paint: Paint) -> None:
        head, tail = edges(old, new)
        self._start = max(0, head - _AROUND)
        self._whole = old, new
        tail = max(0, tail - _AROUND)
        self._old, self._new = (lines[self._start : len(lines) - tail] for lines in (old, new))
        self._language = language
        self._paint = paint

    @property
    def is_comparable(self) -> bool:
        """Whether it is small enough to be compared line by line."""
        return is_comparable(self._old, self._new)

    def groups(self) -> Iterator[list[_Pair]]:
        """Changed lines that are close to each other, old and new in pairs."""
        old, new = self._shown(self._whole[0], self._old), self._shown(self._whole[1], self._new)
        for group in SequenceMatcher(None, self._old, self._new).get_grouped_opcodes(_AROUND):
            pairs: list[_Pair] = []
            for tag, old_start, old_end, new_start, new_end in group:
                removed, added = (" ", " ") if tag == "equal" else ("-", "+")
                left = [self._line(n, removed, old[n]) for n in range(old_start, old_end)]
                right = [self._line(n, added, new[n]) for n in range(new_start, new_end)]
                pairs += zip_longest(left, right)
            yield pairs

    def _line(self, place: int, mark: str, text: Content) -> _Line:
        return _Line(self._start + place + 1, mark, text)

    def _shown(self, whole: list[str], part: list[str]) -> list[Content]:
        """The lines of the part, coloured as in the whole text where that is small enough."""
        text = "\n".join(whole)
        if len(text) > COLOURED:
            return coloured("\n".join(part), self._language, self._paint)
        return coloured(text, self._language, self._paint)[self._start : self._start + len(part)]


def _under(pairs: Sequence[_Pair], digits: int, paint: Paint) -> Iterator[Content]:
    """All old lines of a change, then all new ones; what stays is numbered as it will be."""
    waiting: list[_Line] = []
    for old, new in pairs:
        if new is not None and new.mark == " ":
            yield from (_joined(line, digits, paint) for line in (*waiting, new))
            waiting = []
            continue
        if old is not None:
            yield _joined(old, digits, paint)
        if new is not None:
            waiting.append(new)
    yield from (_joined(line, digits, paint) for line in waiting)


def _beside(pairs: Sequence[_Pair], digits: int, width: int, paint: Paint) -> Iterator[Content]:
    """Old lines on the left, new ones on the right, long ones broken within their half."""
    room = max(1, (width - 3) // 2 - digits - 2)
    edge = Content.styled(" │ ", paint("label"))
    empty = Content(" " * (digits + 2 + room))
    for old, new in pairs:
        halves = (_half(line, digits, room, paint) if line else [] for line in (old, new))
        for left, right in zip_longest(*halves, fillvalue=empty):
            yield left + edge + right


def _half(line: _Line, digits: int, room: int, paint: Paint) -> list[Content]:
    """One line of a side, in rows of one width."""
    rows = []
    for place, part in enumerate(line.text.wrap(room) or [Content()]):
        head = f"{line.number:>{digits}} {line.mark}" if place == 0 else " " * (digits + 1) + line.mark
        filled = part + " " * max(0, room - part.cell_length)
        rows.append(_ground(Content.styled(head, paint("label")) + filled, line.mark, paint))
    return rows


def _joined(line: _Line, digits: int, paint: Paint) -> Content:
    head = Content.styled(f"{line.number:>{digits}} ", paint("label"))
    return _ground(head + line.mark + line.text, line.mark, paint)


def _ground(row: Content, mark: str, paint: Paint) -> Content:
    """The row on the ground of added or removed lines."""
    name = {"+": "added", "-": "removed"}.get(mark)
    return row.stylize_before(paint(name)) if name else row


def _bounded(rows: list[Content]) -> list[Content]:
    """The first and the last rows, where all of them would be too much."""
    if sum(len(row) for row in rows) <= SHOWN:
        return rows
    first, last = _fitting(rows, SHOWN // 2), _fitting(rows[::-1], SHOWN // 2)
    missing = len(rows) - first - last
    return [*rows[:first], Content(f"⋯ {missing:,} lines are not shown ⋯"), *rows[len(rows) - last :]]


def _fitting(rows: Sequence[Content], chars: int) -> int:
    """How many rows fit from the beginning."""
    for place, row in enumerate(rows):
        chars -= len(row)
        if chars < 0:
            return place
    return len(rows)
