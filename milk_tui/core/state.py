"""What of a session is kept beside its turns: values that the store writes and `Session` replaces."""

from collections.abc import Iterable
from datetime import datetime

from milk_tui.core.bricks import PartName
from milk_tui.core.budget import NEED_LIMIT
from milk_tui.core.cut import one_line
from milk_tui.core.facts import Percept
from milk_tui.core.incoming import Incoming
from milk_tui.core.messages import AgentRole, Value
from milk_tui.core.need import NeedBy, PastNeed, last_request, remembered
from milk_tui.core.queued import Queued
from milk_tui.core.shaping import Shaping

__all__ = ["Handed", "Percept", "SessionState"]


class Handed(Value):
    """A part of the last hand-off that succeeded: what the next one is compared with."""

    name: PartName
    text: str


class Origin(Value):
    """Where a fork came from."""

    session: str
    title: str = ""
    """What that session was called then."""
    turn: int = 0
    """The last turn that it was given."""


class SessionState(Value):
    """Everything of a session but its turns and percepts."""

    id: str
    cwd: str
    nonce: str
    created_at: datetime
    title: str = ""
    floor: AgentRole = "local"
    need: str = ""
    need_by: NeedBy = ""
    need_turn: int | None = None
    """The turn in which the need was set; `None` when there is none."""
    needs: tuple[PastNeed, ...] = ()
    """What the need was and is, oldest first; only the latest ones."""
    brief: str = ""
    claude_session_id: str | None = None
    claude_need: str = ""
    """The need that Claude's session was last told or has said itself; empty when it knows of none."""
    forgotten_turn: int = 0
    """The last turn before Claude's present session; what Claude knew then, it does not know any more."""
    local_summary: str = ""
    claude_summary: str = ""
    handed_over: bool = False
    """Whether a hand-off of Claude's present stay has succeeded, so that a follow-up needs none."""
    is_masked: bool = False
    """Whether the hand-off of Claude's present stay goes out masked."""
    shaping: Shaping = Shaping()
    """What the user has made of the bricks."""
    handed: tuple[Handed, ...] = ()
    handed_turn: int = 0
    """The turn that carried it; 0 if none has."""
    undone_turn: int = 0
    """The highest number of a turn that was taken back; 0 if none was."""
    undone_cost_usd: float = 0.0
    """What the turns that were taken back have cost."""
    queue: tuple[Queued, ...] = ()
    """What was written while a turn ran and is not given to anybody yet."""
    incoming: Incoming | None = None
    """What the user decided about the last summary that came back from Claude."""
    origin: Origin | None = None
    """Set on a session that was forked from another one."""

    @property
    def stated_need(self) -> str:
        """The need as somebody said it; empty if it is only guessed."""
        return "" if self.need_by == "inferred" else self.need

    def with_need(self, text: str, by: NeedBy, turn: int) -> "SessionState":
        """The state with another need, said in the turn of that number; with none if the text is empty."""
        need = one_line(text, NEED_LIMIT)
        if not need:
            return self.model_copy(update={"need": "", "need_by": "", "need_turn": None})
        needs = remembered(self.needs, PastNeed(text=need, by=by, turn=turn))
        return self.model_copy(update={"need": need, "need_by": by, "need_turn": turn, "needs": needs})

    def with_guess(self, prompts: Iterable[tuple[int, str]]) -> "SessionState":
        """The state with a need guessed from prompts, newest first, unless somebody has said one."""
        if self.stated_need:
            return self
        guess = last_request(prompts)
        return self.with_need(guess.text, "inferred", guess.turn) if guess else self
