"""The bricks folded into two rows, for terminals too narrow for the column."""

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style

from milk_tui.ui.dyed import Dyed
from milk_tui.ui.figures import short
from milk_tui.ui.panels.bar import level, mark, runs
from milk_tui.ui.panels.registry import with_prompt

if TYPE_CHECKING:
    from milk_tui.core.bricks import Bricks, Gauge

_BAR = 24
"""The most cells of the bar."""


class BrickStrip(Dyed):
    """The need on one row, the gauge on the other.

    | Class | Description |
    | :- | :- |
    | `strip--label`, `strip--need` | Words of ours. |
    | `gauge--need` and its like | As in the gauge panel. |
    """

    bricks: reactive["Bricks | None"] = reactive(None)
    prompt_chars: reactive[int] = reactive(0)
    """The length of the unsent prompt, which the gauge shows as a ghost."""

    class Clicked(Message):
        """The user wants to see the bricks."""

    def watch_bricks(self, bricks: "Bricks | None") -> None:
        """Say by classes what the panels say: a stale need, and how full the hand-off is."""
        self.set_class(bricks is not None and bricks.need.is_stale, "-stale")
        for name in ("ok", "near", "full"):
            self.set_class(bricks is not None and name == level(bricks.gauge), f"-{name}")

    def on_click(self, event: events.Click) -> None:
        """Ask for the whole column."""
        self.post_message(self.Clicked())

    def render(self) -> Content:
        """Both rows."""
        if self.bricks is None:
            return Content()
        bricks, width = with_prompt(self.bricks, self.prompt_chars), self.content_size.width
        return Content("\n").join([self._need(bricks, width), self._gauge(bricks.gauge, width)])

    def _need(self, bricks: "Bricks", width: int) -> Content:
        need = bricks.need
        marks = [
            word for word, holds in (("guessed", need.by == "inferred"), ("stale", need.is_stale)) if holds
        ]
        label = f"need ({', '.join(marks)}) " if marks else "need "
        text = " ".join(need.text.split()) or "nobody has said it yet"
        row = Content.assemble((label, self._style("strip--need")), text)
        return row.truncate(width, ellipsis=True)

    def _gauge(self, gauge: "Gauge", width: int) -> Content:
        word = {"ok": "", "near": ", nearly full", "full": ", full"}[level(gauge)]
        size = f" {short(gauge.chars)} of {short(gauge.limit)}{word}"
        figures = f"{size} · history {short(gauge.history_chars)}"
        room = max(0, min(_BAR, width - cell_len("hand-off ") - cell_len(figures) - 1))
        parts = [
            (mark(name).glyph * cells, self._style(f"gauge--{mark(name).style}"))
            for name, cells in runs(gauge, room)
        ]
        row = Content.assemble(
            ("hand-off ", self._style("strip--label")), *parts, ("▏", self._style("gauge--edge")), figures
        )
        return row.truncate(width, ellipsis=True)

    def _style(self, name: str) -> Style:
        return self.get_visual_style(name, partial=True)
