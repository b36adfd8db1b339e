"""Copying: to the desktop's clipboard, through the terminal, or into a file, and always with a word about which."""

from typing import TYPE_CHECKING

from milk_tui.conversation.desktop import copied
from milk_tui.conversation.elsewhere import saved
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_TERMINAL_BYTES = 74_000
"""The most that a terminal takes through OSC 52: xterm and its kin drop what is longer, and say nothing."""


class Copying:
    """Gives texts away."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    def answer(self, words: str = "") -> None:
        """Copy the last answer, or with the word `code` its last block of code; into a file if one is named."""
        turns = self._screen.talk.session.turns
        text = next((turn.answer for turn in reversed(turns) if turn.answer), "")
        word, _, rest = words.partition(" ")
        if word == "code":
            text, words = _last_code(text), rest.strip()
        if not text:
            what = "block of code in the last answer" if word == "code" else "answer yet"
            self._screen.notify(f"There is no {what}.", markup=False)
        elif words:
            self._save(text, words)
        else:
            self.text(text)

    def text(self, text: str) -> None:
        """Copy a text."""
        if text:
            self._screen.run_worker(self._copy(text), group="copying", exit_on_error=False)
        else:
            self._screen.notify("There is nothing to copy.", markup=False)

    async def _copy(self, text: str) -> None:
        program = await copied(text)
        fits = len(text.encode("utf-8", "replace")) <= _TERMINAL_BYTES
        if fits:
            self._screen.app.copy_to_clipboard(text)
        if program is not None:
            self._say(text, f"copied with {program}.")
        elif fits:
            self._say(text, "given to the terminal's clipboard (OSC 52).")
        else:
            self._save(text, str(self._screen.bench.settings.home / "copied.txt"), may_replace=True)

    def _save(self, text: str, name: str, *, may_replace: bool = False) -> None:
        try:
            path = saved(
                text, name, self._screen.talk.session.state.cwd, what="text", may_replace=may_replace
            )
        except MilkError as error:
            self._screen.notify(str(error), severity="error", markup=False)
        else:
            too_much = "too many for the terminal's clipboard: " if may_replace else ""
            self._say(text, f"{too_much}saved in {path}.")

    def _say(self, text: str, words: str) -> None:
        self._screen.notify(f"{len(text):,} characters {words}", markup=False)


def _last_code(text: str) -> str:
    from milk_tui.ui.markdown.parts import code_blocks

    blocks = code_blocks(text)
    return blocks[-1].text if blocks else ""
