"""Which rows of the transcript are on screen, and how that stays right while blocks grow, fold and are measured.

Only what is looked at is drawn; the heights of all else are estimates, corrected as they come into view without
moving what the reader sees. The place in view is kept as a spot (block, piece, row) and not as a number of rows, so
that nothing above it can move it. Knows blocks and numbers; the widget around it knows the screen.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from milk_tui.ui.markdown.rows import Row, Run
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block, gap
from milk_tui.ui.widgets.heights import Heights

_NEAR = 4
"""Pages within which scrolling goes row by row over exact heights; farther is a jump by estimates."""
_KEPT_ROWS = 6_000
"""Rows kept drawn; those looked at longest ago are let go first."""


class Spot(NamedTuple):
    """A row of the transcript that stays the same row when heights elsewhere change."""

    block: int
    piece: int = 0
    row: int = 0


class Line(NamedTuple):
    """A row on screen."""

    spot: Spot
    row: Row
    gutter: Run


class Viewport:
    """The blocks, and the window on them."""

    def __init__(self) -> None:
        self.views: list[BlockView] = []
        self.width = 0
        self.height = 0
        self.following = True
        """Whether the end stays in view."""
        self.lines: list[Line] = []
        """What is on screen, from the top; shorter than the screen when there is no more."""
        self.scroll_y = 0
        """Rows above the screen, by what is known of their heights."""
        self._top = Spot(0)
        self._heights = Heights()
        self._drawn: OrderedDict[tuple[int, int], int] = OrderedDict()
        self.drawn_rows = 0
        """Rows that are kept drawn."""

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
            views.append(BlockView(block, gap(block, before), width))
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

    def remove(self, indices: Collection[int]) -> None:
        """Take blocks out; what is read stays where it is."""
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
        block = self._top.block
        self._top = (
            self._top._replace(block=places[block]) if block in places else Spot(sum(i < block for i in kept))
        )

    def fold(self, index: int, folded: bool) -> None:
        """Show the first row of a block only, or all of it.

        That row stays where it is on screen, unless it has to make room for the rest.
        """
        view = self.views[index]
        first = Spot(index, 0, view.gap)
        above = next((number for number, line in enumerate(self.lines) if line.spot >= first), 0)
        view.fold(folded)
        self._heights[index] = view.height
        self._forward(first, self.height)
        above = max(0, min(above, self.height - (view.height - view.gap)))
        self._look_from(self._back(first, above))

    def resize(self, width: int, height: int) -> None:
        """Take a new size. With another width all is drawn anew, what is in view first and the rest when seen."""
        self.height = height
        if width == self.width:
            return
        self.width = width
        place = self._reading_place()
        text_width = BlockView.text_width(width)
        for view in self.views:
            view.resize(text_width)
        self._heights = Heights(view.height for view in self.views)
        self._drawn.clear()
        self.drawn_rows = 0
        self._return_to(place)

    def settle(self) -> None:
        """Find out what is on screen: draw it, and correct the heights and the place of the top."""
        if self.following:
            self._top = self._back(Spot(len(self.views)), self.height)
        else:
            self._top = self._within(self._top)
        self._fill()
        if len(self.lines) < self.height and self._top != Spot(0):
            self._top = self._back(Spot(len(self.views)), self.height)
            self._fill()
        self.scroll_y = self.row_of(self._top)
        self._let_go()

    def scroll(self, row: int) -> None:
        """Bring a row to the top; the end is followed from when it is in view, and no longer when it is not."""
        change = row - self.scroll_y
        if row <= 0:
            self._top = Spot(0)
        elif abs(change) > _NEAR * self.height:
            self._top = self._jump(row)
        else:
            self._top = self._back(self._top, -change) if change < 0 else self._forward(self._top, change)
        self._look_from(self._top)

    def reveal(self, index: int) -> None:
        """Bring the beginning of a block into view, moving as little as needed."""
        first = Spot(index, 0, self.views[index].gap)
        if self.lines and self.lines[0].spot <= first <= self.lines[-1].spot:
            return
        is_above = not self.lines or first < self.lines[0].spot
        self._look_from(first if is_above else self._back(first, self.height // 2))

    def _look_from(self, top: Spot) -> None:
        self._top = top
        self.following = False
        self.settle()
        self.following = self.scroll_y >= self.total - self.height

    def row_of(self, spot: Spot) -> int:
        """The rows in front of a spot, by what is known of their heights."""
        if spot.block >= len(self.views):
            return self.total
        return self._heights.before(spot.block) + self.views[spot.block].heights.before(spot.piece) + spot.row

    def is_gap(self, spot: Spot) -> bool:
        """Whether a row is an empty one between blocks."""
        return spot.piece == 0 and spot.row < self.views[spot.block].gap

    def _rows(self, block: int, piece: int) -> list[Row]:
        view = self.views[block]
        rows = view.rows(piece)
        self._heights[block] = view.height
        key = (block, piece)
        self.drawn_rows += len(rows) - self._drawn.pop(key, 0)
        self._drawn[key] = len(rows)
        return rows

    def _let_go(self) -> None:
        shown = {(line.spot.block, line.spot.piece) for line in self.lines}
        while self.drawn_rows > _KEPT_ROWS and len(self._drawn) > len(shown):
            key, count = self._drawn.popitem(last=False)
            if key in shown:
                self._drawn[key] = count
                return
            self.drawn_rows -= count
            if key[0] < len(self.views):
                self.views[key[0]].forget(key[1])

    def _within(self, spot: Spot) -> Spot:
        """The spot, or the nearest one where its block has become shorter."""
        if spot.block >= len(self.views):
            return Spot(len(self.views))
        piece = min(spot.piece, len(self.views[spot.block].pieces))
        return Spot(spot.block, piece, min(spot.row, max(0, len(self._rows(spot.block, piece)) - 1)))

    def _fill(self) -> None:
        self.lines = []
        block, piece, row = self._top
        while block < len(self.views):
            view = self.views[block]
            rows = self._rows(block, piece)
            for number in range(row, len(rows)):
                spot = Spot(block, piece, number)
                self.lines.append(Line(spot, rows[number], view.gutter(piece, number)))
                if len(self.lines) >= self.height:
                    return
            block, piece, row = self._after(block, piece)

    def _after(self, block: int, piece: int) -> Spot:
        if piece < len(self.views[block].pieces):
            return Spot(block, piece + 1)
        return Spot(block + 1)

    def _back(self, spot: Spot, count: int) -> Spot:
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
            row += len(self._rows(block, piece))
        return Spot(block, piece, row)

    def _forward(self, spot: Spot, count: int) -> Spot:
        """The spot so many rows later, over exact heights."""
        block, piece, row = spot
        row += count
        while block < len(self.views) and row >= (size := len(self._rows(block, piece))):
            row -= size
            block, piece, _ = self._after(block, piece)
        return Spot(block, piece, row) if block < len(self.views) else Spot(block)

    def _jump(self, row: int) -> Spot:
        block, row = self._heights.find(row)
        if block >= len(self.views):
            return Spot(len(self.views))
        expected = self.views[block].height
        heights = self.views[block].heights
        piece, row = heights.find(row * heights.total // max(1, expected))
        if piece >= len(heights):
            return Spot(block + 1)
        expected = heights[piece]
        return Spot(block, piece, row * len(self._rows(block, piece)) // max(1, expected))

    def _reading_place(self) -> tuple[Spot, int, int]:
        """The top spot, its line in the source, and the characters of that line above it."""
        if not self.lines or self._top.block >= len(self.views):
            return self._top, -1, 0
        rows = self._rows(self._top.block, self._top.piece)
        row = min(self._top.row, len(rows) - 1)
        line = rows[row].line
        return self._top, line, sum(_size(each) for each in rows[:row] if each.line == line)

    def _return_to(self, place: tuple[Spot, int, int]) -> None:
        spot, line, above = place
        if spot.block >= len(self.views):
            return
        rows = self._rows(spot.block, spot.piece)
        last = max(0, len(rows) - 1)
        number = min(spot.row, last) if line < 0 else _row_at(rows, line, above)
        self._top = Spot(spot.block, spot.piece, min(number, last))


def _row_at(rows: Sequence[Row], line: int, above: int) -> int:
    """The row that shows a line of the source from about the character after `above` of them."""
    for number, row in enumerate(rows):
        if row.line > line or (row.line == line and above < _size(row)):
            return number
        if row.line == line:
            above -= _size(row)
    return len(rows)


def _size(row: Row) -> int:
    """The characters of the source in a row, with the space at which it was broken off."""
    return len(row.text) - row.inset + (row.join == " ")
