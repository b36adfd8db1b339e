"""The question whether a tool call may run, docked above the prompt while it is open.

It never takes the focus by itself and ignores keys for a moment, so that typing cannot answer it; nothing but a
deliberate key means yes. It draws a question and posts an answer.
"""

from collections.abc import Iterator
from difflib import unified_diff
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from milk_tui.core.cut import cut_middle
from milk_tui.core.permission import Decision, Question
from milk_tui.core.text import sanitize

DEAF_SECONDS = 0.5
"""How long a question that just appeared ignores keys."""

SHOWN = 20_000
"""The most characters of a text that are drawn; what is missing is said in its middle."""

COMPARED = 200_000
"""The most characters of a file that are compared line by line; a larger one is shown as it would be written."""

_WHO = {"local": "The local agent", "claude": "Claude"}
_NONE = Question(tool="", arguments="")


def _key(key: str, grant: str, description: str, tooltip: str, id: str) -> Binding:
    return Binding(key, f"answer({grant})", description, tooltip=tooltip, id=f"question.{id}")


class QuestionCard(Vertical, can_focus=True):
    """Shows one question. Hidden while there is none.

    | Class | Description |
    | :- | :- |
    | `question--label` | What a line is about. |
    | `question--added`, `question--removed` | Lines of a change to a file. |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"question--label", "question--added", "question--removed"}
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("y", "'once'", "Yes, once", "Let this one call run", "once"),
        _key("s", "'session'", "This session", "Allow what is named until the program ends", "session"),
        _key("w", "'session', True", "Wider", "Allow the wider scope until the program ends", "wider"),
        _key("a", "'always'", "Always", "Allow what is named from now on, in this directory", "always"),
        _key("n,enter,escape", "'no'", "No", "Refuse; the default", "no"),
        Binding("up", "scroll(-1)", "Up", show=False, tooltip="Read back", id="question.up"),
        Binding("down", "scroll(1)", "Down", show=False, tooltip="Read on", id="question.down"),
    ]

    class Answered(Message):
        """The user has decided."""

        def __init__(self, decision: Decision, is_wider: bool) -> None:
            super().__init__()
            self.decision = decision
            self.is_wider = is_wider
            """Whether the question's wider scope is granted and not its own."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.deaf_seconds = DEAF_SECONDS
        self._asked_at = 0.0
        self._question = _NONE

    def compose(self) -> ComposeResult:
        """What is asked, and the keys that answer it."""
        with VerticalScroll(id="question-body", can_focus=False):
            yield Static(id="question-text", markup=False)
        yield Static(id="question-keys", markup=False)

    def ask(self, question: Question) -> None:
        """Show a question. All texts are shown as they are."""
        self._asked_at = monotonic()
        self._question = question
        self.border_title = Content(f"{_WHO[question.agent]} wants to use {_line(question.tool)}")
        self.query_one("#question-text", Static).update(Content("\n").join(self._text(question)))
        self.query_one("#question-body", VerticalScroll).scroll_home(animate=False)
        self._show_keys()
        self.add_class("-open")

    def hide(self) -> None:
        """There is no question any more."""
        self.remove_class("-open")

    def action_answer(self, decision: Decision, is_wider: bool = False) -> None:
        """Decide, if the question has been there long enough to have been read and offers this."""
        is_deaf = monotonic() - self._asked_at < self.deaf_seconds
        is_offered = decision in ("no", "once") or (decision, is_wider) in dict(grants(self._question))
        if self.has_class("-open") and not is_deaf and is_offered:
            self.post_message(self.Answered(decision, is_wider))

    def action_scroll(self, rows: int) -> None:
        """Read what is longer than the card."""
        self.query_one("#question-body", VerticalScroll).scroll_relative(y=rows, animate=False)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The keys work only while the card has the focus."""
        self._show_keys()

    def _show_keys(self) -> None:
        lead = "" if self.has_focus else "Tab, then:  "
        no = "n no (so do Enter and Esc)" if self.has_focus else "n no"
        lines = [f"{lead}y yes, once   {no}"]
        for (decision, is_wider), words in grants(self._question):
            key = "w" if is_wider else decision[0]
            when = "always" if decision == "always" else "in this session"
            lines.append(f"{key} yes, {when}: {_line(words)}")
        self.query_one("#question-keys", Static).update(Content("\n".join(lines)))

    def _text(self, question: Question) -> Iterator[Content]:
        """Why and on what, then what would happen: the command, the change, or else the arguments."""
        label = self.get_visual_style("question--label", partial=True)
        for name, text in (("path", question.path), ("reason", question.reason)):
            if text:
                yield Content.assemble((f"{name:<8}", label), sanitize(text))
        if question.command:
            yield Content(_bounded(question.command))
        elif question.after is not None:
            yield from self._change(question.before, question.after)
        else:
            yield Content(_bounded(question.arguments))

    def _change(self, before: str | None, after: str) -> Iterator[Content]:
        """A new text in full, or the lines that change with a few around them."""
        if before is None or len(before) + len(after) > COMPARED:
            yield Content("a new file:" if before is None else "the whole file becomes:")
            yield Content(_bounded(after))
            return
        old, new = (sanitize(text).split("\n") for text in (before, after))
        lines = list(unified_diff(old, new, lineterm="", n=2))[2:]
        for line in _bounded("\n".join(lines)).split("\n"):
            name = {"+": "question--added", "-": "question--removed", "@": "question--label"}.get(line[:1])
            yield Content.styled(line, self.get_visual_style(name, partial=True)) if name else Content(line)


def grants(question: Question) -> Iterator[tuple[tuple[Decision, bool], str]]:
    """What can be granted beyond this one call, each with the words that say so."""
    scope = question.scope.words() if question.scope else ""
    if question.session_scope or scope:
        yield ("session", False), question.session_scope or scope
    if question.wider is not None:
        yield ("session", True), question.wider.words()
    if scope:
        yield ("always", False), scope


def _line(text: str) -> str:
    return " ".join(sanitize(text).split())


def _bounded(text: str) -> str:
    return cut_middle(sanitize(text), SHOWN)
