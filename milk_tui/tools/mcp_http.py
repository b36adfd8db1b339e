"""An MCP server at an address, spoken to by streamable HTTP.

Knows requests and their refusals, and nothing of tools. It imports the MCP package, so import it late.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_stdio import LINE_LIMIT
from milk_tui.tools.mcp_trouble import Trace

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 300.0
"""How long the server may send nothing on a stream that is open; a call has a shorter bound of its own."""


@asynccontextmanager
async def http(server: McpServer, trace: Trace) -> AsyncIterator[Any]:
    """Give the two streams of a server at an address; requests begin with the first message."""

    async def note(response: httpx2.Response) -> None:
        # The stream for notices is opened by a GET, which a server may refuse.
        if response.request.method == "POST":
            trace.refusal = response.status_code if response.status_code >= 400 else 0

    url = httpx2.URL(server.url)
    client = httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in server.headers.items()},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS),
        # No proxy stands between this machine and itself, and a netrc file was not asked.
        trust_env=not _is_loopback(url.host),
        event_hooks={"response": [note]},
    )
    opened = streamable_http_client(server.url, http_client=client, max_sse_event_size=LINE_LIMIT)
    async with client, opened as streams:
        yield streams


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
