"""Completion of slash commands: which ones a beginning may mean, and the list that shows them.

It knows names and help lines, and nothing of what a command does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from milk_tui.ui.dyed import Dyed

ROWS = 8
"""The most commands shown at once."""

_NAME_WIDTH = 16


@dataclass(frozen=True)
class Completion:
    """The commands that a beginning may mean, best first, and the one that is chosen."""

    typed: str
    """What stands in the prompt, its slash included."""
    commands: tuple[tuple[str, str], ...]
    """Name and help, the names without a slash."""
    index: int = 0

    @property
    def chosen(self) -> str:
        """The text that takes the place of what was typed."""
        return f"/{self.commands[self.index][0]} "

    @property
    def is_exact(self) -> bool:
        """Is the typed text a command as it stands?"""
        return any(f"/{name}" == self.typed for name, _ in self.commands)

    def moved(self, by: int) -> "Completion":
        """The same with another command chosen; the last one is followed by the first."""
        return replace(self, index=(self.index + by) % len(self.commands))


def completion(typed: str, commands: Sequence[tuple[str, str]]) -> Completion | None:
    """What the typed text may be completed to; `None` when it is no beginning of a command."""
    if not typed.startswith("/") or any(character.isspace() for character in typed):
        return None
    word = typed[1:].lower()
    names = [(name.removeprefix("/"), text) for name, text in commands]
    first = [row for row in names if row[0].startswith(word)]
    later = [row for row in names if word in row[0] and not row[0].startswith(word)]
    return Completion(typed, (*first, *later)) if first or later else None


class CommandList(Dyed):
    """A picture of one `Completion`: a row for each command, the chosen one marked."""

    completion: reactive[Completion | None] = reactive(None, layout=True)

    class Clicked(Message):
        """A command was clicked. `index` is its place in the completion."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def watch_completion(self, shown: Completion | None) -> None:
        """Stand over the row above the frame, and only while there is something to choose."""
        self.set_class(shown is not None, "-open")
        rows = min(ROWS, len(shown.commands)) if shown else 0
        self.styles.offset = (0, -rows - 1)

    def render(self) -> Content:
        """One row for each command that has room."""
        if self.completion is None:
            return Content()
        first = self._first_row(self.completion)
        rows = self.completion.commands[first : first + ROWS]
        return Content("\n").join(self._row(first + place, row) for place, row in enumerate(rows))

    def on_click(self, event: events.Click) -> None:
        """Choose the command under the mouse."""
        offset = event.get_content_offset(self)
        if self.completion is None or offset is None:
            return
        index = self._first_row(self.completion) + offset.y
        if index < len(self.completion.commands):
            self.post_message(self.Clicked(index))

    @staticmethod
    def _first_row(shown: Completion) -> int:
        return max(0, min(shown.index - ROWS // 2, len(shown.commands) - ROWS))

    def _row(self, index: int, command: tuple[str, str]) -> Content:
        name, text = command
        is_chosen = self.completion is not None and index == self.completion.index
        row = Content.assemble(
            "▸ " if is_chosen else "  ",
            (f"/{name}".ljust(_NAME_WIDTH), self.get_visual_style("command-list--name", partial=True)),
            (text, self.get_visual_style("command-list--help", partial=True)),
        ).truncate(self.content_size.width, ellipsis=True, pad=True)
        return row.stylize(self.get_visual_style("command-list--chosen", partial=True)) if is_chosen else row
