"""One row that says who has the floor, what is going on and what it takes.

It draws a value. It has a timer only while something is going on; it knows no conversation and no prices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Literal

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer

from milk_tui.core.text import sanitize
from milk_tui.ui.dyed import Dyed
from milk_tui.ui.figures import duration, short

if TYPE_CHECKING:
    from milk_tui.core.messages import AgentRole

State = Literal["opening", "idle", "starting", "answering", "retrying", "stopping", "asking", "waiting"]

_WORDS: dict[State, str] = {
    "opening": "opening the session",
    "idle": "ready",
    "starting": "starting",
    "answering": "answering",
    "retrying": "trying again",
    "stopping": "stopping",
    "asking": "asks you",
    "waiting": "waits for your answer",
}
_BUSY = frozenset[State](("starting", "answering", "retrying", "stopping"))
_FLOORS: "dict[AgentRole, str]" = {"local": "○ local", "claude": "● Claude"}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME = 0.1
"""Seconds a frame of the spinner stays."""
_MODEL_WIDTH = 28
_GAP = 3


@dataclass(frozen=True)
class Status:
    """All that the status line shows."""

    floor: "AgentRole" = "local"
    model: str = ""
    state: State = "idle"
    detail: str = ""
    """More about the state, such as which attempt it is."""
    since: float | None = None
    """When the turn began, by the monotonic clock; `None` hides the seconds."""
    tool: str = ""
    """The tool at work, the first of them if there are several."""
    tool_since: float | None = None
    more_tools: int = 0
    """How many are at work beside it."""
    silent_since: float | None = None
    """When the last word came, if that is long ago."""
    retry_at: float | None = None
    """When a failed request is made again."""
    written: int = 0
    """Tokens of the turn's answer so far."""
    is_written_estimated: bool = False
    tokens_per_second: float | None = None
    context_tokens: int | None = None
    """Tokens in the model's window."""
    window: int | None = None
    is_window_assumed: bool = False
    """Nobody has told the window's size."""
    cost_usd: float | None = None
    """What Claude has cost in this session."""
    burn: str = ""
    """How much of what Claude may spend is spent, in words; empty without a limit."""
    plans_only: bool = False
    """The local agent may change, run and fetch nothing."""
    hints: tuple[str, ...] = ()
    """Keys and what they do, the most useful first."""

    @property
    def is_busy(self) -> bool:
        """Is something going on that the user waits for?"""
        return self.state in _BUSY


@dataclass(frozen=True)
class _Field:
    text: str
    style: str
    rank: int
    """The field with the highest rank goes first when there is no room."""
    is_right: bool = False


