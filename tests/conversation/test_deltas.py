"""Whatever happens, Claude's session is told what is new once, in order, and nothing is missing.

A machine plays local turns, facts, needs, hand-offs that succeed or do not, returns and restarts against a plain model
of what each of Claude's sessions knows. The store is the real one.
"""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from milk_tui.agents.base import TurnRequest
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.update import Update
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.handoff import Handoff
from milk_tui.core.session import Session, SessionState
from milk_tui.storage.session_store import SessionStore
from tests.conversation.talking import NONCE, NOW

Fate = Literal["finished", "refused", "failed", "stopped", "stopped at once", "killed", "forgotten"]
FATES: tuple[Fate, ...] = (
    "finished",
    "refused",
    "failed",
    "stopped",
    "stopped at once",
    "killed",
    "forgotten",
)
NEEDS = ("repair the login form", "write documentation about tills", "upgrade every database driver")
WORK = "Claude looked at all of it and changed what was wrong. " * 8


def failed(kind: Literal["lost", "unknown_session"]) -> ev.AgentFailed:
    return ev.AgentFailed(failure=Failure(kind=kind, sentence="It did not work."))


class Actor:
    """Both agents: does in each turn what it was told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.fate: Fate = "finished"
        self.fact = ""
        self.sessions = 0
        self.requests: list[TurnRequest] = []

    async def run(self, request: TurnRequest) -> AsyncGenerator[ev.AgentEvent, None]:
        self.requests.append(request)
        fate, self.fate = self.fate, "finished" if self.fate == "forgotten" else self.fate
        if fate == "refused":
            yield failed("lost")
            return
        if fate == "forgotten" and request.resume_id:
            yield failed("unknown_session")
            return
        if fate == "stopped at once":
            await asyncio.Event().wait()
        self.sessions += not request.resume_id
        yield ev.AgentReady(model="m", session_id=request.resume_id or f"claude-{self.sessions}")
        yield ev.StepStarted()
        if self.fact:
            tag = f"milk:percept:{request.nonce}"
            yield ev.TextDelta(text=f"<{tag}>{self.fact} is so</{tag}>")
        yield ev.TextDelta(text=WORK)
        if fate in ("stopped", "killed"):
            await asyncio.Event().wait()
        yield failed("lost") if fate == "failed" else ev.AgentFinished()

    async def close(self) -> None: ...


class Disk:
    """The real store, until the program is killed."""

    def __init__(self, home: Path) -> None:
        self.store = SessionStore(home)
        self.is_dead = False
        self.is_up_to_date = True

    def save(self, session: Session) -> None:
        if not self.is_dead:
            self.store.save(session)


def marks(handoff: Handoff, name: str, letter: str) -> list[str]:
    """The marks in one part, which is among what is sent."""
    part = next((part for part in handoff.parts if part.name == name), None)
    assert part is None or part.text in handoff.changing
    return re.findall(rf"\b{letter}\d+x", part.text) if part else []


class Deltas(RuleBasedStateMachine):
    @initialize(fresh_after=st.sampled_from((0, 1, 3)))
    def begin(self, fresh_after: int) -> None:
        self.fresh_after = fresh_after
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.local, self.claude = Actor(), Actor()
        self.count = 0
        self.turns: list[str] = []
        self.facts: list[str] = []
        self.known: dict[str, tuple[set[str], set[str]]] = {}
        self.current: str | None = None
        self.has_worked = False
        self.is_followed_up = False
        state = SessionState(id="s", cwd="/tmp", nonce=NONCE, created_at=NOW)
        self.open(Session(state, fresh_after=fresh_after))

    def open(self, session: Session) -> None:
        self.disk = Disk(Path(self.folder.name))
        self.talk = Conversation(
            session, local=self.local, claude=self.claude, store=self.disk, now=lambda: NOW
        )

    def mark(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}x"

    async def play(self, updates: AsyncGenerator[Update, None], fate: Fate) -> None:
        async with aclosing(updates):
            async for update in updates:
                if fate == "stopped at once" and isinstance(update.event, ev.TurnStarted):
                    asyncio.get_running_loop().call_later(0, self.talk.stop)
                if not isinstance(update.event, ev.TextDelta) or fate not in ("stopped", "killed"):
                    continue
                self.disk.is_dead = fate == "killed"
                self.talk.stop()

    def restart(self) -> None:
        self.disk.store.close()
        self.disk = Disk(Path(self.folder.name))
        self.open(self.disk.store.load("s", fresh_after=self.fresh_after))

    @rule(fate=st.sampled_from(FATES[:-1]), has_fact=st.booleans())
    @precondition(lambda self: self.talk.floor == "local")
    def local_turn(self, fate: Fate, has_fact: bool) -> None:
        turn, fact = self.mark("L"), self.mark("P") if has_fact else ""
        self.local.fate, self.local.fact = fate, fact
        self.loop.run_until_complete(self.play(self.talk.send(f"Please look after {turn} today."), fate))
        self.turns.append(turn)
        if fate == "killed":
            self.restart()
        if fact and any(percept.text.startswith(fact) for percept in self.talk.session.percepts):
            self.facts.append(fact)
        assert bool(fact) == (fact in self.facts) or fate in ("refused", "stopped at once", "killed")

    @rule(need=st.sampled_from((*NEEDS, "")))
    def say_need(self, need: str) -> None:
        self.talk.edit_need(need)

    @rule(fate=st.sampled_from(FATES), fresh=st.sampled_from((None, True, False)), has_fact=st.booleans())
    @precondition(lambda self: not self.is_followed_up)
    def hand_over(self, fate: Fate, fresh: bool | None, has_fact: bool) -> None:
        forecast = self.talk.forecast("go", fresh=fresh)
        seen = len(self.claude.requests)
        self.claude_turn(self.talk.escalate("Please mend it.", fresh=fresh), fate, has_fact)
        assert self.claude.requests[seen].handoff == forecast.handoff

    @rule(fate=st.sampled_from(FATES), has_fact=st.booleans())
    @precondition(lambda self: self.talk.floor == "claude")
    def go_on(self, fate: Fate, has_fact: bool) -> None:
        self.claude_turn(self.talk.send("Please go on with it."), fate, has_fact)

    @rule()
    @precondition(lambda self: self.talk.floor == "claude")
    def give_back(self) -> None:
        self.loop.run_until_complete(self.talk.return_to_local())
        self.is_followed_up = False

    @rule()
    @precondition(lambda self: self.talk.session.turns)
    def close_and_open(self) -> None:
        self.loop.run_until_complete(self.talk.close())
        before = self.talk.session
        self.restart()
        assert self.talk.session.handoff() == before.handoff()
        assert self.talk.session.bricks() == before.bricks()

    def claude_turn(self, updates: AsyncGenerator[Update, None], fate: Fate, has_fact: bool) -> None:
        fact = self.mark("P") if has_fact else ""
        self.claude.fate, self.claude.fact = fate, fact
        seen = len(self.claude.requests)
        self.loop.run_until_complete(self.play(updates, fate))
        for request in self.claude.requests[seen:]:
            self.check(request)
            if request is not self.claude.requests[-1]:
                self.current = None  # Claude did not know the session any more
                self.is_followed_up = False
        if fate == "killed":
            self.restart()
        self.learn(self.claude.requests[-1], fate, fact)

    def check(self, request: TurnRequest) -> None:
        handoff = request.handoff
        if handoff is None:
            assert self.is_followed_up and request.resume_id == self.current
            return
        turns, facts = (set[str](), set[str]())
        if handoff.situation == "resume":
            assert request.resume_id == self.current is not None
            turns, facts = self.known[self.current]
        else:
            assert request.resume_id is None
        assert marks(handoff, "local_summary", "L") == [turn for turn in self.turns if turn not in turns]
        assert marks(handoff, "percepts", "P") == [f for f in reversed(self.facts) if f not in facts]
        has_summary = any(part.name == "claude_summary" for part in handoff.parts)
        assert has_summary == (self.has_worked and handoff.situation != "resume")

    def learn(self, request: TurnRequest, fate: Fate, fact: str) -> None:
        """What Claude's sessions know after a turn."""
        state = self.talk.session.state
        is_finished = fate in ("finished", "forgotten")
        answers = fate not in ("refused", "stopped at once")
        if fact and any(percept.text.startswith(fact) for percept in self.talk.session.percepts):
            self.facts.append(fact)
        self.has_worked |= bool(self.talk.session.claude_summary.text) if fate == "killed" else answers
        begun = f"claude-{self.claude.sessions}"
        if fate == "killed":
            # What was on disk at that moment decides; the session before is never lost.
            assert state.claude_session_id in {self.current, begun}
            self.current = state.claude_session_id
        elif answers and not request.resume_id and (fate != "failed" or self.current is None):
            self.current = begun
        if self.current is not None:
            self.known.setdefault(self.current, (set(), set()))
        if is_finished and self.current is not None:
            self.known[self.current] = (set(self.turns), set(self.facts))
            self.is_followed_up = True
        if not self.is_followed_up and fate in ("refused", "failed"):
            assert self.talk.floor == "local"

    @invariant()
    def nothing_is_forgotten(self) -> None:
        assert self.talk.session.state.claude_session_id == self.current
        assert self.talk.session.state.handed_over == self.is_followed_up

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.run_until_complete(self.talk.close())
            self.disk.store.close()
            self.loop.close()
            self.folder.cleanup()


TestDeltas = Deltas.TestCase
TestDeltas.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
