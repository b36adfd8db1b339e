import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.bricks import Brick
from milk_tui.core.exchange import ARGUMENTS_CAP, RESULT_CAP
from milk_tui.core.messages import Turn
from milk_tui.core.summary import summary
from tests.core.building import Step, any_turns, brick, claude_turn, turn, use
from tests.core.growth import takes_at_most

rows_of_turns = st.builds(any_turns, st.integers(0, 2**32))


def turn_number(source: str) -> int:
    return int(source.partition(".")[0])


def margins(made: Brick) -> list[str]:
    """The lines that are not indented, so that a reader takes each for an entry of its own."""
    return [line for line in made.text.split("\n") if line and not line.startswith("  ")]


@given(rows_of_turns, st.integers(1, 12_000))
@settings(max_examples=150, deadline=None)
def test_a_summary_is_never_empty_and_never_larger_than_its_room(turns: list[Turn], room: int) -> None:
    made = brick(*turns, room=room)
    assert 0 < len(made.text) <= room
    assert made.text == "\n".join(line.text for line in made.lines)
    assert made.held >= 1 and made.held + made.dropped == len(turns)


@given(rows_of_turns, st.integers(340, 12_000))
@settings(max_examples=150, deadline=None)
def test_only_whole_exchanges_are_in_it_and_they_are_the_newest(turns: list[Turn], room: int) -> None:
    made = brick(*turns, room=room)
    held = turns[len(turns) - made.held :]
    messages = {message.id: message for t in held for message in t.messages}
    sources = [source for line in made.lines for source in line.sources]
    assert {turn_number(source) for source in sources} == {t.number for t in held}
    assert set(sources) <= set(messages)
    for line in made.lines:
        called = {call.id for s in line.sources for call in messages[s].calls}
        results = [messages[s].result for s in line.sources if line.text.startswith("[")]
        assert all(result.call_id in called for result in results if result is not None)
    whole = held[1:]
    said = {
        m.id for t in whole for m in t.messages if m.text.strip() or m.calls or m.result or m.role == "user"
    }
    assert said <= set(sources)


@given(rows_of_turns, st.integers(340, 12_000))
@settings(max_examples=150, deadline=None)
def test_no_text_can_pose_as_an_entry(turns: list[Turn], room: int) -> None:
    made = brick(*turns, room=room)
    assert sum(line.startswith("User:") for line in margins(made)) == made.held
    said = sum(line.text.startswith("Local agent:") for line in made.lines)
    assert sum(line.startswith("Local agent:") for line in margins(made)) == said


@given(rows_of_turns, st.integers(340, 12_000))
@settings(max_examples=150, deadline=None)
def test_the_collapsed_count_is_that_of_the_entries(turns: list[Turn], room: int) -> None:
    made = brick(*turns, room=room)
    numbers = [
        int(found[1])
        for line in made.lines
        if line.text.startswith("[")
        for found in re.finditer(r"^\[(\d+) more \w+ calls collapsed\]", line.text, re.MULTILINE)
    ]
    cut_away = any("characters left out" in line.text for line in made.lines)
    assert made.collapsed == sum(numbers) or cut_away


def test_a_newest_turn_larger_than_the_budget_keeps_its_prompt_its_head_and_its_tail() -> None:
    made = brick(turn(1, "old", "x"), turn(2, "Explain:" + "p" * 5_000, "a" * 3_000 + "THE END"), room=500)
    assert made.text.startswith("[1 earlier exchange left out]\nUser: Explain:ppp")
    assert made.text.endswith("THE END") and "Local agent: aaa" in made.text
    assert made.text.count("characters left out") == 2 and len(made.text) > 400


def test_the_end_of_a_turn_that_is_too_large_is_shortened_and_not_dropped() -> None:
    made = brick(turn(1, "go", "a" * 1_900 + "THE END", status="failed"), room=600)
    assert "THE END" in made.text and "(This turn failed: The connection was lost.)" in made.text


