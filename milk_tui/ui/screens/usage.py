"""What was spent, by day, by session and by model, over the chat."""

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.spending import HEADINGS, Row, tables
from milk_tui.storage.usage import UsageReport


class UsageScreen(ModalScreen[None]):
    """Everything that the stored turns say of tokens and money."""

    AUTO_FOCUS = "#usage"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", tooltip="Back to the chat", id="usage.close"),
    ]

    def __init__(self, report: UsageReport) -> None:
        super().__init__()
        self._report = report

    def compose(self) -> ComposeResult:
        """One table for each order, the sum last."""
        with VerticalScroll(classes="dialog", id="usage") as dialog:
            dialog.border_title = "Tokens and money"
            dialog.border_subtitle = "Esc closes"
            if not self._report.total.turns:
                yield Static("Nothing has been spent yet.", markup=False)
                return
            for title, rows in tables(self._report):
                yield Static(_table(title, rows), markup=False)


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for _ in HEADINGS[1:]:
        table.add_column(justify="right", no_wrap=True)
    table.add_row(*(Text(text, "bold") for text in (title, *HEADINGS[1:])))
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    table.add_row("")
    return table
