"""The first run's checklist: what was looked at, what was found, and one key to mend each.

It stands where the transcript will be while there is nothing to read yet. It draws values and posts what the user
chose; it probes nothing.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import Static

from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize
from milk_tui.ui.dyed import Dyed

_MARKS: dict[str, tuple[str, str]] = {
    "ok": ("✓", "checklist--ok"),
    "warning": ("!", "checklist--warning"),
    "failed": ("✗", "checklist--failed"),
    "looking": ("…", "checklist--looking"),
}
_NAME_WIDTH = 14
_TEXT_AT = _NAME_WIDTH + 3
"""The column where texts begin, also on their further lines."""
_OFFER_AT = 6


class Row(Value):
    """One line of the list."""

    name: str
    state: Literal["ok", "warning", "failed", "looking"] = "looking"
    text: str = "looking…"
    remedy: str = ""


class Offer(Value):
    """Something the user can do about it, on a key."""

    key: str
    text: str
    choice: str
    """What is posted when it is chosen."""


class Checklist(VerticalScroll, Dyed, can_focus=True):
    """Rows and offers as text; the offers' keys work while it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "leave",
            "To the prompt",
            show=False,
            tooltip="Go back to the prompt",
            id="checklist.leave",
        ),
    ]

    rows: reactive[tuple[Row, ...]] = reactive(())
    offers: reactive[tuple[Offer, ...]] = reactive(())
    promise: reactive[str] = reactive("")
    """When anything is sent to Claude, in a sentence."""

    class Chosen(Message):
        """The user wants one of the offers."""

        def __init__(self, choice: str) -> None:
            super().__init__()
            self.choice = choice

    class Left(Message):
        """The user goes back to the prompt."""

    def compose(self) -> ComposeResult:
        """The list as one text."""
        yield Static(markup=False)

    def on_key(self, event: events.Key) -> None:
        """Take an offer by its key."""
        for offer in self.offers:
            if event.key == offer.key:
                event.stop()
                self.post_message(self.Chosen(offer.choice))

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left())

    def watch_rows(self) -> None:
        """Draw what was found."""
        self._draw()

    def watch_offers(self) -> None:
        """Draw what can be done."""
        self._draw()

    def watch_promise(self) -> None:
        """Draw the promise."""
        self._draw()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The hint depends on the focus; the keys, at the end, must be in view while they work."""
        self._draw()
        if has_focus:
            self.call_after_refresh(self.scroll_end, animate=False)

    def on_resize(self) -> None:
        """Texts break elsewhere."""
        self._draw()

    def _draw(self) -> None:
        if self.is_mounted:
            self.query_one(Static).update(Content("\n").join(self._lines()))

    def _lines(self) -> Iterable[Content]:
        """The whole list; foreign texts are shown as they are."""
        yield Content.styled("milk-tui", self._style("checklist--title"))
        yield Content()
        for row in self.rows:
            yield from self._row(row)
        yield Content()
        for offer in self.offers:
            head = Content.styled(f" [{offer.key}]", self._style("checklist--key"))
            yield from self._beside(head, _OFFER_AT, Content(sanitize(offer.text)))
        if self.offers:
            hint = "Press the key; Esc goes back." if self.has_focus else "Tab, then the key; or just write."
            yield Content()
            yield Content.styled(hint, self._style("checklist--remedy"))
        yield Content.styled(self.promise, self._style("checklist--remedy"))

    def _row(self, row: Row) -> Iterable[Content]:
        mark, style = _MARKS[row.state]
        head = Content.assemble((f"{mark}  ", self._style(style)), row.name)
        yield from self._beside(head, _TEXT_AT, Content(sanitize(row.text)))
        if row.remedy:
            remedy = Content.styled(sanitize(row.remedy), self._style("checklist--remedy"))
            yield from self._beside(Content(), _TEXT_AT, remedy)

    def _beside(self, head: Content, indent: int, text: Content) -> Iterable[Content]:
        """A text on the right of its head, its further lines under its first."""
        for line in text.wrap(max(20, self.scrollable_content_region.width - indent)):
            yield Content.assemble(head, " " * (indent - head.cell_length), line)
            head = Content()

    def _style(self, name: str) -> Style:
        return self.get_visual_style(name, partial=True)