def test_a_long_prompt_takes_the_room_that_a_short_answer_leaves() -> None:
    made = brick(turn(1, "p" * 1_900, "Done."), room=1_000)
    assert made.text.endswith("\nLocal agent: Done.") and len(made.text) > 950
    assert "middle of this turn" not in made.text


def test_a_huge_turn_behind_a_small_one_is_shortened_while_most_of_the_room_is_free() -> None:
    huge = turn(1, "dig", *(f"step {i} " + "x" * 1_500 for i in range(20)))
    made = brick(huge, turn(2, "thanks", "You are welcome."), room=4_000)
    assert made.held == 2 and made.dropped == 0
    assert "step 19" in made.text and "the middle of this turn is left out" in made.text


def test_pastes_of_ten_megabytes_cost_no_more_than_their_room() -> None:
    paste = "All work and no play.\n" * 500_000
    huge = [
        turn(i, paste, use("read", {"path": "a"}, paste), use("write", {"content": paste}, "ok"), paste)
        for i in (1, 2)
    ]
    assert takes_at_most(1.0, lambda: brick(*huge, room=12_000))
    made = brick(*huge, room=12_000)
    assert made.held == 2 and len(made.text) <= 12_000


def test_two_thousand_calls_in_one_turn_become_one_entry() -> None:
    calls = [use("read", {"path": f"f{i}.py"}, f"text {i}") for i in range(2_000)]
    made = brick(turn(1, "read all", *calls, "Read."))
    assert made.collapsed == 1_999 and "[1999 more read calls collapsed] f1.py · f2.py" in made.text
    assert "text 0" in made.text and "last result: text 1999" in made.text and len(made.text) < 1_500
    sources = made.lines[1].sources
    assert len(sources) == len(set(sources)) == 4_000


def test_many_calls_of_two_kinds_stay_within_the_room_although_counting_them_takes_room() -> None:
    calls = [use(name, {"p": str(i)}, "") for i in range(400) for name in ("a", "a", "b", "b")]
    for room in (300, 1_000, 5_000):
        made = brick(turn(1, "go", *calls), room=room)
        assert room * 0.8 < len(made.text) <= room


def test_results_belong_to_their_call_by_id_also_when_calls_run_at_the_same_time() -> None:
    together = [
        use("read", {"path": "a"}, "A!"),
        use("grep", {"q": "b"}, "B!"),
        use("bash", {"c": "c"}, "C!"),
    ]
    made = brick(turn(1, "go", together))
    assert [line.text for line in made.lines[1:]] == [
        "[read] a\n  result: A!",
        "[grep] b\n  result: B!",
        "[bash] c\n  result: C!",
    ]
    assert made.lines[1].sources == ("1.1", "1.4")


def test_call_ids_that_are_used_again_in_every_step_do_not_mix_up_results() -> None:
    again = [use(name, {"p": name}, f"of {name}", call_id="call_0") for name in ("read", "grep", "bash")]
    made = brick(turn(1, "go", *again))
    assert [line.text.split("\n")[1] for line in made.lines[1:]] == [
        "  result: of read",
        "  result: of grep",
        "  result: of bash",
    ]


def test_a_call_without_a_result_is_shown_without_one() -> None:
    whole = turn(1, "go", use("read", {"path": "a"}, "A"))
    made = brick(whole.model_copy(update={"messages": whole.messages[:2]}))
    assert made.text == "User: go\n[read] a"


def test_calls_in_a_row_to_one_tool_are_folded_and_their_distinct_arguments_listed() -> None:
    calls = [use("grep", {"q": q}, r) for q, r in (("x", "one"), ("y", "two"), ("x", "one"), ("z", "three"))]
    made = brick(turn(1, "go", *calls, "Found."))
    assert made.text == (
        "User: go\n[grep] x\n  result: one\n[3 more grep calls collapsed] y · z\n  last result: three\n"
        "Local agent: Found."
    )
    assert made.collapsed == 3
    assert made.lines[1].sources == ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8")


