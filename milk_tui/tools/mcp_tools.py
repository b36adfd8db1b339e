"""The tools of MCP servers as a model is offered them: named, bounded, and never run without a question.

What a server says of its tools is data: it is cleaned and shortened here, and decides nothing about permission. It
knows no connection but by the `Call` it is given.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from milk_tui.core.cut import cut_end
from milk_tui.core.permission import Question, Scope
from milk_tui.core.text import sanitize
from milk_tui.tools.base import Effect, Outcome, Prepared, Report
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError

NAME_LIMIT = 64
"""Characters of a function's name that every model server accepts."""
DESCRIPTION_LIMIT = 1_000
FIELD_LIMIT = 300
"""Characters of the description of one parameter."""
SCHEMA_LIMIT = 6_000
"""Characters of one tool's parameters as JSON; beyond it their descriptions go, and then the tool."""
TOOL_LIMIT = 64
"""Tools of one server that are offered."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")

Call = Callable[[str, Mapping[str, Any], Report], Awaitable[Outcome]]
"""Runs a tool by the server's own name for it."""


class McpTool:
    """One tool of an MCP server. It has the form of `milk_tui.tools.base.Tool`."""

    effect: Effect = "foreign"

    def __init__(self, server: str, tool: str, schema: Mapping[str, Any], call: Call) -> None:
        self.name: str = schema["function"]["name"]
        self.schema = schema
        """The function schema, as the chat completions interface writes it."""
        self._server = server
        self._tool = tool
        self._call = call

    @property
    def chars(self) -> int:
        """Characters that the tool takes of each request."""
        return len(json.dumps(self.schema, ensure_ascii=False))

    async def prepare(self, site: Site, arguments: Mapping[str, Any]) -> Prepared:
        """Ask to run it. The arguments are for the server to check, which knows its schema best.

        Raises:
            ToolError: they cannot be sent.
        """
        shown = json.dumps(arguments, ensure_ascii=False, indent=2)
        if any("\ud800" <= letter <= "\udfff" for letter in shown):
            raise ToolError(f"The arguments of {self.name} hold half a character, so it was not run.")
        scope = Scope(tool=self.name, kind="tool", subject=self.name)
        question = Question(
            tool=self.name,
            arguments=shown,
            reason=f"What “{self._tool}” does is up to the MCP server “{self._server}”.",
            session_scope=scope.words(),
            agent="local",
            scope=scope,
        )

        async def run(report: Report) -> Outcome:
            return await self._call(self._tool, arguments, report)

        return Prepared(question, run)


class Offer:
    """What a server's listing comes to: the tools to offer, and how many are left out."""

    def __init__(self, tools: Sequence[McpTool], left_out: int) -> None:
        self.tools = tools
        self.left_out = left_out
        self.chars = sum(tool.chars for tool in tools)


def offer(server: str, listed: Sequence[tuple[str, str, Mapping[str, Any]]], call: Call) -> Offer:
    """Make tools of names, descriptions and parameters. One that is too large or comes twice is left out."""
    found: dict[str, McpTool] = {}
    for tool, description, parameters in listed:
        name = function_name(server, tool)
        fitting = _fitting(parameters)
        if fitting is None or name in found or len(found) == TOOL_LIMIT:
            continue
        shown = cut_end(sanitize(description).strip(), DESCRIPTION_LIMIT)
        function = {"name": name, "description": shown, "parameters": fitting}
        found[name] = McpTool(server, sanitize(tool), {"type": "function", "function": function}, call)
    return Offer(list(found.values()), len(listed) - len(found))


def function_name(server: str, tool: str) -> str:
    """`server__tool`, or, where that is no function name or could be another tool's, one with a digest.

    A grant is kept under this name, so it depends on nothing but the two, and no other two lead to it.
    """
    name = f"{server}__{tool}"
    if len(name) <= NAME_LIMIT and _NAME.fullmatch(name) and name.partition("__") == (server, "__", tool):
        return name
    digest = sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:12]
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return f"{plain[: NAME_LIMIT - len(digest) - 1]}-{digest}"


def _fitting(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters, cleaned and small enough to be sent with each request; `None` if they cannot be."""
    schema = {**_clean(parameters), "type": "object"}
    schema.setdefault("properties", {})
    if _length(schema) > SCHEMA_LIMIT:
        schema = _without_descriptions(schema)
    return schema if _length(schema) <= SCHEMA_LIMIT else None


def _length(schema: Mapping[str, Any]) -> int:
    return len(json.dumps(schema, ensure_ascii=False))


def _clean(value: Any) -> Any:
    match value:
        case str():
            return cut_end(sanitize(value), FIELD_LIMIT)
        case Mapping():
            return {sanitize(str(key)): _clean(inner) for key, inner in value.items() if key != "$schema"}
        case list() | tuple():
            return [_clean(inner) for inner in value]
        case _:
            return value


def _without_descriptions(value: Any) -> Any:
    """A schema without the texts in it; a property that is called “description” is a schema and stays."""
    match value:
        case Mapping():
            return {
                key: _without_descriptions(inner)
                for key, inner in value.items()
                if not (key in ("description", "title") and isinstance(inner, str))
            }
        case list():
            return [_without_descriptions(inner) for inner in value]
        case _:
            return value
