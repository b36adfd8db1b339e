"""A dialog with a list of rows and a line of keys: what the lists of grants, servers and models have in common.

It draws rows and gives out the chosen one; it knows none of what they stand for.
"""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

Chosen = TypeVar("Chosen")


class ListScreen(ModalScreen[Chosen], Generic[Chosen]):
    """Rows to choose from. Where there are none, the dialog says what would be there."""

    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", tooltip="Back to the chat", id="list.close"),
    ]

    TITLE_TEXT: ClassVar[str] = ""
    HINT: ClassVar[str] = ""
    EMPTY: ClassVar[str] = ""

    def compose(self) -> ComposeResult:
        """The list, or what would be in it, and the keys."""
        with Vertical(classes="dialog list-dialog") as dialog:
            dialog.border_title = self.TITLE_TEXT
            yield from self.compose_head()
            yield OptionList(markup=False)
            yield Static(id="list-empty", markup=False)
            yield Static(self.HINT, classes="dialog-hint", markup=False)

    def compose_head(self) -> ComposeResult:
        """What stands over the list; nothing unless a dialog says so."""
        yield from ()

    @property
    def index(self) -> int | None:
        """The place of the chosen row."""
        return self.query_one(OptionList).highlighted

    def show_rows(self, rows: Sequence[Content], empty: str = "") -> None:
        """Draw these rows; the choice stays where it was as far as there are rows."""
        rows_list = self.query_one(OptionList)
        index = rows_list.highlighted
        rows_list.set_options(Option(row) for row in rows)
        if rows:
            rows_list.highlighted = min(index or 0, len(rows) - 1)
        self.set_class(not rows, "-empty")
        self.query_one("#list-empty", Static).update(empty or self.EMPTY)