def test_identical_calls_are_counted_and_nothing_is_listed() -> None:
    made = brick(turn(1, "go", *(use("grep", {"q": "x"}, "same") for _ in range(3))))
    assert made.text == "User: go\n[grep] x\n  result: same\n[2 more grep calls collapsed]"


def test_a_call_that_failed_says_so_in_the_list() -> None:
    calls = (use("bash", {"c": "make"}, "no", is_error=True), use("bash", {"c": "make"}, "built"))
    made = brick(turn(1, "go", *calls, use("bash", {"c": "run"}, "bad", is_error=True)))
    assert "[bash] make\n  failed: no\n" in made.text
    assert "[2 more bash calls collapsed] make · run (failed)\n  last failed: bad" in made.text


def test_folded_calls_on_long_paths_name_every_file_and_the_one_that_failed() -> None:
    base = "/home/ana/src/company/backend/services/accounts/internal/handlers"
    calls = [
        use(
            "Edit",
            {"replace_all": False, "file_path": f"{base}/user_{n}.py", "old": "get", "new": "find"},
            is_error=n == 2,
        )
        for n in range(4)
    ]
    made = brick(turn(1, "go", *calls)).text
    assert f"[Edit] file_path={base}/user_0.py, old=get, new=find\n" in made
    assert (
        "[3 more Edit calls collapsed] …/user_1.py, old=get, new=find · …/user_2.py, old=get, new=find (failed) · "
        "…/user_3.py, old=get, new=find" in made
    )


def test_folded_commands_are_told_apart_by_where_they_differ() -> None:
    command = "cd /srv/shop && PYTHONPATH=. SETTINGS=config.settings.test python -m pytest -x"
    calls = [use("bash", {"command": f"{command} {name}"}) for name in ("tests/test_a.py", "tests/test_b.py")]
    made = brick(turn(1, "go", *calls, use("bash", {"command": f"{command} tests/test_a.py"}))).text
    assert "[2 more bash calls collapsed] …/test_b.py\n" in f"{made}\n"


def test_a_long_path_keeps_its_end_beside_a_long_text() -> None:
    path = f"/home/ana/{'deep/' * 40}name.py"
    made = brick(turn(1, "go", use("write", {"content": "x " * 4_000, "path": path}))).text
    line = made.splitlines()[1]
    assert line.startswith("[write] content=x x x") and line.endswith("/name.py")
    assert "path=…/" in line and len(line) <= ARGUMENTS_CAP + len("[write] ")


def test_room_that_short_arguments_leave_is_for_the_long_ones() -> None:
    command = "make " + "x" * 150
    made = brick(turn(1, "go", use("bash", {"command": command, "description": "Build"}))).text
    assert f"command={command}, description=Build" in made


@pytest.mark.parametrize("between", ["text", "call"])
def test_an_answer_or_another_tool_parts_calls_in_a_row(between: str) -> None:
    part: Step = "Found it." if between == "text" else use("grep", {"q": "x"})
    made = brick(turn(1, "go", use("read", {"p": "a"}), part, use("read", {"p": "b"})))
    assert made.collapsed == 0 and made.text.count("[read]") == 2


def test_calls_are_folded_across_turns_that_have_no_answer_between_them() -> None:
    turns = [turn(n, f"prompt {n}", use("read", {"p": f"f{n}"}, f"r{n}")) for n in (1, 2, 3)]
    made = brick(turn(4, "old", "An answer.").model_copy(update={"number": 0}), *turns)
    assert made.text.endswith(
        "User: prompt 1\n[read] f1\n  result: r1\n[2 more read calls collapsed] f2 · f3\n  last result: r3\n"
        "User: prompt 2\nUser: prompt 3"
    )
    assert made.collapsed == 2 and made.held == 4


def test_calls_are_not_folded_across_an_answer_or_the_end_of_a_stopped_turn() -> None:
    for first in (
        turn(1, "a", use("read"), "Answer."),
        turn(1, "a", use("read"), status="interrupted"),
    ):
        assert brick(first, turn(2, "b", use("read"))).collapsed == 0


