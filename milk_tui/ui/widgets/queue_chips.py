"""What is queued, above the prompt: a row for each, who gets it, and why it is held.

It draws a value and posts what the user wants done with one of them. It takes the focus only when it is asked to.
"""

from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from milk_tui.core.cut import one_line
from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize
from milk_tui.ui.dyed import Dyed

ROWS = 4
"""The most texts shown at once; the queue may be longer."""
_TEXT_LIMIT = 300

Wish = Literal["edit", "now", "remove", "up", "down"]
Recipient = Literal["local", "claude", "command"]

_TO: dict[Recipient, str] = {"local": "→ local  ", "claude": "→ Claude ", "command": "command  "}
_KEYS = "Enter edits   s sends now   x removes   Shift+↑↓ moves   Esc back"


def _key(keys: str, action: str, what: str, tooltip: str, id: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, what, show=show, tooltip=tooltip, id=f"queue.{id}")


class Chip(Value):
    """One text that is queued."""

    id: int
    text: str
    to: Recipient = "local"
    """Who gets it as things are now."""


class QueueChips(Dyed, can_focus=True):
    """A picture of the queue. Hidden while it is empty.

    | Class | Description |
    | :- | :- |
    | `chips--to` | Who gets a text. |
    | `chips--claude` | The same, of Claude. |
    | `chips--chosen` | The chosen row, while the chips have the focus. |
    | `chips--foot` | Why the queue is held, or when it goes on. |
    """

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("up,k", "choose(-1)", "Previous", "Choose the one before", "previous"),
        _key("down,j", "choose(1)", "Next", "Choose the one after", "next"),
        _key("enter,e", "ask('edit')", "Edit", "Take it back into the prompt", "edit", show=True),
        _key("s", "ask('now')", "Send now", "Stop the turn and send this one first", "now", show=True),
        _key("x,delete", "ask('remove')", "Remove", "Take it out of the queue", "remove", show=True),
        _key("shift+up,K", "ask('up')", "Sooner", "Move it towards the front", "up"),
        _key("shift+down,J", "ask('down')", "Later", "Move it towards the end", "down"),
        _key("escape", "leave", "Back", "Back to the prompt", "leave", show=True),
    ]

    chips: reactive[tuple[Chip, ...]] = reactive((), layout=True)
    foot: reactive[str] = reactive("")
    """Why the queue is held, or when it goes on; in words."""
    index: reactive[int] = reactive(0)
    """The chosen one."""

    class Wished(Message):
        """The user wants something done with one of them."""

        def __init__(self, id: int, wish: Wish) -> None:
            super().__init__()
            self.id = id
            self.wish = wish

    class Left(Message):
        """The user goes back to the prompt."""

    def watch_chips(self, before: tuple[Chip, ...], chips: tuple[Chip, ...]) -> None:
        """Be there only while something is queued, and stay on the chosen one wherever it went."""
        self.set_class(bool(chips), "-open")
        chosen = before[self.index].id if self.index < len(before) else None
        places = {chip.id: place for place, chip in enumerate(chips)}
        self.index = places.get(chosen, max(0, min(self.index, len(chips) - 1))) if chosen else 0
        if not chips and self.has_focus:
            self.post_message(self.Left())

    def watch_has_focus(self, has_focus: bool) -> None:
        """The chosen row is marked only while keys act on it."""
        if has_focus:
            self.index = max(0, len(self.chips) - 1)
        self.refresh()

    def action_choose(self, by: int) -> None:
        """Choose another one."""
        self.index = max(0, min(self.index + by, len(self.chips) - 1))

    def action_ask(self, wish: Wish) -> None:
        """Ask for something to be done with the chosen one."""
        if self.chips:
            self.post_message(self.Wished(self.chips[self.index].id, wish))

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        offset = event.get_content_offset(self)
        place = None if offset is None else self._first + offset.y
        if place is not None and offset is not None and offset.y < ROWS and place < len(self.chips):
            self.focus()
            self.call_later(setattr, self, "index", place)

    def render(self) -> Content:
        """A row for each that has room, and the foot."""
        rows = [self._row(place) for place in range(self._first, min(self._first + ROWS, len(self.chips)))]
        style = self.get_visual_style("chips--foot", partial=True)
        more = f"{len(self.chips)} queued. " if len(self.chips) > ROWS else ""
        foot = Content.styled(more + (_KEYS if self.has_focus else self.foot), style)
        return Content("\n").join([*rows, foot.truncate(self.content_size.width, ellipsis=True)])

    @property
    def _first(self) -> int:
        return max(0, min(self.index - ROWS + 1, len(self.chips) - ROWS)) if self.has_focus else 0

    def _row(self, place: int) -> Content:
        chip = self.chips[place]
        is_chosen = self.has_focus and place == self.index
        style = self.get_visual_style("chips--claude" if chip.to == "claude" else "chips--to", partial=True)
        row = Content.assemble(
            "▸ " if is_chosen else "  ", (_TO[chip.to], style), one_line(sanitize(chip.text), _TEXT_LIMIT)
        ).truncate(self.content_size.width, ellipsis=True, pad=True)
        return row.stylize(self.get_visual_style("chips--chosen", partial=True)) if is_chosen else row
