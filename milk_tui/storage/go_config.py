"""What the Go program's `config.json` says about things that are ours too.

It takes an object that was read and gives back our own keys; it reads no file and checks no value.
"""

import os
from collections.abc import Mapping
from typing import Any

from milk_tui.storage.mcp_settings import servers_of

_NOT_HTTP = {"claude-cli", "aider-cli", "subprocess", "smolagent-cli", "bedrock"}
"""Providers of agents that are programs, or services whose requests are signed."""


def settings_of(config: Mapping[str, Any], warnings: list[str]) -> dict[str, object]:
    """Our keys as far as the file has them. An agent that is named and not there is told in `warnings`."""
    listed = config.get("agents")
    agents = [agent for agent in listed if isinstance(agent, dict)] if isinstance(listed, list) else []
    turns = config.get("returning_fresh_start_local_turns")
    found: dict[str, object] = {
        "context_budget_chars": config.get("context_budget_chars"),
        # There a negative number says never, and so does zero by its own description.
        "returning_fresh_start_local_turns": max(turns, 0) if isinstance(turns, int) else turns,
    }
    local = _selected(
        [agent for agent in agents if _provider(agent) not in _NOT_HTTP], config.get("agent"), warnings
    )
    for theirs, ours in (
        ("url", "url"),
        ("model", "model"),
        ("api_key", "api_key"),
        ("context_window_tokens", "window"),
    ):
        # Their file writes an empty text or a zero where nothing is set.
        found[ours] = local.get(theirs) or None
    limits = local.get("limits")
    if isinstance(limits, dict) and limits.get("context_budget_chars"):
        found["context_budget_chars"] = limits["context_budget_chars"]
    found["mcp_servers"] = servers_of(config.get("mcp_servers"))
    found["claude_path"] = _claude_path(agents, config.get("escalation_agent") or "claude")
    return {key: value for key, value in found.items() if value is not None}


def _selected(agents: list[dict[str, Any]], name: object, warnings: list[str]) -> dict[str, Any]:
    """The agent of that name, or else the first, as the Go program chooses."""
    for agent in agents:
        if name and _is_named(agent, name):
            return agent
    if name and agents:
        warnings.append(
            f"config.json has no HTTP agent of the name it selects; {agents[0].get('name', 'the first')!s} is used."
        )
    return agents[0] if agents else {}


def _claude_path(agents: list[dict[str, Any]], name: object) -> str | None:
    for agent in agents:
        program = agent.get("bin")
        if _provider(agent) == "claude-cli" and _is_named(agent, name) and isinstance(program, str):
            return program if os.sep in program else None
    return None


def _provider(agent: Mapping[str, Any]) -> str:
    return str(agent.get("provider") or "")


def _is_named(agent: Mapping[str, Any], name: object) -> bool:
    return str(agent.get("name")).casefold() == str(name).casefold()
