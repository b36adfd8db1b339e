"""Copying: through the terminal's own clipboard, and always with a word about what was copied."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Copying:
    """Gives texts to the terminal."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    def answer(self) -> None:
        """Copy the source of the last answer."""
        turns = self._screen.talk.session.turns
        self.text(turns[-1].answer if turns else "")

    def text(self, text: str) -> None:
        """Copy a text."""
        if text:
            self._screen.app.copy_to_clipboard(text)
        words = f"{len(text):,} characters given to the terminal's clipboard."
        self._screen.notify(words if text else "There is nothing to copy yet.", markup=False)
