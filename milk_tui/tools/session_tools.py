"""The tools of one session: which are offered, and how one call becomes its one result.

Grants live behind the `Permission` it is given. Nothing here knows models or screens.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Permission, Question
from milk_tui.tools.base import Outcome, Prepared, Report, Tool
from milk_tui.tools.bounds import bounded
from milk_tui.tools.mcp_tools import McpTool
from milk_tui.tools.off_loop import off_loop
from milk_tui.tools.registry import TOOLS
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError, trouble

AnyTool = Tool | McpTool


class Tools:
    """What the local agent may do in one session."""

    def __init__(
        self,
        site: Site,
        keep: Path,
        others: Callable[[], Sequence[AnyTool]] = tuple,
        *,
        plans_only: bool = False,
    ) -> None:
        """Make the set.

        Args:
            site: where the tools work.
            keep: the folder in which results too long for the model are kept.
            others: the tools of other programs that are there now.
            plans_only: see the attribute.
        """
        self.site = site
        self.plans_only = plans_only
        """Read only: the agent looks and plans, and changes nothing."""
        self._keep = keep
        self._others = others
        self._asking = asyncio.Lock()

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """One function schema per tool that could run as things are."""
        return [tool.schema for tool in self._all().values() if not self._ban(tool)]

    async def run(self, call: ToolCall, ask: Permission, report: Report) -> ToolResult:
        """Run one call: check it, ask if it must be asked, do it, and bound what it gave back.

        Cancelling stops the call, waits until nothing of it is left, and gives no result; the session records that.
        """
        try:
            outcome = await self._outcome(call, ask, report)
        except ToolError as error:
            outcome = Outcome(str(error), is_error=True)
        except OSError as error:
            outcome = Outcome(trouble(error), is_error=True)
        limit = self.site.limit_chars
        text = await off_loop(lambda _stop: bounded(outcome.text, limit, self._keep, _file_name(call.name)))
        return ToolResult(call_id=call.id, text=text, is_error=outcome.is_error)

    async def _outcome(self, call: ToolCall, ask: Permission, report: Report) -> Outcome:
        known = self._all()
        tool = known.get(call.name)
        if tool is None:
            raise ToolError(f"There is no tool called “{call.name}”. The tools are: {', '.join(known)}.")
        if ban := self._ban(tool):
            raise ToolError(ban)
        prepared = await tool.prepare(self.site, call.parsed())
        if refusal := await self._refusal(prepared, call.id, ask):
            raise ToolError(refusal)
        # What was allowed a minute ago may be ruled out now.
        if ban := self._ban(tool):
            raise ToolError(ban)
        return await prepared.run(report)

    async def _refusal(self, prepared: Prepared, call_id: str, ask: Permission) -> str:
        """What the user says against it; empty if nothing. One question at a time."""
        question: Question | None = prepared.question
        if question is None:
            return ""
        async with self._asking:
            answer = await ask(question.model_copy(update={"call_id": call_id}))
        return f"The user said no. {answer.word}".strip() if answer.decision == "no" else ""

    def _all(self) -> Mapping[str, AnyTool]:
        """Every tool by its name; a foreign one never takes the place of ours."""
        return {**{tool.name: tool for tool in self._others()}, **TOOLS}

    def _ban(self, tool: AnyTool) -> str:
        """Why a tool cannot run at all now; empty if it can."""
        if self.plans_only and tool.effect != "read":
            return f"{tool.name} was not run: this session only plans, so nothing may be changed, run or fetched."
        if tool.effect == "network" and not self.site.allows_network:
            return f"{tool.name} was not run: the network is switched off in the settings."
        return ""


def _file_name(tool: str) -> str:
    """A name that can begin that of a file, also for a tool that a model made up."""
    return tool if tool in TOOLS else "call"
