"""One conversation with its state, and the only place where that state is written: `Session.apply`.

It reads no clock and no file: times come with the events, and the store reads the values it needs.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice, takewhile

from milk_tui.core import events as ev
from milk_tui.core.bricks import BrickName
from milk_tui.core.budget import BRIEF_LIMIT, PERCEPT_LIMIT
from milk_tui.core.claude_start import ClaudeStart
from milk_tui.core.cut import one_line
from milk_tui.core.handoff import Part
from milk_tui.core.messages import Receipt, Turn
from milk_tui.core.need import NeedBy
from milk_tui.core.open_turn import OpenTurn
from milk_tui.core.session_reading import TITLE_LIMIT
from milk_tui.core.session_shaping import UNDO_MOST, SessionShaping, words_of
from milk_tui.core.shaping_events import (
    BrickFrozen,
    BrickRestored,
    BrickShaped,
    PartSwitched,
    ShapingEvent,
    ShapingUndone,
)
from milk_tui.core.state import Handed, Percept, SessionState
from milk_tui.core.taking_back import taken_back

__all__ = ["Percept", "Session", "SessionState"]

_VERSIONED: tuple[BrickName, ...] = ("current_need", "local_summary", "claude_summary", "percepts")
_TOLD_ONCE: tuple[BrickName, ...] = ("local_summary", "percepts")
"""Bricks that carry what is new: once told, they are rebuilt of what is new then."""

_REQUESTS_LOOKED_AT = 20
"""Turns that are looked at for a need when a session has none."""


class Session(SessionShaping):
    """A session that is written through `apply`, and through nothing else."""

    _start: ClaudeStart | None = None
    """The session of Claude's that the turn in progress begins."""

    def apply(self, event: ev.Event) -> None:
        """Change the state by one event."""
        match event:
            case ev.TurnStarted():
                self._close(event.at)
                self._begin(event)
            case ev.TurnEnded():
                self._close(event.at, event.receipt, event.handed)
            case ev.NeedEdited():
                self.state = self.state.with_need(event.text, "user", self._number)
                self._note("you said it", event.at)
            case BrickShaped() | PartSwitched() | BrickFrozen() | BrickRestored() | ShapingUndone():
                self._shape(event)
            case ev.BriefSet():
                self._update(brief=one_line(event.text, BRIEF_LIMIT))
            case ev.FloorChanged():
                self._update(floor=event.floor, handed_over=False, is_masked=event.is_masked)
            case ev.IncomingDecided():
                self._decide(event)
            case ev.Renamed():
                self._update(title=one_line(event.title, TITLE_LIMIT))
            case ev.ClaudeSessionForgotten():
                self._forget()
            case ev.ExchangeUndone():
                self._take_back(event)
            case ev.QueueChanged():
                self._update(queue=event.queue)
            case _:
                self._apply_to_turn(event)

    def _apply_to_turn(self, event: ev.AgentEvent | ev.TurnInterrupted) -> None:
        """What an agent reports belongs to the turn in progress; without one it is too late and is dropped."""
        turn = self._open
        if turn is None:
            return
        turn.take(event)
        match event:
            case ev.AgentReady():
                if event.session_id and turn.agent == "claude":
                    self._meet(event.session_id)
            case ev.NeedChanged():
                if event.text.strip() and self.state.need_by != "user":
                    self.state = self.state.with_need(event.text, turn.agent, turn.number)
            case ev.PerceptRecorded():
                self._record(Percept(text=one_line(event.text, PERCEPT_LIMIT), turn=turn.number))
            case ev.EscalationRequested():
                if turn.agent == "local":
                    self._update(brief=one_line(event.reason, BRIEF_LIMIT))
            case _:
                pass

    def _begin(self, started: ev.TurnStarted) -> None:
        self._open = OpenTurn(self._last_number + 1, started)
        if started.agent == "claude" and not self.state.handed_over:
            replaces = started.is_fresh_start and self.state.claude_session_id is not None
            self._start = ClaudeStart(self._told_need(replaces), replaces)
        # A follow-up to a guess leaves it; without any need, the prompts before it may hold one.
        earlier = () if self.state.need else islice(reversed(self.turns), _REQUESTS_LOOKED_AT)
        prompts = [(self._open.number, started.prompt), *((turn.number, turn.prompt) for turn in earlier)]
        self.state = self.state.with_guess(prompts)

    def _meet(self, session_id: str) -> None:
        """Claude says which session answers."""
        if self._start is not None and self._start.replaces:
            self._start.session_id = session_id
        else:
            self._update(claude_session_id=session_id)

    def _told_need(self, replaces: bool) -> str:
        """The need that Claude knows once it is told what is handed over now."""
        if "current_need" not in self.state.shaping.off:
            return self.state.stated_need
        return "" if replaces or self.state.claude_session_id is None else self.state.claude_need

    def _close(self, at: datetime, receipt: Receipt | None = None, handed: Sequence[Part] = ()) -> None:
        if self._open is None:
            return
        turn, self._open = self._open.closed(at, receipt), None
        self.turns.append(turn)
        if turn.agent == "claude":
            self._settle(turn, handed)
        else:
            self.tally.add(turn)
        self._summarize()
        self._note(f"after turn {turn.number}", at)

    def _settle(self, turn: Turn, handed: Sequence[Part]) -> None:
        """Only a hand-off that succeeded counts; one that did not changes nothing about what Claude knows."""
        start, self._start = self._start, None
        if start is not None:
            if start.takes_over(turn):
                self.tally.forget(turn.number - 1)
            self.state = start.settled(self.state, turn)
        self.tally.add(turn)
        if turn.status == "finished":
            self._update(handed_over=True, brief="")
            if handed:
                self._remember(turn.number, handed)
        self._summaries.reshape(self.state.shaping)

    def _remember(self, number: int, handed: Sequence[Part]) -> None:
        """Claude was told these parts. Pinned lines in them are not told again, nor does what was told stay frozen."""
        keys = [line.key for part in handed for line in part.lines if line.is_pinned]
        told = [name for name in _TOLD_ONCE if any(part.name == name for part in handed)]
        self._update(
            handed=tuple(Handed(name=part.name, text=part.body) for part in handed if part.body),
            handed_turn=number,
            shaping=self.state.shaping.told(keys, number).thawed(*told),
        )
        self._undo = ()

    def _shape(self, event: ShapingEvent) -> None:
        """The user shapes the bricks. The need is one line: it is kept, restored or given back by saying it."""
        if isinstance(event, BrickRestored) and event.version.brick == "current_need":
            self.state = self.state.with_need(event.version.text, "user", self._number)
        elif isinstance(event, BrickFrozen) and event.brick == "current_need":
            by: NeedBy = "user" if event.is_frozen else ""
            self.state = self.state.with_need(self.state.need, by, self._number)
        else:
            before, after = self.state.shaping, self._after(event)
            if isinstance(event, ShapingUndone):
                self._undo = self._undo[:-1]
            elif after != before:
                self._undo = (*self._undo, before)[-UNDO_MOST:]
            self._update(shaping=after)
            self._summaries.reshape(after)
            self._update(local_summary=self.local_summary.text, claude_summary=self.claude_summary.text)
        self._note(words_of(event), event.at)

    def _take_back(self, event: ev.ExchangeUndone) -> None:
        """Go on as if the last turn had not been, as far as that can be. While one runs there is nothing to do."""
        if self._open is not None or not self.turns:
            return
        turn = self.turns.pop()
        self.percepts[:] = [percept for percept in self.percepts if percept.turn != turn.number]
        self.state = taken_back(self.state, turn, keeps_claude=event.keeps_claude)
        self._update(shaping=self.state.shaping.until(self.last_kept))
        if self.tally.worked_stay:  # else it is of turns that were never here
            self._update(claude_summary="")
        self._count()
        self._summarize()
        self._note(f"turn {turn.number} taken back", event.at)

    def _forget(self) -> None:
        """Claude's session is lost: a new one is told all that was done locally."""
        self._update(claude_session_id=None, handed_over=False, forgotten_turn=self._last_number)
        self.tally.forget(self._last_number)
        self._summarize()

    def _note(self, why: str, at: datetime | None) -> None:
        """Keep a version of each brick that has changed."""
        for name in _VERSIONED:
            self.versions.note(self.brick(name), self._last_number, why, at)

    def _decide(self, decided: ev.IncomingDecided) -> None:
        """Without anything that comes back there is nothing to decide."""
        if self.incoming is not None:
            changes = {"choice": decided.choice, "text": decided.text}
            self._update(incoming=self.incoming.model_copy(update=changes))

    def _record(self, percept: Percept) -> None:
        """Keep a fact, once in a turn: an agent that starts a step again says it again."""
        latest = takewhile(lambda known: known.turn == percept.turn, reversed(self.percepts))
        if percept.text and percept not in latest:
            self.percepts.append(percept)

    def _summarize(self) -> None:
        self._summaries.follow_local()
        self._update(local_summary=self.local_summary.text, claude_summary=self.claude_summary.text)

    def _update(self, **changes: object) -> None:
        self.state = self.state.model_copy(update=changes)
