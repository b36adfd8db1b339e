"""The conversation: what happens when you press Enter, and when the floor changes.

It picks the agent, opens and closes turns, applies every event to the session, has the session saved, and yields
updates for whoever watches. It knows no screen; a test drives the whole product through it.
"""

import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime

from milk_tui.agents.base import Agent
from milk_tui.conversation.exchange import last_exchange
from milk_tui.conversation.forecast import Forecast, forecast, with_reason
from milk_tui.conversation.incoming import preface
from milk_tui.conversation.queue import Queue
from milk_tui.conversation.rehearsal import rehearsal
from milk_tui.conversation.saving import Saving
from milk_tui.conversation.shaping import ShapingDesk
from milk_tui.conversation.turns import TurnRunner
from milk_tui.conversation.update import Escalation, Saves, Update
from milk_tui.conversation.user_words import UserWords
from milk_tui.conversation.visiting import Visiting
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.bricks import Bricks, Gauge
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import AgentRole, Situation
from milk_tui.core.own_command import own_command
from milk_tui.core.secrets import masked
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize

_GONE = "Claude's earlier session is gone; a new one starts with the full hand-off."


class Conversation(UserWords):
    """The running controller of one session."""

    def __init__(
        self,
        session: Session,
        *,
        local: Agent,
        claude: Agent,
        store: Saves,
        own: Agent | None = None,
        escalation: Escalation = "ask",
        wallet: Wallet | None = None,
        claude_model: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.agents: dict[AgentRole, Agent] = {"local": local, "claude": claude}
        """Who fills which role: to be looked at; `use_local` changes it."""
        self._own = own
        """Who runs the user's own commands."""
        self.wallet = wallet or Wallet()
        """What Claude may spend."""
        self.wallet.count(session.turns, session.state.undone_cost_usd)
        self._claude_model = claude_model
        self._saving = Saving(store, session)
        self._turns = TurnRunner(
            session,
            self.agents,
            wallet=self.wallet,
            saving=self._saving,
            escalation=escalation,
            now=now,
            clock=clock,
        )
        self.visiting = Visiting(session, self._turns, self._saving, self.agents, self.wallet)
        """Claude Code's own screen."""
        self.shaping = ShapingDesk(session, self._turns, self._saving, now)
        """What the user does to the bricks."""
        self._now = now
        self.queue = Queue(session, send=self.send, stop=self.stop, save=self._saving.if_begun)
        """What waits until nobody is at work."""
        self._fresh: bool | None = None
        """What the user chose for Claude's present stay: a fresh start or not; `None` if nothing."""

    @property
    def escalation(self) -> Escalation:
        """What happens when the local agent asks for Claude."""
        return self._turns.escalation

    @escalation.setter
    def escalation(self, escalation: Escalation) -> None:
        self._turns.escalation = escalation

    @property
    def floor(self) -> AgentRole:
        """Who gets the next prompt."""
        return self.session.state.floor

    @property
    def is_busy(self) -> bool:
        """Whether an agent is at work: on a turn, or on a rehearsal."""
        return self._turns.is_busy

    @property
    def is_saved(self) -> bool:
        """Whether everything is on disk, after one more try."""
        return self._saving.is_up_to_date

    async def use_local(self, agent: Agent) -> None:
        """Put another agent in the local role. Raises `MilkError` while a turn is running."""
        self._turns.must_be_idle()
        before, self.agents["local"] = self.agents["local"], agent
        self._turns.local_window = None
        await before.close()

    def bricks(self, prompt_chars: int = 0) -> Bricks:
        """The bricks as they are now."""
        return self.session.bricks(prompt_chars)

    def gauge(self, prompt_chars: int = 0) -> Gauge:
        """The gauge alone: cheap enough for every keystroke."""
        return self.session.gauge(prompt_chars)

    def forecast(
        self, unsent: str = "", reason: str = "", fresh: bool | None = None, *, is_masked: bool = False
    ) -> Forecast:
        """What a hand-off made now would send: started and masked as it is wanted."""
        model = self._claude_model or self.session.tally.model["claude"]
        return forecast(self.session, sanitize(unsent), reason, fresh, model=model, is_masked=is_masked)

    def allow_spending(self, amount: float | None = None) -> str:
        """The user lets Claude spend more; the new state of the wallet, in words. Raises `MilkError`."""
        burn = self.wallet.allow(amount)
        return f"Claude may go on: {burn} spent for this {burn.purse}."

    async def send(self, prompt: str) -> AsyncGenerator[Update, None]:
        """Give a prompt to whoever has the floor."""
        prompt = sanitize(prompt)
        if own_command(prompt):
            turn = self._own_turn(prompt)
        elif self.floor == "claude":
            self.wallet.check()
            turn = self._claude_turn(prompt, self._situation_of_stay())
        else:
            turn = self._local_turn(prompt)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    async def escalate(
        self, prompt: str, reason: str = "", fresh: bool | None = None, *, is_masked: bool = False
    ) -> AsyncGenerator[Update, None]:
        """Hand over to Claude Code with this prompt; with a reason when the local agent asked for it.

        The user may have chosen a fresh start, or none; `None` leaves it to the route. Masked, what looks like a
        secret is taken out of all that is sent with it. Raises `MilkError` if nothing may be spent any more.
        """
        self._turns.must_be_idle()
        self.wallet.begin()
        self.wallet.check()
        self._fresh = fresh
        situation = self.session.route(fresh).situation(reason)
        yield self._turns.apply(ev.BriefSet(text=reason))
        yield self._turns.apply(ev.FloorChanged(floor="claude", is_masked=is_masked))
        prompt = with_reason(sanitize(prompt), reason) if situation == "resume" else sanitize(prompt)
        turn = self._claude_turn(prompt, situation)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    async def rehearse(self, unsent: str = "") -> AsyncGenerator[ev.AgentEvent, None]:
        """Let the local model alone say what is unclear in the next hand-off. Nothing of it is kept."""
        request = rehearsal(self.session, self.forecast(unsent), self._turns.local_window)
        async with contextlib.aclosing(self._turns.aside("local", request)) as events:
            async for event in events:
                yield event

    async def return_to_local(self) -> Update:
        """Give the floor back; Claude's process ends, its session stays to be resumed."""
        self._turns.must_be_idle()
        self._fresh = None
        update = self._turns.apply(ev.FloorChanged(floor="local"))
        self._saving.now()
        await self.agents["claude"].close()
        return update

    async def undo(self, *, keeps_claude: bool = False) -> list[Update]:
        """Take the last exchange back; what its tools did stays done. Raises `MilkError` if there is none, or not yet.

        Claude's own session cannot unlearn: it goes on and remembers, or it is left and the next hand-off begins anew.
        """
        self._turns.must_be_idle()
        turns = last_exchange(self.session)
        undone = ev.ExchangeUndone(at=self._now(), keeps_claude=keeps_claude)
        updates = [self._turns.apply(undone) for _ in turns]
        self._saving.now()
        if turns[-1].agent == "claude" and not keeps_claude:
            self._fresh = None
            await self.agents["claude"].close()
        return updates

    def stop(self) -> None:
        """Stop the turn in progress; its stream ends with what there is so far."""
        self._turns.stop()

    async def close(self) -> None:
        """Stop everything and keep everything."""
        self.stop()
        await self._turns.ended()
        await self.visiting.close()
        self._saving.if_begun()
        for agent in self.agents.values():
            await agent.close()

    def _situation_of_stay(self) -> Situation | None:
        """What a prompt to Claude carries: a hand-off if none succeeded yet, or what the user ran meanwhile."""
        state = self.session.state
        if not state.handed_over:
            return self.session.route(self._fresh).situation(state.brief)
        return "resume" if self.session.tally.local_since else None

    async def _own_turn(self, prompt: str) -> AsyncGenerator[Update, None]:
        if self._own is None:
            raise MilkError("Commands cannot be run here.")
        told = preface(self.session, self._share) if self.floor == "local" else ""
        turn = self._turns.turn("local", prompt, preface=told, agent=self._own)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    async def _local_turn(self, prompt: str) -> AsyncGenerator[Update, None]:
        asked = ""
        turn = self._turns.turn("local", prompt, preface=preface(self.session, self._share))
        async with contextlib.aclosing(turn):
            async for update in turn:
                if isinstance(update.event, ev.EscalationRequested):
                    asked = update.event.reason
                yield update
        if asked and self.escalation == "auto" and self.session.turns[-1].status == "finished":
            escalated = self.escalate(prompt, asked)
            async with contextlib.aclosing(escalated):
                async for update in escalated:
                    yield update

    async def _claude_turn(self, prompt: str, situation: Situation | None) -> AsyncGenerator[Update, None]:
        """A turn of Claude's; with a situation it carries a hand-off, without one it follows up.

        A session that Claude does not know any more is handed over to once more, as a new one. The floor stays with
        Claude until the user takes it back, unless no hand-off has succeeded and this one failed.
        """
        before = self.session.state.claude_session_id
        async with contextlib.aclosing(self._handed(prompt, situation)) as updates:
            async for update in updates:
                yield update
        if self._failure_kind() == "unknown_session":
            yield self._turns.apply(ev.ClaudeSessionForgotten())
            yield self._turns.apply(ev.Noticed(text=_GONE))
            async with contextlib.aclosing(self._handed(prompt, "first")) as updates:
                async for update in updates:
                    yield update
        if self.session.state.claude_session_id != before:
            self._fresh = None
        if self._failure_kind() not in ("", "spent") and not self.session.state.handed_over:
            yield self._turns.apply(ev.FloorChanged(floor="local"))
            self._saving.now()

    async def _handed(self, prompt: str, situation: Situation | None) -> AsyncGenerator[Update, None]:
        handoff = self.session.handoff(situation) if situation else None
        if handoff is not None and handoff.is_masked:
            prompt = masked(prompt)
        turn = self._turns.turn("claude", prompt, handoff=handoff)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    def _failure_kind(self) -> str:
        failure = self.session.turns[-1].failure
        return failure.kind if failure else ""
