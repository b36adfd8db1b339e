"""The question whether a tool call may run, or whether a plan may be carried out.

Nothing but a deliberate key means yes. It draws a question and posts an answer.
"""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from milk_tui.core.cut import cut_middle
from milk_tui.core.permission import Answer, Decision, Question
from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.card import Card, one_line
from milk_tui.ui.widgets.changes import SHOWN, change, coloured
from milk_tui.ui.widgets.plan_text import PlanText

WIDE = 120
"""Cells of the card from which a change is shown side by side."""

_NO_PLAN = "There is no plan written down: see what Claude has said."


def _key(key: str, grant: str, description: str, tooltip: str, id: str) -> Binding:
    return Binding(key, f"answer({grant})", description, tooltip=tooltip, id=f"question.{id}")


def _scroll(key: str, rows: int, description: str, tooltip: str) -> Binding:
    return Binding(key, f"scroll({rows})", description, show=False, tooltip=tooltip, id=f"question.{key}")


class QuestionCard(Card):
    """Shows what would run or be written, or a plan.

    | Class | Description |
    | :- | :- |
    | `question--label` | What a line is about. |
    | `question--added`, `question--removed` | Lines of a change to a file. |
    | `question--keyword` and its like | Parts of code. |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("y", "'once'", "Yes, once", "Let this one call run; carry the plan out", "once"),
        _key("s", "'session'", "This session", "Allow what is named until the program ends", "session"),
        _key("w", "'session', True", "Wider", "Allow the wider scope until the program ends", "wider"),
        _key("a", "'always'", "Always", "Allow what is named from now on, in this directory", "always"),
        _key("n,enter,escape", "'no'", "No", "Refuse; the default", "no"),
        Binding("r", "write", "No, because", tooltip="Refuse, with a word to the model", id="question.word"),
        _scroll("up", -1, "Up", "Read back"),
        _scroll("down", 1, "Down", "Read on"),
        _scroll("pageup", -10, "Page up", "Read back by ten rows"),
        _scroll("pagedown", 10, "Page down", "Read on by ten rows"),
    ]
    placeholder = "Why not, or what to do instead"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn_width = 0

    def compose_body(self) -> ComposeResult:
        """A call or a plan."""
        with VerticalScroll(id="question-body", can_focus=False):
            yield Static(id="question-text", markup=False)
        yield PlanText(id="question-plan")

    def title(self) -> str:
        """Who wants what."""
        if self.question.plan is not None:
            return f"{self.asker} has a plan"
        return f"{self.asker} wants to use {self.question.tool}"

    def on_resize(self) -> None:
        """A change is drawn for the width that there is."""
        if self.has_class("-open") and self.content_size.width != self._drawn_width:
            self._draw_text()

    def draw(self) -> None:
        """Show what is asked, from its beginning."""
        plan = self.question.plan
        self.set_class(plan is not None, "-plan")
        if plan is not None:
            self._plan.tell(plan or _NO_PLAN)
        self._draw_text()
        self._body.scroll_home(animate=False)

    def _draw_text(self) -> None:
        self._drawn_width = self.content_size.width
        self.query_one("#question-text", Static).update(Content("\n").join(self._text(self.question)))

    @property
    def _body(self) -> VerticalScroll:
        return self.query_one("#question-body", VerticalScroll)

    @property
    def _plan(self) -> PlanText:
        return self.query_one(PlanText)

    def action_answer(self, decision: Decision, is_wider: bool = False) -> None:
        """Decide, if the question has been there long enough to have been read and offers this."""
        is_offered = decision in ("no", "once") or (decision, is_wider) in dict(grants(self.question))
        if self.hears and is_offered:
            self.answer(Answer(decision=decision, scope=self.question.wider if is_wider else None))

    def written(self, text: str) -> None:
        """Refuse with this word."""
        self.answer(Answer(word=text))

    def action_scroll(self, rows: int) -> None:
        """Read what is longer than the card."""
        if self.question.plan is not None:
            self._plan.move(rows)
        else:
            self._body.scroll_relative(y=rows, animate=False)

    def keys(self) -> Iterator[str]:
        """The keys that answer; what can be granted is named."""
        is_plan = self.question.plan is not None
        if self.has_class("-writing"):
            does = "goes on planning" if is_plan else "refuses"
            yield f"Enter {does} with this word   Esc back to the question"
            return
        yes = "yes, carry it out" if is_plan else "yes, once"
        no = "no, go on planning" if is_plan else "no (so do Enter and Esc)" if self.has_focus else "no"
        yield f"{self.lead}y {yes}   n {no}   r no, because…"
        for (decision, is_wider), words in grants(self.question):
            key = "w" if is_wider else decision[0]
            when = "always" if decision == "always" else "in this session"
            yield f"{key} yes, {'and ' if is_plan else ''}{when}: {one_line(words)}"

    def _text(self, question: Question) -> Iterator[Content]:
        """Why and on what, then what would happen: the command, the change, or else the arguments."""
        if question.plan is not None:
            return
        label = self.paint("label")
        for name, text in (("path", question.path), ("reason", question.reason)):
            if text:
                yield Content.assemble((f"{name:<8}", label), sanitize(text))
        if question.command:
            yield from coloured(_bounded(question.command), "bash", self.paint)
        elif question.after is not None:
            width, is_wide = self.content_size.width - 1, self.outer_size.width >= WIDE
            before, after = question.before, question.after
            yield from change(before, after, question.path, self.paint, width, is_wide=is_wide)
        else:
            yield from coloured(_bounded(question.arguments), "json", self.paint)


def grants(question: Question) -> Iterator[tuple[tuple[Decision, bool], str]]:
    """What can be granted beyond this one call, each with the words that say so."""
    scope = question.scope.words() if question.scope else ""
    if question.session_scope or scope:
        yield ("session", False), question.session_scope or scope
    if question.wider is not None:
        yield ("session", True), question.wider.words()
    if scope:
        yield ("always", False), scope


def _bounded(text: str) -> str:
    return cut_middle(sanitize(text), SHOWN)