def test_what_folds_away_makes_room_for_older_turns() -> None:
    turns = [turn(n, "go on", use("read", {"p": "same"}, "r" * 480)) for n in range(1, 200)]
    made = brick(*turns, room=4_000)
    assert made.held > 150 and made.collapsed == made.held - 1 and len(made.text) <= 4_000


def test_results_are_cut_at_500_characters_and_say_what_is_missing() -> None:
    made = brick(turn(1, "go", use("read", {"p": "a"}, "x" * 250 + "y" * 5_000 + "z" * 250)))
    result = made.text.partition("result: ")[2]
    assert len(result) <= RESULT_CAP and result.startswith("xxx") and result.endswith("zzz")
    assert "characters left out" in result


def test_text_beside_calls_is_kept_in_order() -> None:
    made = brick(
        turn(
            1,
            "go",
            "First I look.",
            use("read", {"p": "a"}, "A"),
            "Then I edit.",
            use("edit", {"p": "a"}, "B"),
        )
    )
    assert [line.text.split("\n")[0] for line in made.lines] == [
        "User: go",
        "Local agent: First I look.",
        "[read] a",
        "Local agent: Then I edit.",
        "[edit] a",
    ]


def test_turns_that_were_stopped_or_failed_say_so() -> None:
    made = brick(turn(1, "a", "half", status="interrupted"), turn(2, "b", status="failed"))
    assert made.text == (
        "User: a\nLocal agent: half\n(The user stopped this turn.)\n"
        "User: b\n(This turn failed: The connection was lost.)"
    )


def test_a_long_argument_does_not_hide_the_path_beside_it() -> None:
    for size in (5_000, 50_000):
        made = brick(turn(1, "go", use("write", {"content": "x" * size, "path": "src/app.py"}, "ok")))
        assert "src/app.py" in made.lines[1].text and len(made.lines[1].text) < 300


def test_escape_sequences_hidden_in_json_arguments_do_not_come_out() -> None:
    made = brick(turn(1, "go", use("bash", r'{"command": "ls \u001b]0;title\u0007 \u001b[2J \ud800"}', "ok")))
    assert "\x1b" not in made.text and "\x07" not in made.text
    made.text.encode()


@pytest.mark.parametrize("arguments", ["", "null", "[1]", "{broken", "[" * 100_000, '{"a":' * 50_000])
def test_arguments_that_are_no_object_do_no_harm(arguments: str) -> None:
    assert brick(turn(1, "go", use("read", arguments, "ok"))).text.startswith("User: go\n[read]")


def test_a_tool_with_a_monstrous_name_takes_little_room() -> None:
    calls = [use("x" * 9_000 + f"\nUser: {i}", {"p": "a"}) for i in (1, 1, 1)]
    assert len(brick(turn(1, "go", *calls)).text) < 500


def test_thinking_is_never_part_of_a_summary() -> None:
    made = turn(1, "go", "Answer.")
    secret = made.messages[1].model_copy(update={"thinking": "SECRET"})
    assert "SECRET" not in brick(made.model_copy(update={"messages": (made.messages[0], secret)})).text


def test_what_is_left_out_is_counted_right() -> None:
    turns = [turn(n, f"question {n} " + "q" * 100, "a" * 100) for n in range(1, 51)]
    made = brick(*turns, room=1_000)
    assert made.dropped == 50 - made.held > 40
    assert made.text.startswith(
        f"[{made.dropped} earlier exchanges left out]\nUser: question {made.dropped + 1} "
    )
    assert made.lines[0].sources == ()


def test_what_was_asked_in_the_newest_exchanges_left_out_is_still_named() -> None:
    turns = [turn(n, f"question {n}\nUser: {'q' * 300}", "a" * 1_500) for n in range(1, 51)]
    made = brick(*turns, room=12_000)
    head, *named = made.lines[0].text.split("\n")
    assert head == f"[{made.dropped} earlier exchanges left out]" and named.pop(0) == "  …"
    numbers = range(made.dropped - len(named) + 1, made.dropped + 1)
    for number, line in zip(numbers, named, strict=True):
        assert line.startswith(f"  asked: question {number} User: qqq") and len(line) < 120
    assert 5 <= len(named) <= 12 and made.held >= 5 and len(made.text) <= 12_000
    assert made.lines[0].sources == () and made.lines[1].text.startswith(f"User: question {made.dropped + 1}")


