"""The tools of the local agent in one session, as its loop takes them: our own, and those of MCP servers.

It joins what a tool is, who is asked, and how much of a result may reach the model. It runs nothing by itself.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from milk_tui.agents.base import Agent, Sized, TurnRequest, Watch, unwatched
from milk_tui.agents.server.agent import ServerAgent
from milk_tui.agents.toolbox import Report
from milk_tui.core.bricks import Segment
from milk_tui.core.events import AgentEvent, Noticed
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Permission
from milk_tui.storage.config import Settings
from milk_tui.storage.files import remove_old
from milk_tui.tools.bounds import kept_path
from milk_tui.tools.instructions_file import ProjectFile, ProjectInstructions
from milk_tui.tools.mcp_servers import McpServers
from milk_tui.tools.session_tools import Tools
from milk_tui.tools.site import Site
from milk_tui.tools.workspace import Workspace

MCP_WAIT = 3.0
"""Seconds that a turn waits for MCP servers; what is not ready by then is offered in a later turn."""

KEPT_DAYS = 30
"""Days for which results too long for the model stay in our folder."""

_FIRST_LIMIT = 6_000
"""Characters of a result until the loop has said how many its window can take."""


class SessionToolbox:
    """What the agent's loop needs of tools, and what the user may switch about them."""

    def __init__(
        self, settings: Settings, cwd: str, session_id: str, ask: Permission, watch: Watch = unwatched
    ) -> None:
        self._watch = watch
        self._results = settings.home / "results" / session_id
        workspace = Workspace(Path(cwd), free=[self._results])
        site = Site(workspace, _FIRST_LIMIT, allows_network=settings.http_get)
        self.servers = McpServers(settings.mcp_servers, cwd, settings.home / "logs")
        self._tools = Tools(site, self._results, self.servers.tools)
        self._project = ProjectInstructions(cwd)
        self._ask = ask
        self._problem_told = ""

    @property
    def plans_only(self) -> bool:
        """Read only: nothing is changed, run or fetched."""
        return self._tools.plans_only

    @plans_only.setter
    def plans_only(self, value: bool) -> None:
        self._tools.plans_only = value

    @property
    def project(self) -> ProjectFile | None:
        """The project's own instructions as they are now."""
        return self._project.current()

    async def get_ready(self) -> Sequence[str]:
        """Before a turn: start what must be started. Returns what the user should know about it."""
        await self.servers.start(MCP_WAIT)
        notices = list(self.servers.notices())
        project = self.project
        problem = project.problem if project else ""
        if problem and problem != self._problem_told:
            notices.append(problem)
        self._problem_told = problem
        return notices

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """One function schema for each tool that may run as things are."""
        return self._tools.schemas()

    async def run(
        self, call: ToolCall, report: Report, limit_chars: int, ask: Permission | None = None
    ) -> ToolResult:
        """Run one call; see `milk_tui.agents.toolbox.Toolbox.run`. Whoever is asked may be another than usual."""
        self._tools.site.limit_chars = limit_chars
        await self._watch(call)
        return await self._tools.run(call, ask or self._ask, report)

    def kept(self, result: str) -> Path | None:
        """The file that holds the whole of a result that was shortened."""
        return kept_path(result, self._results.parent)

    async def close(self) -> None:
        """End the MCP servers, and let go of long results that nobody will look at any more."""
        await self.servers.close()
        await asyncio.to_thread(remove_old, self._results.parent, KEPT_DAYS)


class EquippedAgent:
    """A local agent for which tools and project instructions are made ready before each turn."""

    def __init__(self, agent: Agent, toolbox: SessionToolbox) -> None:
        self.agent = agent
        self._toolbox = toolbox

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; see `Agent.run`. Asked bare, the agent is told of neither."""
        if request.is_bare:
            async with aclosing(self.agent.run(request)) as events:
                async for event in events:
                    yield event
            return
        for notice in await self._toolbox.get_ready():
            yield Noticed(text=notice)
        project = self._toolbox.project
        request = replace(request, project=project.text if project else "")
        async with aclosing(self.agent.run(request)) as events:
            async for event in events:
                yield event

    def carried(self, nonce: str) -> tuple[Segment, ...]:
        """What every request carries before anything is said; empty until the server has been asked who it is."""
        project = self._toolbox.project
        text = project.text if project else ""
        overhead = self.agent.overhead(nonce, text) if isinstance(self.agent, ServerAgent) else None
        if overhead is None:
            return ()
        parts = (
            ("system", overhead.system_chars),
            ("tools", overhead.tools_chars),
            (project.name if project else "", overhead.project_chars),
        )
        return tuple(Segment(name=name, chars=chars, budget=chars) for name, chars in parts if chars)

    def share(self) -> int | None:
        """A quarter of the window in bytes of text; see `Sized`."""
        return self.agent.share() if isinstance(self.agent, Sized) else None

    async def close(self) -> None:
        """Close the agent; the tools stay, for another one may take its place."""
        await self.agent.close()
