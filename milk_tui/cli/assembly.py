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
from milk_tui.conversation.library import Library
from milk_tui.conversation.local_agents import local_agent
from milk_tui.conversation.opening import Opened, wanted
from milk_tui.conversation.own_commands import OwnCommands
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.wallet import Wallet
from milk_tui.conversation.workbench import Workbench
from milk_tui.storage.config import Settings
from milk_tui.storage.drafts import Drafts
from milk_tui.storage.file_texts import FileTexts
from milk_tui.storage.grants import GrantFile
from milk_tui.storage.session_store import SessionStore


@dataclass(frozen=True)
class Joined:
    """A workbench, how its session was opened, and the library of all sessions."""

    bench: Workbench
    opened: Opened
    library: Library

    @property
    def conversation(self) -> Conversation:
        """The conversation on the bench."""
        return self.bench.conversation

    async def close(self) -> None:
        """Stop everything, keep everything, whichever session is open by now."""
        await self.library.close()


def joined(wish: Wish) -> Joined:
    """Open the session that is wished for, with its agents. Raises `MilkError`."""
    # Without a handler of its own Python would print our mistakes with their tracebacks over answer and screen.
    logging.getLogger("milk_tui").addHandler(logging.NullHandler())
    settings = wish.settings()
    opened = wanted(SessionStore(settings.home), settings, here(), last=wish.last, session=wish.session)
    bench = assembled(settings, opened)
    library = Library(settings.home, assembled)
    library.hold(bench)
    return Joined(bench, opened, library)


def assembled(settings: Settings, opened: Opened) -> Workbench:
    """Put an opened session on a workbench with its agents."""
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
        own=OwnCommands(toolbox),
        escalation=settings.agent_escalation,
        wallet=Wallet(settings.claude_budget_usd, settings.claude_session_budget_usd),
        claude_model=settings.claude_model or "",
    )
    notices = tuple(filter(None, (*settings.warnings, *opened.notices, desk.told())))

    async def end() -> None:
        await asyncio.to_thread(texts.clean)
        opened.keeper.close()

    return Workbench(
        settings, conversation, desk, toolbox, notices, watch=watch, end=end, drafts=Drafts(settings.home)
    )


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
