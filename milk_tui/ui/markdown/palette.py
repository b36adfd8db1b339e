"""Rows to strips: the one place where the names of styles become colours.

A palette lasts as long as a theme; rows outlive it.
"""

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from milk_tui.ui.markdown.rows import Row, Run, cells

SELECTED = "selected"
"""The name of the style of selected text, which lies over all others."""


class Palette:
    """What the names of styles look like in one theme."""

    def __init__(self, base: Style, resolve: Callable[[str], Style]) -> None:
        self._resolve = resolve
        self._styles: dict[str, Style] = {"": base}

    def style(self, names: str) -> Style:
        """The style for names with spaces between them; later ones lie over earlier ones."""
        found = self._styles.get(names)
        if found is None:
            before, _, name = names.rpartition(" ")
            found = self.style(before) + self._resolve(name)
            self._styles[names] = found
        return found

    def strip(self, row: Row, gutter: Run, width: int) -> Strip:
        """A row behind its gutter, exactly `width` cells wide."""
        segments = [Segment(text, self.style(names)) for text, names in (gutter, *row.runs) if text]
        used = cells((gutter,)) + row.cells
        if used < width:
            segments.append(Segment(" " * (width - used), self.style(row.fill)))
        strip = Strip(segments, max(used, width))
        return strip if used <= width else strip.adjust_cell_length(width)


def select(row: Row, start: int, end: int) -> Row:
    """The row with the characters from `start` to `end` shown as selected."""
    return lay(row, start, end, SELECTED)


def lay(row: Row, start: int, end: int, style: str) -> Row:
    """The row with a style laid over the characters from `start` to `end`."""
    runs: list[Run] = []
    offset = 0
    for text, names in row.runs:
        first, last = max(0, start - offset), max(0, min(len(text), end - offset))
        parts = [
            (text[:first], names),
            (text[first:last], f"{names} {style}"),
            (text[max(first, last) :], names),
        ]
        runs += [part for part in parts if part[0]]
        offset += len(text)
    return row._replace(runs=tuple(runs))
