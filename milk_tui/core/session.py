"""One conversation with its state, and the only place where that state is written: `Session.apply`.

A session holds its turns, the bricks made of them, who has the floor, and what Claude Code already knows. It reads no
clock and no file: times come with the events, and the store reads the values it needs.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Literal, assert_never

from milk_tui.core import events as ev
from milk_tui.core.bricks import Brick, Bricks, Gauge
from milk_tui.core.budget import BRIEF_LIMIT, CONTEXT_BUDGET, NEED_BUDGET, NEED_LIMIT, PERCEPT_LIMIT
from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.handoff import FRAME, Handoff, assembled
from milk_tui.core.messages import Receipt, Situation, Turn
from milk_tui.core.open_turn import OpenTurn
from milk_tui.core.state import Percept, SessionState
from milk_tui.core.summary import summary
from milk_tui.core.tally import Tally

__all__ = ["Percept", "Session", "SessionState"]

STALE_AFTER = 4
"""A need older than so many turns may be done already; it is marked, not dropped."""


class Session:
    """Turns, need, bricks and floor. Read anything; write through `apply`."""

    def __init__(
        self,
        state: SessionState,
        turns: Sequence[Turn] = (),
        percepts: Sequence[Percept] = (),
        directory_percepts: Sequence[str] = (),
        budget: int = CONTEXT_BUDGET,
    ) -> None:
        """Begin or reopen a session.

        Args:
            state: Everything but turns and percepts.
            turns: The finished turns, oldest first.
            percepts: The facts of this session, oldest first.
            directory_percepts: Facts of the directory's other sessions, newest first.
            budget: Characters for each summary (`context_budget_chars`), 500 or more.
        """
        self.state = state
        self.turns: list[Turn] = list(turns)
        self.percepts: list[Percept] = list(percepts)
        self.directory_percepts: tuple[str, ...] = tuple(directory_percepts)
        self.budget = budget
        self._room = max(budget - FRAME, 0)
        self.tally = Tally(state.forgotten_turn)
        self._open: OpenTurn | None = None
        for turn in self.turns:
            self.tally.add(turn)
        self.local_summary = self._local_summary()
        self.claude_summary = self._restored_claude_summary()

    @property
    def running(self) -> Turn | None:
        """The turn in progress with its unfinished message, or `None`."""
        return self._open.snapshot() if self._open else None

    @property
    def is_busy(self) -> bool:
        """Whether a turn is in progress."""
        return self._open is not None

    @property
    def history_chars(self) -> int:
        """Characters that the raw history would take; kept up to date with every fragment."""
        return self.tally.chars + (self._open.chars if self._open else 0)

    @property
    def situation(self) -> Situation:
        """Which row of the hand-off table the next escalation by the user is."""
        return "resume" if self.state.claude_session_id else "first"

    @property
    def title(self) -> str:
        """What the session is called: its need, else the first words of its first prompt."""
        if self.state.title or self.state.need:
            return self.state.title or self.state.need
        first = self.turns[0] if self.turns else self.running
        return one_line(first.prompt, 80) if first else "New session"

    @property
    def need(self) -> Brick:
        """The current need as a brick."""
        set_at = self.state.need_turn
        return Brick(
            name="current_need",
            text=self.state.need,
            budget=NEED_BUDGET,
            by=self.state.need_by,
            is_stale=set_at is not None and self._last_number - set_at > STALE_AFTER,
        )

    def stay_summary(self) -> Brick:
        """What Claude did in its last stay, however little: what the local agent hears when it gets the floor back."""
        stay = self.tally.stay
        return summary("claude_summary", reversed(stay), len(stay), self._room, self.budget)

    def new_percepts(self, situation: Situation) -> Iterator[str]:
        """Facts for a hand-off, newest first; when resuming, only those that Claude was not told yet."""
        known = self.tally.known if situation == "resume" else 0
        for percept in reversed(self.percepts):
            if known and percept.turn <= known:
                return
            yield percept.text
        if not known:
            yield from self.directory_percepts

    def handoff(
        self, situation: Situation | None = None, reason: str = "", is_masked: bool | None = None
    ) -> Handoff:
        """What would be handed over now; masked or not as for the present stay, if nothing else is said."""
        situation = situation or self.situation
        return assembled(
            situation,
            nonce=self.state.nonce,
            brief=one_line(reason, BRIEF_LIMIT) or self.state.brief,
            need=self.need,
            local_summary=self.local_summary,
            percepts=self.new_percepts(situation),
            history_chars=self.history_chars,
            is_continued=situation == "resume" and self.tally.known > 0,
            is_masked=self.state.is_masked if is_masked is None else is_masked,
        )

    def bricks(self, prompt_chars: int = 0) -> Bricks:
        """All that the brick column shows, with the gauge for a prompt of so many characters."""
        is_moving = self._open is not None and self._open.agent == "local"
        return Bricks(
            need=self.need,
            local_summary=self.local_summary.model_copy(update={"is_stale": is_moving}),
            claude_summary=self.claude_summary,
            gauge=self.gauge(prompt_chars),
        )

    def gauge(self, prompt_chars: int = 0) -> Gauge:
        """How full the next hand-off is, beside an unsent prompt of so many characters."""
        return self.handoff().gauge(self.budget, prompt_chars)

    def apply(self, event: ev.Event) -> None:
        """Change the state by one event."""
        match event:
            case ev.TurnStarted():
                self._close(event.at)
                self._open = OpenTurn(self._last_number + 1, event)
            case ev.TurnEnded():
                self._close(event.at, event.receipt)
            case ev.NeedEdited():
                self._set_need(event.text, "user" if event.text.strip() else "")
            case ev.BriefSet():
                self._update(brief=one_line(event.text, BRIEF_LIMIT))
            case ev.FloorChanged():
                self._update(floor=event.floor, handed_over=False, is_masked=event.is_masked)
            case ev.ClaudeSessionForgotten():
                self._forget()
            case _:
                self._apply_to_turn(event)

    def _apply_to_turn(self, event: ev.AgentEvent | ev.TurnInterrupted) -> None:
        """What an agent reports belongs to the turn in progress; without one it is too late and is dropped."""
        turn = self._open
        if turn is None:
            return
        match event:
            case ev.TextDelta():
                turn.add_text(event.text)
            case ev.ThinkingDelta():
                turn.add_thinking(event.text)
            case ev.StepStarted():
                turn.begin_step()
            case ev.StepVoided():
                turn.void()
            case ev.ToolCallStarted():
                turn.add_call(event.call)
            case ev.ToolCallFinished():
                turn.add_result(event.result)
            case ev.AgentFinished():
                turn.end("finished")
            case ev.AgentFailed():
                turn.end("failed", event.failure)
            case ev.TurnInterrupted():
                turn.end("interrupted")
            case _:
                self._note(turn, event)

    def _note(
        self,
        turn: OpenTurn,
        event: ev.AgentReady
        | ev.NeedChanged
        | ev.PerceptRecorded
        | ev.EscalationRequested
        | ev.UsageReported
        | ev.CostEstimated
        | ev.RetryScheduled
        | ev.Silent
        | ev.Noticed
        | ev.ToolOutput,
    ) -> None:
        match event:
            case ev.AgentReady():
                turn.model = event.model or turn.model
                if event.session_id and turn.agent == "claude":
                    self._update(claude_session_id=event.session_id)
            case ev.NeedChanged():
                if event.text.strip() and self.state.need_by != "user":
                    self._set_need(event.text, turn.agent)
            case ev.PerceptRecorded():
                self._record(Percept(text=one_line(event.text, PERCEPT_LIMIT), turn=turn.number))
            case ev.UsageReported():
                turn.usage = turn.usage.plus(event.usage)
            case ev.EscalationRequested():
                if turn.agent == "local":
                    self._update(brief=one_line(event.reason, BRIEF_LIMIT))
            case ev.CostEstimated() | ev.RetryScheduled() | ev.Silent() | ev.Noticed() | ev.ToolOutput():
                pass
            case _:
                assert_never(event)

    def _close(self, at: datetime, receipt: Receipt | None = None) -> None:
        if self._open is None:
            return
        turn, self._open = self._open.closed(at, receipt), None
        self.turns.append(turn)
        self.tally.add(turn)
        if turn.agent == "claude":
            if turn.status == "finished":
                self._update(handed_over=True, brief="")
            if self.tally.stay_has_work:
                self.claude_summary = self.stay_summary()
        self.local_summary = self._local_summary()
        self._update(local_summary=self.local_summary.text, claude_summary=self.claude_summary.text)

    def _forget(self) -> None:
        """Claude's session is lost: a new one is told all that was done locally."""
        self._update(claude_session_id=None, handed_over=False, forgotten_turn=self._last_number)
        self.tally.forget(self._last_number)
        self.local_summary = self._local_summary()
        self._update(local_summary=self.local_summary.text)

    def _record(self, percept: Percept) -> None:
        """Keep a fact, once in a turn: an agent that starts a step again says it again."""
        latest = takewhile(lambda known: known.turn == percept.turn, reversed(self.percepts))
        if percept.text and percept not in latest:
            self.percepts.append(percept)

    def _local_summary(self) -> Brick:
        turns, total = self.tally.local_turns_since(), self.tally.local_since
        return summary("local_summary", turns, total, self._room, self.budget)

    def _restored_claude_summary(self) -> Brick:
        """After reopening: made anew, or as it was stored when the last stay was empty."""
        if self.tally.stay_has_work:
            return self.stay_summary()
        text = cut_middle(self.state.claude_summary, self._room)
        return Brick(name="claude_summary", text=text, budget=self.budget)

    @property
    def _last_number(self) -> int:
        return self.turns[-1].number if self.turns else 0

    def _set_need(self, text: str, by: Literal["", "user", "local", "claude"]) -> None:
        need = one_line(text, NEED_LIMIT)
        number = self._open.number if self._open else self._last_number
        self._update(need=need, need_by=by if need else "", need_turn=number if need else None)

    def _update(self, **changes: object) -> None:
        self.state = self.state.model_copy(update=changes)
