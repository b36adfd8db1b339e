"""A table to rows: columns as wide as they need, narrower ones when the row is full, lists when even that fails.

Widths follow from the heading and the first rows, so that the rows of a long table can be drawn as they arrive.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from milk_tui.ui.markdown.inline import inline_lines
from milk_tui.ui.markdown.rows import Part, Run, cells, wrap

if TYPE_CHECKING:
    from markdown_it.token import Token

Cell = list[list[Run]]
"""The lines of a cell."""

_GAP: Run = (" │ ", "border")
_NARROWEST = 4
_PIPE = re.compile(r"(?<!\\)\|")


class TableRow(NamedTuple):
    """One row of a table and the source line that it stands on."""

    line: int
    cells: list[Cell]


class Table(NamedTuple):
    """A table as it is written."""

    head: TableRow
    rows: list[TableRow]
    aligns: list[str]


class Line(NamedTuple):
    """One drawn line of a table."""

    line: int
    runs: list[Run]


def read_table(tokens: "Sequence[Token]", lines: Sequence[str]) -> Table:
    """The table between its opening and closing tokens; `lines` are the source's."""
    rows: list[TableRow] = []
    aligns: list[str] = []
    for token in tokens:
        if token.type == "tr_open" and token.map:
            rows.append(TableRow(token.map[0], []))
        elif token.type == "th_open":
            aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].cells.append(inline_lines(token, "" if len(rows) > 1 else "th"))
        elif token.type == "tr_close" and len(rows) > 1:
            _keep_surplus(rows[-1], lines[rows[-1].line])
    return Table(rows[0], rows[1:], aligns)


def _keep_surplus(row: TableRow, source: str) -> None:
    """Show the cells for which the heading has no column, which the parser drops, below the last one."""
    if source.count("|") < len(row.cells):
        return
    written = _PIPE.split(source.strip(" >\t").removeprefix("|"))
    if written and not written[-1].strip():
        written.pop()
    surplus = " | ".join(text.strip() for text in written[len(row.cells) :])
    if surplus:
        row.cells[-1].append([(surplus, "")])


def draw_table(table: Table, sample: Sequence[TableRow], width: int, *, goes_on: bool) -> list[Line]:
    """Draw a table; of one that `goes_on` the heading has been drawn before. `sample` rows decide the widths."""
    widths = _widths([table.head, *sample], width)
    if not widths:
        return _as_list(table.head, table.rows)
    lines: list[Line] = []
    if not goes_on:
        lines += _row(table.head, widths, table.aligns)
        lines.append(Line(table.head.line + 1, [("─┼─".join("─" * each for each in widths), "border")]))
    for row in table.rows:
        lines += _row(row, widths, table.aligns)
    return lines


def _widths(rows: Sequence[TableRow], width: int) -> list[int]:
    """The widths of the columns; empty when they cannot stand beside each other."""
    wanted = [
        max(2, *(_cell_width(row.cells[column]) for row in rows)) for column in range(len(rows[0].cells))
    ]
    room = width - 3 * (len(wanted) - 1)
    if sum(wanted) <= room:
        return wanted
    if room < _NARROWEST * len(wanted):
        return []
    widths = [0] * len(wanted)
    # The narrow columns get what they want; the wide ones share what is left.
    by_need = sorted(range(len(wanted)), key=lambda column: wanted[column])
    for place, column in enumerate(by_need):
        widths[column] = min(wanted[column], room // (len(by_need) - place))
        room -= widths[column]
    return widths


def _cell_width(cell: Cell) -> int:
    return max((cells(line) for line in cell), default=0)


def _row(row: TableRow, widths: Sequence[int], aligns: Sequence[str]) -> list[Line]:
    columns = [
        [part for line in cell for part in wrap(line, width)]
        for cell, width in zip(row.cells, widths, strict=True)
    ]
    lines = []
    for height in range(max(len(parts) for parts in columns)):
        runs: list[Run] = []
        for column, parts in enumerate(columns):
            part = parts[height] if height < len(parts) else Part((), 0, "")
            runs += _aligned(part, widths[column], aligns[column])
            runs.append(_GAP)
        lines.append(Line(row.line, runs[:-1]))
    return lines


def _aligned(part: Part, width: int, align: str) -> list[Run]:
    space = max(0, width - part.cells)
    left = {"right": space, "center": space // 2}.get(align, 0)
    runs = [(" " * left, ""), *part.runs, (" " * (space - left), "")]
    return [run for run in runs if run[0]]


def _as_list(head: TableRow, rows: Sequence[TableRow]) -> list[Line]:
    """Every cell on a line of its own behind its heading, for a table that is too wide; the heading if no rows are."""
    lines: list[Line] = [] if rows else [Line(head.line, line) for cell in head.cells for line in cell]
    for row in rows:
        for title, cell in zip(head.cells, row.cells, strict=True):
            name = [run for line in title for run in line]
            lines.append(Line(row.line, [*name, (": ", "border"), *(cell[0] if cell else [])]))
            lines += [Line(row.line, line) for line in cell[1:]]
        lines.append(Line(row.line, []))
    return lines
