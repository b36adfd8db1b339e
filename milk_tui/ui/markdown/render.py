"""A piece of Markdown to rows.

Walks the parser's tokens once. The margin holds what stands to the left of the present block: indentation and the
bars of quotes; a list's mark takes the place of its indentation on the first row of an item.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from milk_tui.ui.markdown.highlight import highlight
from milk_tui.ui.markdown.inline import inline_lines
from milk_tui.ui.markdown.literal import render_literal
from milk_tui.ui.markdown.parser import parser, too_deep
from milk_tui.ui.markdown.pieces import JOINER, TABLE_SAMPLE, Context
from milk_tui.ui.markdown.rows import MEASURE, Row, Run, cells, clean, wrap
from milk_tui.ui.markdown.tables import Table, draw_table, read_table

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = "•◦▪"
_TASK = re.compile(r"\[([ xX])\] ")
_LEAST_ROOM = 8
"""Cells that the margin leaves for text, however deep the nesting."""
_ROOMY = {"fence", "code_block", "table_open", "hr"}
"""Top-level blocks that have an empty row around them even where the source has none; headings have one before."""


def render_markdown(text: str, context: Context, width: int) -> list[Row]:
    """The rows of a piece, each at most `width` cells wide; `Row.line` counts from the first line of the piece."""
    prefix = _heading(context.prefix) if context.inside == "table" else context.prefix
    source = prefix + clean(text)
    tokens = parser().parse(source)
    if too_deep(tokens):
        return render_literal(text, width)
    return _Renderer(tokens, source.split("\n"), context, prefix.count("\n"), width).render()


def warm_up() -> None:
    """Import and compile what the first answer would wait for: a tenth of a second, to be spent when nobody waits."""
    for language in ("python", "bash", "json", "javascript", "diff"):
        render_markdown(f"```{language}\n```", Context(), MEASURE)
        highlight("x", language)


def _heading(table: str) -> str:
    return "".join(table.splitlines(keepends=True)[:2])


@lru_cache(maxsize=8)
def _table(source: str) -> Table:
    """The first rows of a table, kept while the rest arrives."""
    return read_table(parser().parse(source), source.split("\n"))


class _Renderer:
    def __init__(
        self, tokens: "Sequence[Token]", lines: list[str], context: Context, own: int, width: int
    ) -> None:
        self.tokens = tokens
        self.lines = lines
        self.context = context
        self.own = own
        self.width = width
        self.rows: list[Row] = []
        self.margin: list[Run] = []
        self.marks: dict[int, Run] = {}
        self.lead: list[Run] = []
        self.depth = 0

    def render(self) -> list[Row]:
        """Draw all blocks."""
        self.blocks(0, self.context.after)
        return self.rows

    def blocks(self, index: int, before: str = "") -> int:
        """Draw the blocks beside each other from an index on; returns the index of what closes them."""
        while index < len(self.tokens) and self.tokens[index].nesting >= 0:
            token = self.tokens[index]
            roomy = token.level == 0 and (before in _ROOMY or token.type in {*_ROOMY, "heading_open"})
            if before and (roomy or self.blank_before(token)):
                self.gap()
            before = token.type
            index = self.block(index)
        return index

    def block(self, index: int) -> int:
        """Draw one block; returns the index after it."""
        token = self.tokens[index]
        match token.type:
            case "paragraph_open" | "heading_open":
                style = f"heading {token.tag}" if token.type == "heading_open" else ""
                self.paragraph(self.tokens[index + 1], style, first=index == 0)
                return index + 3
            case "bullet_list_open" | "ordered_list_open":
                return self.list(index)
            case "blockquote_open":
                self.push(("▎ ", "bar"))
                index = self.blocks(index + 1)
                self.margin.pop()
                return index + 1
            case "table_open":
                return self.table(index)
            case "hr":
                self.line([("─" * max(3, min(self.room, MEASURE)), "border")], _line(token))
            case _:
                self.code(token, goes_on=index == 0 and self.context.inside == "fence")
        return index + 1

    def paragraph(self, token: "Token", style: str, *, first: bool) -> None:
        """Draw inner text, a line of the source after the other."""
        lines = inline_lines(token, style)
        if first and self.context.inside == "paragraph" and lines[0]:
            text, names = lines[0][0]
            lines[0][0] = (text.removeprefix(JOINER), names)
        assert token.map is not None
        # Code spans swallow line breaks: then all rows stand for all of the lines together.
        exact = len(lines) == token.map[1] - token.map[0]
        for number, runs in enumerate(lines):
            self.line(runs, token.map[0] + (number if exact else 0), width=MEASURE)

    def list(self, index: int) -> int:
        """Draw a list; one that goes on has its first item only in the prefix."""
        opening = self.tokens[index]
        goes_on = index == 0 and self.context.inside == "list"
        number = self.context.number - 1 if goes_on else int(opening.attrs.get("start", 1))
        bullet = _BULLETS[min(self.depth, len(_BULLETS) - 1)]
        ordered = opening.type == "ordered_list_open"
        self.depth += 1
        index += 1
        first = True
        while self.tokens[index].type == "list_item_open":
            if goes_on and first:
                index = _closing(self.tokens, index)
            else:
                if not first and self.blank_before(self.tokens[index]):
                    self.gap()
                mark = f"{number}{opening.markup} " if ordered else f"{bullet} "
                index = self.item(index, mark)
            index += 1
            number += 1
            first = False
        self.depth -= 1
        return index + 1

    def item(self, index: int, mark: str) -> int:
        """Draw an item behind its mark; returns the index of its end."""
        style = "bullet"
        inline = self.tokens[index + 2] if self.tokens[index + 1].type == "paragraph_open" else None
        task = _TASK.match(inline.content) if inline else None
        if task and inline and inline.children:
            inline.children[0].content = inline.children[0].content[task.end() :]
            mark = "☐ " if task[1] == " " else "☑ "
        place = len(self.margin)
        if self.push((" " * len(mark), "")):
            self.marks[place] = (mark, style)
        else:
            self.lead.append((mark, style))
        end = self.blocks(index + 1)
        if self.marks.get(place) or self.lead:
            self.line([], _line(self.tokens[index]))
        self.margin.pop()
        return end

    def table(self, index: int) -> int:
        """Draw a table; one that goes on has its heading and first rows only in the prefix."""
        end = _closing(self.tokens, index)
        goes_on = index == 0 and self.context.inside == "table"
        table = read_table(self.tokens[index:end], self.lines)
        sample = _table(self.context.prefix).rows if goes_on else table.rows[:TABLE_SAMPLE]
        for line, runs in draw_table(table, sample, self.room, goes_on=goes_on):
            self.line(runs, line)
        return end + 1

    def code(self, token: "Token", *, goes_on: bool) -> None:
        """Draw code on a ground of its own, its language above it."""
        info = " ".join(token.info.split())
        line = _line(token)
        self.push(("  ", "fence"))
        if info and not goes_on:
            self.line([(info, "language")], line, fill="fence")
        if token.type == "fence":
            line += 1
        content = token.content.removesuffix("\n").expandtabs(4)
        if token.content:
            for number, runs in enumerate(highlight(content, info.split()[0] if info else "")):
                styled = [(text, f"fence {style}" if style else "fence") for text, style in runs]
                self.line(styled, line + number, chop=True, fill="fence")
        self.margin.pop()

    @property
    def room(self) -> int:
        """The cells that the margin leaves."""
        return self.width - cells(self.margin)

    def push(self, run: Run) -> bool:
        """Add to the margin; an empty run, and false, when no room would be left."""
        fits = self.room - len(run[0]) >= _LEAST_ROOM
        self.margin.append(run if fits else ("", ""))
        return fits

    def blank_before(self, token: "Token") -> bool:
        """Whether the source has an empty line in front of a block, quote marks aside."""
        line = _line(token)
        if line <= self.own:
            return self.context.blank
        return not self.lines[line - 1].strip(" >\t" if token.level else None)

    def gap(self) -> None:
        """An empty row, with the bars of the quotes that it stands in."""
        self.line([], -1)

    def line(
        self, runs: Sequence[Run], line: int, *, chop: bool = False, fill: str = "", width: int = 0
    ) -> None:
        """Add the rows of a line behind the margin, broken at `width` or where the room ends."""
        if self.lead and line >= 0:
            runs = [*self.lead, *runs]
            self.lead = []
        room = min(width, self.room) if width else self.room
        plain = tuple(run for run in self.margin if run[0])
        for part in wrap(runs, room, chop=chop):
            margin = plain
            inset = sum(len(text) for text, _ in plain)
            if self.marks and line >= 0:
                inset = sum(len(text) for text, _ in self.margin[: min(self.marks)])
                marked = [self.marks.get(place, run) for place, run in enumerate(self.margin)]
                margin = tuple(run for run in marked if run[0])
                self.marks = {}
            own = line - self.own if line >= 0 else -1
            self.rows.append(Row(margin + part.runs, cells(margin) + part.cells, own, inset, part.join, fill))


def _line(token: "Token") -> int:
    assert token.map is not None
    return token.map[0]


def _closing(tokens: "Sequence[Token]", index: int) -> int:
    """The index of the token that closes the one at `index`."""
    level = tokens[index].level
    index += 1
    while tokens[index].level > level or tokens[index].nesting >= 0:
        index += 1
    return index
