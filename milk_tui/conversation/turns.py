"""One turn, from the prompt that opens it to the receipt that closes it, whatever happens in between.

Every event goes through here: applied to the session, saved, counted by the wallet, and yielded as an update.
"""

from collections.abc import AsyncGenerator, Callable
from datetime import datetime

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.conversation.endings import bug, ending, receipt
from milk_tui.conversation.saving import Saving
from milk_tui.conversation.turn_stream import TurnStream
from milk_tui.conversation.update import Escalation, Update, allowed
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import AgentRole
from milk_tui.core.session import Session
from milk_tui.core.shaping_events import BrickFrozen, BrickRestored, BrickShaped, PartSwitched, ShapingUndone

_SHOWS_BRICKS = (
    ev.TurnStarted,
    ev.TurnEnded,
    ev.NeedChanged,
    ev.NeedEdited,
    BrickShaped,
    PartSwitched,
    BrickFrozen,
    BrickRestored,
    ShapingUndone,
    ev.PerceptRecorded,
    ev.FloorChanged,
    ev.ExchangeUndone,
)


class TurnRunner:
    """Runs the turns of one session, one at a time."""

    def __init__(
        self,
        session: Session,
        agents: dict[AgentRole, Agent],
        *,
        wallet: Wallet,
        saving: Saving,
        escalation: Escalation,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self.escalation = escalation
        self.local_window: int | None = session.tally.usage["local"].window
        """Tokens that the local model accepts, as far as it has said."""
        self.is_elsewhere = False
        """The user is in Claude Code's own screen."""
        self._session = session
        self._agents = agents
        self._wallet = wallet
        self._saving = saving
        self._now = now
        self._clock = clock
        self._stream: TurnStream | None = None

    @property
    def is_busy(self) -> bool:
        """Whether an agent is at work."""
        return self._session.is_busy or self._stream is not None or self.is_elsewhere

    def must_be_idle(self) -> None:
        """Raise `MilkError` while an agent is at work."""
        if self.is_busy:
            raise MilkError("A turn is still running.", "Press Esc to stop it, or wait for its end.")

    def stop(self) -> None:
        """Stop what is in progress; its stream ends with what there is so far."""
        if self._stream is not None:
            self._stream.stop()

    async def ended(self) -> None:
        """Wait until nothing is in progress."""
        if self._stream is not None:
            await self._stream.ended()

    def apply(self, event: ev.Event) -> Update:
        """Let one event happen."""
        self._session.apply(event)
        self._wallet.note(event)
        self._note_window(event)
        return Update(
            event=event, bricks=self._session.bricks() if isinstance(event, _SHOWS_BRICKS) else None
        )

    def _note_window(self, event: ev.Event) -> None:
        """Follow what the local model says of itself."""
        window = None
        if isinstance(event, ev.AgentReady):
            window = event.window
        elif isinstance(event, ev.UsageReported):
            window = event.usage.window
        running = self._session.running if window else None
        if running is not None and running.agent == "local":
            self.local_window = window

    async def aside(self, role: AgentRole, request: TurnRequest) -> AsyncGenerator[ev.AgentEvent, None]:
        """Ask an agent something that is no turn: nothing of it is kept."""
        self.must_be_idle()
        self._stream = stream = TurnStream(self._agents[role], request)
        try:
            async for event in stream.events():
                yield event
        finally:
            await stream.ended()
            self._stream = None
        if stream.error is not None:
            yield ev.AgentFailed(failure=bug(stream.error))

    async def turn(
        self,
        role: AgentRole,
        prompt: str,
        *,
        handoff: Handoff | None = None,
        preface: str = "",
        agent: Agent | None = None,
    ) -> AsyncGenerator[Update, None]:
        """Give an agent a prompt, and to Claude the hand-off or to the local agent the preface that goes with it.

        Another agent than the one in the role may take its place for the turn.
        """
        self.must_be_idle()
        begins = handoff is not None and handoff.situation != "resume"
        request = TurnRequest(
            prompt=prompt,
            cwd=self._session.state.cwd,
            nonce=self._session.state.nonce,
            preface=preface,
            turns=self._session.turns,
            handoff=handoff,
            resume_id=None if begins else self._session.state.claude_session_id,
            allowance_usd=self._wallet.left if role == "claude" else None,
        )
        began = self._clock()
        started = ev.TurnStarted(agent=role, prompt=prompt, at=self._now(), preface=preface)
        yield self.apply(started.model_copy(update={"is_fresh_start": begins}))
        self._saving.now()
        self._stream = stream = TurnStream(agent or self._agents[role], request)
        try:
            async for event in stream.events():
                yield self.apply(allowed(event, self.escalation))
                self._saving.after(event)
                if role == "claude" and isinstance(event, ev.StepStarted) and self._wallet.is_empty:
                    stream.stop(self._wallet.failure())
                for notice in self._saving.told():
                    yield notice
        finally:
            await stream.ended()
            self._stream = None
            ended = self._ended(stream, handoff, self._clock() - began)
        for each in ended:
            yield Update(event=each, bricks=self._session.bricks())
        for notice in self._saving.told():
            yield notice

    def _ended(self, stream: TurnStream, handoff: Handoff | None, seconds: float) -> list[ev.Event]:
        """Close the turn with its last events, whatever ended it, and have it saved."""
        running = self._session.running
        paid = receipt(handoff, running, seconds) if handoff else None
        told = handoff.parts if handoff else ()
        events: list[ev.Event] = [ev.TurnEnded(at=self._now(), receipt=paid, handed=told)]
        last = ending(stream, running, self._now())
        if last is not None:
            events.insert(0, last)
        for event in events:
            self._session.apply(event)
        self._saving.now()
        return events
