"""The results of Claude Code's tools as texts.

Around what a sub-agent reports and around the user's answers Claude Code puts words for the model; what is kept and
shown is what was reported and answered. It knows results as JSON, and nothing of the SDK.
"""

from collections.abc import Mapping
from typing import Any

from milk_tui.agents.claude.choices import CHOOSE, answers_of
from milk_tui.core.reminder import without_reminder

SUB_AGENTS = ("Agent", "Task")
"""The tools that start a sub-agent."""


def result_text(
    tool: str, content: str | list[dict[str, Any]] | None, structured: Mapping[str, Any] | None = None
) -> str:
    """A tool's result as text; what is no text is named.

    Args:
        tool: the tool's name.
        content: what the model is told.
        structured: the same as Claude Code itself keeps it, where it says so.
    """
    if isinstance(structured, Mapping):
        plain = (
            answers_of(structured) if tool == CHOOSE else _report(structured) if tool in SUB_AGENTS else ""
        )
        if plain:
            return plain
    return without_reminder(_joined(content))


def _report(result: Mapping[str, Any]) -> str:
    """A sub-agent's last words, without the notes that Claude Code puts before and behind them."""
    content = result.get("content")
    if result.get("status") != "completed" or not isinstance(content, list):
        return ""
    before, behind = (int(result.get(f"harness{name}Count") or 0) for name in ("Note", "Tail"))
    return _joined(content[before : len(content) - behind])


def _joined(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: dict[str, Any]) -> str:
    kind = str(part.get("type", "part"))
    if kind == "text":
        return str(part.get("text", ""))
    source = part.get("source")
    media = source.get("media_type", "") if isinstance(source, dict) else ""
    return f"[{kind}: {media}]" if media else f"[{kind}]"
