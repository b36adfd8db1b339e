"""What every question to the user has in common: docked above the prompt while it is open, deaf for a moment.

It never takes the focus by itself and ignores keys for a moment, so that typing cannot answer it. What is asked and
which keys answer is the business of each kind of card.
"""

from collections.abc import Iterator
from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, Static

from milk_tui.core.permission import Answer, Question
from milk_tui.core.text import sanitize
from milk_tui.ui.dyed import Dyed

DEAF_SECONDS = 0.5
"""How long a question that just appeared ignores keys."""

WORD_LIMIT = 2_000
"""Characters of what the user writes in answer to a question."""

_ASKERS = {"local": "The local agent", "claude": "Claude"}
_NONE = Question(tool="", arguments="")


class WordInput(Input):
    """The line in which the user writes a word to the model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the question", id="question.back"),
    ]

    class Left(Message):
        """The user goes back to the question."""

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left())


class Card(Vertical, Dyed, can_focus=True):
    """Shows one question. Hidden while there is none."""

    class Answered(Message):
        """The user has decided."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    placeholder: ClassVar[str] = ""
    """What the empty line says."""
    deaf_seconds = DEAF_SECONDS

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.question = _NONE
        self._asked_at = 0.0

    def compose_body(self) -> ComposeResult:
        """What is asked."""
        yield from ()

    def compose(self) -> ComposeResult:
        """What is asked, a line to write in, and the keys that answer."""
        yield from self.compose_body()
        yield WordInput(placeholder=self.placeholder, max_length=WORD_LIMIT, select_on_focus=False)
        yield Static(classes="card-keys", markup=False)

    @property
    def is_in_focus(self) -> bool:
        """Whether the keys go to the card or to the line in it."""
        return self.has_focus or self.line.has_focus

    @property
    def line(self) -> WordInput:
        """Where a word to the model is written."""
        return self.query_one(WordInput)

    @property
    def hears(self) -> bool:
        """Whether the question has been there long enough to have been read."""
        return self.has_class("-open") and monotonic() - self._asked_at >= self.deaf_seconds

    def enter(self) -> None:
        """Take the focus: the line if something is written in it, else the card."""
        (self.line if self.has_class("-writing") else self).focus()

    def ask(self, question: Question) -> None:
        """Show a question. All texts are shown as they are."""
        self._asked_at = monotonic()
        self.question = question
        self.line.value = ""
        self.remove_class("-writing")
        self.draw()
        self.border_title = Content(one_line(self.title()))
        self.show_keys()
        self.add_class("-open")

    def queued(self, number: int, of: int) -> None:
        """Say which of the questions that wait this is; nothing of a single one."""
        self.border_subtitle = f"question {number} of {of}" if of > 1 else ""

    def hide(self) -> None:
        """There is no question any more."""
        self.remove_class("-open", "-writing")

    def title(self) -> str:
        """Who wants what."""
        return self.asker

    @property
    def asker(self) -> str:
        """Who asks."""
        return _ASKERS[self.question.agent] + ("'s sub-agent" if self.question.is_of_sub_agent else "")

    def draw(self) -> None:
        """Show what is asked."""

    def keys(self) -> Iterator[str]:
        """The keys that answer, a row each, while nothing is being written."""
        yield from ()

    def written(self, text: str) -> None:
        """The user has written this."""

    def answer(self, answer: Answer) -> None:
        """Pass the decision on."""
        self.post_message(self.Answered(answer))

    def action_write(self) -> None:
        """Let the user write."""
        if self.hears:
            self.add_class("-writing")
            self.line.focus()
            self.show_keys()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.written(sanitize(event.value).strip())

    @on(WordInput.Left)
    def back(self) -> None:
        """Go back from the line to the question."""
        self.remove_class("-writing")
        self.focus()
        self.show_keys()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The keys work only while the card has the focus."""
        if self.has_class("-open"):
            self.show_keys()

    def show_keys(self) -> None:
        """Say which keys answer."""
        self.query_one(".card-keys", Static).update(Content("\n".join(self.keys())))

    @property
    def lead(self) -> str:
        """What comes before the keys: the key to the card where it has not the focus."""
        return "" if self.has_focus else "Tab, then:  "

    def paint(self, name: str) -> Style:
        """The style of a part of the question."""
        return self.get_visual_style(f"question--{name}", partial=True) if name else Style()


def one_line(text: str) -> str:
    """The text without line ends and all that moves a cursor."""
    return " ".join(sanitize(text).split())
