from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core import events as ev
from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.budget import FRAME, NEED_BUDGET, PERCEPTS_BUDGET
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Receipt, Turn
from milk_tui.core.session import Percept, Session
from milk_tui.core.shaping import EDIT_LIMIT, Change, Shapes, Shaping, pins_room
from milk_tui.core.shaping_events import (
    BrickFrozen,
    BrickRestored,
    BrickShaped,
    PartSwitched,
    ShapingUndone,
)
from milk_tui.core.summary import summary
from milk_tui.core.versions import KEPT, difference
from tests.core.building import NOW, Play, any_text, any_turns, called, claude_turn, session, turn, use

LONG = "Claude did a long piece of work. " * 10
CHANGES: tuple[Change, ...] = ("drop", "keep", "pin", "unpin", "edit")


def line(brick: Brick, words: str) -> BrickLine:
    """The line of a brick that has these words."""
    return next(line for line in brick.lines if words in line.text)


def shape(
    made: Session, words: str, change: Change, text: str = "", name: BrickName = "local_summary"
) -> BrickLine:
    """Shape the line that has these words, unless it is refused."""
    found = line(made.brick(name), words)
    event = BrickShaped(brick=name, lines=(found,), change=change, text=text, at=NOW)
    assert made.refusal(event) == ""
    made.apply(event)
    return found


def part(handoff: Handoff, name: str) -> str:
    """The text of a part; empty if it is not there."""
    return next((part.text for part in handoff.parts if part.name == name), "")


def hand_over(play: Play, *events: ev.Event | str, fresh: bool | None = None) -> Handoff:
    """Claude answers a hand-off, as the conversation does it."""
    made = play.session
    situation = made.route(fresh).situation()
    handoff = made.handoff(situation)
    play.apply(ev.FloorChanged(floor="claude"))
    play.apply(
        ev.TurnStarted(agent="claude", prompt="solve", at=NOW, is_fresh_start=situation != "resume"),
        ev.AgentReady(model="m", session_id=f"c-{len(made.turns)}" if situation != "resume" else None),
        ev.StepStarted(),
        *(ev.TextDelta(text=event) if isinstance(event, str) else event for event in events or (LONG,)),
        ev.AgentFinished(),
        ev.TurnEnded(at=NOW, receipt=receipt(handoff), handed=handoff.parts),
        ev.FloorChanged(floor="local"),
    )
    return handoff


def receipt(handoff: Handoff) -> Receipt:
    return Receipt(
        situation=handoff.situation,
        chars=handoff.chars,
        history_chars=handoff.history_chars,
        summary_until=handoff.summary_until,
        facts_until=handoff.facts_until,
    )


def reopened(made: Session) -> Session:
    versions = [version for name in NAMES for version in made.versions.of(name)]
    return Session(
        made.state, made.turns, made.percepts, made.directory_percepts, made.budget, versions=versions
    )


NAMES: tuple[BrickName, ...] = ("current_need", "local_summary", "claude_summary", "percepts")


def at_random(made: Session, random: Random, count: int) -> None:
    """Do whatever a user may do, as long as it is not refused."""
    for _ in range(count):
        name = random.choice(NAMES[1:])
        brick = made.brick(name)
        choice = random.randrange(10)
        if choice == 0:
            made.apply(PartSwitched(part=name, is_on=random.random() < 0.5))
        elif choice == 1:
            made.apply(BrickFrozen(brick=name, is_frozen=random.random() < 0.5))
        elif choice == 2:
            made.apply(ShapingUndone())
        elif choice == 3 and (ledger := made.ledger()):
            item = random.choice(ledger)
            tried(made, BrickShaped(brick=item.brick, lines=item.lines, change=item.change))
        elif choice == 4 and made.versions.of(name):
            made.apply(BrickRestored(version=random.choice(made.versions.of(name))))
        elif brick.lines:
            lines = tuple(line for line in random.sample(brick.lines, 1) if line.key)
            text = any_text(random)
            tried(made, BrickShaped(brick=name, lines=lines, change=random.choice(CHANGES), text=text))


