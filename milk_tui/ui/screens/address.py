"""Asks for the address of a model server; one on another machine is used only after what that means was read."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from milk_tui.agents.server.facts import is_loopback, normalised_url
from milk_tui.core.errors import ConfigError


class AddressScreen(ModalScreen[str | None]):
    """One line to write in; Enter gives the address, Esc gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", tooltip="Change nothing", id="address.cancel"),
    ]

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        self._read = ""
        """The address whose warning is shown."""

    def compose(self) -> ComposeResult:
        """The line and what may be written."""
        with Vertical(classes="dialog"):
            yield Static("The address of your model server", classes="dialog-title", markup=False)
            yield Input(self._address, placeholder="127.0.0.1:11434", id="address")
            yield Static(
                "host:port or a URL, with or without /v1. Enter uses it from now on, Esc changes nothing.",
                id="address-hint",
                classes="dialog-hint",
                markup=False,
            )

    @on(Input.Submitted)
    def _give(self, event: Input.Submitted) -> None:
        address = event.value.strip()
        if address and address != self._read and (warning := _warning(address)):
            self._read = address
            self.query_one("#address-hint", Static).update(warning)
        else:
            self.dismiss(address or None)


def _warning(address: str) -> str:
    """What it means to use a server elsewhere; empty for one on this machine, and for what is no address."""
    try:
        url = normalised_url(address)
    except ConfigError:
        return ""
    if is_loopback(url):
        return ""
    can_be_read = "" if url.startswith("https:") else " Without https, everybody on the way can read it."
    return (
        f"{url} is not on this machine: your prompts, the files that the agent reads, and the key if one is set,"
        f" leave for it.{can_be_read} Enter again uses it, Esc changes nothing."
    )
