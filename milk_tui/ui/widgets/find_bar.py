"""The line at the transcript's foot in which one writes what to look for, and that says how much was found.

It says what is written and which key was pressed, and looks for nothing itself.
"""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from milk_tui.ui.widgets.search import Direction


class FindBar(Horizontal):
    """What is looked for, and what was found."""

    class Changed(Message):
        """Another text is to be looked for."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Stepped(Message):
        """Go to the next hit (1), or to the one before (-1)."""

        def __init__(self, direction: Direction) -> None:
            super().__init__()
            self.direction = direction

    class Left(Message):
        """No more is written: stay at the hit, or go back to where one was."""

        def __init__(self, stays: bool) -> None:
            super().__init__()
            self.stays = stays

    def __init__(self, *, id: str | None = None) -> None:
        # Made here and not composed later: the field can have the focus, and the next letter, at once.
        self._field = FindInput(id="find-text", compact=True)
        self._count = Static("", id="find-count", markup=False)
        self.words = ""
        """What was found, as it is said."""
        super().__init__(Static("Find ", id="find-title", markup=False), self._field, self._count, id=id)

    @property
    def text(self) -> str:
        """What is written."""
        return self._field.value

    def write(self, text: str) -> None:
        """Write a text in place of the present one."""
        self._field.value = text
        self._field.cursor_position = len(text)

    def take_focus(self) -> None:
        """Let the user write; what is there would be written over."""
        self.screen.set_focus(self._field)
        self._field.action_select_all()

    def say(self, words: str) -> None:
        """Say what was found."""
        self.words = words
        self._count.update(words)

    @on(Input.Changed)
    def _pass_on(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))


class FindInput(Input):
    """Where it is written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "step(1)", "Next", tooltip="Go to the next hit", id="find.next"),
        Binding("up,shift+enter", "step(-1)", "Before", tooltip="Go to the hit before", id="find.previous"),
        Binding("tab", "leave(True)", "Stay here", tooltip="Read on where the hit is", id="find.stay"),
        Binding("escape", "leave(False)", "Back", tooltip="Go back to where you were", id="find.back"),
    ]

    def action_step(self, direction: Direction) -> None:
        """Go to another hit."""
        self.post_message(FindBar.Stepped(direction))

    def action_leave(self, stays: bool) -> None:
        """Stay at the hit, or go back."""
        self.post_message(FindBar.Left(stays))
