"""Asks what a session is called."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class TitleScreen(ModalScreen[str]):
    """One line to write in; Enter gives the title, Esc gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", tooltip="Change nothing", id="title.cancel"),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        """The line and what may be written."""
        with Vertical(classes="dialog"):
            yield Static("What the session is called", classes="dialog-title", markup=False)
            yield Input(self._title, id="session-title")
            yield Static(
                "Enter keeps it, Esc changes nothing. Empty, the session names itself: by its need, else by its first "
                "prompt.",
                classes="dialog-hint",
                markup=False,
            )

    @on(Input.Submitted)
    def _give(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