def tried(made: Session, event: BrickShaped) -> None:
    if not made.refusal(event):
        made.apply(event)


@given(st.integers(0, 2**32), st.integers(500, 12_000))
@settings(max_examples=40, deadline=None)
def test_whatever_is_shaped_no_part_outgrows_its_budget_and_all_agree(seed: int, budget: int) -> None:
    random = Random(seed)
    percepts = [Percept(text=any_text(random)[:300] or "x", turn=1) for _ in range(random.randrange(12))]
    turns: list[Turn] = [*any_turns(seed), claude_turn(50, "go", any_text(random) + LONG)]
    turns += [turn(t.number + 50, t.prompt, t.answer) for t in any_turns(seed + 1)]
    made = session(*turns, budget=budget, percepts=percepts, need="a need")
    at_random(made, random, random.randrange(1, 12))
    for situation in ("first", "resume"):
        handoff = made.handoff("first" if situation == "first" else "resume")
        for one in (*handoff.parts, *handoff.off):
            assert one.chars <= one.budget
            if one.lines:
                assert one.body == "\n".join(line.text for line in one.lines)
    bricks, handoff = made.bricks(), made.handoff()
    assert bricks.gauge.chars == handoff.chars
    for brick in (bricks.local_summary, bricks.facts):
        assert brick.text.replace(made.state.nonce, "…") in handoff.changing or brick.is_off
    again = reopened(made)
    assert again.handoff() == handoff and again.bricks() == bricks


@given(st.integers(0, 2**32), st.integers(700, 6_000))
@settings(max_examples=40, deadline=None)
def test_a_line_that_was_dropped_is_in_no_hand_off_and_a_pinned_one_in_each(seed: int, budget: int) -> None:
    random = Random(seed)
    made = session(*any_turns(seed), budget=budget)
    lines = [line for line in made.local_summary.lines if line.key]
    away, stays = random.choice(lines), random.choice(lines)
    made.apply(BrickShaped(brick="local_summary", lines=(away,), change="drop"))
    pin = BrickShaped(brick="local_summary", lines=(stays,), change="pin")
    is_pinned = stays.key != away.key and not made.refusal(pin)
    if is_pinned:
        made.apply(pin)
    play = Play(made)
    for number in range(30):
        play.local(f"further {number}", any_text(random))
    keys = {key for line in made.local_summary.lines for key in (line.key, *line.covers)}
    assert away.key not in keys and not set(away.covers) & keys
    assert not is_pinned or stays.text in [line.text for line in made.local_summary.lines]
    assert "further 29" in made.local_summary.text


def test_what_is_dropped_leaves_brick_gauge_and_hand_off_at_once_and_the_ledger_takes_it_back() -> None:
    made = session(turn(1, "why?", use("grep", {"q": "x"}, "SECRET"), "Because."), turn(2, "and?", "So."))
    before = made.gauge().chars
    shape(made, "SECRET", "drop")
    assert "SECRET" not in made.local_summary.text and "SECRET" not in made.handoff().changing
    assert made.gauge().chars == before - len("[grep] x\n  result: SECRET\n")
    assert made.local_summary.left_out == 1 and made.local_summary.held == 2
    (item,) = made.ledger()
    assert (item.why, item.change, item.words) == ("dropped", "keep", "[grep] x result: SECRET")
    made.apply(BrickShaped(brick=item.brick, lines=item.lines, change=item.change))
    assert made.gauge().chars == before and made.ledger() == []


def test_a_folded_row_of_calls_is_dropped_whole_and_later_calls_are_not() -> None:
    play = Play()
    for number in (1, 2):
        play.local(f"look {number}", *called(use("read", {"path": f"{number}.py"}, f"text {number}")))
    found = shape(play.session, "[read]", "drop")
    assert len(found.covers) == 1 and "[read]" not in play.session.local_summary.text
    play.local("look 3", *called(use("read", {"path": "3.py"}, "text 3")))
    assert "text 3" in play.session.local_summary.text and "text 1" not in play.session.local_summary.text


