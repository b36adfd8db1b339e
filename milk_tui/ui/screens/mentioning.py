"""Files in the prompt: found by a few letters behind an `@`, or dropped on the terminal."""

from typing import TYPE_CHECKING

from milk_tui.tools.dropped_files import as_mentions

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen


class Mentioning:
    """Finds files of the session's directory for the prompt."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        screen.prompt.meaning = self._meaning

    def find(self, letters: str) -> None:
        """Offer the files with these letters; what was looked for before is not looked for any more."""
        self._screen.run_worker(self._find(letters), group="files", exclusive=True, exit_on_error=False)

    async def _find(self, letters: str) -> None:
        self._screen.prompt.offer_files(letters, await self._screen.bench.files.find(letters))

    def _meaning(self, text: str) -> str:
        """What a paste means: dropped files are mentioned. Anything else is itself, and so is all in a command."""
        if self._screen.prompt.text.startswith("!"):
            return text
        return as_mentions(text, self._screen.bench.files.directory) or text
