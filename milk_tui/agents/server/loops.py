"""When a model goes round in circles, and what the user is told about it.

Counts calls and reads no model's mind: a call that brings something new is no loop, however often it is made.
"""

import json

from milk_tui.core.cut import one_line
from milk_tui.core.messages import ToolCall, ToolResult

SAME_CALLS = 3
"""Requests for one call with one outcome, of which the last is not run."""
LOOP = "loop"
"""The stop reason of a turn that was stopped for one call made again and again."""
STEPS = "steps"
"""The stop reason of a turn that was stopped for its number of steps."""

_SHOWN = 120


class Repetition:
    """The calls of one turn with what came of them."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str], tuple[str, int]] = {}
        """The last result of each call, and how often in a row it was the same."""

    def add(self, call: ToolCall, result: ToolResult) -> None:
        """Take note of a call that was run."""
        text, times = self._outcomes.get(_same(call), ("", 0))
        self._outcomes[_same(call)] = (result.text, times + 1 if times and text == result.text else 1)

    def is_loop(self, call: ToolCall) -> bool:
        """The call has been made often enough with the same outcome."""
        _, times = self._outcomes.get(_same(call), ("", 0))
        return times >= SAME_CALLS - 1


def repeated(call: ToolCall) -> str:
    """What is said when a call is asked for again and again."""
    shown = one_line(f"{call.name} {call.arguments}", _SHOWN)
    return f"The model asked {SAME_CALLS} times for the same call with the same outcome, and was stopped: {shown}."


def many_steps(steps: int, calls: int) -> str:
    """What is said when a turn has taken too many steps."""
    return f"The model has taken {steps} steps with {calls} calls and was stopped before the next one."


def _same(call: ToolCall) -> tuple[str, str]:
    """What two equal calls have in common: the order of their arguments makes no difference."""
    return call.name, json.dumps(call.parsed(), sort_keys=True)