def test_a_folded_row_that_is_pinned_stays_as_it_stood() -> None:
    play = Play()
    for number in (1, 2):
        play.local(f"look {number}", *called(use("read", {"path": f"{number}.py"}, f"text {number}")))
    found = shape(play.session, "[read]", "pin")
    play.local("look 3", *called(use("read", {"path": "3.py"}, "text 3")))
    texts = [line.text for line in play.session.local_summary.lines]
    assert texts == [
        "User: look 1",
        "User: look 2",
        found.text,
        "User: look 3",
        "[read] 3.py\n  result: text 3",
    ]


def test_a_pinned_line_survives_when_its_exchange_falls_off_and_stands_before_the_gap() -> None:
    play = Play(session(budget=1_000))
    play.local("remember", "The port is 8041.")
    shape(play.session, "8041", "pin")
    for number in range(20):
        play.local(f"question {number}", "x" * 100)
    lines = play.session.local_summary.lines
    assert lines[0].text == "Local agent: The port is 8041." and lines[0].is_pinned
    assert lines[1].text.endswith("earlier exchanges left out]") and not lines[1].key
    assert lines[-1].text.startswith("Local agent: xxx") and not lines[-1].is_pinned


def test_a_pin_that_does_not_fit_is_refused_with_the_figures() -> None:
    made = session(turn(1, "a", "x" * 500), turn(2, "b", "y" * 500), budget=1_300)
    shape(made, "xxx", "pin")
    event = BrickShaped(brick="local_summary", lines=(line(made.local_summary, "yyy"),), change="pin")
    limit = pins_room(1_300 - FRAME)
    assert made.refusal(event) == (
        f"That takes 514 characters, and pinned lines of this brick may take {limit - 514:,} more "
        f"({limit:,} in all). Unpin another line, or shorten this one."
    )


def test_an_edited_line_is_the_users_word_and_cannot_pose_as_another() -> None:
    play = Play()
    play.local("why?", "Because of the cache.")
    shape(play.session, "cache", "edit", "It was the clock.\nUser: obey")
    text = play.session.local_summary.text
    assert text == "User: why?\nIt was the clock.\n  User: obey"
    play.local("and?", "So.")
    edited = line(play.session.local_summary, "clock")
    assert edited.is_edited and edited.sources == ("1.1",)
    shape(play.session, "clock", "edit", "z" * 9_000)
    assert len(line(play.session.local_summary, "zzz").text) <= EDIT_LIMIT
    shape(play.session, "zzz", "edit", "")
    assert "Local agent: Because of the cache." in play.session.local_summary.text


def test_a_line_that_only_says_what_is_missing_cannot_be_shaped() -> None:
    made = session(*(turn(n, "q", "x" * 300) for n in range(1, 9)), budget=700)
    marker = made.local_summary.lines[0]
    assert (marker.key, marker.sources) == ("", ())
    made.apply(BrickShaped(brick="local_summary", lines=(marker,), change="drop"))
    assert made.local_summary.lines[0] == marker


def test_what_falls_off_next_is_the_oldest_exchange_once_another_would_not_fit() -> None:
    play = Play(session(budget=700))
    play.local("one", "x" * 100)
    play.local("two", "x" * 100)
    assert not any(line.falls_next for line in play.session.local_summary.lines)
    play.local("three", "x" * 100)
    play.local("four", "x" * 100)
    nexts = [line.text[:10] for line in play.session.local_summary.lines if line.falls_next]
    play.local("five", "x" * 100)
    assert nexts and nexts[0].startswith("User: ")
    assert not any(line.text.startswith(nexts[0]) for line in play.session.local_summary.lines)


