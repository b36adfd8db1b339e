"""A text area that folds large pastes into labels and treats each label as one character.

What goes in from outside is sanitized here. It knows no keys but those of editing, and not what the text is for.
"""

from typing import Literal

from rich.text import Text
from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from milk_tui.ui.widgets.pasted import Draft, Pastes, as_shown, is_large, label_spans, received

_Edge = Literal[0, 1]
"""The start or the end of a label."""


class FoldingTextArea(TextArea):
    """Large pastes are shown as a label and given out in full. No edit takes a part of a label.

    | Class | Description |
    | :- | :- |
    | `folding--label` | The label of a large paste. |
    """

    COMPONENT_CLASSES = {"folding--label"}

    class Changed(TextArea.Changed):
        """The text is another one."""

        @property
        def chars(self) -> int:
            """The length of the text now, large pastes counted in full."""
            assert isinstance(self.text_area, FoldingTextArea)
            return self.text_area.chars

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        self._pastes = Pastes()
        super().__init__(placeholder=placeholder, id=id, highlight_cursor_line=False)
        self.cursor_blink = False
        self.match_cursor_bracket = False

    @property
    def wrap_width(self) -> int:
        """The same with a scroll bar and without, so that text does not wrap again when one comes or goes."""
        beside_text = self.styles.gutter.width + self.styles.scrollbar_size_vertical + 1  # one for the cursor
        return max(0, self.outer_size.width - beside_text)

    @property
    def full_text(self) -> str:
        """The text with large pastes in full."""
        return self._pastes.unfold(self.text)

    @property
    def chars(self) -> int:
        """The length of `full_text`."""
        return self._pastes.unfolded_chars(self.text)

    @property
    def draft(self) -> Draft:
        """The text as a value, to be put back with `restore`."""
        return self._pastes.draft(self.text)

    def restore(self, draft: Draft) -> None:
        """Show this draft in place of the present text, the cursor at its end."""
        self._pastes.restore(draft)
        self.load_text(draft.text)
        self.move_cursor(self.document.end)

    def write(self, text: str) -> None:
        """Show this text in place of the present one; a large one is folded like a paste."""
        pastes = Pastes()
        self.restore(pastes.draft(_folded(received(text), pastes)))

    def rewrite(self, text: str) -> None:
        """Put this text in the place of the present one, as an edit that can be undone.

        What was folded and is still in it stays folded; so is the whole if it is large otherwise.
        """
        again = self._pastes.fold_again(received(text))
        shown = self._pastes.fold(received(text)) if is_large(again) else again
        self._replace_via_keyboard(shown, (0, 0), self.document.end)

    def clear(self) -> EditResult:
        """Take everything out. Undoing does not bring it back."""
        result = super().clear()
        self.restore(Draft())
        return result

    def paste(self, text: str) -> None:
        """Put in a text from outside at the cursor; a large one is folded into a label."""
        self._replace_via_keyboard(_folded(received(text), self._pastes), *self.selection)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def action_paste(self) -> None:
        """Put in what the program last copied."""
        self.paste(self.app.clipboard)

    @property
    def selected_text(self) -> str:
        """The selected text with large pastes in full."""
        return self._pastes.unfold(super().selected_text)

    def action_cut(self) -> None:
        """Cut the selection, or the line when nothing is selected, with large pastes in full."""
        start, end = self.selection
        result = self._delete_cursor_line() if start == end else self._delete_via_keyboard(start, end)
        if result is not None:
            self.app.copy_to_clipboard(self._pastes.unfold(result.replaced_text))

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit, widened so that it takes labels whole."""
        top = self._label_edge(edit.top, 1 if edit.top == edit.bottom else 0)
        bottom = self._label_edge(edit.bottom, 1)
        return super().edit(Edit(edit.text, top, bottom, edit.maintain_selection_offset))

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the selection's ends out of labels: a step into one leads through it."""
        edge: _Edge = 1 if selection.end > self.selection.end else 0
        anchor: _Edge = edge if selection.is_empty else 0
        return Selection(self._label_edge(selection.start, anchor), self._label_edge(selection.end, edge))

    def _label_edge(self, location: Location, edge: _Edge) -> Location:
        """The location itself, or the start (0) or the end (1) of the label that it is inside of."""
        row, column = location
        if row < self.document.line_count:
            for span in label_spans(self.document[row]):
                if span[0] < column < span[1]:
                    return row, span[edge]
        return location

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn, its labels set apart."""
        line = self.document.get_line(line_index)
        text = Text(as_shown(line), end="", no_wrap=True)
        for start, end in label_spans(line):
            text.stylize(self.get_component_rich_style("folding--label", partial=True), start, end)
        return text


def _folded(text: str, pastes: Pastes) -> str:
    return pastes.fold(text) if is_large(text) else text
