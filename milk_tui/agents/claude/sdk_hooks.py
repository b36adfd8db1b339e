"""What Claude Code waits for at certain points of its work: the context it is given, the changes that are watched.

It imports the SDK, so import it late.
"""

import json
from collections.abc import Sequence

from claude_agent_sdk import HookMatcher
from claude_agent_sdk.types import HookContext, HookEvent, HookInput, SyncHookJSONOutput

from milk_tui.agents.base import Watch
from milk_tui.agents.claude.results import SUB_AGENTS
from milk_tui.core.changed_files import CHANGING
from milk_tui.core.clean_json import clean_json
from milk_tui.core.messages import ToolCall


def hooks(context: Sequence[str], watch: Watch) -> dict[HookEvent, list[HookMatcher]]:
    """The hooks of one Claude Code.

    Args:
        context: texts that go with the first prompt, in this order.
        watch: told of each call that changes a file, before it is made.
    """
    found: dict[HookEvent, list[HookMatcher]] = {"PreToolUse": [_watching(watch), _in_front()]}
    if context:
        found["UserPromptSubmit"] = [_context(text) for text in context]
    return found


def _context(text: str) -> HookMatcher:
    """A hook that adds a text to the first prompt and to no other."""
    waiting = [text]

    async def add(_input: HookInput, _tool: str | None, _context: HookContext) -> SyncHookJSONOutput:
        if not waiting:
            return {}
        output = {"hookEventName": "UserPromptSubmit", "additionalContext": waiting.pop()}
        return {"hookSpecificOutput": output}  # type: ignore[typeddict-item]

    return HookMatcher(hooks=[add])


def _watching(watch: Watch) -> HookMatcher:
    """A hook that Claude Code waits for before it asks about a change or makes it. It never decides anything."""

    async def tell(told: HookInput, tool_id: str | None, _context: HookContext) -> SyncHookJSONOutput:
        if told["hook_event_name"] == "PreToolUse":
            arguments = clean_json(json.dumps(told["tool_input"], ensure_ascii=False))
            await watch(ToolCall(id=tool_id or "", name=told["tool_name"], arguments=arguments))
        return {}

    return HookMatcher(matcher="|".join(CHANGING), hooks=[tell])


def _in_front() -> HookMatcher:
    """A hook that lets no sub-agent outlive its turn: between turns nobody would see its work or answer it."""

    async def change(told: HookInput, _tool: str | None, _context: HookContext) -> SyncHookJSONOutput:
        if told["hook_event_name"] != "PreToolUse":
            return {}
        arguments = {**told["tool_input"], "run_in_background": False}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": arguments}}

    return HookMatcher(matcher="|".join(SUB_AGENTS), hooks=[change])