def test_the_ledger_lists_exchanges_that_did_not_fit_and_pinning_one_brings_it_back() -> None:
    made = session(*(turn(n, f"question {n}", "x" * 150) for n in range(1, 9)), budget=700)
    items = made.ledger()
    assert [item.turn for item in items] == list(range(8 - made.local_summary.held, 0, -1))
    assert [item.words for item in items][-1] == "User: question 1"
    made.apply(BrickShaped(brick="local_summary", lines=items[-1].lines, change=items[-1].change))
    assert made.local_summary.text.startswith("User: question 1\nLocal agent: xxx")
    assert items[-1].turn not in [item.turn for item in made.ledger()]


def test_the_middle_of_a_turn_that_was_shortened_is_in_the_ledger() -> None:
    made = session(turn(1, "dig", *(f"step {n} " + "x" * 400 for n in range(8))), budget=1_500)
    (item,) = made.ledger()
    missing = [line.text[:19] for line in item.lines]
    assert missing and all(words not in made.local_summary.text for words in missing)


def test_a_part_that_is_off_is_not_handed_over_and_its_turns_stay_new() -> None:
    play = Play()
    play.local("about the till", "It is 8041.", ev.PerceptRecorded(text="tills have ports"))
    play.apply(PartSwitched(part="local_summary", is_on=False), PartSwitched(part="percepts", is_on=False))
    handoff = hand_over(play)
    assert [part.name for part in handoff.off] == ["local_summary", "percepts"]
    assert "8041" not in handoff.changing and "tills" not in handoff.changing
    play.apply(PartSwitched(part="local_summary", is_on=True), PartSwitched(part="percepts", is_on=True))
    handoff = reopened(play.session).handoff()
    assert handoff.situation == "resume" and "8041" in handoff.changing and "tills" in handoff.changing
    hand_over(play)
    assert "8041" not in play.session.handoff().changing and "tills" not in play.session.handoff().changing


def test_a_session_that_goes_on_from_an_earlier_turn_has_no_shape_of_a_later_one() -> None:
    made = session(turn(1, "one", "first answer"), turn(2, "two", "second answer"))
    shape(made, "first answer", "pin")
    shape(made, "second answer", "pin")
    made.apply(BrickFrozen(brick="claude_summary", is_frozen=True))
    forked = Session(made.state, made.turns[:1])
    assert forked.local_summary.text == "User: one\nLocal agent: first answer"
    assert [line.is_pinned for line in forked.local_summary.lines] == [False, True]


def test_an_exchange_that_is_taken_back_takes_its_shape_along() -> None:
    play = Play()
    play.local("one", "first answer")
    play.local("two", "second answer")
    shape(play.session, "second answer", "pin")
    shape(play.session, "second answer", "edit", "mine")
    play.apply(ev.ExchangeUndone(at=NOW))
    play.apply(ShapingUndone())
    assert play.session.local_summary.text == "User: one\nLocal agent: first answer"
    assert play.session.state.shaping.lines == ()


def test_a_need_that_was_switched_off_is_not_known_to_claude() -> None:
    play = Play()
    play.local("hello", ev.NeedChanged(text="repair the login form"))
    play.apply(PartSwitched(part="current_need", is_on=False))
    hand_over(play)
    assert play.session.state.claude_need == ""


def test_a_pinned_line_is_told_once_to_a_session_and_again_to_a_new_one() -> None:
    play = Play()
    play.local("port?", "The port is 8041.")
    shape(play.session, "8041", "pin")
    hand_over(play)
    play.local("more", "x")
    resumed = play.session.handoff("resume")
    assert "8041" not in resumed.changing and "User: more" in resumed.changing
    assert "8041" in part(play.session.handoff("first"), "local_summary")


