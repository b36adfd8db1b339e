"""Keys and commands, made from the tables that they really come from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.conversation.commands import COMMANDS

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_BY_HAND = (
    ("Enter", "Send"),
    ("Ctrl+J, \\ Enter", "New line"),
    ("PageUp, PageDown", "Scroll the conversation"),
    ("Ctrl+P", "Command palette"),
    ("Ctrl+Q", "Quit"),
)


class HelpScreen(ModalScreen[None]):
    """Everything there is to press or to write."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", tooltip="Back to the chat", id="help.close"),
    ]

    def __init__(self, chat: "ChatScreen") -> None:
        super().__init__()
        self._chat = chat

    def compose(self) -> ComposeResult:
        """One list of keys, one of commands."""
        with VerticalScroll(classes="dialog", id="help") as dialog:
            dialog.border_title = "Keys and commands"
            yield Static(_table((*self._keys(), *_BY_HAND)), markup=False)
            yield Static("Commands", classes="dialog-title", markup=False)
            yield Static(_table(_commands()), markup=False)

    def _keys(self) -> Iterable[tuple[str, str]]:
        grouped: dict[str, tuple[list[str], str]] = {}
        for binding in type(self._chat).BINDINGS:
            if isinstance(binding, Binding):
                names = [self.app.get_key_display(each) for each in binding.make_bindings([binding])]
                grouped[binding.id or binding.action] = (names, binding.tooltip or binding.description)
        return [(", ".join(names), text) for names, text in grouped.values()]


def _commands() -> Iterable[tuple[str, str]]:
    for command in COMMANDS:
        names = " ".join((command.name, *command.aliases))
        yield f"{names} {command.argument}".strip(), command.help


def _table(rows: Iterable[tuple[str, str]]) -> Content:
    return Content("\n").join(Content.assemble((f"{left:<34}", "bold"), right) for left, right in rows)
