import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.budget import IDENTITY_BUDGET, INSTRUCTIONS_BUDGET, PERCEPTS_BUDGET
from milk_tui.core.events import BriefSet
from milk_tui.core.handoff import FRAME, Handoff, PartName, fenced, limit
from milk_tui.core.instructions import identity, tag_instructions
from milk_tui.core.messages import Situation
from milk_tui.core.session import Percept, Session
from tests.core.building import FRAGMENTS, NONCE, any_turns, claude_turn, session, turn

hostile = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=30).map("".join)
seeds = st.integers(0, 2**32)
situations: tuple[Situation, ...] = get_args(Situation)


def sections(handoff: Handoff) -> list[tuple[str, str]]:
    """Name and body of each section, read as Claude is told to read it."""
    found: list[tuple[str, str]] = []
    name, body = "", list[str]()
    for line in handoff.changing.split("\n"):
        opened = re.fullmatch(rf"<<<(\w+) {NONCE}", line)
        if opened and not name:
            name, body = opened[1], []
        elif line == f">>> {NONCE}" and name:
            found.append((name, "\n".join(body)))
            name = ""
        elif name:
            body.append(line)
        else:
            assert line == "" or line.startswith("## "), line
    assert not name
    return found


def names(handoff: Handoff) -> list[PartName]:
    return [part.name for part in handoff.parts]


def full_session(claude_session_id: str | None = None) -> Session:
    return session(
        turn(1, "question", "answer"),
        need="fix the login",
        brief="too hard for me",
        need_turn=1,
        percepts=[Percept(text="a fact", turn=1)],
        claude_session_id=claude_session_id,
    )


@given(
    seeds,
    hostile,
    hostile,
    st.lists(hostile, max_size=9),
    st.integers(500, 14_000),
    st.sampled_from(situations),
)
@settings(max_examples=150, deadline=None)
def test_nothing_is_larger_than_its_budget_and_nothing_breaks_out_of_its_fence(
    seed: int, need: str, reason: str, facts: list[str], budget: int, situation: Situation
) -> None:
    made = session(*any_turns(seed), budget=budget, need=need, directory_percepts=facts)
    handoff = made.handoff(situation, reason)
    for part in handoff.parts:
        assert part.chars <= part.budget, part.name
    assert handoff.chars <= sum(part.budget for part in handoff.parts) <= limit(situation, budget)
    present = [name for name in names(handoff) if name not in ("identity", "instructions")]
    assert [name for name, _ in sections(handoff)] == present
    assert "local_summary" in present
    assert handoff.changing.count(NONCE) == 2 * len(present)


@pytest.mark.parametrize("nonce", ["a", NONCE, "n0nce" * 6])
@pytest.mark.parametrize("is_continued", [False, True])
def test_the_frame_bounds_heading_and_fence_of_every_part(is_continued: bool, nonce: str) -> None:
    first = [claude_turn(1, "x", "y")] if is_continued else []
    made = session(
        *first,
        turn(2, "question", "answer"),
        need="fix it",
        nonce=nonce,
        percepts=[Percept(text="one fact", turn=2)],
    )
    handoff = made.handoff("resume" if is_continued else "agent", "why")
    fenced_parts = [part for part in handoff.parts if part.name not in ("identity", "instructions")]
    assert len(fenced_parts) == (3 if is_continued else 4)
    for part in fenced_parts:
        frame = re.fullmatch(r"(\n## .*\n<<<.*\n)(?s:.*)(\n>>> .*\n)", part.text)
        assert frame is not None and len(frame[1]) + len(frame[2]) <= FRAME


@given(hostile, st.integers(1, 40))
def test_the_closing_word_is_never_inside(text: str, size: int) -> None:
    nonce = (NONCE * 4)[:size]
    title, name = "T", "n"
    made = fenced(title, name, text.replace(NONCE, nonce), nonce)
    body = made.removeprefix(f"\n## T\n<<<n {nonce}\n").removesuffix(f"\n>>> {nonce}\n")
    assert nonce not in body