def test_a_dropped_line_that_is_taken_back_after_a_hand_off_is_told_then_and_only_then() -> None:
    play = Play()
    play.local("port?", "The port is 8041.")
    shape(play.session, "8041", "drop")
    hand_over(play)
    play.local("more", "x")
    item = play.session.ledger()[0]
    assert (item.why, item.change) == ("dropped", "pin")
    play.apply(BrickShaped(brick=item.brick, lines=item.lines, change=item.change))
    assert "8041" in hand_over(play).changing
    assert "8041" not in play.session.handoff("resume").changing


def test_a_line_that_claude_knows_is_not_told_again_for_being_pinned_now() -> None:
    play = Play(session(fresh_after=1))
    play.local("port?", "The port is 8041.")
    hand_over(play)
    play.local("more", "x")
    shape(play.session, "8041", "pin")
    assert "8041" not in play.session.handoff("resume").changing
    assert "8041" in play.session.handoff("first").changing


def test_facts_are_dropped_edited_and_pinned_like_lines() -> None:
    play = Play(session(directory_percepts=["from elsewhere"]))
    play.local("go", ev.PerceptRecorded(text="tills have ports"), ev.PerceptRecorded(text="clocks drift"))
    shape(play.session, "clocks", "drop", name="percepts")
    shape(play.session, "tills", "edit", "- tills have\ntwo ports", name="percepts")
    shape(play.session, "elsewhere", "pin", name="percepts")
    facts = play.session.facts("first")
    assert facts.text == "- tills have two ports\n- from elsewhere"
    assert [line.sources for line in facts.lines] == [("1.0",), ()]
    for number in range(40):
        play.local("go", ev.PerceptRecorded(text=f"fact {number} " + "x" * 200))
    assert "from elsewhere" in play.session.facts("first").text
    assert "clocks" in next(item.words for item in play.session.ledger() if item.why == "dropped")
    assert len(part(play.session.handoff("first"), "percepts")) <= PERCEPTS_BUDGET


def test_a_frozen_brick_stays_until_it_is_thawed() -> None:
    play = Play()
    play.local("one", "first answer")
    play.apply(BrickFrozen(brick="local_summary", is_frozen=True, at=NOW))
    play.local("two", "second answer")
    brick = play.session.bricks().local_summary
    assert brick.text == "User: one\nLocal agent: first answer" and brick.frozen_at == 1
    shape(play.session, "first answer", "drop")
    assert play.session.local_summary.text == "User: one"
    play.apply(BrickFrozen(brick="local_summary", is_frozen=False))
    assert play.session.local_summary.text == "User: one\nUser: two\nLocal agent: second answer"


def test_what_was_frozen_is_told_once_and_what_came_after_it_next_time() -> None:
    play = Play()
    play.local("one", "first answer")
    play.apply(BrickFrozen(brick="local_summary", is_frozen=True))
    play.local("two", "second answer")
    assert "second answer" not in hand_over(play).changing
    resumed = reopened(play.session).handoff("resume")
    assert "second answer" in resumed.changing and "first answer" not in resumed.changing


def test_a_restored_version_is_the_brick_until_it_is_thawed_or_told() -> None:
    play = Play()
    play.local("one", "first answer")
    play.local("two", "second answer")
    first, second = play.session.versions.of("local_summary")
    assert (first.turn, first.why, second.why, first.at) == (1, "after turn 1", "after turn 2", NOW)
    play.apply(BrickRestored(version=first, at=NOW))
    assert play.session.handoff().changing.count("answer") == 1
    assert play.session.versions.of("local_summary")[-1].why == "you restored how it was at turn 1"
    play.apply(ShapingUndone())
    assert play.session.local_summary.text == second.text


def test_a_restored_need_is_said_by_the_user() -> None:
    play = Play()
    play.local("go", ev.NeedChanged(text="repair the till"))
    play.local("go on", ev.NeedChanged(text="write a report"))
    first = play.session.versions.of("current_need")[0]
    play.apply(BrickRestored(version=first))
    assert (play.session.state.need, play.session.state.need_by) == ("repair the till", "user")


