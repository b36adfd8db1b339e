"""One tool call under way: what it writes while it runs, and its result within its bound.

A tool runs in a task of its own. Closing the generator cancels the tool and waits until it has ended. Knows no model.
"""

import asyncio
from collections.abc import AsyncGenerator

from milk_tui.agents.server.messages import fitted
from milk_tui.agents.toolbox import Toolbox, error_result, run_call
from milk_tui.core.events import ToolOutput
from milk_tui.core.messages import ToolCall, ToolResult

REPORT_SECONDS = 0.1
"""Between two reports of what a tool has written."""
LIVE_LIMIT = 4_000
"""Characters of live output that are shown: its end."""


class _Output:
    """The end of what a tool has written so far."""

    def __init__(self) -> None:
        self.is_new = False
        self._parts: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        """Take a fragment. What can no longer be seen is let go now and then, so a flood stays small."""
        if not text:
            return
        self.is_new = True
        self._parts.append(text[-2 * LIVE_LIMIT :])
        self._size += len(self._parts[-1])
        if self._size > 8 * LIVE_LIMIT:
            self._fold()

    def text(self) -> str:
        """The last characters; where some are missing it begins with a line if it can."""
        self.is_new = False
        self._fold()
        whole = self._parts[0] if self._parts else ""
        if len(whole) <= LIVE_LIMIT:
            return whole
        tail = whole[-LIVE_LIMIT:]
        _, line_end, rest = tail.partition("\n")
        return rest if line_end and rest else tail

    def _fold(self) -> None:
        self._parts = ["".join(self._parts)[-2 * LIVE_LIMIT :]]
        self._size = len(self._parts[0])


async def running(
    toolbox: Toolbox, call: ToolCall, *, limit_chars: int, limit_tokens: int, is_broken: bool
) -> AsyncGenerator[ToolOutput | ToolResult, None]:
    """Run one call: its output at most ten times a second, and its one result last, cut to its bound."""
    output = _Output()
    task = asyncio.create_task(run_call(toolbox, call, output.add, limit_chars, is_broken=is_broken))
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=REPORT_SECONDS)
            if output.is_new:
                yield ToolOutput(call_id=call.id, text=output.text())
        result = error_result(call, f"The tool {call.name} gave up.") if task.cancelled() else task.result()
        yield result.model_copy(update={"text": fitted(result.text, limit_tokens)})
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
