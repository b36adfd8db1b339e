"""Taking the last exchange back: what is left is what was there before it, and nothing of it is handed over."""

import pytest

from milk_tui.core import events as ev
from milk_tui.core.bricks import Bricks
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Receipt, Usage
from milk_tui.core.session import Session
from tests.core.building import NOW, Play, any_turns, session

UNDONE = ev.ExchangeUndone(at=NOW)
RETRIED = ev.ExchangeUndone(at=NOW, keeps_claude=True)
RECEIPT = Receipt(situation="first", chars=10, history_chars=0)
LONG = "Claude did a long piece of work. " * 10


def seen(of: Session) -> tuple[Bricks, Handoff, int]:
    """All that the user sees of a session and that would be told of it."""
    bricks = of.bricks()
    need = bricks.need.model_copy(update={"is_stale": False})
    return bricks.model_copy(update={"need": need}), of.handoff(), of.history_chars


def escalated(play: Play, prompt: str, *events: ev.Event | str) -> None:
    """A turn of Claude's that began a stay."""
    play.apply(ev.FloorChanged(floor="claude"))
    play.begin(prompt, "claude")
    play.apply(*(ev.TextDelta(text=each) if isinstance(each, str) else each for each in events))
    play.apply(ev.AgentFinished(), ev.TurnEnded(at=NOW, receipt=RECEIPT))


@pytest.mark.parametrize("seed", range(8))
def test_a_local_turn_leaves_nothing_behind(seed: int) -> None:
    play = Play(session(*any_turns(seed)))
    play.apply(ev.NeedEdited(text="Keep the bees"))
    before = seen(play.session)
    play.local(
        "Now mend the roof",
        ev.PerceptRecorded(text="The roof is red"),
        ev.EscalationRequested(reason="Too high"),
        "Mended.",
    )
    assert seen(play.session) != before
    play.apply(UNDONE)
    assert seen(play.session) == before


def test_the_need_that_the_turn_brought_goes_and_the_one_before_is_back() -> None:
    play = Play()
    play.local("hello", ev.NeedChanged(text="Mend the till"))
    play.local("now", ev.NeedChanged(text="Sell the shop"))
    play.apply(UNDONE)
    state = play.session.state
    assert (state.need, state.need_by, state.need_turn) == ("Mend the till", "local", 1)
    play.apply(UNDONE)
    assert (play.session.state.need, play.session.state.needs) == ("", ())


def test_what_the_user_has_said_about_the_need_stays() -> None:
    play = Play()
    play.local("hello", ev.NeedChanged(text="Mend the till"))
    play.apply(ev.NeedEdited(text="Sell the shop"), UNDONE)
    assert (play.session.state.need, play.session.state.need_by) == ("Sell the shop", "user")


def test_a_hand_off_that_is_taken_back_was_never_made() -> None:
    play = Play()
    play.local("why is it slow", "I tried the cache.")
    before = seen(play.session)
    escalated(play, "solve it", LONG)
    assert play.session.local_summary.text == ""
    play.apply(UNDONE)
    state = play.session.state
    assert seen(play.session) == before
    assert (state.floor, state.handed_over, state.claude_session_id) == ("local", False, None)
    assert play.session.situation == "first" and "long piece" not in state.claude_summary


def test_taking_back_a_later_turn_of_claudes_keeps_its_floor_and_starts_it_fresh_with_what_is_left() -> None:
    play = Play()
    play.local("why is it slow", "I tried the cache.")
    escalated(play, "solve it", LONG)
    play.claude("and now paint it", "Painted. " * 40)
    play.apply(UNDONE)
    handoff = play.session.handoff()
    assert play.session.state.floor == "claude" and handoff.situation == "first"
    assert "I tried the cache." in handoff.changing and "long piece of work" in handoff.changing
    assert "aint" not in handoff.changing


def test_asking_claude_again_keeps_its_session() -> None:
    play = Play()
    escalated(play, "solve it", LONG)
    play.apply(RETRIED)
    state = play.session.state
    assert (state.floor, state.handed_over, state.claude_session_id) == ("claude", True, "c-1")


def test_a_session_reopened_after_it_is_the_same() -> None:
    play = Play()
    play.local("a", "b")
    escalated(play, "solve it", LONG)
    play.claude("go on", LONG, ev.UsageReported(usage=Usage(cost_usd=0.25)))
    play.apply(UNDONE)
    now = play.session
    again = Session(now.state, now.turns, now.percepts)
    assert seen(again) == seen(now)
    assert again.tally.usage["claude"].cost_usd == 0.25


def test_a_number_is_never_given_twice() -> None:
    play = Play()
    play.local("a", "b")
    play.apply(UNDONE)
    assert play.local("c", "d").number == 2


def test_while_a_turn_runs_and_before_the_first_nothing_is_taken_back() -> None:
    play = Play()
    play.apply(UNDONE)
    play.begin("a")
    play.apply(UNDONE)
    assert play.session.is_busy and play.end().number == 1
