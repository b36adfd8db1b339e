"""The MCP servers of one running program: which are on, what became of them, and the tools they offer now.

Nothing is started before it is asked for, and nobody waits longer for a server than he says: tools that are not
ready are not offered yet. A server that fails is a status and a notice, never an exception. The MCP package takes a
second to import, so that happens on a thread and with the first server. Knows no screen and no model.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from milk_tui.core.errors import ConfigError
from milk_tui.core.messages import Value
from milk_tui.tools.base import Outcome, Report
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_tools import McpTool, Offer, offer

if TYPE_CHECKING:
    from mcp.types import Tool as ListedTool

    from milk_tui.tools.mcp_connection import Connection

READY_SECONDS = 30.0
"""How long a server may take to get ready, in the background; some are downloaded at their first start."""
CALL_SECONDS = 120.0
"""How long one call may take."""
CLOSE_SECONDS = 4.0
"""How long a server may take to be left; then its connection is torn down."""

McpState = Literal["off", "starting", "ready", "failed"]


class McpStatus(Value):
    """What became of one server."""

    name: str
    state: McpState = "off"
    tools: int = 0
    """Tools that are offered now."""
    chars: int = 0
    """Characters that their schemas take of each request."""
    left_out: int = 0
    """Tools that are not offered because they are too large or too many."""
    words: str = ""
    """Why it failed, as a predicate: “ended with code 1: no such file”."""
    place: str = ""
    """The program or the address, to show."""


class McpServers:
    """The servers that are set up, and those of them that are on."""

    def __init__(
        self,
        servers: Sequence[McpServer],
        cwd: str,
        logs: Path,
        changed: Callable[[McpStatus], None] = lambda _status: None,
        patience: float = READY_SECONDS,
    ) -> None:
        """Take the settings; start nothing.

        `cwd` is where programs run and `logs` the folder for what they write to their standard error. `changed` is
        told each new status, on the event loop. `patience` is how long a server may take to get ready, in seconds.
        """
        self._slots = {
            server.name: _Slot(server, cwd, logs / _log_name(server.name), changed, patience)
            for server in servers
        }

    async def start(self, wait: float = 0.0) -> None:
        """See that every server that is on is running or about to, and wait at most `wait` seconds until they are.

        For the beginning of each turn. A server that was ready and ended meanwhile is started again; one that could
        not be started is left alone until it is switched on.
        """
        for slot in self._slots.values():
            if slot.is_due:
                slot.begin()
        waiting = [asyncio.create_task(slot.settled.wait()) for slot in self._slots.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=wait)
        for task in waiting:
            task.cancel()

    async def switch(self, name: str, on: bool) -> McpStatus:
        """Start a server, also one that failed, or end it. Holds until the program ends; the settings stay.

        Raises:
            ConfigError: there is no such server.
        """
        slot = self._slots.get(name)
        if slot is None:
            known = ", ".join(self._slots) or "none"
            raise ConfigError(f"There is no MCP server “{name}”.", f"Set up are: {known}.")
        if not on:
            await slot.end()
        elif slot.status.state in ("off", "failed"):
            slot.begin()
        return slot.status

    async def close(self) -> None:
        """End every server and all that it started. Bounded; may be called often."""
        await asyncio.gather(*(slot.end() for slot in self._slots.values()))

    def tools(self) -> tuple[McpTool, ...]:
        """The tools of the servers that are ready, in the order of the settings; names are unique."""
        return tuple(tool for slot in self._slots.values() for tool in slot.tools)

    def statuses(self) -> tuple[McpStatus, ...]:
        """Every server that is set up, in the order of the settings."""
        return tuple(slot.status for slot in self._slots.values())

    def notices(self) -> tuple[str, ...]:
        """What the user should read since this was last asked: who failed, and once who is not ready yet."""
        return tuple(notice for slot in self._slots.values() for notice in slot.notices())


class _Slot:
    """One server: on or off, and the task that owns its connection."""

    def __init__(
        self,
        server: McpServer,
        cwd: str,
        log: Path,
        changed: Callable[[McpStatus], None],
        patience: float,
    ) -> None:
        self.status = McpStatus(name=server.name, place=server.place)
        self.tools: Sequence[McpTool] = ()
        self.is_due = server.enabled
        """Whether the next turn starts it."""
        self.settled = asyncio.Event()
        """Set unless it is starting."""
        self.settled.set()
        self._server = server
        self._cwd = cwd
        self._log = log
        self._changed = changed
        self._patience = patience
        self._connection: Connection | None = None
        self._owner: asyncio.Task[None] | None = None
        self._notices: list[str] = []
        self._is_late_told = False

    def begin(self) -> None:
        """Start it in the background."""
        self.is_due = self._is_late_told = False
        self.settled.clear()
        self._show("starting")
        self._owner = asyncio.create_task(self._own(self._owner), name=f"mcp-owner-{self._server.name}")

    async def end(self) -> None:
        """End it; returns when it is gone."""
        self.is_due = False
        owner = self._owner
        if owner is None:
            return
        if self._connection is not None:
            self._connection.leave()
            await asyncio.wait([owner], timeout=CLOSE_SECONDS if self.status.state == "ready" else 0)
        owner.cancel()
        await asyncio.wait([owner])
        self._show("off")

    def notices(self) -> list[str]:
        """Take out what there is to say."""
        taken, self._notices = self._notices, []
        if self.status.state == "starting" and not self._is_late_told:
            self._is_late_told = True
            taken.append(
                f"The MCP server “{self._server.name}” is still starting; its tools are not offered yet."
            )
        return taken

    async def _own(self, before: asyncio.Task[None] | None) -> None:
        """Own one connection from its start to its end; nothing else ever cancels it but `end`."""
        if before is not None:
            await asyncio.wait([before])
            self.settled.clear()
        try:
            await asyncio.to_thread(import_module, "milk_tui.tools.mcp_connection")
            from milk_tui.tools.mcp_connection import Connection

            self._connection = Connection(self._server, self._cwd, self._log, self._patience)
            words = await self._connection.run(self._listed)
        except ImportError as error:
            words = f"cannot be used: the package `mcp` is not as expected ({error})"
        finally:
            self._connection = None
            self.tools = ()
            self.settled.set()
        if words:
            self._failed(words)

    def _listed(self, listed: Sequence["ListedTool"]) -> None:
        rows = [(tool.name, tool.description or tool.title or "", tool.input_schema) for tool in listed]
        offered: Offer = offer(self._server.name, rows, self._call)
        self.tools = offered.tools
        self._show("ready", tools=len(offered.tools), chars=offered.chars, left_out=offered.left_out)
        self.settled.set()
        if offered.left_out:
            self._notices.append(
                f"{offered.left_out} tools of the MCP server “{self._server.name}” are not offered:"
                " they are too large, too many, or come twice."
            )

    def _failed(self, words: str) -> None:
        was_ready = self.status.state == "ready"
        self.is_due = was_ready
        self._show("failed", words=words)
        again = "It is started again at the next prompt." if was_ready else "/mcp starts it again."
        self._notices.append(
            f"The MCP server “{self._server.name}” {words}. Its tools are not offered. {again}"
        )

    def _show(self, state: McpState, **facts: Any) -> None:
        self.status = McpStatus(name=self._server.name, place=self._server.place, state=state, **facts)
        self._changed(self.status)

    async def _call(self, tool: str, arguments: Mapping[str, Any], report: Report) -> Outcome:
        if self._connection is None:
            words = self.status.words or "is switched off"
            return Outcome(
                f"The MCP server “{self._server.name}” {words}. “{tool}” was not run.", is_error=True
            )
        from milk_tui.tools.mcp_calls import call

        return await call(self._connection, self._server, tool, arguments, CALL_SECONDS, report)


def _log_name(server: str) -> str:
    return f"mcp-{re.sub(r'[^A-Za-z0-9_-]', '_', server)}.log"
