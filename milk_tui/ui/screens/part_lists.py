"""Lists of what is in one block: its addresses and its blocks of code, to choose one from."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from milk_tui.ui.markdown.parts import Code
from milk_tui.ui.markdown.rows import clean
from milk_tui.ui.screens.listing import ListScreen

_PREVIEW = 3
"""Lines of a block of code that are shown to choose it by."""


class AddressChoice(NamedTuple):
    """An address, and whether to open it or only to copy it."""

    address: str
    opens: bool


class AddressScreen(ListScreen[AddressChoice]):
    """Every address in full, before any is opened: what is read is where it goes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy", tooltip="Copy the address instead of opening it", id="links.copy"),
    ]
    TITLE_TEXT = "Links"
    HINT = "Enter opens it in your browser · y copies it · Esc closes"

    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__()
        self._addresses = addresses

    def on_mount(self) -> None:
        """Show them."""
        self.show_rows([Content(_with_host(address)) for address in self._addresses])

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(AddressChoice(self._addresses[event.option_index], True))

    def action_copy(self) -> None:
        """Copy the chosen address."""
        if self.index is not None:
            self.dismiss(AddressChoice(self._addresses[self.index], False))


class CodeScreen(ListScreen[str]):
    """The beginning of each block of code."""

    TITLE_TEXT = "Blocks of code"
    HINT = "Enter copies it · Esc closes"

    def __init__(self, blocks: Sequence[Code]) -> None:
        super().__init__()
        self._blocks = blocks

    def on_mount(self) -> None:
        """Show them."""
        self.show_rows([Content(_beginning(block)) for block in self._blocks])

    @on(OptionList.OptionSelected)
    def _copy(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._blocks[event.option_index].text)


def _with_host(address: str) -> str:
    """An address and, where letters could deceive, the machine that it really leads to."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        plain = host.encode("idna").decode("ascii")
    except ValueError:
        return f"{address}\n  not a proper address"
    is_odd = "@" in parts.netloc or plain != host
    return f"{address}\n  leads to {plain}" if is_odd and host else address


def _beginning(block: Code) -> str:
    lines = clean(block.text).expandtabs(4).split("\n")
    count = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    head = " · ".join(part for part in (clean(block.language), count) if part)
    return "\n".join([head, *(f"  {line[:200]}" for line in lines[:_PREVIEW])])
