"""Claude Code's own screen as a part of the conversation: what it is opened with, and what is brought back from it.

While it is open the terminal is Claude Code's and nothing happens here. Afterwards every turn that was made there is
folded into the session, whatever ended the visit. It knows no Textual: whoever has the terminal lends it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from milk_tui.agents.base import Agent
from milk_tui.agents.claude.agent import ClaudeCode
from milk_tui.conversation.folding import folded, priced
from milk_tui.conversation.forecast import with_reason
from milk_tui.conversation.saving import Saving
from milk_tui.conversation.turns import TurnRunner
from milk_tui.conversation.update import Update
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import AgentRole, Turn
from milk_tui.core.secrets import masked
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize

if TYPE_CHECKING:
    from milk_tui.agents.claude.own_screen import Opening, OwnScreen, Visit

Lend = Callable[[], AbstractContextManager[None]]
"""Gives the terminal away for as long as the context lasts. Raises `MilkError` where that is not possible."""

_NO_TURN = "Claude Code was closed without a turn; the floor stays where it was."
_UNTOLD = "Claude Code ran no hooks, so it was not told what is new. The next hand-off starts a session with all of it."


class Visiting:
    """Visits to Claude Code's own screen, one at a time."""

    def __init__(
        self,
        session: Session,
        turns: TurnRunner,
        saving: Saving,
        agents: Mapping[AgentRole, Agent],
        wallet: Wallet,
    ) -> None:
        self._session = session
        self._turns = turns
        self._saving = saving
        self._agents = agents
        self._wallet = wallet
        self._open: asyncio.Task[None] | None = None
        self._left = asyncio.Event()
        self._left.set()

    async def visit(self, prompt: str, lend: Lend) -> AsyncGenerator[Update, None]:
        """Open it on Claude's session, handed over to as by any escalation, and bring back what was said there.

        Args:
            prompt: sent as soon as it is open; empty to let the user begin.
            lend: gives the terminal away.

        Raises:
            MilkError: it cannot be opened; nothing has changed.
        """
        self._turns.must_be_idle()
        if self._session.state.floor == "local":
            self._wallet.begin()
        self._wallet.check()
        claude = self._agents["claude"]
        if not isinstance(claude, ClaudeCode):
            raise MilkError("This Claude has no screen of its own: it is played from a script.")
        handoff = self._due()
        opening = self._opening(sanitize(prompt), handoff)
        self._left.clear()
        self._turns.is_elsewhere = True
        updates: list[Update] = []
        try:
            async with claude.own_screen(opening) as screen:
                try:
                    with lend():
                        await self._stay(screen)
                finally:
                    # At once, for the program may have been told to end.
                    updates += self._brought_back(claude, screen, handoff)
        finally:
            self._turns.is_elsewhere = False
            self._left.set()
        for update in updates:
            yield update

    async def close(self) -> None:
        """End it, and wait until all that was said there is brought back."""
        if self._open is not None:
            self._open.cancel()
        await self._left.wait()

    async def _stay(self, screen: "OwnScreen") -> None:
        self._open = asyncio.create_task(screen.run(), name="own-screen")
        try:
            await asyncio.shield(self._open)
        finally:
            self._open.cancel()
            await asyncio.wait({self._open})
            self._open = None

    def _due(self) -> Handoff | None:
        """What is to be handed over; nothing if Claude was told already."""
        state = self._session.state
        if state.floor == "claude" and state.handed_over:
            # The user may have run something since.
            return self._session.handoff("resume") if self._session.tally.local_since else None
        is_masked = state.is_masked if state.floor == "claude" else False
        situation = self._session.route().situation(state.brief)
        return self._session.handoff(situation, state.brief, is_masked)

    def _opening(self, prompt: str, handoff: Handoff | None) -> "Opening":
        from milk_tui.agents.claude.own_screen import Opening

        state = self._session.state
        resumes = handoff is None or handoff.situation == "resume"
        first = self._session.handoff("first", is_masked=handoff.is_masked if handoff else None)
        whole = first if handoff is None or resumes else handoff
        brief = masked(state.brief) if whole.is_masked else state.brief
        return Opening(
            cwd=state.cwd,
            standing=whole.standing,
            whole=whole.changing,
            news=handoff.changing + with_reason("", brief) if handoff and resumes else "",
            resume_id=state.claude_session_id if resumes else None,
            prompt=masked(prompt) if whole.is_masked else prompt,
        )

    def _brought_back(self, claude: ClaudeCode, screen: "OwnScreen", handoff: Handoff | None) -> list[Update]:
        made: list[tuple[Visit, Turn]] = []
        notices = [str(screen.failure)] if screen.failure else []
        known: set[str] = set()
        for visit in screen.visits:
            try:
                turns = self._read(claude, screen, visit, known)
            except MilkError as error:
                notices.append(f"{error} What was said there stays in Claude's session.")
            else:
                made += ((visit, turn) for turn in turns)
        made.sort(key=lambda each: each[1].started_at)
        events = self._events(made, handoff) if made else iter(())
        if not made and not notices:
            notices.append(_NO_TURN)
        updates = [self._turns.apply(event) for event in events]
        self._saving.if_begun()
        updates += [Update(event=ev.Noticed(text=notice)) for notice in notices]
        return updates + self._saving.told()

    def _read(self, claude: ClaudeCode, screen: "OwnScreen", visit: "Visit", known: set[str]) -> list[Turn]:
        """The turns that were made in one session; none if it never got a prompt."""
        from milk_tui.storage.importing.claude_part import claude_part

        if not visit.transcript.exists():
            return []
        part = claude_part(visit.transcript, screen.began_at, known)
        if part.turns:
            claude.note_cost(visit.session_id, part.total_usd)
        return priced(part.turns, part.cost_usd)

    def _events(self, made: list[tuple["Visit", Turn]], handoff: Handoff | None) -> Iterator[ev.Event]:
        """What has happened, in order. Each event is applied before the next one is asked for."""
        state = self._session.state
        if state.floor == "local":
            yield ev.FloorChanged(floor="claude")
        for visit, turn in made:
            yield from folded(turn, handoff, nonce=state.nonce, session_id=visit.session_id)
            if turn.status == "finished":
                handoff = None  # it has arrived
        last, _ = made[-1]
        if not last.was_told:
            yield ev.ClaudeSessionForgotten()
            yield ev.Noticed(text=_UNTOLD)
        elif self._session.turns[-1].status == "failed" and not self._session.state.handed_over:
            yield ev.FloorChanged(floor="local")
