from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core import events as ev
from milk_tui.core.budget import BRIEF_LIMIT, NEED_LIMIT
from milk_tui.core.errors import Failure
from milk_tui.core.messages import AgentRole, Turn
from milk_tui.core.session import Percept, Session
from tests.core.building import (
    BROKEN,
    NOW,
    Play,
    any_text,
    any_use,
    called,
    claude_turn,
    session,
    turn,
    use,
)
from tests.core.growth import grows_within

LONG = "Claude did a long piece of work. " * 10
FAILED = ev.AgentFailed(failure=BROKEN)
STOPPED = ev.TurnInterrupted(at=NOW)


def reopened(played: Session) -> Session:
    return Session(played.state, played.turns, played.percepts, played.directory_percepts, played.budget)


def test_the_local_summary_is_of_the_turns_since_claude_last_finished() -> None:
    made = session(turn(1, "old", "x"), claude_turn(2, "solve", LONG), turn(3, "new", "y"))
    assert made.local_summary.text == "User: new\nLocal agent: y"
    assert "old" not in made.claude_summary.text and LONG[:100] in made.claude_summary.text


@pytest.mark.parametrize("ending", [FAILED, STOPPED])
def test_a_hand_off_that_failed_or_was_stopped_changes_nothing_and_is_sent_again(ending: ev.Event) -> None:
    play = Play()
    play.local("question", "tried", ev.NeedChanged(text="fix it"), ev.PerceptRecorded(text="a fact"))
    before = play.session.handoff("first")
    play.claude("solve", "half an ans", ending=ending)
    after = play.session.handoff()
    assert (after.standing, after.changing) == (before.standing, before.changing)
    assert not play.session.state.handed_over and play.session.state.claude_session_id == "c-1"
    play.claude("solve", LONG)
    assert play.session.state.handed_over
    assert [p.name for p in play.session.handoff().parts] == ["identity", "current_need", "instructions"]


def test_a_hand_off_of_the_agents_asking_keeps_its_brief_until_one_succeeds() -> None:
    play = Play()
    play.local("question", ev.EscalationRequested(reason="too hard"))
    before = play.session.handoff("agent")
    assert "too hard" in before.changing
    play.claude("solve", ending=FAILED)
    assert play.session.handoff("agent") == before.model_copy(
        update={"history_chars": play.session.history_chars}
    )
    play.claude("solve", LONG)
    assert play.session.state.brief == ""


def test_the_brief_is_one_line_and_bounded() -> None:
    play = Play()
    play.apply(ev.BriefSet(text="one\ntwo " + "x" * 5_000))
    assert play.session.state.brief.startswith("one two xxx") and len(play.session.state.brief) <= BRIEF_LIMIT


def test_claude_cannot_ask_for_claude() -> None:
    play = Play()
    play.claude("solve", ev.EscalationRequested(reason="echo"), ending=STOPPED)
    assert play.session.state.brief == ""


@pytest.mark.parametrize("ending", [FAILED, STOPPED, ev.AgentFinished()])
def test_claudes_session_id_and_the_partial_answer_survive_every_ending(ending: ev.Event) -> None:
    play = Play()
    turn = play.claude("solve", "so far", ending=ending)
    assert play.session.state.claude_session_id == "c-1" and play.session.situation == "resume"
    assert (turn.prompt, turn.answer) == ("solve", "so far")


def test_an_agent_that_says_nothing_about_its_session_does_not_take_the_id_away() -> None:
    play = Play()
    play.claude("one", LONG)
    play.begin("two", "claude", session_id=None)
    play.end()
    assert play.session.state.claude_session_id == "c-1"


def test_a_local_agent_cannot_set_claudes_session() -> None:
    play = Play()
    play.local("hi", ev.AgentReady(session_id="not-claudes"))
    assert play.session.state.claude_session_id is None


def test_when_claudes_session_is_lost_the_new_one_is_told_everything_that_was_done_locally() -> None:
    play = Play()
    play.local("before", "x", ev.PerceptRecorded(text="early fact"))
    play.claude("solve", LONG)
    play.local("after", "y")
    play.apply(ev.ClaudeSessionForgotten())
    handoff = play.session.handoff()
    assert handoff.situation == "first"
    for text in ("before", "after", "early fact"):
        assert text in handoff.changing
    assert reopened(play.session).handoff() == handoff
    play.begin("again", "claude", session_id="c-2")
    play.end(FAILED)
    assert "before" in play.session.handoff().changing
    play.claude("again", LONG)
    play.local("newest", "z")
    changing = reopened(play.session).handoff().changing
    assert "newest" in changing and "before" not in changing and "after" not in changing


