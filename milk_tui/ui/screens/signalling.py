"""What the terminal itself shows of the program: the title of its window, and a word when nobody is looking.

Both go out as escape sequences of our own making around texts that have lost theirs.
"""

import os
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Literal

from milk_tui.core import events as ev
from milk_tui.core.cut import one_line
from milk_tui.core.permission import Question
from milk_tui.core.text import sanitize

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

Way = Literal["bell", "osc9", "osc777", "off"]

_KEEP_TITLE, _GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
_LENGTH = 120
_SPEAKS_OSC_9 = {"iTerm.app", "WezTerm", "ghostty"}
_WHO = {"local": "The local agent", "claude": "Claude"}


class Signalling:
    """Follows the conversation for as long as the chat is on the screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._began: float | None = None
        self._write(_KEEP_TITLE)
        self._entitle("")
        # Whoever had the terminal meanwhile has made its title their own.
        screen.app.app_resume_signal.subscribe(screen, lambda _app: self.answered(), immediate=True)

    def note(self, event: ev.Event) -> None:
        """Take notice of one event."""
        match event:
            case ev.TurnStarted():
                self._began = monotonic()
                self._entitle("● ")
            case ev.TurnEnded():
                self._entitle("")
                self._tell_the_end()
            case ev.NeedChanged() | ev.NeedEdited():
                self._entitle("● " if self._began is not None else "")
            case _:
                pass

    def asked(self, question: Question) -> None:
        """A question waits for the user."""
        self._entitle("? ")
        self._tell(f"{_WHO[question.agent]} asks: may it use {question.tool}?")

    def answered(self) -> None:
        """Nothing waits for the user any more."""
        self._entitle("● " if self._began is not None else "")

    def leave(self) -> None:
        """Give the window its title back."""
        self._write(_GIVE_TITLE_BACK)

    def _tell_the_end(self) -> None:
        began, self._began = self._began, None
        settings = self._screen.bench.settings
        if began is None or monotonic() - began < settings.notify_after_seconds:
            return
        turn = self._screen.talk.session.turns[-1]
        words = {"finished": "has answered", "failed": "could not go on", "interrupted": "was stopped"}
        self._tell(f"{_WHO[turn.agent]} {words.get(turn.status, 'has ended')}: {turn.prompt}")

    def _tell(self, text: str) -> None:
        """Say something to somebody who looks elsewhere."""
        wish = self._screen.bench.settings.notify
        if not self._screen.app.app_focus:
            self._write(notification(text, way_of(os.environ) if wish == "auto" else wish))

    def _entitle(self, mark: str) -> None:
        self._write(title(f"{mark}{self._screen.talk.session.title}"))

    def _write(self, sequence: str) -> None:
        # Textual has no public way to write what is no picture.
        driver = self._screen.app._driver
        if driver is not None and sequence:
            driver.write(sequence)
            driver.flush()


def title(text: str) -> str:
    """The sequence that gives the window a title."""
    return f"\x1b]2;{_line(text)} · milk-tui\x07"


def notification(text: str, way: Way) -> str:
    """The sequence that tells a text in a way that the terminal knows."""
    match way:
        case "osc9":
            return f"\x1b]9;milk-tui: {_line(text)}\x07"
        case "osc777":
            return f"\x1b]777;notify;milk-tui;{_line(text)}\x07"
        case "bell":
            return "\x07"
    return ""


def way_of(environ: Mapping[str, str]) -> Way:
    """The best way that is known of a terminal with this environment. Inside tmux and screen only the bell gets out."""
    if environ.get("TMUX") or environ.get("STY"):
        return "bell"
    if environ.get("TERM_PROGRAM") in _SPEAKS_OSC_9 or environ.get("TERM") == "xterm-kitty":
        return "osc9"
    if environ.get("VTE_VERSION") or environ.get("TERM", "").startswith(("rxvt", "foot")):
        return "osc777"
    return "bell"


def _line(text: str) -> str:
    return one_line(sanitize(text), _LENGTH)
