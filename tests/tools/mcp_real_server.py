"""A real MCP server, made with the MCP package: over stdio, or over HTTP on a free port that it writes to a file.

Run as a program: `stdio`, `http FILE` or `locked FILE`, which wants the key `Bearer sesame`.
"""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import AudioContent, BlobResourceContents, EmbeddedResource, ResourceLink, TextResourceContents

server = MCPServer("real", log_level="ERROR")


@server.tool()
def echo(text: str, times: int = 1) -> str:
    """Say it again."""
    return text * times


@server.tool(structured_output=False)
def mixed() -> list[Any]:
    """Give back one of everything."""
    return [
        "a line",
        Image(data=b"12345678", format="png"),
        AudioContent(data="AAAA", mime_type="audio/wav"),
        ResourceLink(name="notes", uri="file:///notes.txt"),
        EmbeddedResource(resource=TextResourceContents(uri="file:///a.txt", text="inside")),
        EmbeddedResource(resource=BlobResourceContents(uri="file:///b.bin", blob="AAAA", mime_type="x/y")),
    ]


@server.tool()
def weather() -> dict[str, int]:
    """Give back numbers."""
    return {"degrees": 21}


@server.tool()
def fail() -> str:
    """Fail."""
    raise ToolError("no luck \x1b[31mtoday")


@server.tool()
async def wait(folder: str, ctx: Context) -> str:
    """Wait for ever, and leave a trace when told to stop."""
    Path(folder, "started").touch()
    await ctx.report_progress(1, 2, "half\x1b[2J way")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        Path(folder, "cancelled").touch()
        raise
    return "done"


@server.tool()
async def grow(ctx: Context) -> str:
    """Offer one more tool."""
    server.add_tool(lambda: "new", name="grown", description="Grown.")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
def spawn() -> str:
    """Start a program that outlives us if nobody ends it."""
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return f"{os.getpid()} {child.pid}"


@server.tool()
def die() -> str:
    """End the server."""
    print("the last words", file=sys.stderr, flush=True)
    os._exit(3)


async def over_http(port_file: Path, *, is_locked: bool) -> None:
    app: Any = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer sesame":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"locked"})
        else:
            await app(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(guarded if is_locked else app, log_level="error")
    port_file.with_suffix(".new").write_text(str(listener.getsockname()[1]))
    port_file.with_suffix(".new").replace(port_file)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        asyncio.run(over_http(Path(sys.argv[2]), is_locked=sys.argv[1] == "locked"))
