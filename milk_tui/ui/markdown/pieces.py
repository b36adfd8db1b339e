"""Where a growing Markdown text can be cut, so that each piece is parsed and drawn by itself.

All pieces but the last are sealed: nothing that comes later changes them. A cut is made where a top-level block
begins, or an item of a top-level list; long fences and tables are cut by rows, and anything that grows beyond
measure at the end of a line. Cuts follow from the text alone, so every way to split it into deltas gives the same
pieces. A piece that begins inside something carries a prefix that stands for what came before.
"""

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from milk_tui.ui.markdown.parser import block_tokens
from milk_tui.ui.markdown.rows import clean

if TYPE_CHECKING:
    from markdown_it.token import Token

Inside = Literal["", "fence", "table", "list", "paragraph"]

JOINER = "\u2060"
"""Stands for the first half of a paragraph: invisible, and no Markdown begins with it."""

LONG_LINE = 4_000
"""Characters of one line after which it is cut."""
_LONG_PIECE = 12_000
_FENCE_ROWS = (12, 24, 64)
"""After so many rows a fence is cut at a line that begins something; at one outside strings and comments; anywhere."""
TABLE_SAMPLE = 16
"""The rows of a table that decide how wide its columns are; and it is cut after every so many."""

_LONG = re.compile(f"[^\n]{{{LONG_LINE}}}")
_SPANNING = ('"""', "'''", "/*", "*/", "<!--", "-->")


class Context(NamedTuple):
    """What a piece has to know of the text before it."""

    after: str = ""
    """The type of the block before it; empty at the start, and inside a block that goes on."""
    blank: bool = False
    """Whether an empty line is in front of it."""
    inside: Inside = ""
    prefix: str = ""
    """Source put in front of the piece, so that it is parsed as it would be in its place."""
    number: int = 0
    """The number of the next item of a list."""


class Piece(NamedTuple):
    """A stretch of source, up to where the next piece starts."""

    start: int
    context: Context = Context()


def split(source: str, tail: Piece) -> list[Piece]:
    """Cut the text from an open piece on. The last of the pieces is the new open one."""
    sealed: list[Piece] = []
    while True:
        long = _LONG.search(source, tail.start)
        limit = long.start() if long else len(source)
        end = source.rfind("\n", tail.start, limit) + 1 or tail.start
        pieces, stop = _up_to_a_large_one([tail, *_cuts(source, tail, end)], end)
        sealed += pieces
        tail = sealed[-1]
        if stop - tail.start >= _LONG_PIECE:
            start = source.index("\n", tail.start + _LONG_PIECE - 1) + 1
            tail = _cut_short(source, tail, start, start)
        elif long:
            tail = _cut_short(source, tail, _soft_end(source, limit), end, paragraph=True)
        else:
            return sealed


def _up_to_a_large_one(pieces: list[Piece], end: int) -> tuple[list[Piece], int]:
    """The pieces up to the first that is too large, and where the last of these ends."""
    for index, piece in enumerate(pieces):
        stop = pieces[index + 1].start if index + 1 < len(pieces) else end
        if stop - piece.start >= _LONG_PIECE:
            return pieces[: index + 1], stop
    return pieces, end


