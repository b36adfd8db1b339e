from dataclasses import replace

import pytest

from milk_tui.core import events as ev
from milk_tui.core.route import Known, route
from milk_tui.core.session import Session
from milk_tui.core.waiting import asks_user
from tests.core.building import BROKEN, NOW, Play, session

LONG = "Claude did a long piece of work. " * 10
KNOWN = Known(has_session=True, was_told=True, behind=3, need="", need_told="")


def began(play: Play, session_id: str) -> None:
    """A fresh start of Claude's, still running."""
    play.apply(ev.FloorChanged(floor="claude"))
    play.apply(ev.TurnStarted(agent="claude", prompt="solve", at=NOW, is_fresh_start=True))
    play.apply(ev.AgentReady(session_id=session_id), ev.StepStarted())


def resumed() -> Play:
    """Claude has worked once, and the local agent after it."""
    play = Play()
    play.local("before", "x", ev.PerceptRecorded(text="early fact"))
    play.claude("solve", LONG)
    play.apply(ev.FloorChanged(floor="local"))
    play.local("after", "y")
    return play


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (replace(KNOWN, has_session=False), "starts a Claude session"),
        (KNOWN, "resumes Claude's session, 3 local turns behind"),
        (replace(KNOWN, behind=1), "resumes Claude's session, 1 local turn behind"),
        (replace(KNOWN, behind=0), "resumes Claude's session"),
        (replace(KNOWN, behind=7), "resumes Claude's session, 7 local turns behind"),
        (replace(KNOWN, behind=8), "starts fresh: 8 local turns behind"),
        (replace(KNOWN, need="write docs", need_told="fix login"), "starts fresh: the need changed"),
        (
            replace(KNOWN, need="fix the login", need_told="fix login"),
            "resumes Claude's session, 3 local turns behind",
        ),
        (replace(KNOWN, need="write docs"), "resumes Claude's session, 3 local turns behind"),
        (replace(KNOWN, was_told=False, behind=9), "resumes Claude's session, told nothing yet"),
    ],
)
def test_the_forecast_says_what_happens_and_why(known: Known, words: str) -> None:
    made = route(known)
    assert made.words == words
    assert made.is_fresh == words.startswith("starts")
    assert made.has_choice == known.has_session


def test_zero_never_starts_fresh_because_of_turns() -> None:
    assert not route(replace(KNOWN, behind=500), fresh_after=0).is_fresh


def test_the_users_choice_wins_and_there_is_none_without_a_session() -> None:
    assert route(KNOWN, fresh=True).is_fresh
    assert not route(replace(KNOWN, behind=500), fresh=False).is_fresh
    assert route(replace(KNOWN, has_session=False), fresh=False).is_fresh


def test_a_session_counts_its_turns_and_needs() -> None:
    play = Play(session(fresh_after=2))
    play.local("Fix the login form.", ev.NeedChanged(text="fix the login"))
    play.claude("solve", LONG)
    play.apply(ev.FloorChanged(floor="local"))
    play.local("one", "x")
    assert play.session.gauge().route == "resumes Claude's session, 1 local turn behind"
    play.local("two", ev.NeedChanged(text="write documentation"))
    assert play.session.route().words == "starts fresh: the need changed"
    play.apply(ev.NeedEdited(text="fix the login"))
    assert play.session.route().words == "starts fresh: 2 local turns behind"
    again = Session(play.session.state, play.session.turns, fresh_after=2)
    assert again.route() == play.session.route()


def test_a_need_that_claude_said_itself_or_that_is_guessed_is_no_reason() -> None:
    play = Play()
    play.local("one", ev.NeedChanged(text="fix the login"))
    play.claude("solve", LONG, ev.NeedChanged(text="write documentation"))
    assert not play.session.route().is_fresh
    guess = Play()
    guess.local("Fix the login form.", "x")
    guess.claude("solve", LONG)
    guess.local("Write documentation for everything.", "x")
    assert guess.session.need.by == "inferred" and not guess.session.route().is_fresh


def test_a_fresh_start_is_told_everything_and_what_claude_did() -> None:
    session = resumed().session
    fresh, resume = session.handoff("first"), session.handoff("resume")
    for text in ("before", "after", "early fact", "long piece of work"):
        assert text in fresh.changing
    assert "claude_summary" not in [part.name for part in resume.parts] and "before" not in resume.changing
    assert fresh.chars <= fresh.gauge(session.budget, 0).limit


def test_a_first_start_has_nothing_of_claude_to_tell() -> None:
    play = Play()
    play.local("before", "x")
    assert "claude_summary" not in [part.name for part in play.session.handoff().parts]


@pytest.mark.parametrize("ending", [ev.AgentFailed(failure=BROKEN), ev.TurnInterrupted(at=NOW)])
def test_a_fresh_start_that_fails_loses_nothing(ending: ev.Event) -> None:
    play = resumed()
    before = play.session.handoff()
    began(play, "c-2")
    assert play.session.state.claude_session_id == "c-1"
    play.end(ending)
    assert play.session.state.claude_session_id == "c-1"
    assert play.session.handoff().changing == before.changing


def test_a_fresh_start_that_finishes_takes_the_place_of_the_old_session() -> None:
    play = resumed()
    began(play, "c-2")
    play.apply(ev.TextDelta(text=LONG))
    play.end()
    assert play.session.state.claude_session_id == "c-2" and play.session.state.handed_over
    play.apply(ev.FloorChanged(floor="local"))
    play.local("newest", "z")
    changing = Session(play.session.state, play.session.turns, play.session.percepts).handoff().changing
    assert "newest" in changing and "before" not in changing and "early fact" not in changing


def test_a_fresh_start_that_was_stopped_at_work_goes_on_and_is_told_everything_again() -> None:
    play = resumed()
    began(play, "c-2")
    play.apply(ev.TextDelta(text="half of it"))
    play.end(ev.TurnInterrupted(at=NOW))
    assert play.session.state.claude_session_id == "c-2"
    handoff = play.session.handoff()
    assert handoff.situation == "resume"
    assert "before" in handoff.changing and "early fact" in handoff.changing
    assert Session(play.session.state, play.session.turns, play.session.percepts).handoff() == handoff


@pytest.mark.parametrize(
    "answer",
    [
        "Done. Shall I run the whole suite?",
        "Which one:\n- `a`\n- or `b`?",
        "Should I commit this? Let me know.",
        "**Should I commit?**",
        "要我提交吗？",
        "Should anything else change in a.py?",
    ],
)
def test_a_question_waits_for_the_user(answer: str) -> None:
    assert asks_user(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Done.",
        "",
        "Done. Anything else?",
        "Is there anything else you need?",
        "Any questions?",
        "What else can I do for you?",
        "Does that help?",
        "Sounds good?",
        "Let me know if you want more.",
        "Is it fast? It is.",
        "Look:\n```\nwhat?\n```",
    ],
)
def test_a_courtesy_does_not_wait(answer: str) -> None:
    assert not asks_user(answer)


def test_a_session_waits_only_while_claude_has_the_floor_and_rests() -> None:
    play = Play()
    play.apply(ev.FloorChanged(floor="claude"))
    play.claude("solve", "Shall I go on with the tests?")
    assert play.session.is_waiting
    play.begin("yes", "claude")
    assert not play.session.is_waiting
    play.end()
    assert not play.session.is_waiting
    play.claude("more", "Shall I go on with the tests?", ending=ev.TurnInterrupted(at=NOW))
    assert not play.session.is_waiting
    play.claude("more", "Shall I go on with the tests?")
    play.apply(ev.FloorChanged(floor="local"))
    assert not play.session.is_waiting
