"""Completion of what is being typed: the texts that a beginning may mean, and the list that shows them.

A beginning is that of a slash command or of a file's path behind an `@`. It knows names and help lines, and nothing
of what they stand for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from milk_tui.core.mention import as_mention
from milk_tui.ui.dyed import Dyed

ROWS = 8
"""The most texts shown at once."""

_NAME_WIDTH = 16


@dataclass(frozen=True)
class Completion:
    """The texts that a beginning may mean, best first, and the one that is chosen."""

    typed: str
    """What stands in the prompt, its slash or `@` included."""
    texts: tuple[tuple[str, str], ...]
    """What takes its place, and help."""
    index: int = 0

    @property
    def chosen(self) -> str:
        """The text that takes the place of what was typed."""
        return f"{self.texts[self.index][0]} "

    @property
    def is_exact(self) -> bool:
        """Is the typed text one of them as it stands?"""
        return any(text == self.typed for text, _ in self.texts)

    def moved(self, by: int) -> "Completion":
        """The same with another text chosen; the last one is followed by the first."""
        return replace(self, index=(self.index + by) % len(self.texts))


def completion(typed: str, commands: Sequence[tuple[str, str]]) -> Completion | None:
    """What the typed text may be completed to; `None` when it is no beginning of a command."""
    if not typed.startswith("/") or any(character.isspace() for character in typed):
        return None
    word = typed[1:].lower()
    names = [(name.removeprefix("/"), text) for name, text in commands]
    first = [row for row in names if row[0].startswith(word)]
    later = [row for row in names if word in row[0] and not row[0].startswith(word)]
    texts = tuple((f"/{name}", text) for name, text in (*first, *later))
    return Completion(typed, texts) if texts else None


def path_completion(typed: str, paths: Sequence[str]) -> Completion | None:
    """What the beginning of a path, behind an `@`, may be completed to; `None` if to nothing."""
    texts = tuple((as_mention(path), "") for path in paths)
    return Completion(typed, texts) if texts else None


class CompletionList(Dyed):
    """A picture of one `Completion`: a row for each text, the chosen one marked."""

    completion: reactive[Completion | None] = reactive(None, layout=True)

    class Clicked(Message):
        """A text was clicked. `index` is its place in the completion."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def watch_completion(self, shown: Completion | None) -> None:
        """Stand over the row above the frame, and only while there is something to choose."""
        self.set_class(shown is not None, "-open")
        rows = min(ROWS, len(shown.texts)) if shown else 0
        self.styles.offset = (0, -rows - 1)

    def render(self) -> Content:
        """One row for each text that has room."""
        if self.completion is None:
            return Content()
        first = self._first_row(self.completion)
        rows = self.completion.texts[first : first + ROWS]
        return Content("\n").join(self._row(first + place, row) for place, row in enumerate(rows))

    def on_click(self, event: events.Click) -> None:
        """Choose the text under the mouse."""
        offset = event.get_content_offset(self)
        if self.completion is None or offset is None:
            return
        index = self._first_row(self.completion) + offset.y
        if index < len(self.completion.texts):
            self.post_message(self.Clicked(index))

    @staticmethod
    def _first_row(shown: Completion) -> int:
        return max(0, min(shown.index - ROWS // 2, len(shown.texts) - ROWS))

    def _row(self, index: int, row_of: tuple[str, str]) -> Content:
        name, text = row_of
        is_chosen = self.completion is not None and index == self.completion.index
        row = Content.assemble(
            "▸ " if is_chosen else "  ",
            (name.ljust(_NAME_WIDTH), self.get_visual_style("completion-list--name", partial=True)),
            (text, self.get_visual_style("completion-list--help", partial=True)),
        ).truncate(self.content_size.width, ellipsis=True, pad=True)
        return (
            row.stylize(self.get_visual_style("completion-list--chosen", partial=True)) if is_chosen else row
        )
