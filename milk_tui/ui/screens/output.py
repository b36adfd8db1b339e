"""All that a call gave back, where the transcript holds only its beginning and its end."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.transcript import Transcript


class OutputScreen(ModalScreen[str]):
    """One block over the chat, read by the keys of the transcript. Gives out the text that is to be copied."""

    AUTO_FOCUS = "Transcript"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", tooltip="Back to the chat", id="output.close"),
    ]

    def __init__(self, block: Block, place: str) -> None:
        """Show a block; `place` says where its text is kept."""
        super().__init__()
        self._block = block
        self._place = place

    def compose(self) -> ComposeResult:
        """The block from its beginning."""
        with Vertical(id="output", classes="dialog") as dialog:
            dialog.border_title = "All of it"
            dialog.border_subtitle = f"{self._place} · Esc closes"
            yield Transcript([self._block])

    @on(Transcript.CopyRequested)
    def _copy(self, event: Transcript.CopyRequested) -> None:
        self.dismiss(event.text)

    @on(Transcript.Wanted)
    def _copy_all(self, event: Transcript.Wanted) -> None:
        self.dismiss(event.block.detail)

    def on_mount(self) -> None:
        """Begin at the beginning."""
        self.query_one(Transcript).viewport.following = False
