"""The question whether a tool call may run, docked above the prompt while it is open.

It never takes the focus by itself and ignores keys for a moment, so that typing cannot answer it; nothing but a
deliberate key means yes. It draws a question and posts an answer.
"""

from time import monotonic
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from milk_tui.core.cut import cut_middle
from milk_tui.core.text import sanitize

DEAF_SECONDS = 0.5
"""How long a question that just appeared ignores keys."""

SHOWN = 20_000
"""The most characters of arguments that are drawn; what is missing is said in their middle."""

Decision = Literal["no", "once", "session"]


class QuestionCard(Vertical, can_focus=True):
    """Shows one question. Hidden while there is none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('once')", "Yes, once", tooltip="Let this one call run", id="question.once"),
        Binding(
            "s",
            "answer('session')",
            "This session",
            tooltip="Allow what is named for the rest of this session",
            id="question.session",
        ),
        Binding("n,enter,escape", "answer('no')", "No", tooltip="Refuse; the default", id="question.no"),
        Binding("up", "scroll(-1)", "Up", show=False, tooltip="Read back", id="question.up"),
        Binding("down", "scroll(1)", "Down", show=False, tooltip="Read on", id="question.down"),
    ]

    class Answered(Message):
        """The user has decided."""

        def __init__(self, decision: Decision) -> None:
            super().__init__()
            self.decision = decision

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.deaf_seconds = DEAF_SECONDS
        self._asked_at = 0.0
        self._scope = ""

    def compose(self) -> ComposeResult:
        """What is asked, and the keys that answer it."""
        with VerticalScroll(id="question-body", can_focus=False):
            yield Static(id="question-text", markup=False)
        yield Static(id="question-keys", markup=False)

    def ask(self, who: str, tool: str, arguments: str, path: str, reason: str, scope: str) -> None:
        """Show a question. All texts are shown as they are."""
        self._asked_at = monotonic()
        self._scope = sanitize(scope)
        self.border_title = Content(f"{who} wants to use {sanitize(tool)}")
        self.query_one("#question-text", Static).update(_text(arguments, path, reason))
        self.query_one("#question-body", VerticalScroll).scroll_home(animate=False)
        self._show_keys()
        self.add_class("-open")

    def hide(self) -> None:
        """There is no question any more."""
        self.remove_class("-open")

    def action_answer(self, decision: Decision) -> None:
        """Decide, if the question has been there long enough to have been read."""
        is_deaf = monotonic() - self._asked_at < self.deaf_seconds
        if is_deaf or not self.has_class("-open") or (decision == "session" and not self._scope):
            return
        self.post_message(self.Answered(decision))

    def action_scroll(self, rows: int) -> None:
        """Read arguments that are longer than the card."""
        self.query_one("#question-body", VerticalScroll).scroll_relative(y=rows, animate=False)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The keys work only while the card has the focus."""
        self._show_keys()

    def _show_keys(self) -> None:
        lead = "" if self.has_focus else "Tab, then:  "
        no = "n no (so do Enter and Esc)" if self.has_focus else "n no"
        lines = [f"{lead}y yes, once   {no}"]
        if self._scope:
            lines.append(f"{' ' * len(lead)}s yes, in this session: {self._scope}")
        self.query_one("#question-keys", Static).update(Content("\n".join(lines)))


def _text(arguments: str, path: str, reason: str) -> Content:
    rows = [("path    ", path), ("reason  ", reason)]
    about = [Content.assemble((label, "dim"), sanitize(text)) for label, text in rows if text]
    return Content("\n").join([*about, Content(cut_middle(sanitize(arguments), SHOWN))])
