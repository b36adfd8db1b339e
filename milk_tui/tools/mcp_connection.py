"""One connection to an MCP server, from its start to its end, and the calls made over it.

One task owns the client: the scopes that the MCP package opens begin and end there, so that nothing that fails or is
cancelled in them can cancel anybody else. Calls come from other tasks and may be cancelled at any time; the server is
told. Knows what a server lists and gives back, and nothing of questions or of how tools are named for a model. It
imports the MCP package, so import it late.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.types import CONNECTION_CLOSED, CallToolResult, Implementation, Tool, ToolListChangedNotification
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from milk_tui.tools.mcp_http import http
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_stdio import stdio
from milk_tui.tools.mcp_trouble import Trace, words

LISTED_LIMIT = 200
"""Tools of one server that are looked at."""
_PAGES = 20
_EXPLAIN_SECONDS = 2.0
"""How long a call that lost its server waits for the reason."""
_RELIST_SECONDS = 0.25
"""A pause before the tools are listed again: a server may announce many changes, or one at each listing."""

# Its records are tracebacks of what is handled here; without a handler they would go to the terminal.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False

Listed = Callable[[Sequence[Tool]], None]


class Connection:
    """A server that is started or asked by `run`, and used by `call` meanwhile."""

    def __init__(self, server: McpServer, cwd: str, log: Path, patience: float) -> None:
        """Describe the connection. `patience` is how long the server has to get ready, in seconds."""
        self._server = server
        self._cwd = cwd
        self._log = log
        self._patience = patience
        self._trace = Trace()
        self._client: Client | None = None
        self._is_stale = False
        self._is_left = False
        self._is_over = asyncio.Event()

    async def run(self, listed: Listed) -> str:
        """Own the client until `leave` is called or the server ends; why it ended, empty if it was left.

        `listed` is given the tools when the server is ready and each time they have changed. Cancelling ends the
        server too, but asks less politely than `leave`.
        """
        try:
            await self._own(listed)
        except Exception as error:
            self._trace.over(words(error, self._server, self._trace, self._patience))
        finally:
            self._client = None
            self._is_over.set()
        return "" if self._is_left else self._trace.end

    def leave(self) -> None:
        """Let `run` end the connection."""
        self._is_left = True
        self._trace.wake.set()

    async def call(
        self, tool: str, arguments: Mapping[str, Any], seconds: float, report: Callable[[str], None]
    ) -> CallToolResult:
        """Run a tool on the server. Cancelling tells the server.

        Raises:
            ConnectionError: the server is gone; why, as a predicate.
            MCPError: it refused, in its own words, or did not answer in time.
            RuntimeError: its answer is not of the form it had announced.
        """
        client = self._client
        if client is None:
            raise ConnectionError(self._trace.end or "is not running")

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if message:
                report(message)

        try:
            return await client.call_tool(tool, dict(arguments), seconds, on_progress)
        except MCPError as error:
            await self._explain(error)
            raise

    async def _explain(self, error: MCPError) -> None:
        """Say why the server is gone, if that is why the call failed."""
        if self._trace.refusal == 404:
            self._trace.over("has forgotten this connection (HTTP 404)")
        elif error.code != CONNECTION_CLOSED:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXPLAIN_SECONDS):
                await self._is_over.wait()
        if self._trace.end:
            raise ConnectionError(self._trace.end) from error

    async def _own(self, listed: Listed) -> None:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._patience):
                client = await stack.enter_async_context(self._opened())
                tools = await _tools(client)
            self._client = client
            listed(tools)
            watching = asyncio.create_task(self._watch(client), name="mcp-watch")
            try:
                await self._serve(client, listed)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _serve(self, client: Client, listed: Listed) -> None:
        """List the tools whenever they have changed, until the connection ends."""
        while not self._is_left and not self._trace.end:
            await self._trace.wake.wait()
            self._trace.wake.clear()
            if self._is_stale:
                await asyncio.sleep(_RELIST_SECONDS)
                self._is_stale = False
                async with asyncio.timeout(self._patience):
                    listed(await _tools(client))

    def _opened(self) -> Client:
        transport = (
            http(self._server, self._trace)
            if self._server.transport == "http"
            else stdio(self._server, self._cwd, self._log, self._trace)
        )
        us = Implementation(name="milk-tui", version=version("milk-tui"))
        return Client(transport, message_handler=self._hear, client_info=us, cache=None)

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    async def _watch(self, client: Client) -> None:
        """Hear of changes from a server that tells only who asked. Without it the list stays as it is."""
        offered = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (offered and offered.list_changed):
            return
        with suppress(MCPError, SubscriptionLost):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed()

    def _changed(self) -> None:
        self._is_stale = True
        self._trace.wake.set()


async def _tools(client: Client) -> list[Tool]:
    if client.server_capabilities.tools is None:
        return []
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= LISTED_LIMIT:
            break
    return found[:LISTED_LIMIT]
