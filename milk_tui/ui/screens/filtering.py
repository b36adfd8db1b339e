"""A list over which one writes: the words choose the rows, the arrows choose among them, Enter takes one."""

from abc import abstractmethod
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static

from milk_tui.ui.screens.listing import ListScreen

Chosen = TypeVar("Chosen")


class FilterScreen(ListScreen[Chosen]):
    """Rows to choose from by writing. What it shows and gives out is its heirs' business."""

    AUTO_FOCUS = "#filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('cursor_up')", "Up", show=False, tooltip="The row before", id="filter.up"),
        Binding("down", "move('cursor_down')", "Down", show=False, tooltip="The next row", id="filter.down"),
        Binding("pageup", "move('page_up')", "Page up", show=False, tooltip="A page up", id="filter.page_up"),
        Binding(
            "pagedown",
            "move('page_down')",
            "Page down",
            show=False,
            tooltip="A page down",
            id="filter.page_down",
        ),
    ]

    PLACEHOLDER: ClassVar[str] = "filter"

    def __init__(self, words: str = "") -> None:
        """Begin with these words in the line."""
        super().__init__()
        self._first_words = words

    def compose_head(self) -> ComposeResult:
        """The line to write in, and a line that says what is going on."""
        yield Input(self._first_words, placeholder=self.PLACEHOLDER, select_on_focus=False, id="filter")
        yield Static(id="filter-state", classes="dialog-hint", markup=False)

    @property
    def words(self) -> str:
        """What is written."""
        return self.query_one("#filter", Input).value

    def state(self, text: str) -> None:
        """Say what is going on; nothing takes no room."""
        line = self.query_one("#filter-state", Static)
        line.update(text)
        line.display = bool(text)

    @abstractmethod
    def fit(self) -> None:
        """Show the rows that the words ask for."""

    @abstractmethod
    def take(self, index: int) -> None:
        """The user wants this row."""

    def action_move(self, step: str) -> None:
        """Choose another row."""
        getattr(self.query_one(OptionList), f"action_{step}")()

    @on(Input.Changed, "#filter")
    def _fit(self) -> None:
        self.fit()

    @on(Input.Submitted, "#filter")
    def _take(self) -> None:
        if self.index is not None:
            self.take(self.index)

    @on(OptionList.OptionSelected)
    def _take_clicked(self, event: OptionList.OptionSelected) -> None:
        self.take(event.option_index)