def test_an_empty_stay_does_not_replace_claudes_summary() -> None:
    play = Play()
    play.claude("solve", LONG)
    kept = play.session.claude_summary
    play.local("hm", "ok")
    play.claude("sure?", "Yes." * 40)
    assert play.session.claude_summary == kept and play.session.state.claude_summary == kept.text
    assert reopened(play.session).claude_summary.text == kept.text


def test_a_short_word_after_a_tool_call_is_work_and_replaces_it() -> None:
    play = Play()
    play.claude("solve", LONG)
    play.local("hm", "ok")
    play.claude("edit", *called(use("Edit", {"file_path": "a.py"})), "Done.")
    assert play.session.claude_summary.text == ("User: edit\n[Edit] a.py\n  result: done\nClaude: Done.")


def test_short_answers_of_one_stay_add_up() -> None:
    play = Play()
    play.claude("one", "a" * 120)
    assert play.session.claude_summary.text == ""
    play.claude("two", "b" * 120)
    assert "aaa" in play.session.claude_summary.text and "bbb" in play.session.claude_summary.text
    assert play.session.claude_summary.dropped == 0


def test_claudes_summary_is_of_the_last_stay_only() -> None:
    play = Play()
    play.claude("one", LONG)
    play.local("between", "x")
    play.claude("two", LONG)
    text = play.session.claude_summary.text
    assert "two" in text and "one" not in text and "between" not in text


def test_what_claude_did_before_it_failed_is_in_its_summary_and_an_empty_failure_is_not() -> None:
    play = Play()
    play.claude("one", ending=FAILED)
    play.claude("two", *called(use("Edit", {"file_path": "a.py"})), ending=FAILED)
    brick = play.session.claude_summary
    assert brick.text.startswith("User: two\n[Edit] a.py") and "failed: The connection" in brick.text
    assert (brick.held, brick.dropped) == (1, 0)


def test_the_last_agents_word_about_the_need_counts() -> None:
    play = Play()
    play.local("hi", ev.NeedChanged(text="one"), ev.NeedChanged(text=" two\nlines "))
    assert (play.session.need.text, play.session.need.by) == ("two lines", "local")
    play.claude("hi", ev.NeedChanged(text="three"))
    assert (play.session.need.text, play.session.need.by) == ("three", "claude")


def test_the_users_need_wins_until_given_back() -> None:
    play = Play()
    play.apply(ev.NeedEdited(text="mine"))
    play.local("hi", ev.NeedChanged(text="theirs"))
    assert (play.session.need.text, play.session.need.by) == ("mine", "user")
    play.apply(ev.NeedEdited(text="  "))
    assert (play.session.need.text, play.session.need.by) == ("", "")
    play.local("hi", ev.NeedChanged(text="theirs"))
    assert play.session.need.text == "theirs"


def test_an_agent_cannot_wipe_the_need() -> None:
    play = Play()
    play.local("hi", ev.NeedChanged(text="fix it"), ev.NeedChanged(text=" \n"))
    assert play.session.need.text == "fix it"


def test_the_need_is_one_sentence_long() -> None:
    play = Play()
    play.apply(ev.NeedEdited(text="x" * 5_000))
    assert len(play.session.need.text) <= NEED_LIMIT


def test_a_need_is_stale_after_four_more_turns_and_fresh_when_said_again() -> None:
    play = Play()
    play.local("1", ev.NeedChanged(text="fix it"))
    for n in range(4):
        play.local(str(n), "ok")
    assert not play.session.need.is_stale
    play.local("6", "ok")
    assert play.session.need.is_stale and play.session.need.text == "fix it"
    play.local("7", ev.NeedChanged(text="fix it"))
    assert not play.session.need.is_stale


def test_a_need_set_before_the_first_turn_counts_from_there() -> None:
    play = Play()
    play.apply(ev.NeedEdited(text="fix it"))
    assert play.session.state.need_turn == 0
    for n in range(5):
        play.local(str(n), "ok")
    assert play.session.need.is_stale


