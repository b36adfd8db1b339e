"""A text in Markdown to be read on a card: as the transcript would draw it, as high as it is long.

It has no keys of its own; the card moves it.
"""

from textual.geometry import Size

from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.window import Window


class PlanText(Window, can_focus=False):
    """Shows one text from its beginning."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._block = Block(key="plan", kind="claude", headed=False)

    def tell(self, text: str) -> None:
        """Show this text."""
        self._block = Block(key="plan", kind="claude", source=sanitize(text), headed=False)
        self.forget()
        self.viewport.following = False
        self.viewport.extend([self._block])
        self.refresh(layout=True)
        self.show()

    def move(self, rows: int) -> None:
        """Read on, or back where it is negative."""
        self.viewport.scroll(self.viewport.scroll_y + rows)
        self.update_screen()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of the whole text at this width."""
        view = BlockView(self._block, 0, BlockView.text_width(width - self.scrollbar_size_vertical))
        return sum(len(view.rows(index)) for index in range(1 + len(view.pieces)))
