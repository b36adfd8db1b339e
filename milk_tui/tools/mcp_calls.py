"""One call of an MCP server's tool, whatever comes of it as text for the model.

Knows how a call can fail, and neither who allowed it nor how much of the text is read. It imports the MCP package,
so import it late.
"""

from collections.abc import Mapping
from typing import Any

from mcp import MCPError

from milk_tui.core.cut import one_line
from milk_tui.core.text import sanitize
from milk_tui.tools.base import Outcome, Report
from milk_tui.tools.mcp_connection import Connection
from milk_tui.tools.mcp_results import result_text
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_trouble import is_timeout

_LINE_LIMIT = 300


async def call(
    connection: Connection,
    server: McpServer,
    tool: str,
    arguments: Mapping[str, Any],
    seconds: float,
    report: Report,
) -> Outcome:
    """Run the tool for at most so many seconds. Cancelling tells the server to stop, and waits for nothing else."""

    def progress(message: str) -> None:
        report(one_line(sanitize(message), _LINE_LIMIT) + "\n")

    try:
        result = await connection.call(tool, arguments, seconds, progress)
    except Exception as error:
        return Outcome(server.masked(sanitize(_failure(error, server.name, tool, seconds))), is_error=True)
    return Outcome(result_text(result), is_error=result.is_error)


def _failure(error: Exception, server: str, tool: str, seconds: float) -> str:
    if is_timeout(error):
        return (
            f"“{tool}” of the MCP server “{server}” did not answer within {seconds:g} s and was told to stop."
        )
    match error:
        case ConnectionError():
            return f"The MCP server “{server}” {error}. Whether “{tool}” did anything is not known."
        case MCPError():
            return f"The MCP server “{server}” refused “{tool}”: {one_line(error.message, _LINE_LIMIT)}"
        case _:
            reason = one_line(str(error) or type(error).__name__, _LINE_LIMIT)
            return f"“{tool}” of the MCP server “{server}” was run, but its result cannot be read: {reason}"