def test_on_a_resume_only_new_facts_are_told() -> None:
    play = Play(session(directory_percepts=["elsewhere"]))
    play.local("1", ev.PerceptRecorded(text="early"))
    assert [fact.text for fact in play.session.new_percepts("first")] == ["early", "elsewhere"]
    play.claude("2", LONG, ev.PerceptRecorded(text="of claude"))
    play.local("3", ev.PerceptRecorded(text="late"), ev.PerceptRecorded(text="latest"))
    assert [fact.text for fact in play.session.new_percepts("resume")] == ["latest", "late"]
    assert [fact.text for fact in play.session.new_percepts("first")] == [
        "latest",
        "late",
        "of claude",
        "early",
        "elsewhere",
    ]


def test_a_fact_said_twice_in_a_turn_is_kept_once_and_an_empty_one_not_at_all() -> None:
    play = Play()
    again = ev.PerceptRecorded(text="a fact")
    play.local("1", again, ev.StepVoided(), again, ev.PerceptRecorded(text=" "))
    assert play.session.percepts == [Percept(text="a fact", turn=1)]


LATE: list[ev.Event] = [
    ev.TextDelta(text="late"),
    ev.ThinkingDelta(text="late"),
    ev.StepStarted(),
    ev.StepVoided(),
    ev.ToolCallStarted(call=use("late").call),
    ev.ToolCallFinished(result=use("late").result),
    ev.AgentReady(model="late", session_id="late"),
    ev.NeedChanged(text="late"),
    ev.PerceptRecorded(text="late"),
    ev.EscalationRequested(reason="late"),
    ev.AgentFinished(),
    FAILED,
    STOPPED,
    ev.TurnEnded(at=NOW),
]


@pytest.mark.parametrize("late", LATE, ids=lambda event: event.type)
def test_an_event_after_the_end_of_its_turn_changes_nothing(late: ev.Event) -> None:
    play = Play()
    play.claude("hi", LONG)
    state, turns, bricks = play.session.state, list(play.session.turns), play.session.bricks()
    play.apply(late)
    assert (play.session.state, play.session.turns, play.session.percepts) == (state, turns, [])
    assert play.session.bricks() == bricks and not play.session.is_busy


def test_what_comes_after_an_interruption_does_not_make_the_turn_finished() -> None:
    play = Play()
    play.begin("solve", "claude")
    play.apply(STOPPED, ev.AgentFinished(), ev.TurnEnded(at=NOW))
    assert play.session.turns[-1].status == "interrupted" and not play.session.state.handed_over


def test_a_turn_that_begins_while_another_is_open_loses_nothing() -> None:
    play = Play()
    play.begin("one")
    play.apply(ev.TextDelta(text="half"))
    play.local("two", "ok")
    assert [(t.number, t.prompt, t.answer, t.status) for t in play.session.turns] == [
        (1, "one", "half", "interrupted"),
        (2, "two", "ok", "finished"),
    ]


def test_a_replayed_step_leaves_the_exact_text() -> None:
    play = Play()
    replayed = (
        ev.StepStarted(),
        "Half",
        ev.ThinkingDelta(text="hm"),
        " of it",
        ev.StepVoided(),
        "All of it.",
    )
    assert play.local("go", *replayed).answer == "All of it."
    assert play.session.local_summary.text == "User: go\nLocal agent: All of it."


def test_turn_numbers_go_on_after_reopening_even_with_a_gap() -> None:
    play = Play(session(turn(1, "a", "b"), turn(7, "c", "d")))
    assert play.local("e", "f").number == 8


def test_a_session_without_bricks_on_file_has_them_when_it_is_opened() -> None:
    made = session(turn(1, "question", "answer"), claude_turn(2, "solve", LONG), turn(3, "and", "so"))
    assert made.state.local_summary == "" and made.state.claude_summary == ""
    assert made.local_summary.text == "User: and\nLocal agent: so"
    assert "User: solve" in made.claude_summary.text and made.claude_summary.lines


def test_a_stored_summary_larger_than_todays_budget_is_cut() -> None:
    made = session(budget=500, claude_summary="x" * 9_000)
    assert 0 < made.claude_summary.chars <= 500


def test_the_local_summary_is_marked_while_a_local_turn_runs() -> None:
    play = Play()
    play.begin("go")
    assert play.session.bricks().local_summary.is_stale
    play.end()
    assert not play.session.bricks().local_summary.is_stale


