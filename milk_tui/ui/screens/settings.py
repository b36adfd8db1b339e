"""All settings on one list: what each is, who says so, and a way to change it. What is written goes to `tui.json`."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from milk_tui.conversation.settings_table import SettingRow, table
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.errors import MilkError
from milk_tui.ui.screens.listing import ListScreen


class SettingsScreen(ListScreen[None]):
    """Type to find a setting, Enter to change it."""

    AUTO_FOCUS = "#settings-filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('cursor_up')", "Up", show=False, tooltip="The setting before", id="settings.up"),
        Binding(
            "down", "move('cursor_down')", "Down", show=False, tooltip="The next one", id="settings.down"
        ),
        Binding("pageup", "move('page_up')", "", show=False, tooltip="A page up", id="settings.page_up"),
        Binding(
            "pagedown", "move('page_down')", "", show=False, tooltip="A page down", id="settings.page_down"
        ),
        Binding("ctrl+r", "reset", "Default", tooltip="Back to the default", id="settings.reset"),
    ]
    TITLE_TEXT = "Settings"
    HINT = "Type to find · Enter changes · Ctrl+R goes back to the default · Esc closes"
    EMPTY = "No setting fits what is written."

    def __init__(self, bench: Workbench, changed: Callable[[], None], words: str = "") -> None:
        """Show the settings of a workbench.

        Args:
            bench: Where they are changed.
            changed: Called after each change, to let what holds at once hold.
            words: What to look for first.
        """
        super().__init__()
        self._bench = bench
        self._changed = changed
        self._words = words
        self._rows: list[SettingRow] = []

    def compose_head(self) -> ComposeResult:
        """The filter, and what came of the last change."""
        yield Input(self._words, placeholder="find", id="settings-filter")
        yield Static(id="settings-told", classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Draw what there is."""
        self._draw()

    def action_move(self, step: str) -> None:
        """Choose another row."""
        getattr(self.query_one(OptionList), f"action_{step}")()

    def action_reset(self) -> None:
        """Take the chosen setting out of the file."""
        if self._chosen is not None:
            self._write(self._chosen.key, "")

    @on(Input.Changed)
    def _draw(self) -> None:
        words = self.query_one("#settings-filter", Input).value.lower().split()
        self._rows = [row for row in table(self._bench.settings) if row.fits(words)]
        self.show_rows([as_line(row) for row in self._rows])

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _change(self) -> None:
        row = self._chosen
        if row is None:
            return
        if row.choices:
            self._write(row.key, row.next_choice)
        elif row.typed is None:
            self._tell(f"{row.key} is a list: write it in {self._bench.settings.home / 'tui.json'}.")
        else:
            self.app.push_screen(EditSetting(row, self._bench.change), self._edited)

    @property
    def _chosen(self) -> SettingRow | None:
        return self._rows[self.index] if self.index is not None and self.index < len(self._rows) else None

    def _write(self, key: str, text: str) -> None:
        try:
            self._edited(self._bench.change(key, text))
        except MilkError as error:
            self._tell(str(error))

    def _edited(self, told: str | None) -> None:
        if told:
            self._tell(told)
            self._draw()
            self._changed()

    def _tell(self, text: str) -> None:
        self.query_one("#settings-told", Static).update(text)


class EditSetting(ModalScreen[str | None]):
    """One line for one setting. What cannot be used is said, and stays to be mended."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", tooltip="Change nothing", id="setting.cancel"),
    ]

    def __init__(self, row: SettingRow, write: Callable[[str, str], str]) -> None:
        super().__init__()
        self._row = row
        self._write = write

    def compose(self) -> ComposeResult:
        """What it is for, the line, and what may be done."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._row.key
            yield Static(self._row.help, classes="dialog-title", markup=False)
            yield Input(self._row.typed or "", password=self._row.is_secret, id="setting")
            yield Static(
                "Enter writes it, with nothing the default holds; Esc changes nothing.",
                id="setting-hint",
                classes="dialog-hint",
                markup=False,
            )

    @on(Input.Submitted)
    def _give(self, event: Input.Submitted) -> None:
        try:
            told = self._write(self._row.key, event.value)
        except MilkError as error:
            self.query_one("#setting-hint", Static).update(str(error))
        else:
            self.dismiss(told)


def as_line(row: SettingRow) -> Content:
    """A setting as two lines: what it is, and what it is for."""
    source = "" if row.source == "default" else f"  ({row.source})"
    return Content.assemble((row.key, "bold"), f"  {row.value or '–'}{source}\n", (f"    {row.help}", "dim"))
