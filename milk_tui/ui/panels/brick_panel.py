"""Draws a brick that has lines: its size and budget, what it holds and leaves out, and line by line its text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from milk_tui.ui.panels.panel import Panel
from milk_tui.ui.widgets.line_list import OFF, LineList, Row

if TYPE_CHECKING:
    from milk_tui.core.bricks import Brick

SHOWN = 50_000
"""The most characters drawn, whatever the brick's budget is."""

_TITLES = {"local_summary": "local summary", "claude_summary": "Claude summary", "percepts": "facts"}


class BrickPanel(Panel["Brick"], can_focus=False):
    """A picture of one `Brick`, whose lines can be chosen; the focus is in the list of them."""

    def compose(self) -> ComposeResult:
        """The lines."""
        yield LineList(classes="panel-body")

    def draw(self, value: "Brick") -> Content:
        """Facts first, then the text as it is handed over."""
        self.set_class(value.is_stale, "-stale")
        self.set_class(not value.text, "-empty")
        self.set_class(value.is_off, "-off")
        self.frame(_title(value), f"{value.chars:,} of {value.budget:,}" if value.budget else "")
        return self.query_one(LineList).show(list(_rows(value)), self.body_width)

    @on(LineList.Wanted)
    async def _edit(self, event: LineList.Wanted) -> None:
        """Only the words that an edit ends with are of interest outside."""
        if event.wish == "edit" and event.text is None:
            event.stop()
            from milk_tui.ui.widgets.line_editor import LineEditor  # it has nothing to do in the first frame

            if not self.query(LineEditor):
                await self.mount(LineEditor())
            self.query_one(LineEditor).open(event.row, self.query_one(LineList))


def brick_facts(brick: "Brick") -> str:
    """What a brick holds and leaves out, in words; empty when there is nothing to say."""
    facts = (
        _count(brick.held, "fact" if brick.name == "percepts" else "exchange"),
        f"{brick.dropped:,} older left out" if brick.dropped else "",
        f"{_count(brick.collapsed, 'call')} collapsed" if brick.collapsed else "",
        f"{_count(brick.left_out, 'line')} dropped by you" if brick.left_out else "",
    )
    return " · ".join(fact for fact in facts if fact)


def _title(brick: "Brick") -> str:
    marks = (
        ("stale", brick.is_stale),
        (f"frozen as of turn {brick.frozen_at}", brick.frozen_at is not None),
        (f"{OFF} off", brick.is_off),
    )
    title = _TITLES.get(brick.name, brick.name.replace("_", " "))
    return " · ".join([title, *(mark for mark, holds in marks if holds)])


def _rows(brick: "Brick") -> Iterator[Row]:
    part = brick.name
    facts = brick_facts(brick)
    if not brick.text:
        empty = "Nothing that Claude does not know. It is written after each turn."
        yield Row(Content("\n".join(filter(None, (facts, empty)))), part, style="empty", is_switch=True)
        return
    if facts:
        yield Row(Content(facts), part, style="facts")
    left = SHOWN
    for line in brick.lines:
        left -= len(line.text)
        if left >= 0:
            yield Row(Content(line.text), part, line)
    if not brick.lines:
        yield Row(Content(brick.text[:SHOWN]), part, style="plain", is_switch=True)
    missing = brick.chars - SHOWN
    if missing > 0:
        yield Row(Content(f"[{missing:,} more characters are not shown here]"), part, style="plain")


def _count(number: int, noun: str) -> str:
    if not number:
        return ""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
