"""A masked hand-off: nothing that was found leaves, and every budget holds."""

from milk_tui.core import events as ev
from milk_tui.core.handoff import Handoff
from milk_tui.core.secrets import found
from tests.conversation.talking import NOW, new_session

MAIL = "a@b.de "


def full_of_secrets() -> Handoff:
    session = new_session(need=MAIL * 57, need_by="user")
    session.apply(ev.TurnStarted(agent="local", prompt=MAIL * 3_000, at=NOW))
    session.apply(ev.TextDelta(text=MAIL * 3_000))
    for number in range(200):
        session.apply(ev.PerceptRecorded(text=f"{number} {MAIL * 10}"))
    session.apply(ev.AgentFinished())
    session.apply(ev.TurnEnded(at=NOW))
    plain = session.handoff("agent", MAIL * 80)
    assert all(found(part.text) for part in plain.parts if part.name not in ("identity", "instructions"))
    return session.handoff("agent", MAIL * 80, True)


def test_nothing_that_was_found_is_left_and_masks_that_are_longer_stay_in_the_budget() -> None:
    handoff = full_of_secrets()
    assert handoff.is_masked and len(handoff.parts) == 6
    for part in handoff.parts:
        assert found(part.text) == [] and part.chars <= part.budget, part.name
    assert handoff.changing.count("[masked: e-mail address]") > 100
    assert "".join(p.text for p in handoff.parts if p.text in handoff.changing) == handoff.changing


def test_masking_holds_for_one_stay_of_claudes_and_is_stored_with_it() -> None:
    session = new_session(need="ask ann@firm.com", need_by="user")
    session.apply(ev.FloorChanged(floor="claude", is_masked=True))
    assert session.state.is_masked and "ann@" not in session.handoff().changing
    assert "ann@" in session.handoff(is_masked=False).changing
    session.apply(ev.FloorChanged(floor="local"))
    assert not session.state.is_masked and "ann@" in session.handoff().changing