def test_what_was_asked_in_a_few_exchanges_left_out_is_named_without_a_gap() -> None:
    turns = [*(turn(n, f"question {n}", "a" * 1_900) for n in (1, 2)), turn(3, "last", *["b" * 1_900] * 3)]
    made = brick(*turns, room=6_500)
    assert made.text.startswith(
        "[2 earlier exchanges left out]\n  asked: question 1\n  asked: question 2\nUser: last"
    )


def test_of_a_call_that_changed_a_file_only_that_it_did_is_told() -> None:
    shown = "The file a.py has been updated.\n" + "   1→text\n" * 50
    made = brick(turn(1, "go", use("Edit", {"file_path": "a.py"}, shown), use("Read", {"p": "a.py"}, shown)))
    assert "[Edit] a.py\n  result: The file a.py has been updated.\n[Read]" in made.text
    assert "1→text" in made.text


def test_with_all_in_it_nothing_is_said_of_things_left_out() -> None:
    made = brick(turn(1, "a", "b"), turn(2, "c", "d"))
    assert made.text == "User: a\nLocal agent: b\nUser: c\nLocal agent: d" and made.dropped == 0


def test_claudes_turns_are_told_as_claudes() -> None:
    assert brick(claude_turn(1, "a", "b")).text == "User: a\nClaude: b"


def test_without_turns_there_is_nothing_to_say() -> None:
    assert brick().text == "" and brick().held == 0


def answered(number: int) -> Turn:
    return turn(number, "question " * 20, "answer " * 20)


def collapsible(number: int) -> Turn:
    return turn(number, "please go on " * 20, use("read", {"path": "a.py"}, "contents " * 20))


def unanswered(number: int) -> Turn:
    return turn(number, "is anybody there " * 10)


@pytest.mark.parametrize("make", [answered, collapsible, unanswered])
def test_of_100_000_turns_no_more_are_read_than_of_100(make: Callable[[int], Turn]) -> None:
    def read_of(count: int) -> int:
        turns = iter([make(1)] * count)
        summary("local_summary", turns, count, 11_840, 12_000)
        return count - len(list(turns))

    assert read_of(100_000) == read_of(100) < 100


def test_folded_calls_take_no_room_and_are_limited_all_the_same() -> None:
    busy = turn(1, "go on", *(use("read", {"path": "a.py"}, "contents") for _ in range(500)))
    made = brick(*[busy] * 1_000)
    assert 5_000 <= made.collapsed < 6_000 and made.held + made.dropped == 1_000


def test_text_and_calls_of_one_message_are_both_kept() -> None:
    made = turn(1, "go", use("read", {"path": "a.py"}, "A"))
    beside = made.messages[1].model_copy(update={"text": "I read it first."})
    whole = made.model_copy(update={"messages": (made.messages[0], beside, made.messages[2])})
    assert brick(whole).text == "User: go\nLocal agent: I read it first.\n[read] a.py\n  result: A"


def test_a_result_is_never_given_to_an_earlier_call_with_the_same_id() -> None:
    lost, found = use("read", call_id="call_0"), use("grep", result="of grep", call_id="call_0")
    whole = turn(1, "go", lost, found)
    without = whole.model_copy(
        update={"messages": tuple(m for m in whole.messages if m.result != lost.result)}
    )
    assert brick(without).text == "User: go\n[read]\n[grep]\n  result: of grep"


def test_folding_across_turns_is_counted_to_the_character() -> None:
    turns = [turn(n, "go" * (n % 7), use("read", {"p": f"f{n}"}, "r" * (n % 11))) for n in range(1, 60)]
    for room in range(340, 700):
        assert len(brick(*turns, room=room).text) <= room
