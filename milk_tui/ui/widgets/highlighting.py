"""A text area in which Markdown is seen as it is written.

Keys cost no more for it, for rows that stay are not drawn again. It knows no keys, and not what the text is for.
"""

from collections.abc import Hashable

from rich.text import Text
from textual.strip import Strip

from milk_tui.ui.widgets.folding import FoldingTextArea
from milk_tui.ui.widgets.written import fenced, spans

_ROWS = 512
"""Rows that are kept as they were drawn; with more, all are drawn anew."""


class MarkdownTextArea(FoldingTextArea):
    """Parts of Markdown stand out. A text that begins with `!` is a command, and none.

    | Class | Description |
    | :- | :- |
    | `written--heading` | A heading. |
    | `written--mark` | What begins an item of a list, or a quotation. |
    | `written--code` | Code between backticks, or between fences with these. |
    | `written--bold` | What is written to be bold. |
    | `written--mention` | A file that is mentioned. |
    """

    COMPONENT_CLASSES = {
        "written--heading",
        "written--mark",
        "written--code",
        "written--bold",
        "written--mention",
    }

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        self._code: list[bool] | None = None
        """Which lines are code, until the text is another one."""
        self._rows: dict[Hashable, Strip] = {}
        super().__init__(placeholder=placeholder, id=id)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        text = super().get_line(line_index)
        if not self.document[0].startswith("!"):
            for start, end, kind in spans(self.document[line_index], self._is_code(line_index)):
                style = self.get_component_rich_style(f"written--{kind}", partial=True)
                text.stylize_before(style, start, end)
        return text

    def notify_style_update(self) -> None:
        """Draw all anew."""
        self._rows.clear()
        super().notify_style_update()

    def _is_code(self, line_index: int) -> bool:
        if self._code is None:
            self._code = fenced(self.document.lines)
        return self._code[line_index]

    def _build_highlight_map(self) -> None:
        """Called whenever the text is another one, before it is drawn."""
        self._code = None
        super()._build_highlight_map()

    def _render_line(self, y: int) -> Strip:
        """A row, drawn anew only if it is another one than before, or has the cursor or a selection in it."""
        rows = self.wrapped_document._offset_to_line_info
        place = y + self.scroll_offset.y
        if place >= len(rows) or not self.selection.is_empty or rows[place][0] == self.cursor_location[0]:
            return super()._render_line(y)
        index, section = rows[place]
        key = (
            self.document[index],
            section,
            tuple(self.wrapped_document.get_offsets(index)),
            self._is_code(index),
            self.document[0].startswith("!"),
            self.scrollable_content_region.width,
            self.rich_style,
            self.has_focus,
        )
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            row = self._rows[key] = super()._render_line(y)
        return row
