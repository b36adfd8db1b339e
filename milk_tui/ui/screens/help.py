"""Keys and commands, made from the tables that they really come from."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.commands import COMMANDS

Keys = tuple[str, Sequence[BindingType]]
"""Where keys work, and the bindings that say which."""

_KEY_COLUMNS = 18
_NAMES = {
    "escape": "Esc",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "question_mark": "?",
    "exclamation_mark": "!",
}


class HelpScreen(ModalScreen[None]):
    """Everything there is to press or to write."""

    AUTO_FOCUS = "#help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", tooltip="Back to the chat", id="help.close"),
    ]

    def __init__(self, keys: Iterable[Keys]) -> None:
        """Explain these keys, and every command."""
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """A list of keys for each place where they work, and one of commands."""
        with VerticalScroll(classes="dialog", id="help") as dialog:
            dialog.border_title = "Keys and commands"
            dialog.border_subtitle = "Esc closes"
            for place, bindings in self._keys:
                yield Static(place, classes="dialog-title", markup=False)
                yield Static(_table(key_rows(bindings)), markup=False)
            yield Static("Commands", classes="dialog-title", markup=False)
            yield Static(_table(_commands()), markup=False)


def own_keys(app: App[None]) -> Sequence[BindingType]:
    """What works everywhere: the app's own keys, and the palette's."""
    palette = Binding(app.COMMAND_PALETTE_BINDING, "command_palette", tooltip="Command palette")
    return (*type(app).BINDINGS, palette)


def key_rows(bindings: Iterable[BindingType]) -> Iterable[tuple[str, str]]:
    """Each binding's keys and what they do."""
    for binding in bindings:
        if isinstance(binding, Binding):
            keys = ", ".join(key_name(key.strip()) for key in binding.key.split(","))
            yield keys, binding.tooltip or binding.description


def key_name(key: str) -> str:
    """A key as it is written on keyboards."""
    *modifiers, last = key.split("+")
    shown = _NAMES.get(last, last.capitalize() if len(last) > 1 or modifiers else last)
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def _commands() -> Iterable[tuple[str, str]]:
    for command in COMMANDS:
        also = f" (also {', '.join(command.aliases)})" if command.aliases else ""
        yield f"{command.name} {command.argument}".strip(), f"{command.help}{also}"


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=_KEY_COLUMNS)
    table.add_column(ratio=1)
    for left, right in rows:
        table.add_row(Text(left, "bold"), Text(right))
    return table
