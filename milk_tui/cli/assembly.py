"""Joining the parts: settings, store, session, agents and conversation, for the screen and for plain commands alike."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from milk_tui.agents.base import Agent
from milk_tui.agents.claude.agent import ClaudeCode
from milk_tui.cli.wish import Wish, here
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.file_watch import FileWatch
from milk_tui.conversation.local_agents import local_agent
from milk_tui.conversation.opening import Opened, wanted
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.wallet import Wallet
from milk_tui.conversation.workbench import Workbench
from milk_tui.storage.config import Settings
from milk_tui.storage.file_texts import FileTexts
from milk_tui.storage.grants import GrantFile
from milk_tui.storage.session_store import SessionStore


@dataclass(frozen=True)
class Joined:
    """A workbench, and what must be closed after it."""

    bench: Workbench
    opened: Opened
    texts: FileTexts

    @property
    def conversation(self) -> Conversation:
        """The conversation on the bench."""
        return self.bench.conversation

    async def close(self) -> None:
        """Stop everything, keep everything."""
        await self.conversation.close()
        await self.bench.toolbox.close()
        await asyncio.to_thread(self.texts.clean)
        self.opened.keeper.close()


def joined(wish: Wish) -> Joined:
    """Open the session that is wished for, with its agents. Raises `MilkError`."""
    # Without a handler of its own Python would print our mistakes with their tracebacks over answer and screen.
    logging.getLogger("milk_tui").addHandler(logging.NullHandler())
    settings = wish.settings()
    opened = wanted(SessionStore(settings.home), settings, here(), last=wish.last, session=wish.session)
    state = opened.session.state
    desk = PermissionDesk(GrantFile(settings.home, state.cwd))
    texts = FileTexts(settings.home, state.id)
    watch = FileWatch(opened.session, texts)
    toolbox = SessionToolbox(settings, state.cwd, state.id, desk.ask, watch.note)
    conversation = Conversation(
        opened.session,
        local=local_agent(settings, toolbox),
        claude=claude_agent(settings, desk, watch, lambda: toolbox.plans_only),
        store=opened.keeper,
        escalation=settings.agent_escalation,
        wallet=Wallet(settings.claude_budget_usd, settings.claude_session_budget_usd),
        claude_model=settings.claude_model or "",
    )
    notices = tuple(filter(None, (*settings.warnings, *opened.notices, desk.told())))
    return Joined(Workbench(settings, conversation, desk, toolbox, notices, watch=watch), opened, texts)


def claude_agent(
    settings: Settings, desk: PermissionDesk, watch: FileWatch, plans_only: Callable[[], bool] = lambda: False
) -> Agent:
    """Claude Code, as the settings want it."""
    return ClaudeCode(
        desk.ask,
        lock_dir=settings.home / "locks",
        cli_path=str(settings.claude_path) if settings.claude_path else None,
        model=settings.claude_model,
        silence_seconds=settings.claude_silence_seconds,
        plans_only=plans_only,
        watch=watch.note,
    )


async def with_conversation(wish: Wish, use: Callable[[Joined], Awaitable[int]]) -> int:
    """Join the parts, use them, and close them whatever happens."""
    parts = joined(wish)
    try:
        return await use(parts)
    finally:
        await parts.close()
