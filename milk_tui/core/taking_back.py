"""Taking back the last exchange: what of a session's state goes with the turn.

What the user has said apart from it stays. Money that was spent stays spent, and the turn's number is not given again.
"""

from milk_tui.core.messages import Turn
from milk_tui.core.state import SessionState


def taken_back(state: SessionState, turn: Turn, *, keeps_claude: bool) -> SessionState:
    """The state without a session's last turn.

    Args:
        state: As it is after the turn.
        turn: The turn.
        keeps_claude: Whether Claude's own session goes on, which remembers the turn. Else the next hand-off begins a
            new one, that is told what is left; and if the turn began Claude's stay, the stay is over.
    """
    changes: dict[str, object] = {
        "undone_turn": max(state.undone_turn, turn.number),
        "undone_cost_usd": state.undone_cost_usd + (turn.usage.cost_usd or 0.0),
    }
    if turn.agent == "local":
        changes["brief"] = ""
    elif not keeps_claude:
        changes |= {"claude_session_id": None, "claude_need": "", "handed_over": False}
        changes |= {"forgotten_turn": turn.number, "handed": (), "handed_turn": 0}
        if turn.receipt is not None:
            changes["floor"] = "local"
    return _with_earlier_need(state.model_copy(update=changes), turn.number)


def _with_earlier_need(state: SessionState, number: int) -> SessionState:
    """The state with the need that was there before the turn, unless the user has said another one since."""
    needs = tuple(past for past in state.needs if past.turn != number or past.by == "user")
    state = state.model_copy(update={"needs": needs})
    if state.need_turn != number or state.need_by == "user":
        return state
    before = needs[-1] if needs else None
    if before is None:
        return state.with_need("", "", number)
    changes = {"need": before.text, "need_by": before.by, "need_turn": before.turn}
    return state.model_copy(update=changes)
