"""How the turn in progress is doing: tools at work, silence, retries, and what has been written so far.

Read from events, by the monotonic clock. It draws nothing, and what outlasts the turn is not kept here.
"""

from time import monotonic
from typing import Any

from milk_tui.core import events as ev
from milk_tui.core.budget import estimated_tokens

_SHOWN_EVERY = 0.5
"""Seconds between two looks at what is being written: figures that change with every fragment can be read by nobody."""


class Progress:
    """One turn; begin another one with the next turn."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[str, float]] = {}
        self._silent_since: float | None = None
        self._retry_at: float | None = None
        self._attempt = ""
        self._reported = 0
        self._unreported_chars = 0
        self._shown_at = 0.0

    @property
    def is_retrying(self) -> bool:
        """Whether a request has failed and is made again."""
        return bool(self._attempt)

    def note(self, event: ev.Event) -> bool:
        """Take notice of one event; tells whether there is something new to show."""
        was_silent, was_retrying = self._silent_since is not None, self.is_retrying
        self._silent_since = None
        is_new = was_silent
        match event:
            case ev.Silent():
                self._silent_since, is_new = monotonic() - event.seconds, True
            case ev.TextDelta() | ev.ThinkingDelta():
                is_new = self._wrote(len(event.text)) or is_new
                self._attempt = ""
            case ev.ToolCallStarted():
                self._wrote(len(event.call.name) + len(event.call.arguments))
                self._tools[event.call.id] = (event.call.name, monotonic())
                self._attempt, is_new = "", True
            case ev.ToolCallFinished():
                self._tools.pop(event.result.call_id, None)
                is_new = True
            case ev.StepStarted() | ev.StepVoided():
                self._attempt = ""
            case ev.RetryScheduled():
                self._attempt, is_new = f"attempt {event.attempt} of {event.of}", True
                self._retry_at = monotonic() + event.delay if event.delay else None
            case ev.UsageReported():
                self._reported, self._unreported_chars = self._reported + event.usage.output_tokens, 0
            case _:
                pass
        return is_new or was_retrying != self.is_retrying

    def figures(self) -> dict[str, Any]:
        """The fields of a status that it knows."""
        self._shown_at = monotonic()
        tool, since = next(iter(self._tools.values()), ("", None))
        return {
            "tool": tool,
            "tool_since": since,
            "more_tools": max(0, len(self._tools) - 1),
            "silent_since": self._silent_since,
            "retry_at": self._retry_at if self.is_retrying else None,
            "detail": self._attempt,
            "written": self._reported + estimated_tokens(self._unreported_chars),
            "is_written_estimated": self._unreported_chars > 0,
        }

    def _wrote(self, chars: int) -> bool:
        self._unreported_chars += chars
        return monotonic() - self._shown_at >= _SHOWN_EVERY
