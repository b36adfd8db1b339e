"""Earlier prompts, found while one writes some of their words; Enter puts one into the prompt."""

import re
from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from milk_tui.core.cut import around
from milk_tui.core.errors import MilkError
from milk_tui.core.text import sanitize
from milk_tui.ui.screens.filtering import FilterScreen

LIMIT = 100
"""Rows that are shown; more words bring the right ones."""

_WIDTH = 100
"""Characters of a prompt that a row is made from."""
_NOTHING = "No earlier prompt has these words."
_NONE = "Nothing has been asked yet."


class PromptPicker(FilterScreen[str]):
    """Gives the chosen prompt, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+r",
            "move('cursor_down')",
            "Older",
            show=False,
            tooltip="The next older one",
            id="prompts.older",
        ),
    ]

    TITLE_TEXT = "Earlier prompts"
    HINT = "Enter puts it into the prompt · Esc leaves the prompt as it is"
    PLACEHOLDER = "words"

    def __init__(self, look: Callable[[], Awaitable[list[str]]]) -> None:
        super().__init__()
        self._look = look
        self._prompts: list[tuple[str, str]] = []
        """Each as it is, and in small letters."""
        self._fitting: list[str] = []
        self._empty = ""

    def on_mount(self) -> None:
        """Look what there is."""
        self.fit()
        self.run_worker(self._read(), exit_on_error=False)

    def fit(self) -> None:
        """Show those that have all words, newest first."""
        words = self.words.lower().split()
        fitting = [prompt for prompt, small in self._prompts if all(word in small for word in words)]
        self._fitting = fitting[:LIMIT]
        self.show_rows([row(prompt, words) for prompt in self._fitting], _NOTHING if words else self._empty)
        has_more = len(fitting) > LIMIT
        self.state(f"The newest {LIMIT} are shown: write more words." if has_more else "")

    def take(self, index: int) -> None:
        """Give one."""
        self.dismiss(self._fitting[index])

    async def _read(self) -> None:
        self._empty = _NONE
        try:
            self._prompts = [(prompt, prompt.lower()) for prompt in await self._look()]
        except MilkError as error:
            self._empty = str(error)
        self.fit()


def row(prompt: str, words: list[str]) -> Content:
    """A prompt on one line, from shortly before the first of the words, which are marked."""
    marks = re.compile("|".join(map(re.escape, words)) or r"(?!)", re.IGNORECASE)
    first = marks.search(prompt)
    start, end = around(prompt, *first.span(), _WIDTH) if first else (0, _WIDTH)
    text = " ".join(sanitize(prompt[start:end]).split())
    content = Content(f"{'… ' if start else ''}{text}{' …' if end < len(prompt) else ''}")
    for mark in marks.finditer(content.plain):
        content = content.stylize("bold $text-accent", *mark.span())
    return content
