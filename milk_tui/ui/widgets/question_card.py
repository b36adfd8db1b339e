"""The question whether a tool call may run, docked above the prompt while it is open.

It never takes the focus by itself and ignores keys for a moment, so that typing cannot answer it; nothing but a
deliberate key means yes. It draws a question and posts an answer.
"""

from collections.abc import Iterator
from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, Static

from milk_tui.core.cut import cut_middle
from milk_tui.core.permission import Decision, Question
from milk_tui.core.text import sanitize
from milk_tui.ui.dyed import Dyed
from milk_tui.ui.widgets.changes import SHOWN, change, coloured

DEAF_SECONDS = 0.5
"""How long a question that just appeared ignores keys."""

WIDE = 120
"""Cells of the card from which a change is shown side by side."""

WORD_LIMIT = 500
"""Characters of what the model is told with a no."""

_WHO = {"local": "The local agent", "claude": "Claude"}
_NONE = Question(tool="", arguments="")


def _key(key: str, grant: str, description: str, tooltip: str, id: str) -> Binding:
    return Binding(key, f"answer({grant})", description, tooltip=tooltip, id=f"question.{id}")


class WordInput(Input):
    """The line in which the user says why not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the question", id="question.back"),
    ]

    class Left(Message):
        """The user goes back to the question."""

    def action_leave(self) -> None:
        """Give the focus back."""
        self.post_message(self.Left())


class QuestionCard(Dyed, Vertical, can_focus=True):
    """Shows one question. Hidden while there is none.

    | Class | Description |
    | :- | :- |
    | `question--label` | What a line is about. |
    | `question--added`, `question--removed` | Lines of a change to a file. |
    | `question--keyword` and its like | Parts of code. |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("y", "'once'", "Yes, once", "Let this one call run", "once"),
        _key("s", "'session'", "This session", "Allow what is named until the program ends", "session"),
        _key("w", "'session', True", "Wider", "Allow the wider scope until the program ends", "wider"),
        _key("a", "'always'", "Always", "Allow what is named from now on, in this directory", "always"),
        _key("n,enter,escape", "'no'", "No", "Refuse; the default", "no"),
        Binding("r", "write", "No, because", tooltip="Refuse, with a word to the model", id="question.word"),
        Binding("up", "scroll(-1)", "Up", show=False, tooltip="Read back", id="question.up"),
        Binding("down", "scroll(1)", "Down", show=False, tooltip="Read on", id="question.down"),
    ]

    class Answered(Message):
        """The user has decided."""

        def __init__(self, decision: Decision, is_wider: bool, word: str = "") -> None:
            super().__init__()
            self.decision = decision
            self.word = word
            """What the model is told with a no."""
            self.is_wider = is_wider
            """Whether the question's wider scope is granted and not its own."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.deaf_seconds = DEAF_SECONDS
        self._asked_at = 0.0
        self._question = _NONE
        self._drawn_width = 0

    def compose(self) -> ComposeResult:
        """What is asked, and the keys that answer it."""
        with VerticalScroll(id="question-body", can_focus=False):
            yield Static(id="question-text", markup=False)
        yield WordInput(
            placeholder="Why not, or what to do instead", max_length=WORD_LIMIT, select_on_focus=False
        )
        yield Static(id="question-keys", markup=False)

    @property
    def is_in_focus(self) -> bool:
        """Whether the keys go to the card or to the line in it."""
        return self.has_focus or self._line.has_focus

    @property
    def _line(self) -> WordInput:
        return self.query_one(WordInput)

    def enter(self) -> None:
        """Take the focus: the line if something is written in it, else the card."""
        (self._line if self.has_class("-writing") else self).focus()

    def ask(self, question: Question) -> None:
        """Show a question. All texts are shown as they are."""
        self._asked_at = monotonic()
        self._question = question
        self.border_title = Content(f"{_WHO[question.agent]} wants to use {_one_line(question.tool)}")
        self._line.value = ""
        self.remove_class("-writing")
        self._draw()
        self.query_one("#question-body", VerticalScroll).scroll_home(animate=False)
        self._show_keys()
        self.add_class("-open")

    def hide(self) -> None:
        """There is no question any more."""
        self.remove_class("-open", "-writing")

    def on_resize(self) -> None:
        """A change is drawn for the width that there is."""
        if self.has_class("-open") and self.content_size.width != self._drawn_width:
            self._draw()

    def _draw(self) -> None:
        self._drawn_width = self.content_size.width
        self.query_one("#question-text", Static).update(Content("\n").join(self._text(self._question)))

    def action_answer(self, decision: Decision, is_wider: bool = False) -> None:
        """Decide, if the question has been there long enough to have been read and offers this."""
        is_offered = decision in ("no", "once") or (decision, is_wider) in dict(grants(self._question))
        if self._hears and is_offered:
            self.post_message(self.Answered(decision, is_wider))

    @property
    def _hears(self) -> bool:
        return self.has_class("-open") and monotonic() - self._asked_at >= self.deaf_seconds

    def action_write(self) -> None:
        """Let the user write what the model is told with a no."""
        if self._hears:
            self.add_class("-writing")
            self._line.focus()
            self._show_keys()

    @on(Input.Submitted)
    def _refuse(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Answered("no", False, sanitize(event.value).strip()))

    @on(WordInput.Left)
    def _back(self) -> None:
        self.remove_class("-writing")
        self.focus()
        self._show_keys()

    def action_scroll(self, rows: int) -> None:
        """Read what is longer than the card."""
        self.query_one("#question-body", VerticalScroll).scroll_relative(y=rows, animate=False)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The keys work only while the card has the focus."""
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one("#question-keys", Static).update(Content("\n".join(self._keys())))

    def _keys(self) -> Iterator[str]:
        if self.has_class("-writing"):
            yield "Enter refuses with this word   Esc back to the question"
            return
        lead = "" if self.has_focus else "Tab, then:  "
        no = "n no (so do Enter and Esc)" if self.has_focus else "n no"
        yield f"{lead}y yes, once   {no}   r no, because…"
        for (decision, is_wider), words in grants(self._question):
            key = "w" if is_wider else decision[0]
            when = "always" if decision == "always" else "in this session"
            yield f"{key} yes, {when}: {_one_line(words)}"

    def _text(self, question: Question) -> Iterator[Content]:
        """Why and on what, then what would happen: the command, the change, or else the arguments."""
        label = self._paint("label")
        for name, text in (("path", question.path), ("reason", question.reason)):
            if text:
                yield Content.assemble((f"{name:<8}", label), sanitize(text))
        if question.command:
            yield from coloured(_bounded(question.command), "bash", self._paint)
        elif question.after is not None:
            width, is_wide = self.content_size.width - 1, self.outer_size.width >= WIDE
            before, after = question.before, question.after
            yield from change(before, after, question.path, self._paint, width, is_wide=is_wide)
        else:
            yield from coloured(_bounded(question.arguments), "json", self._paint)

    def _paint(self, name: str) -> Style:
        return self.get_visual_style(f"question--{name}", partial=True) if name else Style()


def grants(question: Question) -> Iterator[tuple[tuple[Decision, bool], str]]:
    """What can be granted beyond this one call, each with the words that say so."""
    scope = question.scope.words() if question.scope else ""
    if question.session_scope or scope:
        yield ("session", False), question.session_scope or scope
    if question.wider is not None:
        yield ("session", True), question.wider.words()
    if scope:
        yield ("always", False), scope


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())


def _bounded(text: str) -> str:
    return cut_middle(sanitize(text), SHOWN)
