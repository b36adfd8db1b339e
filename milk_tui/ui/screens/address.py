"""Asks for the address of a model server."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class AddressScreen(ModalScreen[str | None]):
    """One line to write in; Enter gives the address, Esc gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", tooltip="Change nothing", id="address.cancel"),
    ]

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address

    def compose(self) -> ComposeResult:
        """The line and what may be written."""
        with Vertical(classes="dialog"):
            yield Static("The address of your model server", classes="dialog-title", markup=False)
            yield Input(self._address, placeholder="127.0.0.1:11434", id="address")
            yield Static(
                "host:port or a URL, with or without /v1. Enter uses it from now on, Esc changes nothing.",
                classes="dialog-hint",
                markup=False,
            )

    @on(Input.Submitted)
    def _give(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)
