"""Draws the budget gauge: what the next hand-off carries, part by part, against its hard limit."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from milk_tui.core.text import sanitize
from milk_tui.ui.figures import short
from milk_tui.ui.panels.bar import GHOST, is_over, level, mark, runs
from milk_tui.ui.panels.panel import Panel

if TYPE_CHECKING:
    from milk_tui.core.bricks import Gauge

_SITUATIONS = {
    "first": "Claude starts",
    "agent": "asked for by the local agent",
    "resume": "Claude resumes",
}
_ENTRY = 26
"""The fewest columns of one legend entry."""


class GaugePanel(Panel["Gauge"]):
    """A picture of one `Gauge`. How full it is, is a class: `-ok`, `-near` or `-full`.

    | Class | Description |
    | :- | :- |
    | `gauge--identity` and its like | One part of the hand-off, in the bar and in the legend. |
    | `gauge--ghost` | The unsent prompt. |
    | `gauge--free` | What is left. |
    | `gauge--edge` | The limit. |
    | `gauge--facts` | The figures under the bar. |
    """

    def draw(self, value: "Gauge") -> Content:
        """Bar, figures and legend."""
        for name in ("ok", "near", "full"):
            self.set_class(name == level(value), f"-{name}")
        self.frame("next hand-off", _SITUATIONS[value.situation])
        width = max(self.body_width, _ENTRY)
        rows = [
            self._bar(value, width),
            *self._facts(value),
            *self._legend(value, width),
            *self._carried(value),
        ]
        return Content("\n").join(rows)

    def _bar(self, gauge: "Gauge", width: int) -> Content:
        parts = [
            (mark(name).glyph * cells, self._style(mark(name).style))
            for name, cells in runs(gauge, width - 2)
        ]
        beyond = ("▸", self._style("ghost")) if is_over(gauge) else (" ", Style())
        return Content.assemble(*parts, ("▏", self._style("edge")), beyond)

    def _facts(self, gauge: "Gauge") -> list[Content]:
        word = {"ok": "", "near": " · nearly full", "full": " · full"}[level(gauge)]
        style = self._style("facts")
        with_prompt = " with your prompt" if gauge.prompt_chars else ""
        return [
            Content.assemble(f"{gauge.chars:,}", (f" of {gauge.limit:,} characters{word}", style)),
            Content.styled(f"about {gauge.tokens:,} tokens{with_prompt}", style),
            Content.styled(_beside_history(gauge), style),
            *([Content.styled(gauge.route, style)] if gauge.route else []),
        ]

    def _carried(self, gauge: "Gauge") -> list[Content]:
        """What goes to the local model each time, which is no part of a hand-off."""
        if not gauge.carried:
            return []
        parts = " · ".join(f"{sanitize(part.name)} {short(part.chars)}" for part in gauge.carried)
        return [Content.styled(f"each local request also carries: {parts}", self._style("facts"))]

    def _legend(self, gauge: "Gauge", width: int) -> list[Content]:
        count = max(1, width // _ENTRY)
        figures = [(part.name, f"{short(part.chars)}/{short(part.budget)}") for part in gauge.segments]
        entries = [
            self._entry(name, text, width // count - (2 if count > 1 else 0))
            for name, text in (*figures, (GHOST, f"+{short(gauge.prompt_chars)}"))
        ]
        rows = (entries[start : start + count] for start in range(0, len(entries), count))
        return [Content("    ").join(row) for row in rows]

    def _entry(self, name: str, figures: str, width: int) -> Content:
        label = f" {mark(name).label}"
        gap = " " * max(1, width - 1 - len(label) - len(figures))
        glyph = (mark(name).glyph, self._style(mark(name).style))
        return Content.assemble(glyph, label, gap, (figures, self._style("facts")))

    def _style(self, name: str) -> Style:
        return self.get_visual_style(f"gauge--{name}", partial=True)


def _beside_history(gauge: "Gauge") -> str:
    """The hand-off beside what it is made from; a young history is the smaller of the two."""
    if gauge.history_chars <= gauge.chars:
        return f"the history has {gauge.history_chars:,} characters"
    return f"{gauge.chars:,} of {gauge.history_chars:,} characters of history"
