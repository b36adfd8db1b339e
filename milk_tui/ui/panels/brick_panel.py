"""Draws a summary brick: its size and budget, what it holds and what it leaves out, and its text."""

from typing import TYPE_CHECKING

from textual.content import Content

from milk_tui.ui.panels.panel import Panel

if TYPE_CHECKING:
    from milk_tui.core.bricks import Brick

SHOWN = 50_000
"""The most characters drawn, whatever the brick's budget is."""

_TITLES = {"local_summary": "local summary", "claude_summary": "Claude summary"}


class BrickPanel(Panel["Brick"]):
    """A picture of one `Brick`.

    | Class | Description |
    | :- | :- |
    | `brick--facts` | What the brick holds and leaves out. |
    | `brick--empty` | What stands in place of a text that is not there yet. |
    """

    def draw(self, value: "Brick") -> Content:
        """Facts first, then the text as it is handed over."""
        self.set_class(value.is_stale, "-stale")
        self.set_class(not value.text, "-empty")
        title = _TITLES.get(value.name, value.name.replace("_", " "))
        self.border_title = Content(f"{title} · stale" if value.is_stale else title)
        self.border_subtitle = Content(f"{value.chars:,} of {value.budget:,}" if value.budget else "")
        if not value.text:
            return Content.styled(
                "Nothing that Claude does not know. It is written after each turn.",
                self.get_visual_style("brick--empty", partial=True),
            )
        facts, style = brick_facts(value), self.get_visual_style("brick--facts", partial=True)
        head = [(f"{facts}\n", style)] if facts else []
        return Content.assemble(*head, _bounded(value.text))


def brick_facts(brick: "Brick") -> str:
    """What a brick holds and leaves out, in words; empty when there is nothing to say."""
    facts = (
        _count(brick.held, "exchange"),
        f"{brick.dropped:,} older left out" if brick.dropped else "",
        f"{_count(brick.collapsed, 'call')} collapsed" if brick.collapsed else "",
    )
    return " · ".join(fact for fact in facts if fact)


def _count(number: int, noun: str) -> str:
    if not number:
        return ""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _bounded(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}\n[{len(text) - SHOWN:,} more characters are not shown here]"