def _soft_end(source: str, start: int) -> int:
    space = source.rfind(" ", start + LONG_LINE // 2, start + LONG_LINE)
    return space + 1 if space > 0 else start + LONG_LINE


def _cut_short(source: str, tail: Piece, start: int, end: int, *, paragraph: bool = False) -> Piece:
    """The piece after a cut that the text itself did not offer."""
    if tail.context.inside == "fence" and end == tail.start:
        return Piece(start, tail.context)
    lines = _Lines(source, tail, end)
    top = [token for token in block_tokens(lines.parsed) if token.level == 0]
    if top and top[-1].type == "fence" and not _is_closed(top[-1]):
        return Piece(start, _in_fence(top[-1], lines))
    return Piece(start, Context(inside="paragraph", prefix=JOINER) if paragraph else Context())


def _cuts(source: str, tail: Piece, end: int) -> list[Piece]:
    """The cuts between an open piece's start and `end`, which is the end of a line."""
    lines = _Lines(source, tail, end)
    cuts: list[Piece] = []
    tokens = block_tokens(lines.parsed)
    before = ""
    for index, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        if before:
            cuts.append(lines.piece(token.map[0], Context(before, lines.blank(token.map[0]))))
        if token.type == "fence":
            cuts += _fence_cuts(token, lines)
        elif token.type == "table_open":
            cuts += _table_cuts(token, lines, Context() if before else tail.context)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            cuts += _list_cuts(tokens, index, lines, Context() if before else tail.context)
        before = token.type
    return cuts


class _Lines:
    """The complete lines of an open piece, counted as the parser does: those of the prefix come first."""

    def __init__(self, source: str, tail: Piece, end: int) -> None:
        self.source = source
        self.parsed = tail.context.prefix + clean(source[tail.start : end])
        self.prefix = tail.context.prefix.splitlines(keepends=True)
        self.first = tail.context.prefix.count("\n")
        self.starts = line_starts(source, tail.start, end)

    def text(self, line: int) -> str:
        """One line with its line break."""
        if line < self.first:
            return self.prefix[line]
        line -= self.first
        return self.source[self.starts[line] : self.starts[line + 1]]

    def indent(self, line: int) -> str:
        """The white space that a line starts with."""
        text = self.text(line)
        return text[: len(text) - len(text.lstrip())]

    def blank(self, line: int) -> bool:
        """Whether the line before `line` is empty."""
        return line > self.first and not self.text(line - 1).strip()

    def piece(self, line: int, context: Context) -> Piece:
        """A piece that starts at a line."""
        return Piece(self.starts[line - self.first], context)


def _is_closed(fence: "Token") -> bool:
    assert fence.map is not None
    return fence.map[1] - fence.map[0] > fence.content.count("\n") + 1


def _in_fence(fence: "Token", lines: _Lines) -> Context:
    assert fence.map is not None
    return Context(inside="fence", prefix=clean(lines.text(fence.map[0])))


def _fence_cuts(fence: "Token", lines: _Lines) -> list[Piece]:
    assert fence.map is not None
    code = fence.content.split("\n")[:-1]
    first = fence.map[0] + 1
    context = _in_fence(fence, lines)
    cuts: list[Piece] = []
    begin, open_marks = 0, 0
    for row, text in enumerate(code):
        begins = row > 0 and not code[row - 1].strip() and bool(text[:1].strip())
        outside = open_marks % 2 == 0
        least = _FENCE_ROWS[0 if begins and outside else 1 if outside else 2]
        if row - begin >= least:
            cuts.append(lines.piece(first + row, context))
            begin, open_marks = row, 0
        open_marks += sum(text.count(mark) for mark in _SPANNING)
    return cuts


def _table_cuts(table: "Token", lines: _Lines, context: Context) -> list[Piece]:
    """The first rows go with every later piece: they decide how wide the columns are."""
    assert table.map is not None
    first, last = table.map[0] + 2 + TABLE_SAMPLE, table.map[1]
    if context.inside == "table":
        first += TABLE_SAMPLE
    elif first < last:
        prefix = "".join(clean(lines.text(line)) for line in range(table.map[0], first))
        context = Context(inside="table", prefix=prefix)
    return [lines.piece(row, context) for row in range(first, last, TABLE_SAMPLE)]


def _list_cuts(tokens: "list[Token]", index: int, lines: _Lines, context: Context) -> list[Piece]:
    opening = tokens[index]
    item = f"{'1' if opening.type == 'ordered_list_open' else ''}{opening.markup} x\n"
    starts: list[int] = []
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open" and token.map:
            starts.append(token.map[0])
    number = int(opening.attrs.get("start", 1))
    if context.inside == "list":
        number = context.number
        del starts[0]
    return [
        # Indented as the item it stands in front of, or one would become part of the other.
        lines.piece(
            start, Context("", lines.blank(start), "list", lines.indent(start) + item, number + place)
        )
        for place, start in enumerate(starts[1:], 1)
    ]


def line_starts(source: str, start: int, end: int) -> list[int]:
    """The offsets at which the lines of a piece begin, and the offset after its last line break."""
    starts = [start]
    while (following := source.find("\n", starts[-1], end) + 1) > 0:
        starts.append(following)
    return starts
