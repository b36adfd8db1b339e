"""The list of MCP servers in a settings file: a server that is described wrongly loses only itself.

It takes what was read and gives back what can be used; it reads no file and starts no server.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from milk_tui.tools.mcp_setting import McpServer

KEY = "mcp_servers"


def with_usable_servers(found: dict[str, Any], file: str, warnings: list[str]) -> dict[str, Any]:
    """The object from a file with only those servers that can be used; each other one is told in `warnings`."""
    listed = found.get(KEY)
    if not isinstance(listed, list):
        return found
    usable: dict[str, McpServer] = {}
    for place, entry in enumerate(listed, start=1):
        try:
            server = McpServer.model_validate(entry)
        except ValidationError as error:
            warnings.append(f"Number {place} of {KEY} in {file} is not used: {_reason(error)}.")
            continue
        if usable.setdefault(server.name, server) is not server:
            warnings.append(f"Number {place} of {KEY} in {file} is not used: its name is taken.")
    return found | {KEY: list(usable.values())}


def servers_of(listed: object) -> list[object] | None:
    """The Go program's servers in our words: its key for one becomes the header that carries it."""
    if not isinstance(listed, list):
        return None
    return [_server_of(entry) if isinstance(entry, dict) else entry for entry in listed]


def _server_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    # Their file writes an empty text where nothing is set.
    ours = {key: entry[key] for key in ("name", "transport", "command", "args", "url") if entry.get(key)}
    if isinstance(entry.get("enabled"), bool):
        ours["enabled"] = entry["enabled"]
    if entry.get("api_key") and entry.get("auth") != "none":
        ours["headers"] = {"Authorization": f"Bearer {entry['api_key']}"}
    return ours


def _reason(error: ValidationError) -> str:
    """Why, without the value, which may be a secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    field = f"{first['loc'][0]}: " if first["loc"] else ""
    return field + first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
