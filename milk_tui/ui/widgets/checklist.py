"""The first run's checklist: what was looked at, what was found, and one key to mend each.

It stands where the transcript will be while there is nothing to read yet. It draws values and posts what the user
chose; it probes nothing.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize

_MARKS: dict[str, tuple[str, str]] = {
    "ok": ("✓", "checklist--ok"),
    "warning": ("!", "checklist--warning"),
    "failed": ("✗", "checklist--failed"),
    "looking": ("…", "checklist--looking"),
}
_NAME_WIDTH = 14


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


class Checklist(Widget, can_focus=True):
    """Rows and offers as text; the offers' keys work while it has the focus."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "checklist--title",
        "checklist--ok",
        "checklist--warning",
        "checklist--failed",
        "checklist--looking",
        "checklist--remedy",
        "checklist--key",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back to the prompt", show=False, id="checklist.leave"),
    ]

    rows: reactive[tuple[Row, ...]] = reactive((), layout=True)
    offers: reactive[tuple[Offer, ...]] = reactive((), layout=True)

    class Chosen(Message):
        """The user wants one of the offers."""

        def __init__(self, choice: str) -> None:
            super().__init__()
            self.choice = choice

    class Left(Message):
        """The user goes back to the prompt."""

    def render(self) -> Content:
        """The whole list; foreign texts are shown as they are."""
        lines = [Content.styled("milk-tui", self._style("checklist--title")), Content()]
        for row in self.rows:
            lines += self._row(row)
        lines.append(Content())
        lines += [self._offer(offer) for offer in self.offers]
        if self.offers:
            lines += [Content(), self._hint(self.offers)]
        lines += [
            Content(),
            Content("Nothing is sent to Claude before you press Enter in the hand-off preview."),
        ]
        return Content("\n").join(lines)

    def on_key(self, event: events.Key) -> None:
        """Take an offer by its key."""
        for offer in self.offers:
            if event.key == offer.key:
                event.stop()
                self.post_message(self.Chosen(offer.choice))

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left())

    def _row(self, row: Row) -> list[Content]:
        mark, style = _MARKS[row.state]
        line = Content.assemble(
            (f" {mark}  ", self._style(style)), f"{row.name:<{_NAME_WIDTH}}", sanitize(row.text)
        )
        if not row.remedy:
            return [line]
        indent = " " * (_NAME_WIDTH + 4)
        return [line, Content.styled(f"{indent}{sanitize(row.remedy)}", self._style("checklist--remedy"))]

    def _offer(self, offer: Offer) -> Content:
        return Content.assemble((f"  [{offer.key}]  ", self._style("checklist--key")), sanitize(offer.text))

    def _hint(self, offers: Sequence[Offer]) -> Content:
        text = "Press the key." if self.has_focus else "Press Tab, then the key; or just write."
        return Content.styled(f"      {text}", self._style("checklist--remedy"))

    def _style(self, name: str) -> Style:
        return self.get_visual_style(name, partial=True)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The hint depends on the focus."""
        self.refresh()
