"""Mistakes of our own while something is shown or looked up: told once, and the conversation goes on."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

Shown = TypeVar("Shown")


def mistake(error: BaseException | None) -> str:
    """A mistake of ours in words."""
    return f"milk-tui itself made a mistake: {type(error).__name__}: {error}"


class Mishaps:
    """Tells of a mistake, and not again before another one or the next turn."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._told = ""

    def guard(self, show: Callable[[Shown], None], shown: Shown) -> None:
        """Show something; what goes wrong on the way is told."""
        try:
            show(shown)
        except Exception as error:  # whatever it is, it is not worth the turn
            self.admit(error)

    def admit(self, error: BaseException | None) -> None:
        """Say what went wrong."""
        words = mistake(error)
        if words == self._told:
            return
        self._told = words
        self._screen.log.error(words)
        self._screen.notify(f"{words}. Your session is kept.", severity="error", markup=False)

    def forget(self) -> None:
        """Tell of the next mistake, whatever it is."""
        self._told = ""
