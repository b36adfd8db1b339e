"""A hand-off under way: what it will change about Claude's session once it has succeeded, and not before."""

from dataclasses import dataclass

from milk_tui.core.messages import Turn
from milk_tui.core.state import SessionState


@dataclass
class ClaudeStart:
    """What a turn with a hand-off tells Claude, and the session that answers it."""

    need: str
    """The need that is told."""
    replaces: bool
    """A session begins beside the one there is, which is kept until the new one has done something."""
    session_id: str | None = None
    """The session that has begun."""

    def takes_over(self, turn: Turn) -> bool:
        """Whether the new session stands in for the old one after this turn: it finished, or was stopped at work."""
        was_stopped = turn.status == "interrupted" or (
            turn.failure is not None and turn.failure.kind == "spent"
        )
        is_at_work = was_stopped and bool(self.session_id and (turn.answer or turn.calls))
        return self.replaces and (turn.status == "finished" or is_at_work)

    def settled(self, state: SessionState, turn: Turn) -> SessionState:
        """The state after the turn, whatever became of it."""
        changes: dict[str, object] = {}
        if self.takes_over(turn):
            changes |= {"claude_session_id": self.session_id, "forgotten_turn": turn.number - 1}
        if turn.status == "finished" or changes:
            changes["claude_need"] = self.need
        return state.model_copy(update=changes)
