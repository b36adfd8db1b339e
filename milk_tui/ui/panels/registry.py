"""Which brick is drawn by which panel, in which order, and the column that holds them.

To add a panel, add a row. The column is given one value and knows nothing of where it comes from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive

from milk_tui.ui.panels.brick_panel import BrickPanel
from milk_tui.ui.panels.gauge_panel import GaugePanel
from milk_tui.ui.panels.need_panel import NeedPanel
from milk_tui.ui.panels.panel import Panel

if TYPE_CHECKING:
    from milk_tui.core.bricks import Bricks, Gauge
    from milk_tui.core.messages import Value


@dataclass(frozen=True)
class PanelRow:
    """One panel of the column."""

    id: str
    panel: Callable[..., Panel[Any]]
    read: Callable[["Bricks"], "Value"]
    """Takes the panel's own value out of all bricks."""
    title: str
    """What stands in its frame before it has a value."""


PANELS = (
    PanelRow("need", NeedPanel, lambda bricks: bricks.need, "need"),
    PanelRow("local-summary", BrickPanel, lambda bricks: bricks.local_summary, "local summary"),
    PanelRow("claude-summary", BrickPanel, lambda bricks: bricks.claude_summary, "Claude summary"),
    PanelRow("facts", BrickPanel, lambda bricks: bricks.facts, "facts"),
    PanelRow("gauge", GaugePanel, lambda bricks: bricks.gauge, "next hand-off"),
)
"""From top to bottom."""


class BrickColumn(Vertical):
    """All panels, one under the other. A panel is redrawn only when its own value has changed."""

    bricks: reactive["Bricks | None"] = reactive(None, repaint=False)
    prompt_chars: reactive[int] = reactive(0, repaint=False)
    """The length of the unsent prompt, which the gauge shows as a ghost."""

    def compose(self) -> ComposeResult:
        """A panel for each row of the table."""
        for row in PANELS:
            panel = row.panel(id=row.id, classes="-empty")
            panel.border_title = row.title
            yield panel

    def on_mount(self) -> None:
        """Draw what was given before there were panels."""
        self._hand_out()

    def watch_bricks(self) -> None:
        """Give each panel its own value."""
        self._hand_out()

    def watch_prompt_chars(self) -> None:
        """Let the gauge follow what is being written."""
        self._hand_out()

    def _hand_out(self) -> None:
        if self.bricks is None or not self.is_mounted:
            return
        bricks = with_prompt(self.bricks, self.prompt_chars)
        for row in PANELS:
            self.query_one(f"#{row.id}", Panel).value = row.read(bricks)


def with_prompt(bricks: "Bricks", chars: int) -> "Bricks":
    """The same bricks with an unsent prompt of so many characters in the gauge."""
    gauge: Gauge = bricks.gauge.model_copy(update={"prompt_chars": chars})
    return bricks.model_copy(update={"gauge": gauge})
