"""Keeps the brick column and the strip up to date, without drawing more often than an eye can see."""

from typing import TYPE_CHECKING

from textual.timer import Timer

from milk_tui.core.bricks import Bricks, Segment
from milk_tui.ui.panels.registry import BrickColumn, with_prompt
from milk_tui.ui.panels.strip import BrickStrip

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen

_WITHIN = 0.1
"""Seconds after which the gauge shows what was typed or streamed."""


class Gauging:
    """Bricks when they change; the gauge soon after anything that moves it."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._column = screen.query_one(BrickColumn)
        self._strip = screen.query_one(BrickStrip)
        self._bricks: Bricks | None = None
        self._timer: Timer | None = None
        self._carried: tuple[Segment, ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether the gauge is about to follow."""
        return self._timer is not None

    def show(self, bricks: Bricks) -> None:
        """Show new bricks."""
        self._carried = self._screen.bench.carried()
        gauge = bricks.gauge.model_copy(update={"carried": self._carried})
        bricks = bricks.model_copy(update={"gauge": gauge})
        self._bricks = with_prompt(bricks, self._screen.prompt.chars)
        self._column.bricks = self._strip.bricks = self._bricks

    def soon(self) -> None:
        """Let the gauge follow; many calls in a row are one."""
        if self._timer is None:
            self._timer = self._screen.set_timer(_WITHIN, self._follow)

    def _follow(self) -> None:
        self._timer = None
        if self._bricks is not None:
            chars = self._screen.prompt.chars
            gauge = self._screen.talk.gauge(chars).model_copy(update={"carried": self._carried})
            self._bricks = self._bricks.model_copy(update={"gauge": gauge})
            self._column.prompt_chars = chars
            self._column.bricks = self._strip.bricks = self._bricks
