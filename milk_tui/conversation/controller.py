"""The conversation: what happens when you press Enter, and when the floor changes.

It picks the agent, opens and closes turns, applies every event to the session, has the session saved, and yields
updates for whoever watches. It knows no screen; a test drives the whole product through it.
"""

import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.conversation.forecast import Forecast, forecast, local_preface, with_reason
from milk_tui.conversation.saving import Saving
from milk_tui.conversation.turn_stream import TurnStream
from milk_tui.conversation.update import Escalation, Saves, Update
from milk_tui.core import events as ev
from milk_tui.core.bricks import Bricks, Gauge
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import AgentRole, Receipt, Situation, Usage
from milk_tui.core.session import Session
from milk_tui.core.text import sanitize

_SHOWS_BRICKS = (
    ev.TurnStarted,
    ev.TurnEnded,
    ev.NeedChanged,
    ev.NeedEdited,
    ev.PerceptRecorded,
    ev.FloorChanged,
)


class Conversation:
    """The running controller of one session."""

    def __init__(
        self,
        session: Session,
        *,
        local: Agent,
        claude: Agent,
        store: Saves,
        escalation: Escalation = "ask",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.escalation = escalation
        self.agents: dict[AgentRole, Agent] = {"local": local, "claude": claude}
        """Who fills which role: to be looked at; `use_local` changes it."""
        self._saving = Saving(store, session)
        self._now = now
        self._clock = clock
        self._local_window: int | None = None
        self._stream: TurnStream | None = None
        self._fresh: bool | None = None
        """What the user chose for Claude's present stay: a fresh start or not; `None` if nothing."""

    @property
    def floor(self) -> AgentRole:
        """Who gets the next prompt."""
        return self.session.state.floor

    async def use_local(self, agent: Agent) -> None:
        """Put another agent in the local role. Raises `MilkError` while a turn is running."""
        self._must_be_idle()
        before, self.agents["local"] = self.agents["local"], agent
        await before.close()

    def bricks(self, prompt_chars: int = 0) -> Bricks:
        """The bricks as they are now."""
        return self.session.bricks(prompt_chars)

    def gauge(self, prompt_chars: int = 0) -> Gauge:
        """The gauge alone: cheap enough for every keystroke."""
        return self.session.gauge(prompt_chars)

    def forecast(self, unsent: str = "", reason: str = "", fresh: bool | None = None) -> Forecast:
        """What a hand-off made now would send; `fresh` is the user's own choice of how it starts."""
        return forecast(self.session, sanitize(unsent), reason, fresh)

    async def send(self, prompt: str) -> AsyncGenerator[Update, None]:
        """Give a prompt to whoever has the floor."""
        prompt = sanitize(prompt)
        state = self.session.state
        if self.floor == "claude":
            route = self.session.route(self._fresh)
            turn = self._claude_turn(prompt, None if state.handed_over else route.situation(state.brief))
        else:
            turn = self._local_turn(prompt)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    async def escalate(
        self, prompt: str, reason: str = "", fresh: bool | None = None
    ) -> AsyncGenerator[Update, None]:
        """Hand over to Claude Code with this prompt.

        Args:
            prompt: What Claude should do.
            reason: Why, if the local agent asks for it.
            fresh: Whether a session of Claude's begins or the one there is goes on; `None` leaves it to the route.
        """
        self._must_be_idle()
        self._fresh = fresh
        situation = self.session.route(fresh).situation(reason)
        yield self._apply(ev.BriefSet(text=reason))
        yield self._apply(ev.FloorChanged(floor="claude"))
        prompt = with_reason(sanitize(prompt), reason) if situation == "resume" else sanitize(prompt)
        turn = self._claude_turn(prompt, situation)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    async def return_to_local(self) -> Update:
        """Give the floor back; Claude's process ends, its session stays to be resumed."""
        self._must_be_idle()
        self._fresh = None
        update = self._apply(ev.FloorChanged(floor="local"))
        self._saving.now()
        await self.agents["claude"].close()
        return update

    def edit_need(self, text: str) -> Update:
        """The user says what the need is; empty text gives the word back to the agents."""
        update = self._apply(ev.NeedEdited(text=sanitize(text)))
        self._saving.if_begun()
        return update

    def decline_escalation(self) -> Update:
        """The user does not want the hand-off the local agent asked for."""
        return self._apply(ev.BriefSet(text=""))

    def stop(self) -> None:
        """Stop the turn in progress; its stream ends with what there is so far."""
        if self._stream is not None:
            self._stream.stop()

    async def close(self) -> None:
        """Stop everything and keep everything."""
        self.stop()
        if self._stream is not None:
            await self._stream.ended()
        self._saving.if_begun()
        for agent in self.agents.values():
            await agent.close()

    async def _local_turn(self, prompt: str) -> AsyncGenerator[Update, None]:
        preface = local_preface(self.session, self._local_window)
        asked = ""
        turn = self._turn("local", prompt, preface=preface)
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
            yield self._apply(ev.ClaudeSessionForgotten())
            yield self._apply(
                ev.Noticed(text="Claude's earlier session is gone; a new one starts with the full hand-off.")
            )
            async with contextlib.aclosing(self._handed(prompt, "first")) as updates:
                async for update in updates:
                    yield update
        if self.session.state.claude_session_id != before:
            self._fresh = None
        if self._failure_kind() and not self.session.state.handed_over:
            yield self._apply(ev.FloorChanged(floor="local"))
            self._saving.now()

    async def _handed(self, prompt: str, situation: Situation | None) -> AsyncGenerator[Update, None]:
        handoff = self.session.handoff(situation) if situation else None
        turn = self._turn("claude", prompt, handoff=handoff)
        async with contextlib.aclosing(turn):
            async for update in turn:
                yield update

    def _failure_kind(self) -> str:
        failure = self.session.turns[-1].failure
        return failure.kind if failure else ""

    async def _turn(
        self, role: AgentRole, prompt: str, *, handoff: Handoff | None = None, preface: str = ""
    ) -> AsyncGenerator[Update, None]:
        self._must_be_idle()
        is_fresh = handoff is not None and handoff.situation != "resume"
        request = TurnRequest(
            prompt=prompt,
            cwd=self.session.state.cwd,
            nonce=self.session.state.nonce,
            preface=preface,
            turns=self.session.turns,
            handoff=handoff,
            resume_id=None if is_fresh else self.session.state.claude_session_id,
        )
        began = self._clock()
        yield self._apply(
            ev.TurnStarted(
                agent=role, prompt=prompt, at=self._now(), preface=preface, is_fresh_start=is_fresh
            )
        )
        self._saving.now()
        self._stream = stream = TurnStream(self.agents[role], request)
        try:
            async for event in stream.events():
                yield self._apply(self._allowed(event))
                self._saving.soon()
                for notice in self._told():
                    yield notice
        finally:
            await stream.ended()
            self._stream = None
            ended = self._ended(stream, handoff, self._clock() - began)
        for ending in ended:
            yield Update(event=ending, bricks=self.bricks())
        for notice in self._told():
            yield notice

    def _ended(self, stream: TurnStream, handoff: Handoff | None, seconds: float) -> list[ev.Event]:
        """Close the turn with its last events, whatever ended it, and have it saved."""
        events: list[ev.Event] = []
        running = self.session.running
        if stream.error is not None:
            events.append(ev.AgentFailed(failure=_bug(stream.error)))
        elif stream.was_stopped:
            events.append(ev.TurnInterrupted(at=self._now()))
        elif running is not None and running.status == "running":
            events.append(ev.AgentFailed(failure=_NO_ENDING))
        receipt = self._receipt(handoff, seconds) if handoff else None
        events.append(ev.TurnEnded(at=self._now(), receipt=receipt))
        for ending in events:
            self.session.apply(ending)
        self._saving.now()
        return events

    def _receipt(self, handoff: Handoff, seconds: float) -> Receipt:
        running = self.session.running
        return Receipt(
            situation=handoff.situation,
            chars=handoff.chars,
            history_chars=handoff.history_chars,
            usage=running.usage if running else Usage(),
            seconds=seconds,
        )

    def _apply(self, event: ev.Event) -> Update:
        self.session.apply(event)
        running = self.session.running if isinstance(event, ev.AgentReady) else None
        if isinstance(event, ev.AgentReady) and running and running.agent == "local":
            self._local_window = event.window
        return Update(event=event, bricks=self.bricks() if isinstance(event, _SHOWS_BRICKS) else None)

    def _allowed(self, event: ev.AgentEvent) -> ev.AgentEvent:
        """With escalation switched off, the local agent's request is only told."""
        if isinstance(event, ev.EscalationRequested) and self.escalation == "off":
            return ev.Noticed(text=f"The local agent asks for Claude, which is switched off: {event.reason}")
        return event

    def _must_be_idle(self) -> None:
        if self.session.is_busy:
            raise MilkError("A turn is still running.", "Press Esc to stop it, or wait for its end.")

    def _told(self) -> list[Update]:
        return [Update(event=ev.Noticed(text=notice)) for notice in self._saving.told()]


_NO_ENDING = Failure(
    kind="protocol",
    sentence="The agent stopped without saying that it had finished.",
    remedy="Your prompt and the answer so far are kept; please send it again.",
)


def _bug(error: Exception) -> Failure:
    return Failure(
        kind="bug",
        sentence=f"milk-tui itself made a mistake: {type(error).__name__}: {error}",
        remedy="Your prompt and the answer so far are kept; please send it again.",
    )
