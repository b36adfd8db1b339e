"""Keys and commands, made from the tables that they really come from."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
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
    "slash": "/",
    "exclamation_mark": "!",
}


class HelpScreen(ModalScreen[None]):
    """Everything there is to press or to write."""

    AUTO_FOCUS = "#help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", tooltip="Back to the chat", id="help.close"),
        Binding("i", "show_ids", "Ids", tooltip="The ids by which keys can be changed", id="help.ids"),
    ]

    def __init__(self, keys: Iterable[Keys]) -> None:
        """Explain these keys, and every command."""
        super().__init__()
        self._keys = list(keys)

    def compose(self) -> ComposeResult:
        """A list of keys for each place where they work, and one of commands."""
        with VerticalScroll(classes="dialog", id="help") as dialog:
            dialog.border_title = "Keys and commands"
            dialog.border_subtitle = "i shows ids for the settings' keys · Esc closes"
            for place, bindings in self._keys:
                yield Static(place, classes="dialog-title", markup=False)
                yield Static(_table(key_rows(bindings)), classes="help-keys", markup=False)
            yield Static("Commands", classes="dialog-title", markup=False)
            yield Static(_table(_commands()), markup=False)

    def action_show_ids(self) -> None:
        """Show each binding's id under what it does."""
        for (_, bindings), static in zip(self._keys, self.query(".help-keys").results(Static), strict=True):
            static.update(_table(key_rows(bindings, with_ids=True)))


def key_rows(bindings: Iterable[BindingType], *, with_ids: bool = False) -> Iterable[tuple[str, str]]:
    """Each binding's keys and what they do."""
    for binding in bindings:
        if isinstance(binding, Binding):
            keys = ", ".join(key_name(key.strip()) for key in binding.key.split(","))
            words = binding.tooltip or binding.description
            yield keys, f"{words}\n{binding.id}" if with_ids and binding.id else words


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
