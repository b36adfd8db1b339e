"""Lending the terminal to another program, and taking it back whole, whatever that program has made of it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from textual.app import App, SuspendNotSupported

from milk_tui.core.errors import MilkError

_TERMINAL = 0


class LendingApp(App[None]):
    """An app that can step aside."""

    is_lent = False
    """Whether another program has the terminal; what is pressed there is meant for it."""

    @contextmanager
    def lend(self) -> Iterator[None]:
        """Give the terminal away for as long as the context lasts. Raises `MilkError` where that is not possible."""
        self.is_lent = True
        failure: Exception | None = None
        try:
            # Nobody takes what is drawn meanwhile: after some thirty frames drawing would wait for ever.
            with self.batch_update(), self.suspend(), _line_kept():
                try:
                    yield
                except Exception as error:  # Textual takes the terminal back only if nothing is raised
                    failure = error
            if failure is not None:
                raise failure
        except SuspendNotSupported:
            raise MilkError("This terminal cannot be lent to another program.") from None
        finally:
            self.is_lent = False


@contextmanager
def _line_kept() -> Iterator[None]:
    """Put the line's settings back: a program that was killed leaves them as it needed them."""
    if sys.platform == "win32":
        yield
        return
    import termios

    settings = termios.tcgetattr(_TERMINAL)
    try:
        yield
    finally:
        termios.tcsetattr(_TERMINAL, termios.TCSANOW, settings)
