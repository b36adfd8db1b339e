"""A fork is the session as it was then: nothing that came later, and nothing of Claude's."""

from datetime import timedelta

import pytest

from milk_tui.core import events as ev
from milk_tui.core.forking import forked
from milk_tui.core.session import Session
from tests.core.building import NOW, Play, session, turn


def four_turns() -> Session:
    """Local, Claude, local, local; another need in each local turn, and a fact."""
    play = Play()
    play.local("one", ev.NeedChanged(text="first need"), ev.PerceptRecorded(text="fact 1"))
    play.claude("two", "Claude's work. " * 30)
    play.apply(ev.FloorChanged(floor="local"))
    play.local("three", ev.NeedChanged(text="second need"), ev.PerceptRecorded(text="fact 3"))
    play.local("four", "the end")
    play.session.apply(ev.Renamed(title="My title"))
    return play.session


def fork(made: Session, up_to: int) -> Session:
    return forked(made, up_to, id="new", nonce="other", at=NOW + timedelta(days=1))


@pytest.mark.parametrize(
    ("up_to", "prompts", "need", "facts"),
    [
        (1, ["one"], "first need", ["fact 1"]),
        (2, ["one", "two"], "first need", ["fact 1"]),
        (3, ["one", "two", "three"], "second need", ["fact 1", "fact 3"]),
        (4, ["one", "two", "three", "four"], "second need", ["fact 1", "fact 3"]),
    ],
)
def test_a_fork_has_the_turns_the_need_and_the_facts_of_then(
    up_to: int, prompts: list[str], need: str, facts: list[str]
) -> None:
    made = four_turns()
    copy = fork(made, up_to)
    assert [each.prompt for each in copy.turns] == prompts
    assert copy.turns == made.turns[:up_to]
    assert copy.need.text == need
    assert [percept.text for percept in copy.percepts] == facts
    assert len(made.turns) == 4 and made.state.id != "new"


def test_a_fork_says_where_it_came_from_and_keeps_the_name_the_user_gave() -> None:
    made = four_turns()
    copy = fork(made, 3)
    assert copy.state.origin is not None
    assert (copy.state.origin.session, copy.state.origin.title, copy.state.origin.turn) == (
        made.state.id,
        "My title",
        3,
    )
    assert copy.title == "My title" and copy.state.created_at == NOW + timedelta(days=1)


def test_a_forks_first_hand_off_is_a_first_one_and_tells_all_of_it() -> None:
    made = four_turns()
    assert made.state.claude_session_id == "c-1"
    copy = fork(made, 3)
    assert copy.state.claude_session_id is None and copy.state.floor == "local"
    assert copy.situation == "first"
    handoff = copy.handoff()
    for words in ("one", "three", "Claude's work"):
        assert words in handoff.changing
    assert "four" not in handoff.changing


def test_a_fork_from_before_claude_knows_nothing_of_it() -> None:
    copy = fork(four_turns(), 1)
    assert copy.claude_summary.text == "" and "Claude's work" not in copy.handoff().changing


def test_a_need_that_is_not_remembered_from_then_is_none() -> None:
    made = session(turn(1, "a", "b"), turn(2, "c", "d"))
    made.apply(ev.NeedEdited(text="said at turn two"))
    assert fork(made, 1).need.text == ""