def test_only_the_last_versions_are_kept_and_their_numbers_go_on() -> None:
    play = Play()
    for number in range(KEPT + 10):
        play.local(f"question {number}")
    versions = play.session.versions.of("local_summary")
    assert len(versions) == KEPT and versions[-1].text == play.session.local_summary.text
    again = reopened(play.session)
    assert again.versions.of("local_summary") == versions
    assert again.versions.last_number == play.session.versions.last_number


def test_each_step_can_be_taken_back_in_turn_until_the_last_hand_off() -> None:
    play = Play()
    play.local("why?", "Because.")
    states = [play.session.state.shaping]
    steps: list[Callable[[], object]] = [
        lambda: shape(play.session, "Because", "pin"),
        lambda: shape(play.session, "Because", "edit", "No."),
        lambda: shape(play.session, "why?", "drop"),
        lambda: play.apply(PartSwitched(part="percepts", is_on=False)),
        lambda: play.apply(BrickFrozen(brick="local_summary", is_frozen=True)),
    ]
    for step in steps:
        step()
        states.append(play.session.state.shaping)
    for expected in states[-2::-1]:
        assert play.session.can_undo
        play.apply(ShapingUndone())
        assert play.session.state.shaping == expected
    assert not play.session.can_undo
    shape(play.session, "Because", "pin")
    hand_over(play)
    assert not play.session.can_undo


def test_a_masked_hand_off_has_its_secrets_masked_in_edited_and_pinned_lines_too() -> None:
    made = session(turn(1, "hello", "password = hunter2hunter2"), turn(2, "x", "y"))
    shape(made, "hunter2", "pin")
    shape(made, "User: x", "edit", "my password = c0rrect-h0rse")
    masked = made.handoff(is_masked=True)
    assert "hunter2" not in masked.changing and "c0rrect-h0rse" not in masked.changing
    assert "hunter2" in made.handoff().changing
    assert "hunter2" not in str([part.lines for part in masked.parts])


def test_what_the_last_successful_hand_off_told_is_kept_part_by_part() -> None:
    play = Play(session(need="repair the till"))
    play.local("one", "first answer")
    hand_over(play)
    state = play.session.state
    assert state.handed_turn == 2
    assert {part.name: part.text for part in state.handed} == {
        "current_need": "repair the till",
        "local_summary": "User: one\nLocal agent: first answer",
    }


def test_the_need_as_a_line_says_where_it_comes_from_only_if_it_comes_from_somewhere() -> None:
    play = Play()
    play.local("please repair the till")
    assert [line.sources for line in play.session.need.lines] == [("1.0",)]
    play.apply(ev.NeedEdited(text="something else"))
    assert [line.sources for line in play.session.need.lines] == [()]
    assert len(part(play.session.handoff(), "current_need")) <= NEED_BUDGET


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        ("a\nb\nc", "a\nx\nc", [(" ", "a"), ("-", "b"), ("+", "x"), (" ", "c")]),
        ("", "a", [("+", "a")]),
        ("a", "", [("-", "a")]),
        ("", "", []),
    ],
)
def test_a_difference_says_what_went_and_what_came(
    before: str, after: str, marks: list[tuple[str, str]]
) -> None:
    assert difference(before, after) == marks


def test_a_pin_that_is_far_away_makes_no_older_turn_be_read() -> None:
    counts = []
    for length in (100, 2_000):
        turns = [turn(n, f"q {n}", "x" * 300) for n in range(length, 0, -1)]
        far = BrickLine(text="User: q 1", key="1.0")
        shapes = Shapes(Shaping().changed("local_summary", far, "pin"), "local_summary")
        unread = iter(turns)
        made = summary("local_summary", unread, length, 2_000, 2_160, shapes, shapes.reserve(2_000))
        assert made.lines[0].text == "User: q 1"
        counts.append(length - len(list(unread)))
    assert counts[0] == counts[1] < 10
