"""A fork: a new session that begins as another one was after some turn, and says so.

Claude's own session is left out: two sessions that resume it would each lose a part of the other. The first hand-off
of a fork is a first one.
"""

from datetime import datetime
from typing import Any

from milk_tui.core.session import Session
from milk_tui.core.session_reading import SessionReading
from milk_tui.core.state import Origin, SessionState


def forked(session: SessionReading, up_to: int, *, id: str, nonce: str, at: datetime) -> Session:
    """The session as it was after the turn of that number, under a new id. A turn that runs is left out."""
    turns = [turn for turn in session.turns if turn.number <= up_to]
    percepts = [percept for percept in session.percepts if percept.turn <= up_to]
    last = turns[-1].number if turns else 0
    state, shaping = session.state, session.state.shaping
    if turns != session.turns:
        # What was kept as it is now is not as it was then.
        shaping = shaping.model_copy(update={"kept": ()})
    # What is not named here belongs to the session that was forked, and begins anew.
    begun = SessionState(
        id=id,
        cwd=state.cwd,
        nonce=nonce,
        created_at=at,
        title=state.title,
        shaping=shaping,
        forgotten_turn=last,
        origin=Origin(session=state.id, title=session.title, turn=last),
        **_need(state, last),
    )
    return Session(begun, turns, percepts, session.directory_percepts, session.budget, session.fresh_after)


def _need(state: SessionState, last: int) -> dict[str, Any]:
    """The need as it was after that turn, as far as it is remembered."""
    needs = tuple(need for need in state.needs if need.turn <= last)
    if state.need_turn is None or state.need_turn <= last:
        return {"needs": needs, "need": state.need, "need_by": state.need_by, "need_turn": state.need_turn}
    if not needs:
        return {}
    then = needs[-1]
    return {"needs": needs, "need": then.text, "need_by": then.by, "need_turn": then.turn}