def test_a_reply_after_the_summary_is_in_it_at_once() -> None:
    play = Play()
    play.local("fix typo", "done")
    assert (
        play.session.local_summary.text
        == play.session.state.local_summary
        == "User: fix typo\nLocal agent: done"
    )
    assert play.session.claude_summary.text == ""


def any_event(random: Random) -> ev.Event:
    text = any_text(random)
    started, finished = called(any_use(random))
    agent: AgentRole = random.choice(("local", "local", "claude"))
    return random.choice(
        (
            ev.TurnStarted(agent=agent, prompt=text, at=NOW),
            ev.TurnStarted(agent=agent, prompt=text, at=NOW),
            ev.TurnEnded(at=NOW),
            ev.AgentFinished(),
            ev.AgentFailed(failure=Failure(kind="lost", sentence=text)),
            STOPPED,
            ev.AgentReady(model="m", session_id=random.choice((None, "c-1", "c-2"))),
            ev.StepStarted(),
            ev.StepVoided(),
            ev.TextDelta(text=text),
            ev.ThinkingDelta(text=text),
            started,
            finished,
            ev.NeedChanged(text=text),
            ev.NeedEdited(text=random.choice((text, ""))),
            ev.PerceptRecorded(text=text),
            ev.EscalationRequested(reason=text),
            ev.BriefSet(text=text),
            ev.FloorChanged(floor=agent),
            ev.ClaudeSessionForgotten(),
        )
    )


@given(st.integers(0, 2**32), st.sampled_from((500, 501, 900, 2_000, 12_000)))
@settings(max_examples=60, deadline=None)
def test_whatever_happens_a_session_keeps_its_promises(seed: int, budget: int) -> None:
    random = Random(seed)
    played = session(budget=budget)
    standing = played.handoff().standing
    for _ in range(random.randrange(1, 120)):
        played.apply(any_event(random))
        running = played.running
        everything = [*played.turns, *([running] if running else [])]
        assert played.history_chars == sum(m.chars for t in everything for m in t.messages)
    for situation in ("first", "agent", "resume"):
        handoff = played.handoff(situation)
        assert handoff.standing == standing
        assert all(part.chars <= part.budget for part in handoff.parts)
        assert handoff.chars <= sum(part.budget for part in handoff.parts)
    assert bool(played.local_summary.text) == (played.tally.local_since > 0)
    played.apply(ev.TurnEnded(at=NOW))
    again = reopened(played)
    assert again.local_summary == played.local_summary and again.handoff() == played.handoff()
    assert again.claude_summary.text == played.claude_summary.text
    assert all(t.status != "running" for t in played.turns)


def answered(number: int) -> Turn:
    return turn(number, "question " * 20, "answer " * 20)


def collapsible(number: int) -> Turn:
    return turn(number, "please go on " * 15, use("read", {"path": "a.py"}, "contents"))


def of_claude(number: int) -> Turn:
    return claude_turn(number, "question " * 20, "answer " * 20)


def failed_of_claude(number: int) -> Turn:
    return claude_turn(number, "question " * 20, status="failed")


def half_done_by_claude(number: int) -> Turn:
    return claude_turn(number, "question " * 20, "so far " * 20, status="failed")


def many(make: Callable[[int], Turn], count: int) -> Session:
    """A local turn, then the same turn so many times."""
    percepts = [Percept(text="the same fact", turn=number) for number in range(1, count)]
    return session(turn(1, "first", "answer"), *[make(2)] * count, percepts=percepts)


@pytest.mark.parametrize("make", [answered, collapsible, of_claude, failed_of_claude, half_done_by_claude])
def test_the_end_of_a_turn_costs_the_same_after_100_and_after_100_000_turns(
    make: Callable[[int], Turn],
) -> None:
    def end_a_turn(play: Play, agent: AgentRole) -> None:
        play.begin("next", agent)
        play.end(FAILED if agent == "claude" else ev.AgentFinished())

    few, lots = Play(many(make, 100)), Play(many(make, 100_000))
    deeds: tuple[Callable[[Play], object], ...] = (
        lambda play: play.session.handoff("first"),
        lambda play: play.session.handoff("resume"),
        lambda play: play.session.bricks(),
        lambda play: play.session.gauge(1),
        lambda play: end_a_turn(play, "claude"),
        lambda play: end_a_turn(play, "local"),
    )
    for deed in deeds:
        assert grows_within(5, partial(deed, few), partial(deed, lots), spare=0.005)
