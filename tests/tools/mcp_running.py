"""MCP servers for tests: described, started, waited for and looked after."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from milk_tui.tools.base import Outcome
from milk_tui.tools.mcp_servers import McpServers, McpStatus
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_tools import McpTool
from milk_tui.tools.site import Site
from milk_tui.tools.workspace import Workspace

HERE = Path(__file__).parent
REAL = str(HERE / "mcp_real_server.py")
ODD = str(HERE / "mcp_odd_server.py")
DEADLINE = 20.0


def real(name: str = "real", **more: Any) -> McpServer:
    """A server that is made with the MCP package."""
    return program(name, REAL, "stdio", **more)


def odd(kind: str, **more: Any) -> McpServer:
    """A server that is odd in the way of its name."""
    return program(kind, ODD, kind, **more)


def program(name: str, *args: str, **more: Any) -> McpServer:
    return McpServer.model_validate({"name": name, "command": sys.executable, "args": args, **more})


def address(url: str, name: str = "web", **more: Any) -> McpServer:
    return McpServer.model_validate({"name": name, "url": url, **more})


@asynccontextmanager
async def started(
    folder: Path, *servers: McpServer, wait: float = DEADLINE, **more: Any
) -> AsyncIterator[McpServers]:
    """Servers that run, or have failed, and are ended."""
    running = McpServers(servers, str(folder), folder / "logs", **more)
    try:
        await running.start(wait)
        yield running
    finally:
        await running.close()


@contextmanager
def http_server(folder: Path, mode: str = "http") -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real server on loopback: its address and its process."""
    port = folder / f"{mode}.port"
    port.unlink(missing_ok=True)
    process = subprocess.Popen([sys.executable, REAL, mode, str(port)])
    try:
        deadline = time.monotonic() + DEADLINE
        while not port.exists():
            assert process.poll() is None and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text()}/mcp", process
    finally:
        process.kill()
        process.wait()


async def until(holds: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Wait until something holds; fail if it does not in time."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)


def status(servers: McpServers, name: str) -> McpStatus:
    return next(status for status in servers.statuses() if status.name == name)


def tool(servers: McpServers, name: str) -> McpTool:
    return next(tool for tool in servers.tools() if tool.name == name)


async def run(
    servers: McpServers,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = lambda _text: None,
) -> Outcome:
    """Run a tool as if the user had allowed it."""
    site = Site(Workspace(HERE), limit_chars=10_000)
    prepared = await tool(servers, name).prepare(site, arguments or {})
    assert prepared.question is not None
    return await prepared.run(report)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int | None = None) -> list[int]:
    """The processes that a process (or this one) has started and that still run."""
    path = Path(f"/proc/{pid or os.getpid()}")
    found = {int(child) for task in path.glob("task/*/children") for child in task.read_text().split()}
    return [child for child in found if is_alive(child)]


def end(pid: int) -> None:
    """End a process of ours for good."""
    os.kill(pid, signal.SIGKILL)