class StatusLine(Dyed):
    """A picture of one `Status`, on one row. `-claude` and `-busy` say the floor and that something is going on.

    | Class | Description |
    | :- | :- |
    | `status--floor` | Who has the floor. |
    | `status--mode` | That the local agent only plans. |
    | `status--state` | What is going on. |
    | `status--figure` | Model, rate, window and cost. |
    | `status--hint` | Keys. |
    """

    status: reactive[Status] = reactive(Status())
    calm: reactive[bool] = reactive(False)
    """Nothing moves but the seconds."""

    def __init__(self, status: Status | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(StatusLine.status, status or Status())
        self._timer: Timer | None = None

    def watch_status(self, before: Status, status: Status) -> None:
        """Run a timer only while there is something to wait for."""
        self.set_class(status.floor == "claude", "-claude")
        self.set_class(status.is_busy, "-busy")
        if before.is_busy != status.is_busy:
            self._set_timer()

    def watch_calm(self) -> None:
        """Slow down or speed up what is running."""
        self._set_timer()

    def on_mount(self) -> None:
        """Start what was asked for before there was a screen."""
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.status.is_busy and self.is_attached:
            self._timer = self.set_interval(1.0 if self.calm else _FRAME, self.refresh)

    def render(self) -> Content:
        """The fields that have room, the first ones on the left and the others on the right."""
        width = self.content_size.width
        fields = fitting(self._fields(), width)
        left = [field for field in fields if not field.is_right]
        right = [field for field in fields if field.is_right]
        fill = " " * max(0, width - _width(left) - _width(right))
        row = Content.assemble(*self._joined(left), fill, *self._joined(right))
        return row.truncate(width, ellipsis=True)

    def _fields(self) -> list[_Field]:
        status = self.status
        model = Content(sanitize(status.model).replace("\n", " ")).truncate(_MODEL_WIDTH, ellipsis=True).plain
        fields = [
            _Field("" if status.state == "opening" else _FLOORS[status.floor], "floor", 0),
            _Field("plans only" if status.plans_only else "", "mode", 2),
            _Field(model, "figure", 10 if status.is_busy else 4),
            _Field(self._state(), "state", 1),
            _Field(_in_all(status), "figure", 7),
            _Field(_written(status), "figure", 6, is_right=True),
            _Field(_rate(status), "figure", 8, is_right=True),
            _Field(_window(status), "figure", 5, is_right=True),
            _Field(_cost(status), "figure", 3, is_right=True),
            *(_Field(hint, "hint", 11 + place, is_right=True) for place, hint in enumerate(status.hints)),
        ]
        return [field for field in fields if field.text]

    def _state(self) -> str:
        status = self.status
        spinner = f"{_SPINNER[int(monotonic() / _FRAME) % len(_SPINNER)]} " if status.is_busy else ""
        detail = f" ({_plain(status.detail)})" if status.detail else ""
        return f"{'' if self.calm else spinner}{_doing(status)}{detail}"

    def _joined(self, fields: Sequence[_Field]) -> list[Content]:
        contents = [
            Content.styled(field.text, self.get_visual_style(f"status--{field.style}", partial=True))
            for field in fields
        ]
        return [Content(" " * _GAP).join(contents)]


def fitting(fields: Sequence[_Field], width: int) -> list[_Field]:
    """The fields that have room on a row; the ones that matter least are left out first."""
    kept = list(fields)
    while len(kept) > 1 and _width(kept) > width:
        kept.remove(max(kept, key=lambda field: field.rank))
    return kept


def _width(fields: Sequence[_Field]) -> int:
    return sum(Content(field.text).cell_length for field in fields) + _GAP * max(0, len(fields) - 1)


def _plain(text: str) -> str:
    return sanitize(text).replace("\n", " ")


def _doing(status: Status) -> str:
    """What is going on, and for how long."""
    words = _WORDS[status.state]
    if not status.is_busy or status.state == "stopping":
        return words + _seconds(status.since)
    if status.state == "retrying":
        left = 0.0 if status.retry_at is None else status.retry_at - monotonic()
        return f"{words} in {duration(ceil(left))}" if left > 0 else words
    silent = "" if status.silent_since is None else f"silent for{_seconds(status.silent_since)}"
    if status.tool:
        more = f" and {status.more_tools} more" if status.more_tools else ""
        used = f"uses {_plain(status.tool)}{more}{_seconds(status.tool_since)}"
        return f"{used}, {silent}" if silent else used
    return f"{silent}, Esc stops" if silent else words + _seconds(status.since)


def _in_all(status: Status) -> str:
    """How long the turn takes, where the seconds beside the state are those of something else."""
    is_other = status.tool or status.silent_since is not None or status.state == "retrying"
    is_shown = is_other and status.is_busy and status.state != "stopping"
    return f"{_seconds(status.since).strip()} in all" if is_shown and _seconds(status.since) else ""


def _seconds(since: float | None) -> str:
    """How long ago that was, with a space in front; nothing of the first second."""
    passed = 0.0 if since is None else monotonic() - since
    return f" {duration(passed)}" if passed >= 1 else ""


def _written(status: Status) -> str:
    if not status.written or not status.is_busy:
        return ""
    return f"{'~' if status.is_written_estimated else ''}{short(status.written)} written"


def _rate(status: Status) -> str:
    return "" if status.tokens_per_second is None else f"{status.tokens_per_second:.0f} tok/s"


def _window(status: Status) -> str:
    if status.context_tokens is None:
        return ""
    if not status.window:
        return f"{short(status.context_tokens)} tokens"
    about = "about " if status.is_window_assumed else ""
    return f"{short(status.context_tokens)} of {about}{short(status.window)} tokens"


def _cost(status: Status) -> str:
    if status.burn:
        return sanitize(status.burn)
    return "" if status.cost_usd is None else f"${status.cost_usd:,.2f}"
