"""Blocks on top of each other: how high each is, which of their rows are kept drawn, and the way from row to row.

Only what is looked at is drawn; the heights of all else are estimates. A row is known by its spot (block, piece, row)
and not by a number, so that nothing above it can move it. Knows blocks, and not what is on screen.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from milk_tui.ui.markdown.rows import Row
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block, gap
from milk_tui.ui.widgets.heights import Heights

_KEPT_ROWS = 6_000
"""Rows kept drawn; those looked at longest ago are let go first."""


class Spot(NamedTuple):
    """A row of the transcript that stays the same row when heights elsewhere change."""

    block: int
    piece: int = 0
    row: int = 0


class Stack:
    """All blocks at one width."""

    def __init__(self) -> None:
        self.views: list[BlockView] = []
        self.width = 0
        self._heights = Heights()
        self._drawn: OrderedDict[tuple[int, int], int] = OrderedDict()
        self.drawn_rows = 0
        """Rows that are kept drawn."""
        self.tells = False
        """Whether heads say when something was said and what it took."""

    @property
    def total(self) -> int:
        """All rows, by what is known of their heights."""
        return self._heights.total

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put blocks at the end."""
        width = BlockView.text_width(self.width)
        views: list[BlockView] = []
        before = self.views[-1].block if self.views else None
        for block in blocks:
            views.append(BlockView(block, gap(block, before), width, self.tells))
            before = block
        self.views += views
        if len(views) == 1:
            self._heights.append(views[0].height)
        else:
            self._heights.extend(view.height for view in views)

    def update(self, index: int, block: Block) -> None:
        """Give a block its new state."""
        self.views[index].update(block)
        self._heights[index] = self.views[index].height

    def take_out(self, indices: Collection[int]) -> Mapping[int, int]:
        """Take blocks out; the old places of all others, and their new ones."""
        kept = [index for index in range(len(self.views)) if index not in indices]
        places = {old: new for new, old in enumerate(kept)}
        self.views = [self.views[index] for index in kept]
        for before, view in zip([None, *self.views], self.views, strict=False):
            view.part(gap(view.block, before.block if before else None))
        self._heights = Heights(view.height for view in self.views)
        drawn = [
            ((places[block], piece), count)
            for (block, piece), count in self._drawn.items()
            if block in places
        ]
        self._drawn = OrderedDict(drawn)
        self.drawn_rows = sum(self._drawn.values())
        return places

    def widen(self, width: int) -> None:
        """Take another width: all is drawn anew when it is looked at."""
        self.width = width
        text_width = BlockView.text_width(width)
        for view in self.views:
            view.resize(text_width)
        self._heights = Heights(view.height for view in self.views)
        self._drawn.clear()
        self.drawn_rows = 0

    def tell(self, tells: bool) -> None:
        """Let all heads say when something was said and what it took, or no longer."""
        self.tells = tells
        for index, view in enumerate(self.views):
            view.tell(tells)
            self._heights[index] = view.height

    def first_row(self, index: int) -> Spot:
        """The row in which a block begins, below the empty ones above it."""
        return Spot(index, 0, self.views[index].gap)

    def spot_of(self, index: int, offset: int) -> Spot:
        """The row that shows the line of a block's text with this character; its first row while it is folded."""
        view = self.views[index]
        pieces = view.pieces
        if not pieces:
            return self.first_row(index)
        piece = max(1, bisect_right(pieces, offset, key=lambda piece: piece.start))
        line = view.block.body.count("\n", pieces[piece - 1].start, offset)
        return Spot(index, piece, _row_of_line(self.rows(index, piece), line))

    def row_of(self, spot: Spot) -> int:
        """The rows in front of a spot, by what is known of their heights."""
        if spot.block >= len(self.views):
            return self.total
        return self._heights.before(spot.block) + self.views[spot.block].heights.before(spot.piece) + spot.row

    def is_gap(self, spot: Spot) -> bool:
        """Whether a row is an empty one between blocks."""
        return spot.piece == 0 and spot.row < self.views[spot.block].gap

    def rows(self, block: int, piece: int) -> list[Row]:
        """The rows of a piece, drawn if they are not, and kept for a while."""
        view = self.views[block]
        rows = view.rows(piece)
        self._heights[block] = view.height
        key = (block, piece)
        self.drawn_rows += len(rows) - self._drawn.pop(key, 0)
        self._drawn[key] = len(rows)
        return rows

    def let_go(self, shown: Collection[tuple[int, int]]) -> None:
        """Forget rows beyond those that may be kept, but none of these pieces."""
        while self.drawn_rows > _KEPT_ROWS and len(self._drawn) > len(shown):
            key, count = self._drawn.popitem(last=False)
            if key in shown:
                self._drawn[key] = count
                return
            self.drawn_rows -= count
            if key[0] < len(self.views):
                self.views[key[0]].forget(key[1])

    def within(self, spot: Spot) -> Spot:
        """The spot, or the nearest one where its block has become shorter."""
        if spot.block >= len(self.views):
            return Spot(len(self.views))
        piece = min(spot.piece, len(self.views[spot.block].pieces))
        return Spot(spot.block, piece, min(spot.row, max(0, len(self.rows(spot.block, piece)) - 1)))

    def after(self, block: int, piece: int) -> Spot:
        """The beginning of the next piece."""
        if piece < len(self.views[block].pieces):
            return Spot(block, piece + 1)
        return Spot(block + 1)

    def back(self, spot: Spot, count: int) -> Spot:
        """The spot so many rows earlier, over exact heights."""
        block, piece, row = spot
        row -= count
        while row < 0:
            if piece > 0:
                piece -= 1
            elif block > 0:
                block -= 1
                piece = len(self.views[block].pieces)
            else:
                return Spot(0)
            row += len(self.rows(block, piece))
        return Spot(block, piece, row)

    def forward(self, spot: Spot, count: int) -> Spot:
        """The spot so many rows later, over exact heights."""
        block, piece, row = spot
        row += count
        while block < len(self.views) and row >= (size := len(self.rows(block, piece))):
            row -= size
            block, piece, _ = self.after(block, piece)
        return Spot(block, piece, row) if block < len(self.views) else Spot(block)

    def row_from(self, spot: Spot, count: int) -> Spot:
        """The spot so many rows later, or earlier; the last there is at the most."""
        there = self.forward(spot, count) if count > 0 else self.back(spot, -count)
        return there if there.block < len(self.views) else self.back(there, 1)

    def jump(self, row: int) -> Spot:
        """The spot of a row far away, by what is known of the heights."""
        block, row = self._heights.find(row)
        if block >= len(self.views):
            return Spot(len(self.views))
        expected = self.views[block].height
        heights = self.views[block].heights
        piece, row = heights.find(row * heights.total // max(1, expected))
        if piece >= len(heights):
            return Spot(block + 1)
        expected = heights[piece]
        return Spot(block, piece, row * len(self.rows(block, piece)) // max(1, expected))


def _row_of_line(rows: Sequence[Row], line: int) -> int:
    """The first row of the last line that is shown and not after `line`."""
    shown = max((row.line for row in rows if 0 <= row.line <= line), default=-1)
    return next((number for number, row in enumerate(rows) if row.line == shown), 0)
