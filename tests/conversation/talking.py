"""A conversation of scripted agents without a screen or a file."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from milk_tui.agents.base import Agent
from milk_tui.agents.scripted import Reply, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.update import Escalation, Update
from milk_tui.conversation.wallet import Wallet
from milk_tui.core.session import Session, SessionState

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NONCE = "k3x9qa7m"


class Memory:
    """A store that keeps count."""

    def __init__(self) -> None:
        self.saves = 0
        self.error: Exception | None = None
        self.is_up_to_date = True

    def save(self, session: Session) -> None:
        self.saves += 1
        if self.error is not None:
            raise self.error


def new_session(**changes: object) -> Session:
    fields: dict[str, object] = {"id": "s1", "cwd": "/tmp", "nonce": NONCE, "created_at": NOW}
    return Session(SessionState.model_validate(fields | changes))


def conversation(
    local: Agent | Sequence[Reply] = (),
    claude: Agent | Sequence[Reply] = (),
    *,
    session: Session | None = None,
    store: Memory | None = None,
    escalation: Escalation = "ask",
    wallet: Wallet | None = None,
) -> Conversation:
    return Conversation(
        session or new_session(),
        local=local if not isinstance(local, Sequence) else ScriptedAgent(local, model="small"),
        claude=claude
        if not isinstance(claude, Sequence)
        else ScriptedAgent(claude, model="opus", session_id="claude-1"),
        store=store or Memory(),
        escalation=escalation,
        wallet=wallet,
        now=lambda: NOW,
    )


async def all_of(updates: AsyncIterator[Update]) -> list[Update]:
    return [update async for update in updates]
