"""The drop ledger: what the next hand-off does not carry, and a key that takes it back in."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from milk_tui.core.ledger import LedgerItem
from milk_tui.core.text import sanitize
from milk_tui.ui.screens.listing import ListScreen

_WHY = {"dropped": "dropped by you", "no room": "did not fit"}
_BRICKS = {"local_summary": "local summary", "claude_summary": "Claude summary", "percepts": "facts"}


class LedgerScreen(ListScreen[None]):
    """One row for each line or exchange. Taken back, it stands in its brick again, pinned where it would not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter,t", "take_back", "Take back", tooltip="Take the chosen item back in", id="ledger.take"
        ),
    ]
    TITLE_TEXT = "Not handed over"
    HINT = "Enter takes the chosen one back in · Esc closes"
    EMPTY = "Everything fits, and nothing was dropped."

    def __init__(
        self, items: Callable[[], Sequence[LedgerItem]], take_back: Callable[[LedgerItem], None]
    ) -> None:
        super().__init__()
        self._look = items
        self._take_back = take_back
        self._items: Sequence[LedgerItem] = ()

    def on_mount(self) -> None:
        """Draw what there is."""
        self._draw()

    @on(OptionList.OptionSelected)
    def action_take_back(self) -> None:
        """Put the chosen item into the hand-off again."""
        if self.index is not None and self.index < len(self._items):
            self._take_back(self._items[self.index])
            self._draw()

    def _draw(self) -> None:
        self._items = self._look()
        self.show_rows([as_row(item) for item in self._items])


def as_row(item: LedgerItem) -> Content:
    """An item on two lines: its words, and where it belongs, how large it is and why it is not there."""
    turn = f" · turn {item.turn}" if item.turn else ""
    lines = "" if len(item.lines) == 1 else f" · {len(item.lines):,} lines"
    brick = _BRICKS.get(item.brick, item.brick)
    facts = f"    {brick}{turn}{lines} · {item.chars:,} chars · {_WHY[item.why]}"
    return Content(f"{sanitize(item.words)}\n") + Content.styled(facts, "dim")
