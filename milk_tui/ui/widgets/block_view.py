"""One block as it is drawn: its pieces, their heights, and the rows of those that were looked at.

A block that nobody has seen is only an estimate. Piece 0 is the head; the others are pieces of the text. Knows the
width, and neither the screen nor the other blocks.
"""

from milk_tui.ui.markdown.literal import render_literal, split_literal
from milk_tui.ui.markdown.pieces import LONG_LINE, Piece, split
from milk_tui.ui.markdown.render import render_markdown
from milk_tui.ui.markdown.rows import BLANK, MEASURE, Row, Run
from milk_tui.ui.widgets.blocks import GUTTER, LOOKS, Block, body_style, gutter, head
from milk_tui.ui.widgets.heights import Heights

_RIGHT_MARGIN = 1


class BlockView:
    """A block, its folding, and what is drawn of it."""

    __slots__ = ("_heights", "_pieces", "_rows", "block", "folded", "gap", "tells", "width")

    def __init__(self, block: Block, gap: int, width: int, tells: bool = False) -> None:
        self.block = block
        self.gap = gap
        """Empty rows above it."""
        self.width = width
        """Cells for text."""
        self.folded = block.folded
        self.tells = tells
        """Whether its head says when it was said and what it took."""
        self._pieces: list[Piece] | None = None
        self._heights = Heights()
        self._rows: list[list[Row] | None] = []

    @staticmethod
    def text_width(width: int) -> int:
        """The cells for text in a transcript of this width."""
        return max(1, width - GUTTER - _RIGHT_MARGIN)

    @property
    def is_open(self) -> bool:
        """Whether its text has been cut; before that it is an estimate."""
        return self._pieces is not None

    @property
    def height(self) -> int:
        """Its rows: exact where drawn, otherwise an estimate."""
        if self._pieces is not None:
            return self._heights.total
        return self.gap + 1 + (0 if self.folded else self._estimate(0, len(self.block.body)))

    @property
    def heights(self) -> Heights:
        """The heights of its pieces."""
        self._open()
        return self._heights

    @property
    def pieces(self) -> list[Piece]:
        """The pieces of its text."""
        self._open()
        assert self._pieces is not None
        return self._pieces

    @property
    def lines(self) -> int:
        """The lines of its text."""
        body = self.block.body
        return body.count("\n") + (not body.endswith("\n")) if body else 0

    def resize(self, width: int) -> None:
        """Forget all that depends on the width, and not where the text is cut."""
        self.width = width
        if self._pieces is not None:
            self._measure_from(0)

    def fold(self, folded: bool) -> None:
        """Show the first row only, or all."""
        self.folded = folded
        self._pieces = None

    def update(self, block: Block) -> None:
        """Take a new state of the block; text that only grew keeps the pieces that it had.

        How the user has folded it stays, unless the block itself is to be shown another way than before.
        """
        before, self.block = self.block, block
        if block.folded != before.folded:
            self.fold(block.folded)
        if self._pieces is None:
            return
        grows = block.kind == before.kind and block.body.startswith(before.body) and not self.folded
        if not grows:
            self._pieces = None
            return
        if len(block.body) > len(before.body):
            self._grow(len(before.body))
        self._rows[0] = None
        self.rows(0)

    def part(self, gap: int) -> None:
        """Stand so many empty rows below another block than before."""
        if gap != self.gap:
            self.gap = gap
            self._draw_head_anew()

    def tell(self, tells: bool) -> None:
        """Say in its head when it was said and what it took, or no longer."""
        if tells != self.tells:
            self.tells = tells
            self._draw_head_anew()

    def _draw_head_anew(self) -> None:
        if self.is_open:
            self._rows[0] = None
            self.rows(0)

    def rows(self, index: int) -> list[Row]:
        """The rows of a piece, drawn if they are not."""
        rows = self.peek(index)
        if self._rows[index] is None:
            self._rows[index] = rows
            self._heights[index] = len(rows)
        return rows

    def peek(self, index: int) -> list[Row]:
        """The rows of a piece, drawn if they are not, and then not kept."""
        self._open()
        rows = self._rows[index]
        if rows is not None:
            return rows
        return self._draw(index) if index else self._draw_head()

    def forget(self, index: int) -> None:
        """Let the rows of a piece go; its height stays."""
        if index < len(self._rows):
            self._rows[index] = None

    def gutter(self, index: int, row: int) -> Run:
        """What stands on the left of a row of a piece."""
        row -= self.gap if index == 0 else 0
        if row < 0:
            return (" " * GUTTER, "")
        is_first = row == 0 and (index == 0 or (index == 1 and len(self.rows(0)) == self.gap))
        return gutter(self.block, self.folded, is_first=is_first)

    def extent(self, index: int) -> tuple[int, int]:
        """Where in the text a piece starts and ends."""
        pieces = self.pieces
        end = pieces[index].start if index < len(pieces) else len(self.block.body)
        return pieces[index - 1].start, end

    def _open(self) -> None:
        if self._pieces is None:
            body = "" if self.folded else self.block.body
            self._pieces = self._split(body, Piece(0)) if body else []
            self._measure_from(0)

    def _grow(self, size: int) -> None:
        """Cut what came after the first `size` characters; only the open piece is cut again."""
        assert self._pieces is not None
        tail = self._pieces.pop() if self._pieces else Piece(0)
        sealed = len(self._pieces)
        body = self.block.body
        is_long = len(body) - tail.start > LONG_LINE
        self._pieces += self._split(body, tail) if is_long or "\n" in body[size:] else [tail]
        self._measure_from(1 + sealed)

    def _split(self, text: str, tail: Piece) -> list[Piece]:
        return split(text, tail) if self.block.is_markdown else split_literal(text, tail)

    def _measure_from(self, index: int) -> None:
        """Start anew with estimates for the pieces from an index on."""
        count = 1 + len(self.pieces)
        del self._rows[index:]
        self._rows += [None] * (count - index)
        self._heights.truncate(index)
        for each in range(index, count):
            self._heights.append(self._estimate(*self.extent(each)) if each else 0)
        if index == 0:
            self.rows(0)

    def _estimate(self, start: int, end: int) -> int:
        lines = self.block.body.count("\n", start, end)
        return max(1, lines + (end - start) // min(self.width, MEASURE))

    def _draw_head(self) -> list[Row]:
        return [BLANK] * self.gap + head(self.block, self.folded, self.lines, self.width, self.tells)

    def _draw(self, index: int) -> list[Row]:
        start, end = self.extent(index)
        text = self.block.body[start:end]
        if self.block.is_markdown:
            return render_markdown(text, self.pieces[index - 1].context, self.width)
        look = LOOKS[self.block.kind]
        width = self.width if look.chop else min(self.width, MEASURE)
        return render_literal(text, width, body_style(self.block), chop=look.chop)
