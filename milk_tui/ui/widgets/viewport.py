"""Which rows of the transcript are on screen, and how that stays right while blocks grow, fold and are measured.

The heights of blocks that were not looked at are corrected as they come into view, without moving what the reader
sees: the place in view is kept as a spot. Knows blocks and numbers; the widget around it knows the screen.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from milk_tui.ui.markdown.rows import Row, Run
from milk_tui.ui.widgets.stack import Spot, Stack

_NEAR = 4
"""Pages within which scrolling goes row by row over exact heights; farther is a jump by estimates."""


class Line(NamedTuple):
    """A row on screen."""

    spot: Spot
    row: Row
    gutter: Run


class Viewport(Stack):
    """The blocks, and the window on them."""

    def __init__(self) -> None:
        super().__init__()
        self.height = 0
        self.following = True
        """Whether the end stays in view."""
        self.lines: list[Line] = []
        """What is on screen, from the top; shorter than the screen when there is no more."""
        self.scroll_y = 0
        """Rows above the screen, by what is known of their heights."""
        self._top = Spot(0)

    @property
    def top(self) -> Spot:
        """The first row on screen."""
        return self._top

    def remove(self, indices: Collection[int]) -> None:
        """Take blocks out; what is read stays where it is."""
        places = self.take_out(indices)
        block = self._top.block
        if block in places:
            self._top = self._top._replace(block=places[block])
        else:
            self._top = Spot(sum(old < block for old in places))

    def fold(self, index: int, folded: bool) -> None:
        """Show the first row of a block only, or all of it.

        That row stays where it is on screen, unless it has to make room for the rest.
        """
        view = self.views[index]
        first = self.first_row(index)
        above = next((number for number, line in enumerate(self.lines) if line.spot >= first), 0)
        view.fold(folded)
        self._heights[index] = view.height
        self.forward(first, self.height)
        above = max(0, min(above, self.height - (view.height - view.gap)))
        self.look_from(self.back(first, above))

    def fold_all(self, indices: Iterable[int], folded: bool) -> None:
        """Fold or unfold many blocks; what is at the top stays there, as far as it is still shown."""
        for index in indices:
            self.views[index].fold(folded)
            self._heights[index] = self.views[index].height
        self.settle()

    def resize(self, width: int, height: int) -> None:
        """Take a new size. With another width all is drawn anew, what is in view first and the rest when seen."""
        self.height = height
        if width == self.width:
            return
        place = self._reading_place()
        self.widen(width)
        self._return_to(place)

    def settle(self) -> None:
        """Find out what is on screen: draw it, and correct the heights and the place of the top."""
        if self.following:
            self._top = self.back(Spot(len(self.views)), self.height)
        else:
            self._top = self.within(self._top)
        self._fill()
        if len(self.lines) < self.height and self._top != Spot(0):
            self._top = self.back(Spot(len(self.views)), self.height)
            self._fill()
        self.scroll_y = self.row_of(self._top)
        self.let_go({(line.spot.block, line.spot.piece) for line in self.lines})

    def scroll(self, row: int) -> None:
        """Bring a row to the top; the end is followed from when it is in view, and no longer when it is not."""
        change = row - self.scroll_y
        if row <= 0:
            self._top = Spot(0)
        elif abs(change) > _NEAR * self.height:
            self._top = self.jump(row)
        else:
            self._top = self.back(self._top, -change) if change < 0 else self.forward(self._top, change)
        self.look_from(self._top)

    def reveal(self, spot: Spot, above: int = 0) -> None:
        """Bring a row into view, moving little: from below to the middle, from above under so many rows."""
        if self.lines and self.lines[0].spot <= spot <= self.lines[-1].spot:
            return
        is_above = not self.lines or spot < self.lines[0].spot
        self.look_from(self.back(spot, above if is_above else self.height // 2))

    def look_from(self, top: Spot) -> None:
        """Bring a row to the top, as far as there is more below it."""
        self._top = top
        self.following = False
        self.settle()
        self.following = self.scroll_y >= self.total - self.height

    def _fill(self) -> None:
        self.lines = []
        block, piece, row = self._top
        while block < len(self.views):
            view = self.views[block]
            rows = self.rows(block, piece)
            for number in range(row, len(rows)):
                spot = Spot(block, piece, number)
                self.lines.append(Line(spot, rows[number], view.gutter(piece, number)))
                if len(self.lines) >= self.height:
                    return
            block, piece, row = self.after(block, piece)

    def _reading_place(self) -> tuple[Spot, int, int]:
        """The top spot, its line in the source, and the characters of that line above it."""
        if not self.lines or self._top.block >= len(self.views):
            return self._top, -1, 0
        rows = self.rows(self._top.block, self._top.piece)
        if not rows:  # a block without a heading, at the very beginning
            return self._top, -1, 0
        row = min(self._top.row, len(rows) - 1)
        line = rows[row].line
        return self._top, line, sum(_size(each) for each in rows[:row] if each.line == line)

    def _return_to(self, place: tuple[Spot, int, int]) -> None:
        spot, line, above = place
        if spot.block >= len(self.views):
            return
        rows = self.rows(spot.block, spot.piece)
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
