"""What can be read from a session: its turns, the bricks made of them, who has the floor, and what Claude Code knows.

Nothing here changes anything; `core.session` does.
"""

from collections.abc import Iterable, Iterator, Sequence

from milk_tui.core.bricks import Brick, BrickLine, Bricks, Gauge
from milk_tui.core.budget import BRIEF_LIMIT, CONTEXT_BUDGET, NEED_BUDGET
from milk_tui.core.cut import one_line
from milk_tui.core.facts import FACTS_ROOM, facts
from milk_tui.core.handoff import Handoff, assembled
from milk_tui.core.incoming import Incoming
from milk_tui.core.messages import Situation, Turn, Usage
from milk_tui.core.need import STALE_AFTER
from milk_tui.core.open_turn import OpenTurn
from milk_tui.core.place import key_of
from milk_tui.core.route import FRESH_AFTER, Known, Route, route
from milk_tui.core.shaping import NEED_KEY, Shapes
from milk_tui.core.state import Percept, SessionState
from milk_tui.core.summaries import Summaries
from milk_tui.core.tally import Tally
from milk_tui.core.versions import BrickVersion, Versions
from milk_tui.core.waiting import asks_user

TITLE_LIMIT = 80
"""Characters of what a session is called."""


class SessionReading:
    """Turns, need, bricks and floor as they are now."""

    def __init__(
        self,
        state: SessionState,
        turns: Sequence[Turn] = (),
        percepts: Sequence[Percept] = (),
        directory_percepts: Sequence[str] = (),
        budget: int = CONTEXT_BUDGET,
        fresh_after: int = FRESH_AFTER,
        versions: Iterable[BrickVersion] = (),
    ) -> None:
        """Begin or reopen a session.

        Args:
            state: Everything but turns and percepts.
            turns: The finished turns, oldest first.
            percepts: The facts of this session, oldest first.
            directory_percepts: Facts of the directory's other sessions, newest first.
            budget: Characters for each summary (`context_budget_chars`), 500 or more.
            fresh_after: Local turns behind at which Claude starts fresh; 0 for never.
            versions: What the bricks were before, oldest first.
        """
        self.turns: list[Turn] = list(turns)
        self.state = state.model_copy(update={"shaping": state.shaping.until(self.last_kept)})
        self.percepts: list[Percept] = list(percepts)
        self.directory_percepts: tuple[str, ...] = tuple(directory_percepts)
        self.budget = budget
        self.fresh_after = fresh_after
        self._open: OpenTurn | None = None
        self.versions = Versions(versions)
        """What each brick was before."""
        self._count()

    def _count(self) -> None:
        """Count all turns, and make the summaries of them."""
        self.tally = Tally(self.state.forgotten_turn)
        if self.state.undone_cost_usd:
            self.tally.usage["claude"] = Usage(cost_usd=self.state.undone_cost_usd)
        for turn in self.turns:
            self.tally.add(turn)
        self._summaries = Summaries(self.tally, self.budget, self.state.claude_summary, self.state.shaping)

    @property
    def local_summary(self) -> Brick:
        """What was done locally since Claude last finished a turn."""
        return self._summaries.local

    def summary_for(self, situation: Situation) -> Brick:
        """The local summary that a hand-off carries."""
        return self._summaries.local_for(situation)

    @property
    def claude_summary(self) -> Brick:
        """What Claude did in its last stay that was not empty."""
        return self._summaries.claude

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

    def route(self, fresh: bool | None = None) -> Route:
        """How the next hand-off reaches Claude; `fresh` is the user's own choice, if there is one."""
        state = self.state
        known = Known(
            has_session=state.claude_session_id is not None,
            was_told=self.tally.known > 0,
            behind=self.tally.local_since,
            # What Claude itself said is nothing new to it.
            need="" if state.need_by == "claude" else state.stated_need,
            need_told=state.claude_need,
        )
        return route(known, self.fresh_after, fresh)

    @property
    def situation(self) -> Situation:
        """Which row of the hand-off table the next escalation by the user is."""
        return self.route().situation()

    @property
    def is_waiting(self) -> bool:
        """Whether Claude has the floor and its last turn ended with a question for the user."""
        last = self.turns[-1] if self.turns and not self.is_busy and self.state.floor == "claude" else None
        return (
            last is not None
            and last.agent == "claude"
            and last.status == "finished"
            and asks_user(last.answer)
        )

    @property
    def title(self) -> str:
        """What the session is called: its need, if somebody said it, else the first words of its first prompt."""
        if self.state.title or self.state.stated_need:
            return self.state.title or self.state.stated_need
        first = self.turns[0] if self.turns else self.running
        return one_line(first.prompt, TITLE_LIMIT) if first else "New session"

    @property
    def need(self) -> Brick:
        """The current need as a brick."""
        set_at = self.state.need_turn
        return Brick(
            name="current_need",
            text=self.state.need,
            budget=NEED_BUDGET,
            lines=self._need_lines(),
            by=self.state.need_by,
            is_stale=set_at is not None and self._last_number - set_at > STALE_AFTER,
            earlier=tuple(past for past in reversed(self.state.needs) if past.text != self.state.need),
        )

    @property
    def stay(self) -> Sequence[Turn]:
        """Claude's turns since the last local one, without those that failed before anything was done."""
        return self.tally.stay if self.turns and self.turns[-1].agent == "claude" else ()

    @property
    def incoming(self) -> Incoming | None:
        """What the local agent is told with its next prompt, as far as it is decided; `None` if there is nothing."""
        stay = self.stay
        if self.state.floor != "local" or self.is_busy or not any(turn.answer or turn.calls for turn in stay):
            return None
        decided = self.state.incoming
        return decided if decided and decided.turn == stay[-1].number else Incoming(turn=stay[-1].number)

    def stay_summary(self, room: int | None = None) -> Brick:
        """What Claude did in its last stay, however little: in the budget, or in fewer characters of text."""
        return self._summaries.stay(room)

    def new_percepts(self, situation: Situation) -> Iterator[Percept]:
        """Facts for a hand-off, newest first; when resuming, only those that Claude was not told yet."""
        known = self.tally.known_facts if situation == "resume" else 0
        for percept in reversed(self.percepts):
            if known and percept.turn <= known:
                return
            yield percept
        if not known:
            yield from (Percept(text=text) for text in self.directory_percepts)

    def facts(self, situation: Situation) -> Brick:
        """The facts that a hand-off carries."""
        shapes = Shapes(self.state.shaping, "percepts")
        kept = self.state.shaping.frozen_brick("percepts")
        if kept is not None:
            return shapes.applied(kept, FACTS_ROOM)
        since = 1 if situation == "resume" and self.tally.known_facts else 0
        pinned = shapes.reserve(FACTS_ROOM, since, self.tally.forgotten)
        return facts(self.new_percepts(situation), shapes, pinned)

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
            local_summary=self.summary_for(situation),
            claude_summary=None if situation == "resume" else self.claude_summary,
            facts=self.facts(situation),
            history_chars=self.history_chars,
            is_continued=situation == "resume" and self.tally.known > 0,
            is_masked=self.state.is_masked if is_masked is None else is_masked,
            off=self.state.shaping.off,
        )

    def bricks(self, prompt_chars: int = 0) -> Bricks:
        """All that the brick column shows, with the gauge for a prompt of so many characters."""
        is_moving = self._open is not None and self._open.agent == "local"
        situation = self.situation
        local_summary = self.summary_for(situation)
        return Bricks(
            need=self._seen(self.need),
            local_summary=self._seen(local_summary.model_copy(update={"is_stale": is_moving})),
            claude_summary=self._seen(self.claude_summary),
            facts=self._seen(self.facts(situation)),
            gauge=self.gauge(prompt_chars),
        )

    def _seen(self, brick: Brick) -> Brick:
        """The brick as it is shown, where it may be switched off."""
        return brick.model_copy(update={"is_off": True}) if brick.name in self.state.shaping.off else brick

    def _need_lines(self) -> tuple[BrickLine, ...]:
        """The need, from the prompt that brought it up; from nowhere if the user has said it apart."""
        state = self.state
        is_from_prompt = state.need_turn and state.need_by not in ("", "user")
        sources = (key_of((state.need_turn or 0, 0, 0)),) if is_from_prompt else ()
        return (BrickLine(text=state.need, key=NEED_KEY, sources=sources),) if state.need else ()

    def gauge(self, prompt_chars: int = 0) -> Gauge:
        """How full the next hand-off is, beside an unsent prompt of so many characters."""
        route = self.route()
        return self.handoff(route.situation()).gauge(self.budget, prompt_chars, route.words)

    @property
    def last_kept(self) -> int:
        """The number of the last turn that is there; 0 if there is none."""
        return self.turns[-1].number if self.turns else 0

    @property
    def _last_number(self) -> int:
        return max(self.last_kept, self.state.undone_turn)

    @property
    def _number(self) -> int:
        """The turn that is now."""
        return self._open.number if self._open else self._last_number
