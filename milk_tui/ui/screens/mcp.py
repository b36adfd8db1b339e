"""The MCP servers that are set up: what became of each, what it takes of every request, and a switch."""

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from milk_tui.core.budget import estimated_tokens
from milk_tui.core.text import sanitize
from milk_tui.tools.mcp_servers import McpServers, McpStatus
from milk_tui.ui.screens.listing import ListScreen

_EVERY = 0.25
"""Seconds between two looks at the servers, while the list is shown."""

_MARKS = {"off": "○", "starting": "…", "ready": "●", "failed": "✗"}


class McpScreen(ListScreen[None]):
    """One row for each server. What a server that failed said stays in its row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space", "switch", "On or off", tooltip="Switch the chosen server on or off", id="mcp.switch"
        ),
    ]
    TITLE_TEXT = "MCP servers"
    HINT = "Space switches the chosen one on or off, until you quit · Esc closes"

    def __init__(self, servers: McpServers, settings: str) -> None:
        """`settings` names the file in which servers are set up."""
        super().__init__()
        self._servers = servers
        self._empty = (
            f"None is set up. They are listed in {settings}, as in\n"
            '{"mcp_servers": [{"name": "docs", "command": "docs-mcp", "args": ["--stdio"]}]}\n'
            'or with an address: {"name": "web", "url": "http://127.0.0.1:8000/mcp"}. '
            "Each call of their tools is asked about."
        )
        self._shown: tuple[McpStatus, ...] | None = None

    def on_mount(self) -> None:
        """Draw now, and again whenever a server has changed."""
        self._draw()
        self.set_interval(_EVERY, self._draw)

    def action_switch(self) -> None:
        """Switch the chosen server; it may take a moment to end."""
        if self.index is not None and self._shown:
            status = self._shown[self.index]
            is_on = status.state in ("starting", "ready")
            self.run_worker(self._switch(status.name, not is_on), exit_on_error=False)

    async def _switch(self, name: str, on: bool) -> None:
        await self._servers.switch(name, on)
        self._draw()

    def _draw(self) -> None:
        statuses = self._servers.statuses()
        if statuses != self._shown:
            self._shown = statuses
            self.show_rows(
                [Content("\n").join(map(Content, _rows(status))) for status in statuses], self._empty
            )


def _rows(status: McpStatus) -> Iterator[str]:
    """A server's name and state, and below them what it takes or why it failed."""
    yield f"{_MARKS[status.state]} {status.name} · {status.state} · {status.place}"
    if status.state == "ready":
        left_out = f" · {status.left_out} not offered" if status.left_out else ""
        tokens = estimated_tokens(status.chars)
        size = f"{status.chars:,} characters, about {tokens:,} tokens of each request"
        yield f"  {status.tools} {'tool' if status.tools == 1 else 'tools'}: {size}{left_out}"
    elif status.words:
        yield f"  It {sanitize(status.words)}."
