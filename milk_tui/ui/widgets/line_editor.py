"""The place where one line of a brick is edited: it opens on a row, and gives back the user's words or nothing."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import TextArea

from milk_tui.core.shaping import to_edit
from milk_tui.ui.widgets.line_list import LineList, Row


class LineEditor(TextArea):
    """Hidden until it is opened. Enter keeps the words, Escape drops them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "Keep", tooltip="Keep the edit", id="edit.keep", priority=True),
        Binding(
            "ctrl+j", "break_line", "New line", tooltip="Begin a new line", id="edit.line", priority=True
        ),
        Binding(
            "escape", "leave", "Cancel", tooltip="Keep the line as it was", id="edit.leave", priority=True
        ),
    ]

    def __init__(self) -> None:
        super().__init__(compact=True, soft_wrap=True, show_line_numbers=False)
        self._row: Row | None = None
        self._back: Widget | None = None
        self._before = ""

    def open(self, row: Row, back: Widget) -> None:
        """Edit this row's line, and give the focus back to that widget."""
        if row.line is None:
            return
        self._row, self._back = row, back
        self.text = self._before = to_edit(row.line)
        self.move_cursor(self.document.end)
        self.add_class("-open")
        self.border_title = "Edit the line"
        self.border_subtitle = "Enter keeps · emptied, it says again what it said · Esc"
        self.focus()

    def action_keep(self) -> None:
        """Give the words back."""
        row, text = self._row, self.text
        self.action_leave()
        if row is not None and text != self._before:
            self.post_message(LineList.Wanted("edit", row, text))

    def action_break_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Close without a word."""
        self.remove_class("-open")
        if self._back is not None:
            self._back.focus()
