"""Runs the user's own commands, as an agent that knows nothing else.

Having written the command is the consent to it, and to it alone. All else is as for the local agent's commands: the
directory, what of the environment is passed on, the limits, and that nothing is run while only plans are made.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from uuid import uuid4

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server.running import running
from milk_tui.agents.toolbox import Report
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.core.events import AgentEvent, AgentFinished, StepStarted, ToolCallFinished, ToolCallStarted
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.own_command import CALL_ID, own_command
from milk_tui.core.permission import Answer, Question
from milk_tui.tools.registry import TOOLS

_TOOL = "run_command"
RESULT_CHARS = 6_000
"""Characters of what a command wrote that are kept in the conversation; all of it is in a file."""


class OwnCommands:
    """Answers a turn by running its prompt."""

    def __init__(self, toolbox: SessionToolbox) -> None:
        self._hands = _Hands(toolbox)

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Run one command; see `Agent.run`."""
        arguments = json.dumps({"command": own_command(request.prompt)}, ensure_ascii=False)
        call = ToolCall(id=f"{CALL_ID}{uuid4().hex}", name=_TOOL, arguments=arguments)
        yield StepStarted()
        yield ToolCallStarted(call=call)
        work = running(
            self._hands, call, limit_chars=RESULT_CHARS, limit_tokens=RESULT_CHARS, is_broken=False
        )
        async with aclosing(work) as happenings:
            async for each in happenings:
                yield ToolCallFinished(result=each) if isinstance(each, ToolResult) else each
        yield AgentFinished()

    async def close(self) -> None:
        """Nothing outlives a command."""


class _Hands:
    """The session's tools in the user's own hands."""

    def __init__(self, toolbox: SessionToolbox) -> None:
        self._toolbox = toolbox

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """The one tool that is used."""
        return (TOOLS[_TOOL].schema,)

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        """Run a call that the user wrote."""
        return await self._toolbox.run(call, report, limit_chars, ask=_consent)


async def _consent(_question: Question) -> Answer:
    return Answer(decision="once")
