"""What every panel is: a picture of one value, redrawn when the value changes.

A panel fetches nothing and knows no conversation. One that fails to draw says so in its own box; the rest lives on.
"""

from typing import Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from milk_tui.ui.dyed import Dyed

Drawn = TypeVar("Drawn")


class Panel(VerticalScroll, Dyed, Generic[Drawn]):
    """A box that scrolls and shows `draw(value)`. Its state is in classes: `-empty`, `-stale`, `-failed`."""

    value: reactive[Drawn | None] = reactive(None, init=False, repaint=False)
    _framed = ("", "")

    class Failed(Message):
        """A panel could not draw its value. Posted once, until it has drawn again."""

        def __init__(self, panel: str, error: Exception) -> None:
            super().__init__()
            self.panel = panel
            self.error = error

    def draw(self, value: Drawn) -> Content:
        """The picture of a value, for the present `body_width`. May set the title and classes."""
        return Content(str(value))

    def frame(self, title: str, subtitle: str) -> None:
        """Say this in the frame. Only what is new is passed on, for it paints the whole panel."""
        if self._framed != (title, subtitle):
            self._framed = (title, subtitle)
            self.border_title, self.border_subtitle = Content(title), Content(subtitle)

    @property
    def body_width(self) -> int:
        """Columns that the picture may take."""
        return self.scrollable_content_region.width

    def compose(self) -> ComposeResult:
        """The picture."""
        yield Static(markup=False, classes="panel-body")

    def watch_value(self) -> None:
        """Draw the new value."""
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        """Draw again for the new width."""
        self.redraw()

    def redraw(self) -> None:
        """Draw the present value, or say why it cannot be drawn."""
        if self.value is None or not self.is_attached:
            return
        try:
            picture = self.draw(self.value)
        except Exception as error:  # whatever it is, it is not worth the conversation
            picture = Content(f"This panel could not be drawn: {type(error).__name__}: {error}")
            if not self.has_class("-failed"):
                self.post_message(self.Failed(type(self).__name__, error))
            self.add_class("-failed")
        else:
            self.remove_class("-failed")
        self._show(picture)

    def _show(self, picture: Content) -> None:
        """Lay out again only when the picture's height has changed: the gauge changes at every key."""
        body = self.query_one(".panel-body", Static)
        height = picture.get_height({}, max(1, self.body_width))
        body.update(picture, layout=height != body.size.height)
