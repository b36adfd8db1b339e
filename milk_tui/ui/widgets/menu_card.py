"""Questions of an agent's with answers to choose from, one menu after the other.

Choosing and answering are different keys, so that no key pressed twice answers what was not read. It draws menus and
posts an answer.
"""

from collections.abc import Iterator
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static

from milk_tui.core.menu import Choice
from milk_tui.core.permission import Answer
from milk_tui.core.text import sanitize
from milk_tui.ui.widgets.card import Card, one_line
from milk_tui.ui.widgets.picking import Picking

_OWN = "In your own words…"
_PREVIEW_LINES = 12
"""Lines of a preview that are shown."""


def _key(keys: str, action: str, description: str, tooltip: str, id: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, description, show=show, tooltip=tooltip, id=f"menu.{id}")


class MenuCard(Card):
    """Shows one menu of those that are asked together.

    | Class | Description |
    | :- | :- |
    | `question--label` | Descriptions, and what a line is about. |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("up,k", "move(-1)", "Up", "The choice above", "up"),
        _key("down,j", "move(1)", "Down", "The choice below", "down"),
        *(_key(str(n), f"point({n - 1})", f"Choice {n}", f"Choice {n}", f"choice-{n}") for n in range(1, 10)),
        _key(
            "space",
            "mark",
            "Mark",
            "Mark a choice where several may be chosen, or unmark it",
            "mark",
            show=True,
        ),
        _key(
            "enter",
            "go_on",
            "Answer",
            "Take the choice; after the last question, answer",
            "answer",
            show=True,
        ),
        _key("left", "go(-1)", "Back", "The question before", "before"),
        _key("right", "go(1)", "Skip", "The next question, this one unanswered", "after"),
        _key("o,r", "write", "Own words", "Answer in your own words", "own", show=True),
        _key("escape", "decline", "Decline", "Answer nothing; the agent is told", "decline", show=True),
    ]
    placeholder = "Your own answer"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._picking = Picking(())

    def compose_body(self) -> ComposeResult:
        """The question and its choices."""
        yield Static(id="menu-question", markup=False)
        choices = OptionList(id="menu-choices", markup=False)
        choices.can_focus = False
        yield choices

    def title(self) -> str:
        """Who asks about what."""
        menu = self._picking.menu
        several = f" ({self._picking.place + 1} of {len(self._picking.menus)})"
        about = f": {menu.header}" if menu.header else ""
        return f"{self.asker} asks{about}{several if len(self._picking.menus) > 1 else ''}"

    def draw(self) -> None:
        """Show the first menu."""
        self._picking = Picking(self.question.menus)
        self._show()

    def _show(self) -> None:
        picking = self._picking
        self.border_title = Content(one_line(self.title()))
        self.query_one("#menu-question", Static).update(Content(sanitize(picking.menu.question)))
        choices = self.query_one(OptionList)
        choices.clear_options()
        choices.add_options([self._row(row) for row in range(picking.own_row + 1)])
        choices.highlighted = picking.cursor
        self.show_keys()

    def _row(self, row: int) -> Content:
        """A choice; at the cursor with what it would look like."""
        picking, label = self._picking, self.paint("label")
        is_own, is_here = row == picking.own_row, row == picking.cursor
        choice = Choice(label=picking.own or _OWN) if is_own else picking.menu.choices[row]
        is_marked = picking.is_marked(row)
        box = ("[x] " if is_marked else "[ ] ") if picking.menu.takes_several else ""
        label_style = "bold" if is_here else ""
        line = Content.assemble(
            f"{'▸' if is_here else ' '} {box}{row + 1} ", (one_line(choice.label), label_style)
        )
        if is_marked and not box:
            line += " ✓"
        if choice.description:
            line += Content.styled(f"  {one_line(choice.description)}", label)
        preview = sanitize(choice.preview).splitlines()[:_PREVIEW_LINES] if is_here else []
        return Content("\n").join([line, *(Content.styled(f"    │ {text}", label) for text in preview)])

    def keys(self) -> Iterator[str]:
        """The keys that answer."""
        if self.has_class("-writing"):
            yield "Enter takes these words   Esc back to the choices"
            return
        picking = self._picking
        last = picking.own_row + 1
        several = "   Space marks" if picking.menu.takes_several else ""
        goes = "answers" if picking.is_last else "goes on"
        yield f"{self.lead}↑ ↓ or 1–{last} choose{several}   Enter {goes}   Esc declines"
        if len(picking.menus) > 1:
            yield "← question before   → skip this one"

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_point(event.option_index)

    def action_move(self, rows: int) -> None:
        """Go to another choice."""
        if self.hears:
            self._picking.move(rows)
            self._show()

    def action_point(self, row: int) -> None:
        """Go to this choice; where several may be chosen, mark it."""
        if self.hears and self._picking.point(row):
            if self._picking.menu.takes_several:
                self.action_mark()
            elif row == self._picking.own_row:
                self.action_write()
            self._show()

    def action_mark(self) -> None:
        """Mark or unmark the choice at the cursor."""
        picking = self._picking
        if not self.hears or not picking.menu.takes_several:
            return
        if picking.cursor == picking.own_row and not picking.own:
            self.action_write()
        else:
            picking.mark()
        self._show()

    def action_go_on(self) -> None:
        """Take what is chosen, and go to the next question or answer."""
        picking = self._picking
        if not self.hears:
            return
        if not picking.menu.takes_several:
            if picking.cursor == picking.own_row and not picking.own:
                self.action_write()
                return
            picking.mark()
        self._next()

    def action_go(self, menus: int) -> None:
        """Go to another question."""
        if self.hears:
            self._picking.go(menus)
            self._show()

    def action_write(self) -> None:
        """Answer in words of one's own."""
        if self.hears:
            self._picking.point(self._picking.own_row)
            self.line.value = self._picking.own
            self._show()
        super().action_write()

    def written(self, text: str) -> None:
        """Take the words; where they are the whole answer, go on."""
        self._picking.write(text)
        self.back()
        if text and not self._picking.menu.takes_several:
            self._next()
        else:
            self._show()

    def action_decline(self) -> None:
        """Answer nothing."""
        if self.hears:
            self.answer(Answer())

    def _next(self) -> None:
        if not self._picking.is_last:
            self._picking.go(1)
            self._show()
            return
        chosen = self._picking.answers()
        self.answer(Answer(decision="once" if any(chosen) else "no", chosen=chosen if any(chosen) else ()))
