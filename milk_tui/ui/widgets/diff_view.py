"""Draws what was changed in one file: the lines that differ, or what was asked for where that is all there is."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from milk_tui.core.file_diff import FileDiff
from milk_tui.core.text import sanitize
from milk_tui.ui.markdown.highlight import STYLES
from milk_tui.ui.widgets.changes import change

WIDE = 110
"""Cells from which old and new lines stand side by side."""


class DiffView(VerticalScroll, can_focus=True):
    """A picture of one `FileDiff`.

    | Class | Description |
    | :- | :- |
    | `diff--label` | Line numbers, and what is said about the file. |
    | `diff--added`, `diff--removed` | Lines of the change. |
    | `diff--keyword` and its like | Parts of code. |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"diff--{name}" for name in ("label", "added", "removed", *STYLES)
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, tooltip="Read on", id="diff.down"),
        Binding("k", "scroll_up", "Up", show=False, tooltip="Read back", id="diff.up"),
        Binding("space", "page_down", "Page", show=False, tooltip="Read on by a page", id="diff.page"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._diff: FileDiff | None = None
        self._drawn_width = 0

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(markup=False)

    def show(self, diff: FileDiff) -> None:
        """Show this file from its beginning."""
        self._diff = diff
        self._draw()
        self.scroll_home(animate=False)

    def on_resize(self) -> None:
        """A change is drawn for the width that there is."""
        if self.content_size.width != self._drawn_width:
            self._draw()

    def _draw(self) -> None:
        self._drawn_width = self.content_size.width
        if self._diff is not None:
            self.query_one(Static).update(Content("\n").join(self._lines(self._diff)))

    def _lines(self, diff: FileDiff) -> Iterator[Content]:
        if diff.words:
            yield Content.styled(sanitize(diff.words), self._paint("label"))
        if diff.kind == "asked":
            for piece in diff.pieces:
                yield Content.styled("⋯", self._paint("label"))
                yield from self._change(piece.old or None, piece.new, diff.name)
        elif diff.kind != "unchanged":
            yield from self._change(diff.before, diff.after, diff.name)

    def _change(self, before: str | None, after: str | None, name: str) -> list[Content]:
        width = self.content_size.width - 1
        return change(before, after, name, self._paint, width, is_wide=width >= WIDE)

    def _paint(self, name: str) -> Style:
        return self.get_visual_style(f"diff--{name}", partial=True) if name else Style()
