"""Why an MCP server is no use, in words: what its transport noticed, and what went wrong.

The words are a predicate, as in “The server files *ended with code 1*”. It knows no server and starts nothing. It
imports the MCP package, so import it late.
"""

import asyncio
from dataclasses import dataclass, field

import httpx2
from mcp import MCPError
from mcp.types import REQUEST_TIMEOUT

from milk_tui.core.cut import one_line
from milk_tui.core.text import sanitize
from milk_tui.tools.mcp_setting import McpServer

WORDS_LIMIT = 240
"""Characters of what is said about one failure."""


@dataclass
class Trace:
    """What the transport of one server noticed; it knows more than the error that follows from it."""

    end: str = ""
    """Why the server ended by itself."""
    noise: str = ""
    """The first line of a program's output that was no message."""
    refusal: int = 0
    """The status of the last request, if it was refused."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is something for the connection's owner to do."""

    def over(self, words: str) -> None:
        """The server has ended, or is no use any more."""
        self.end = self.end or words
        self.wake.set()


def words(error: BaseException, server: McpServer, trace: Trace, patience: float) -> str:
    """Why the server cannot be used. `patience` is how long it had, in seconds."""
    return trace.end or server.masked(
        one_line(sanitize(_words(first(error), server, trace, patience)), WORDS_LIMIT)
    )


def first(error: BaseException) -> BaseException:
    """The error itself, or the first one in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_timeout(error: BaseException) -> bool:
    """Whether it says that nothing came in time."""
    timeout = isinstance(error, TimeoutError | httpx2.TimeoutException)
    return timeout or (isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT)


def _words(error: BaseException, server: McpServer, trace: Trace, patience: float) -> str:
    if is_timeout(error):
        written = f"; on its standard output it wrote “{trace.noise}”" if trace.noise else ""
        return f"did not answer within {patience:g} s{written}"
    if trace.refusal:
        return _refusal(trace.refusal, server)
    match error:
        case FileNotFoundError() if error.filename is None:
            return f"cannot be started: there is no program “{server.place}”"
        case OSError() if server.transport == "stdio":
            return f"cannot be started: {error.strerror or error}"
        case httpx2.TransportError():
            return f"cannot be reached at {server.place}: {error}"
        case MCPError():
            return f"answered with an error: {error.message}"
        case _:
            return f"failed: {error or type(error).__name__}"


def _refusal(status: int, server: McpServer) -> str:
    match status:
        case 401 | 403:
            return f"refuses the login at {server.place} (HTTP {status}); set its `headers`"
        case 404 | 405:
            return f"does not speak MCP at {server.place} (HTTP {status}); check its `url`"
        case _:
            return f"answers with HTTP {status} at {server.place}"
