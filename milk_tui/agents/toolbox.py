"""What a tool loop needs from a set of tools, and the one tool every local agent has.

Says nothing about what tools do or who allows them: a toolbox asks its own questions before it runs a call.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from milk_tui.core.messages import ToolCall, ToolResult

log = logging.getLogger(__name__)

ESCALATE = "escalate_to_claude"

ESCALATE_SCHEMA: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": ESCALATE,
        "description": (
            "Hand the user's task over to Claude Code, a stronger agent. Use it when the task is too hard for you"
            " or needs more than you can do here. You stop; Claude Code goes on."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "One line: why the task needs Claude Code."}
            },
            "required": ["reason"],
        },
    },
}


Report = Callable[[str], None]
"""Takes a fragment of what a running tool writes."""


class Toolbox(Protocol):
    """The tools given to one agent."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """One function schema per tool, as the chat completions interface writes them."""
        ...

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        """Run one call, whose name is in `schemas`. A tool that fails or is refused gives an error result.

        Args:
            call: its arguments are a JSON object.
            report: takes what the tool writes while it runs; called on the event loop's own thread.
            limit_chars: the most characters of the result; what is longer is cut by the caller.
        """
        ...


class NoTools:
    """A toolbox with nothing in it."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """None."""
        return ()

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        """Say that there is no such tool."""
        return error_result(call, f"There is no tool called “{call.name}”.")


async def run_call(
    toolbox: Toolbox, call: ToolCall, report: Report, limit_chars: int, *, is_broken: bool
) -> ToolResult:
    """The one result of a call, for its own id, whatever the model asked for and whatever the tool does."""
    if is_broken:
        name = call.name or "the call"
        return error_result(call, f"The arguments of {name} are not a JSON object, so it was not run.")
    names = [schema["function"]["name"] for schema in toolbox.schemas()]
    if call.name not in names:
        known = ", ".join([ESCALATE, *names])
        return error_result(call, f"There is no tool called “{call.name}”. The tools are: {known}.")
    try:
        result = await toolbox.run(call, report, limit_chars)
    except Exception as error:
        log.exception("The tool %s raised", call.name)
        return error_result(call, f"The tool {call.name} failed: {error}")
    return result.model_copy(update={"call_id": call.id})


def error_result(call: ToolCall, text: str) -> ToolResult:
    """A result that says why there is none."""
    return ToolResult(call_id=call.id, text=text, is_error=True)
