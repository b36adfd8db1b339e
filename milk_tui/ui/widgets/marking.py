"""The marks on what was looked for, for each row that is painted.

They follow from the rows as they are now, so that text which arrives later is marked as well. Knows no colours.
"""

from milk_tui.ui.markdown.palette import lay
from milk_tui.ui.markdown.rows import Row
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.hits import hits
from milk_tui.ui.widgets.needle import Needle
from milk_tui.ui.widgets.search import Place
from milk_tui.ui.widgets.stack import Spot

HIT = "hit"
"""The name of the style of a hit."""
HERE = "here"
"""The name of the style that lies over the hit that is meant."""

_KEPT_PIECES = 200

_Marks = dict[int, list[tuple[int, int, str]]]
"""For rows of a piece: which characters are marked, and how."""


class Marking:
    """What is marked: all hits of a needle, and one of them apart."""

    def __init__(self, needle: Needle | None = None, place: Place | None = None) -> None:
        self.needle = needle
        self.place = place
        self._marks: dict[tuple[int, int], tuple[list[Row], _Marks]] = {}

    def on(self, view: BlockView, spot: Spot, row: Row) -> Row:
        """The row with its marks; the same one where it has none."""
        if not self.needle:
            return row
        for start, end, style in self._of_piece(self.needle, view, spot).get(spot.row, ()):
            row = lay(row, start, end, style)
        return row

    def _of_piece(self, needle: Needle, view: BlockView, spot: Spot) -> _Marks:
        key = (spot.block, spot.piece)
        rows = view.rows(spot.piece)
        kept = self._marks.get(key)
        if kept is not None and kept[0] is rows:
            return kept[1]
        marks: _Marks = {}
        for number, hit in enumerate(hits(view, spot.piece, needle)):
            is_here = self.place == (spot.block, spot.piece, number)
            for part in hit:
                marks.setdefault(part.row, []).append(
                    (part.start, part.end, f"{HIT} {HERE}" if is_here else HIT)
                )
        if len(self._marks) >= _KEPT_PIECES:
            self._marks.clear()
        self._marks[key] = (rows, marks)
        return marks
