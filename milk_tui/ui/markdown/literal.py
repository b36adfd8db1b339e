"""Text that is not Markdown, cut into pieces and drawn as it is: what users, tools and the program itself say."""

import re

from milk_tui.ui.markdown.pieces import LONG_LINE, Context, Piece, line_starts
from milk_tui.ui.markdown.rows import Row, clean, wrap

_ROWS = 64
_TAB = 4
_LONG = re.compile(f"[^\n]{{{LONG_LINE}}}")
_MIDDLE = Context(inside="paragraph")


def split_literal(source: str, tail: Piece) -> list[Piece]:
    """Cut the text from an open piece on, every so many lines. The last of the pieces is the new open one."""
    pieces = [tail]
    while True:
        tail = pieces[-1]
        long = _LONG.search(source, tail.start)
        limit = long.start() if long else len(source)
        starts = line_starts(source, tail.start, limit)
        whole = starts[1 : -1 if starts[-1] == len(source) else None]
        pieces += [Piece(start) for start in whole[_ROWS - 1 :: _ROWS]]
        if long is None:
            return pieces
        pieces.append(Piece(limit + LONG_LINE, _MIDDLE))


def render_literal(text: str, width: int, style: str = "", *, chop: bool = False) -> list[Row]:
    """The rows of a piece, in one style. Lines break at spaces, or anywhere with `chop`."""
    rows: list[Row] = []
    lines = clean(text).removesuffix("\n").expandtabs(_TAB).split("\n")
    for number, line in enumerate(lines):
        for part in wrap([(line, style)] if line else [], width, chop=chop):
            rows.append(Row(part.runs, part.cells, number, 0, part.join, style))
    return rows
