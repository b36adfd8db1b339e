"""Where a needle is in a block: how often by its source, and where in the rows that show it.

What counts is what can be seen. The source says it without drawing anything; only where Markdown may hide a part of
the needle are rows drawn to be sure. Knows views and rows, and not what is on screen.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from milk_tui.ui.markdown.rows import Row
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block, title
from milk_tui.ui.widgets.needle import Needle, Span


class Part(NamedTuple):
    """Characters of one row."""

    row: int
    start: int
    end: int


Hit = tuple[Part, ...]
"""One place of a needle in a piece; it may go on over several rows."""


def count(view: BlockView, needle: Needle) -> int:
    """How often a needle is seen in a block that is unfolded."""
    block = view.block
    if not block.is_markdown:
        return needle.count(block.body) + needle.count(_asked(block))
    found, is_sure = needle.source_count(block.body)
    if is_sure:
        return found
    view = unfolded(view)
    return sum(len(hits(view, piece, needle)) for piece in pieces_with(view, needle))


def unfolded(view: BlockView) -> BlockView:
    """The view, or one like it that shows all of its block."""
    if not view.folded:
        return view
    return BlockView(replace(view.block, folded=False), view.gap, view.width)


def pieces_with(view: BlockView, needle: Needle) -> list[int]:
    """The pieces of an unfolded block that a needle begins in, the head of a call first."""
    starts = [piece.start for piece in view.pieces]
    found = {bisect_right(starts, start) for start, _ in _spans(view.block, needle) if starts}
    return [0, *sorted(found)] if needle.count(_asked(view.block)) else sorted(found)


def before(view: BlockView, piece: int, needle: Needle) -> int:
    """How often a needle is in a block before one of its pieces."""
    if piece == 0:
        return 0
    start, _ = view.extent(piece)
    return needle.count(_asked(view.block)) + sum(span[0] < start for span in _spans(view.block, needle))


def hits(view: BlockView, piece: int, needle: Needle) -> list[Hit]:
    """All places of a needle in a piece, in the order of its text.

    A line of the source is read as a whole, over the rows that the width has broken it into.
    """
    if piece == 0 and view.block.kind != "call":
        return []
    rows = view.peek(piece)
    found: list[Hit] = []
    begin = 0
    while begin < len(rows):
        end = begin + 1
        while end < len(rows) and rows[end].line == rows[begin].line:
            end += 1
        found += _hits_in_line(rows, begin, end, needle)
        begin = end
    return found


def _spans(block: Block, needle: Needle) -> list[Span]:
    return needle.source_spans(block.body) if block.is_markdown else needle.spans(block.body)


def _asked(block: Block) -> str:
    """What the head of a call says; those of others say who speaks."""
    return title(block) if block.kind == "call" else ""


def _hits_in_line(rows: Sequence[Row], begin: int, end: int, needle: Needle) -> Iterator[Hit]:
    text = ""
    starts: list[int] = []
    for number in range(begin, end):
        row = rows[number]
        text += row.join if number > begin else ""
        starts.append(len(text))
        text += row.text[row.inset :]
    for span in needle.spans(text):
        if parts := tuple(_parts(rows, begin, starts, span)):
            yield parts


def _parts(rows: Sequence[Row], begin: int, starts: Sequence[int], span: Span) -> Iterator[Part]:
    for place in range(bisect_right(starts, span[0]) - 1, bisect_right(starts, span[1] - 1)):
        row = rows[begin + place]
        size = len(row.text) - row.inset
        first, last = max(0, span[0] - starts[place]), min(size, span[1] - starts[place])
        if first < last:
            yield Part(begin + place, row.inset + first, row.inset + last)