@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        ("first", ["identity", "current_need", "local_summary", "instructions", "percepts"]),
        (
            "agent",
            ["identity", "escalation_brief", "current_need", "local_summary", "instructions", "percepts"],
        ),
        ("resume", ["identity", "current_need", "local_summary", "instructions", "percepts"]),
    ],
)
def test_each_situation_carries_what_its_row_of_the_table_says(
    situation: Situation, expected: list[str]
) -> None:
    assert names(full_session().handoff(situation)) == expected


def test_a_part_with_nothing_to_say_is_absent() -> None:
    assert names(session().handoff()) == ["identity", "instructions"]


def test_the_brief_of_a_resume_is_in_no_part() -> None:
    handoff = full_session(claude_session_id="c").handoff("resume", "because of the brief")
    assert "too hard" not in handoff.changing and "because" not in handoff.changing


def test_a_reason_is_the_same_in_the_preview_and_when_it_was_recorded() -> None:
    made = full_session()
    reason = "line one\n\n   line two " + "x" * 900
    before = made.handoff("agent", reason)
    made.apply(BriefSet(text=reason))
    assert made.handoff("agent") == before


@pytest.mark.parametrize("nonce", ["a", NONCE, "n" * 64])
def test_the_standing_part_fits_its_budgets(nonce: str) -> None:
    assert len(identity(nonce)) <= IDENTITY_BUDGET
    assert len(tag_instructions(nonce)) <= INSTRUCTIONS_BUDGET


def test_a_need_that_is_stale_is_marked_and_kept() -> None:
    old = session(*(turn(n, "q", "a") for n in range(1, 8)), need="fix it", need_turn=1)
    body = dict(sections(old.handoff()))["current_need"]
    assert body.startswith("fix it\n(") and "may be done already" in body


def test_headings_say_whether_it_is_all_or_only_what_is_new() -> None:
    assert "done locally so far, oldest first" in full_session().handoff().changing
    resumed = session(
        claude_turn(1, "a", "b"),
        turn(2, "new", "x"),
        percepts=[Percept(text="f", turn=2)],
        claude_session_id="c",
    )
    changing = resumed.handoff().changing
    assert (
        "since your last turn, oldest first" in changing and "Facts recorded since your last turn" in changing
    )


def test_facts_are_told_newest_first_and_each_once() -> None:
    made = session(
        percepts=[Percept(text=t, turn=n) for n, t in enumerate(("one", "two", "one", "  "))],
        directory_percepts=["elsewhere", "two"],
    )
    assert dict(sections(made.handoff()))["percepts"] == "- one\n- two\n- elsewhere"


def test_facts_take_at_most_2048_characters_and_the_newest_stay() -> None:
    made = session(percepts=[Percept(text=f"fact {n} " + "x" * 600, turn=1) for n in range(50)])
    part = made.handoff().parts[-1]
    assert part.name == "percepts" and PERCEPTS_BUDGET - 600 < part.chars <= PERCEPTS_BUDGET == 2048
    assert "fact 49" in part.text and "fact 4 " not in part.text


def test_a_gauge_adds_up_to_the_hand_off_it_shows() -> None:
    made = full_session()
    handoff = made.handoff()
    gauge = made.gauge(prompt_chars=42)
    assert [(s.name, s.chars, s.budget) for s in gauge.segments] == [
        (p.name, p.chars, p.budget) for p in handoff.parts
    ]
    assert gauge.chars == handoff.chars and gauge.prompt_chars == 42 and gauge.chars <= gauge.limit
    assert gauge.history_chars == len("questionanswer")


def test_what_the_user_sees_is_what_claude_is_told() -> None:
    made = full_session()
    bodies = dict(sections(made.handoff()))
    assert bodies["local_summary"] == made.bricks().local_summary.text
    assert bodies["current_need"] == made.bricks().need.text
