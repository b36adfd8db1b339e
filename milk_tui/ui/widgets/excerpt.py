"""What a selection in the transcript copies: the source of whole lines, the visible text of parts of lines.

Nobody wants to paste indentation, bars and line breaks that only the width of the window made. Knows views and
spots, and not how a selection is made.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from milk_tui.ui.markdown.pieces import line_starts
from milk_tui.ui.markdown.rows import Row
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.stack import Spot

_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_BITS = 24


class Mark(NamedTuple):
    """One end of a selection: a row, and the characters in front of it."""

    spot: Spot
    column: int


class Excerpt(NamedTuple):
    """A selected range; the last column is not part of it."""

    first: Mark
    last: Mark

    def columns(self, spot: Spot, row: Row) -> tuple[int, int] | None:
        """The selected characters of a row."""
        if not self.first.spot <= spot <= self.last.spot:
            return None
        start = self.first.column if spot == self.first.spot else 0
        end = self.last.column if spot == self.last.spot else len(row.text)
        start = max(start, row.inset)
        return (start, end) if start < end else None

    def text(self, views: Sequence[BlockView]) -> str:
        """What is copied."""
        parts = []
        for index in range(self.first.spot.block, min(self.last.spot.block + 1, len(views))):
            first = self.first if index == self.first.spot.block else None
            last = self.last if index == self.last.spot.block else None
            parts.append(_of_block(views[index], first, last))
        return "\n\n".join(part for part in parts if part)


def pack(spot: Spot) -> int:
    """A spot as one number, in the same order: what the screen keeps as the line of a selection."""
    return (spot.block << 2 * _BITS) + (spot.piece << _BITS) + spot.row


def unpack(line: int) -> Spot:
    """The spot of such a number."""
    low = (1 << _BITS) - 1
    return Spot(line >> 2 * _BITS, line >> _BITS & low, line & low)


class _Edge(NamedTuple):
    """Where a selection cuts a text: whole lines from or up to `offset`, and a part of the line at the edge."""

    offset: int
    part: str
    group: tuple[int, int]
    """The piece and the line at the edge."""


def _of_block(view: BlockView, first: Mark | None, last: Mark | None) -> str:
    body = view.block.body
    from_start = first is None or first.spot.piece == 0
    if last is not None and last.spot.piece == 0:
        return _visible(view.rows(0), first or Mark(Spot(0), 0), last)
    if from_start and (last is None or _is_end(view, last)):
        return view.block.copied
    start = _Edge(0, "", (-1, 0)) if first is None or from_start else _start(view, first)
    end = _Edge(len(body), "", (-2, 0)) if last is None else _end(view, last)
    if start.group == end.group and first and last and (start.part or end.part):
        return _visible(view.rows(first.spot.piece), first, last)
    middle = body[start.offset : _with_closing_fence(body, start.offset, end.offset)]
    return "\n".join(part for part in (start.part, middle.removesuffix("\n"), end.part) if part)


def _is_end(view: BlockView, mark: Mark) -> bool:
    piece = len(view.pieces)
    rows = view.rows(piece)
    return mark.spot.piece == piece and mark.spot.row >= len(rows) - 1 and mark.column >= len(rows[-1].text)


def _start(view: BlockView, mark: Mark) -> _Edge:
    piece = mark.spot.piece
    rows = view.rows(piece)
    number = mark.spot.row
    while number < len(rows) and rows[number].line < 0:
        number += 1
    if number >= len(rows):
        return _Edge(view.extent(piece)[1], "", (piece, -1))
    line = rows[number].line
    begin, end = _group(rows, number)
    column = mark.column if number == mark.spot.row else 0
    if number == begin and column <= rows[number].inset:
        return _Edge(_offset(view, piece, line), "", (piece, line))
    part = _visible(
        rows, Mark(Spot(0, piece, number), column), Mark(Spot(0, piece, end - 1), len(rows[end - 1].text))
    )
    return _Edge(_offset_after(view, piece, rows, end), part, (piece, line))


def _end(view: BlockView, mark: Mark) -> _Edge:
    piece = mark.spot.piece
    rows = view.rows(piece)
    number = min(mark.spot.row, len(rows) - 1)
    line = rows[number].line
    if line < 0:
        following = next((row.line for row in rows[number:] if row.line >= 0), -1)
        offset = _offset(view, piece, following) if following >= 0 else view.extent(piece)[1]
        return _Edge(offset, "", (piece, -1))
    begin, end = _group(rows, number)
    if number == end - 1 and mark.column >= len(rows[number].text.rstrip()):
        return _Edge(_offset_after(view, piece, rows, end), "", (piece, line))
    part = _visible(rows, Mark(Spot(0, piece, begin), 0), Mark(Spot(0, piece, number), mark.column))
    return _Edge(_offset(view, piece, line), part, (piece, line))


def _group(rows: Sequence[Row], number: int) -> tuple[int, int]:
    """The rows that show the same line of the source."""
    begin, end = number, number + 1
    while begin > 0 and rows[begin - 1].line == rows[number].line:
        begin -= 1
    while end < len(rows) and rows[end].line == rows[number].line:
        end += 1
    return begin, end


def _offset(view: BlockView, piece: int, line: int) -> int:
    starts = line_starts(view.block.body, *view.extent(piece))
    return starts[min(line, len(starts) - 1)]


def _offset_after(view: BlockView, piece: int, rows: Sequence[Row], end: int) -> int:
    """Where the lines end that are shown by the rows in front of `end`."""
    following = next((row.line for row in rows[end:] if row.line >= 0), None)
    if following is not None:
        return _offset(view, piece, following)
    stop = view.extent(piece)[1]
    body = view.block.body
    next_line = body.find("\n", _offset(view, piece, rows[end - 1].line), stop) + 1
    closes = next_line and not body[next_line:stop].strip().strip("`~")
    return next_line if closes else stop


def _with_closing_fence(body: str, start: int, end: int) -> int:
    """The end, or the end of the fence that the excerpt has opened."""
    if len(_FENCE.findall(body[start:end])) % 2 == 0:
        return end
    closing = _FENCE.search(body, end)
    if closing is None or body[end : closing.start()].strip():
        return end
    stop = body.find("\n", closing.end())
    return len(body) if stop < 0 else stop


def _visible(rows: Sequence[Row], first: Mark, last: Mark) -> str:
    """The text shown between two marks of one piece, joined as the source has it."""
    shown = ""
    for number in range(first.spot.row, min(last.spot.row, len(rows) - 1) + 1):
        row = rows[number]
        start = first.column if number == first.spot.row else 0
        end = last.column if number == last.spot.row else None
        if number > first.spot.row:
            shown += row.join
        shown += row.text[max(start, row.inset) : end]
    return shown
