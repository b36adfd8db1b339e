"""What comes back from Claude waits for the user's decision, and the decision belongs to that stay alone."""

from milk_tui.core import events as ev
from milk_tui.core.incoming import Choice, Incoming
from tests.core.building import BROKEN, Play, called, use

TO_CLAUDE, TO_LOCAL = ev.FloorChanged(floor="claude"), ev.FloorChanged(floor="local")


def returned() -> Play:
    """Claude has done something, and the floor is back."""
    play = Play()
    play.apply(TO_CLAUDE)
    play.claude("mend it", "Mended.")
    play.apply(TO_LOCAL)
    return play


def decide(play: Play, choice: Choice, text: str | None = None) -> None:
    play.apply(ev.IncomingDecided(choice=choice, text=text))


def test_it_is_open_once_the_floor_is_back_and_not_before() -> None:
    play = Play()
    play.apply(TO_CLAUDE)
    play.claude("mend it", "Mended.")
    assert play.session.incoming is None
    play.apply(TO_LOCAL)
    assert play.session.incoming == Incoming(turn=1, choice="open")


def test_nothing_comes_back_from_a_stay_in_which_nothing_was_done() -> None:
    play = Play()
    play.apply(TO_CLAUDE)
    play.begin("mend it", "claude")
    play.end(ev.TurnInterrupted(at=play.session.state.created_at))
    play.apply(TO_LOCAL)
    assert play.session.incoming is None


def test_a_call_alone_is_something() -> None:
    play = Play()
    play.apply(TO_CLAUDE)
    play.claude("mend it", *called(use("Write", {"file_path": "a"})))
    play.apply(TO_LOCAL)
    assert play.session.incoming is not None


def test_a_decision_stays_until_the_local_agent_was_told_and_can_be_changed_until_then() -> None:
    play = returned()
    decide(play, "accepted", "In my words.")
    assert play.session.incoming == Incoming(turn=1, choice="accepted", text="In my words.")
    decide(play, "discarded")
    assert play.session.incoming == Incoming(turn=1, choice="discarded")
    play.begin("thanks")
    assert play.session.incoming is None
    play.end()
    assert play.session.incoming is None


def test_a_hand_off_that_failed_at_once_leaves_the_decision() -> None:
    play = returned()
    decide(play, "discarded")
    play.apply(TO_CLAUDE)
    play.begin("more", "claude")
    play.end(ev.AgentFailed(failure=BROKEN))
    play.apply(TO_LOCAL)
    assert play.session.incoming == Incoming(turn=1, choice="discarded")


def test_more_work_of_claudes_is_decided_about_anew() -> None:
    play = returned()
    decide(play, "discarded")
    play.apply(TO_CLAUDE)
    play.claude("more", "More is done.")
    play.apply(TO_LOCAL)
    assert play.session.incoming == Incoming(turn=2, choice="open")


def test_without_anything_that_came_back_a_decision_changes_nothing() -> None:
    play = Play()
    play.local("hello", "Hi.")
    decide(play, "discarded")
    assert play.session.state.incoming is None
