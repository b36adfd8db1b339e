"""Claude Code's tool permissions: its request becomes a question to the user, the answer its reply.

Nothing is allowed here by itself. What the user allows for the session lasts as long as Claude Code's own process:
no settings file is ever written. Two tools are questions themselves: one to choose from, one to approve a plan. It
imports the SDK, so import it late.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)

from milk_tui.agents.claude.choices import CHOOSE, menus_of, with_answers
from milk_tui.agents.claude.proposal import proposal
from milk_tui.core.permission import Answer, Permission, Question

PLAN: Final = "plan"
"""The name of the mode in which Claude Code changes nothing and makes a plan."""
_APPROVE = "ExitPlanMode"
_NO_CHOICE = "The user does not answer. Go on as you think best, or say in your answer what you need to know."
_NO_PLAN = "The user does not approve the plan yet: go on planning."
_PATH_ARGUMENTS = ("file_path", "notebook_path", "path")
_MODES = {"acceptEdits": "every edit in the working directory", PLAN: "planning only"}
_EDITS = PermissionUpdate(type="setMode", mode="acceptEdits", destination="session")


class Gate:
    """What Claude Code must pass before a tool of it runs; closed between turns."""

    def __init__(self, permission: Permission, cwd: str) -> None:
        self.is_open = False
        self._permission = permission
        self._cwd = cwd
        self._questions = 0

    @property
    def is_asking(self) -> bool:
        """Whether the user has a question to answer, so that silence is not Claude's."""
        return self._questions > 0

    async def decide(
        self, tool: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        """Ask the user. Cancelling this withdraws the question and allows nothing."""
        if not self.is_open:
            return PermissionResultDeny(message="No turn is open, so nobody can be asked.")
        grants = [_EDITS] if tool == _APPROVE else session_grants(context.suggestions)
        asked = await question(tool, arguments, context, grants, self._cwd)
        answer = await self._ask(asked)
        if answer.decision == "no":
            return PermissionResultDeny(message=_refusal(asked, answer.word))
        lasting = grants if answer.decision == "session" and grants else None
        said = with_answers(arguments, asked.menus, answer.chosen) if asked.menus else arguments
        return PermissionResultAllow(updated_input=said, updated_permissions=lasting)

    async def _ask(self, asked: Question) -> Answer:
        self._questions += 1
        try:
            return await self._permission(asked)
        finally:
            self._questions -= 1


async def question(
    tool: str,
    arguments: dict[str, Any],
    context: ToolPermissionContext,
    grants: list[PermissionUpdate],
    cwd: str,
) -> Question:
    """Everything the user needs to decide about one tool call."""
    path = context.blocked_path or next((str(arguments[n]) for n in _PATH_ARGUMENTS if arguments.get(n)), "")
    path = str(Path(cwd, path).resolve()) if path else ""
    proposed = await proposal(tool, arguments, path)
    return Question(
        tool=tool,
        arguments=json.dumps(arguments, ensure_ascii=False, indent=2),
        path=path,
        reason=" · ".join(filter(None, (context.decision_reason, proposed.purpose))),
        command=proposed.command,
        before=proposed.before,
        after=proposed.after,
        session_scope="; ".join(filter(None, map(_scope, grants))),
        call_id=context.tool_use_id or "",
        is_of_sub_agent=context.agent_id is not None,
        menus=menus_of(arguments) if tool == CHOOSE else (),
        plan=str(arguments.get("plan") or "") if tool == _APPROVE else None,
    )


def _refusal(asked: Question, word: str) -> str:
    """What Claude is told with a no."""
    if asked.plan is not None:
        return f"{_NO_PLAN} The user says: {word}" if word else _NO_PLAN
    return word or (_NO_CHOICE if asked.menus else f"The user does not allow this use of {asked.tool}.")


def session_grants(suggestions: list[PermissionUpdate]) -> list[PermissionUpdate]:
    """What "for this session" grants: Claude Code's suggestions that allow something, kept in its memory only."""
    return [replace(update, destination="session") for update in suggestions if _scope(update)]


def _scope(update: PermissionUpdate) -> str:
    """What a suggestion would allow, in words; empty for one that is not for us to grant."""
    if update.type == "setMode":
        return _MODES.get(update.mode or "", "")
    if update.type == "addDirectories" and update.directories:
        return "work in " + ", ".join(update.directories)
    if update.type == "addRules" and update.behavior == "allow" and update.rules:
        rules = (f"{r.tool_name}({r.rule_content})" if r.rule_content else r.tool_name for r in update.rules)
        return ", ".join(rules)
    return ""
