"""Sessions of Claude Code's: what becomes of each kind of record."""

from pathlib import Path

import pytest

from milk_tui.core.messages import Turn
from milk_tui.storage.importing.claude_reader import SUMMARIZED
from milk_tui.storage.importing.claude_records import prompt_of
from milk_tui.storage.importing.claude_session import claude_session
from milk_tui.storage.importing.found import Found
from milk_tui.storage.importing.source import LINE_LIMIT, SourceError
from milk_tui.storage.importing.turn_maker import WITHOUT_PROMPT
from tests.storage.importing.claude_file import BEGAN, CWD, SESSION, ClaudeFile, call, result, said


@pytest.fixture
def file() -> ClaudeFile:
    return ClaudeFile()


def read(file: ClaudeFile, root: Path) -> tuple[Found, list[Turn]]:
    found = claude_session(file.write(root))
    return found, list(found.turns)


def prompts(turns: list[Turn]) -> list[str]:
    return [turn.prompt for turn in turns]


def test_prompts_answers_thinking_calls_and_results_become_turns_of_claude(
    file: ClaudeFile, tmp_path: Path
) -> None:
    file.user("fix add()")
    file.assistant("m1", {"type": "thinking", "thinking": "hm", "signature": "x"})
    file.assistant("m1", said("I look."))
    file.assistant("m1", call("c1", "Read", file_path="calc.py"))
    file.user(result("c1", [said("return a - b"), {"type": "image", "source": {"media_type": "image/png"}}]))
    file.assistant("m2", call("c2", command="pytest"))
    file.user(result("c2", "Exit code 1", is_error=True))
    file.assistant("m3", said("Fixed."))
    file.user([said("thanks"), {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}])
    file.assistant("m4", said("Gladly."))
    found, (first, second) = read(file, tmp_path)

    assert (first.agent, first.status, first.model) == ("claude", "finished", "claude-x")
    asked, looked, seen, ran, failed, done = first.messages
    assert (asked.role, asked.text) == ("user", "fix add()")
    assert (looked.text, looked.thinking, looked.calls[0].parsed()) == (
        "I look.",
        "hm",
        {"file_path": "calc.py"},
    )
    assert seen.result is not None and seen.result.text == "return a - b\n[image: image/png]"
    assert [c.name for c in ran.calls] == ["Bash"]
    assert failed.result is not None and (failed.result.text, failed.result.is_error) == ("Exit code 1", True)
    assert done.text == "Fixed."
    assert (first.usage.input_tokens, first.usage.cached_tokens, first.usage.output_tokens) == (309, 300, 21)
    assert (second.prompt, second.answer) == ("thanks\n[image: image/png]", "Gladly.")
    assert first.ended_at is not None
    assert ((first.started_at - BEGAN).seconds, (first.ended_at - first.started_at).seconds) == (1, 7)
    assert (found.state.cwd, found.state.floor, found.used_at) == (CWD, "local", file.at)
    assert found.state.id == found.state.claude_session_id == SESSION
    assert +found.left_out == {}


def test_the_branch_of_the_last_message_is_the_conversation(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("first")
    fork = file.assistant("m1", said("one"))
    file.user("a way that was left")
    file.assistant("m2", said("gone"))
    file.user("the way that was taken", after=fork)
    file.assistant("m3", said("kept"))
    found, turns = read(file, tmp_path)
    assert prompts(turns) == ["first", "the way that was taken"]
    assert +found.left_out == {"messages of branches that were left": 2}


def test_parallel_calls_keep_all_their_results(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("look everywhere")
    one = file.assistant("m1", call("c1", "Read", file_path="a"))
    two = file.assistant("m1", call("c2", "Read", file_path="b"))
    three = file.assistant("m1", call("c3", "Read", file_path="c"))
    file.user(result("c1", "A"), after=one)
    file.user(result("c3", "C"), after=three)
    file.user(result("c2", "B"), after=two)
    file.assistant("m2", said("Done."))
    _, (turn,) = read(file, tmp_path)
    results = {m.result.call_id: m.result.text for m in turn.messages if m.result}
    assert results == {"c1": "A", "c2": "B", "c3": "C"}
    assert [c.id for c in turn.calls] == ["c1", "c2", "c3"]
    assert (turn.answer, turn.status) == ("Done.", "finished")


def test_a_summary_of_what_is_there_is_left_out_and_what_it_followed_is_kept(
    file: ClaudeFile, tmp_path: Path
) -> None:
    file.user("before")
    last = file.assistant("m1", said("early"))
    file.record("system", subtype="compact_boundary", after=None, logicalParentUuid=last)
    file.user("This session is being continued …", isCompactSummary=True)
    file.user("after")
    file.assistant("m2", said("late"))
    found, turns = read(file, tmp_path)
    assert prompts(turns) == ["before", "after"]
    assert +found.left_out == {"summaries of what is there in full": 1}


def test_a_summary_of_what_is_not_there_any_more_stands_for_it(file: ClaudeFile, tmp_path: Path) -> None:
    file.record("system", subtype="compact_boundary", after=None, logicalParentUuid="gone")
    file.user("We fixed the login.", isCompactSummary=True)
    file.user("after")
    file.assistant("m2", said("late"))
    _, turns = read(file, tmp_path)
    assert [(turn.prompt, turn.answer, turn.status) for turn in turns] == [
        (SUMMARIZED, "We fixed the login.", "finished"),
        ("after", "late", "finished"),
    ]


def test_sub_agents_and_unknown_kinds_are_left_out_and_counted(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("go")
    main = file.assistant("m1", call("c1", "Task", prompt="look"))
    file.user("look", isSidechain=True, after=None)
    file.assistant("side", said("sub"), isSidechain=True)
    file.user(result("c1", "found"), after=main)
    file.assistant("m2", said("Done."))
    file.raw({"type": "file-history-snapshot"})
    file.raw({"type": "hologram"})
    file.raw({"type": "hologram"})
    file.raw("[1, 2]")
    file.raw('{"type": "user", "uu')
    found, (turn,) = read(file, tmp_path)
    assert "sub" not in turn.answer and turn.prompt == "go"
    assert +found.left_out == {
        "records of sub-agents": 2,
        "records of the unknown kind hologram": 2,
        "damaged lines": 2,
    }


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>done</task-notification>",
        "<local-command-stdout>Compacted</local-command-stdout>",
        "<system-reminder>mind this</system-reminder>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "  ",
    ],
)
def test_what_claude_code_wrote_is_no_prompt(file: ClaudeFile, tmp_path: Path, text: str) -> None:
    file.user("go")
    file.assistant("m1", said("one"))
    file.user(text)
    file.assistant("m2", said("two"))
    _, (turn,) = read(file, tmp_path)
    assert (turn.prompt, turn.answer) == ("go", "one\n\ntwo")


def test_text_that_only_begins_like_a_mark_is_the_users(file: ClaudeFile) -> None:
    for text in ("<div>why does this overlap?</div>", "[Request interrupted by user] is what it says, why?"):
        prompt = prompt_of({}, [said(text)])
        assert prompt is not None and prompt.text == text


def test_a_prompt_loses_what_was_put_around_it(file: ClaudeFile, tmp_path: Path) -> None:
    file.user(
        [said("<ide_opened_file>a.py</ide_opened_file>"), said("go\n<system-reminder>x</system-reminder>")]
    )
    file.assistant("m1", said("one"))
    file.user("noted", isMeta=True)
    file.user("by machine", origin={"kind": "task-notification"})
    _, (turn,) = read(file, tmp_path)
    assert turn.prompt == "go"


def test_a_command_is_kept_only_if_claude_answered_it(file: ClaudeFile, tmp_path: Path) -> None:
    def command(name: str, arguments: str = "") -> str:
        return f"<command-name>{name}</command-name>\n<command-args>{arguments}</command-args>"

    file.user(command("/model"))
    file.user("<local-command-stdout>set</local-command-stdout>")
    file.user(command("/review", "the parser"))
    file.user("a long text that the command stands for", isMeta=True)
    file.assistant("m1", said("It is fine."))
    file.user("<bash-input>make</bash-input>")
    file.user("<bash-stdout>ok</bash-stdout>")
    found, turns = read(file, tmp_path)
    assert [(turn.number, turn.prompt) for turn in turns] == [(1, "/review the parser")]
    assert +found.left_out == {"commands that Claude did not answer": 2}


def test_how_a_turn_ended_is_kept(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("one")
    file.assistant("m1", said("half an ans"))
    file.user([said("[Request interrupted by user]")])
    file.user("two")
    file.assistant("m2", said("API Error: 529 overloaded"), isApiErrorMessage=True)
    file.user("three")
    file.assistant("m3", said("API Error: once"), isApiErrorMessage=True)
    file.assistant("m4", said("after all"))
    file.user("four")
    file.assistant("m5", call("c1", command="make"))
    _, (stopped, failed, recovered, cut) = read(file, tmp_path)
    assert (stopped.status, stopped.answer) == ("interrupted", "half an ans")
    assert failed.status == "failed" and failed.failure is not None
    assert failed.failure.sentence == "API Error: 529 overloaded"
    assert (recovered.status, recovered.answer, recovered.failure) == ("finished", "after all", None)
    assert cut.status == "interrupted"
    assert cut.messages[-1].result is not None and cut.messages[-1].result.call_id == "c1"


def test_a_prompt_given_while_claude_was_at_work_is_a_prompt(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("one")
    file.assistant("m1", call("c1", command="make"))
    file.user(result("c1"))
    file.record("attachment", attachment={"type": "queued_command", "prompt": "and lint it"})
    file.assistant("m2", said("Both done."))
    _, turns = read(file, tmp_path)
    assert [(turn.prompt, turn.status, turn.answer) for turn in turns] == [
        ("one", "finished", ""),
        ("and lint it", "finished", "Both done."),
    ]


def test_an_answer_to_nobody_gets_a_turn_of_its_own(file: ClaudeFile, tmp_path: Path) -> None:
    file.assistant("m1", said("Hello?"))
    _, (turn,) = read(file, tmp_path)
    assert (turn.prompt, turn.answer) == (WITHOUT_PROMPT, "Hello?")


def test_every_text_is_made_safe(file: ClaudeFile, tmp_path: Path) -> None:
    evil = "a\x1b[31m\x07b\u202e\ud800"
    clean = "ab\ufffd"
    file.raw({"type": "ai-title", "aiTitle": evil})
    file.user(evil)
    file.assistant("m1", {"type": "thinking", "thinking": evil}, said(evil), call("c1", evil, path=evil))
    file.user(result("c1", evil))
    file.assistant("m2", said(evil), isApiErrorMessage=True)
    found, (turn,) = read(file, tmp_path)
    asked, answered, got = turn.messages
    assert found.state.title == asked.text == answered.text == answered.thinking == clean
    assert (answered.calls[0].name, answered.calls[0].parsed()) == (clean, {"path": clean})
    assert got.result is not None and got.result.text == clean
    assert turn.failure is not None and turn.failure.sentence == clean


def test_the_users_title_goes_before_the_made_one(file: ClaudeFile, tmp_path: Path) -> None:
    file.raw({"type": "custom-title", "customTitle": "Mine"})
    file.raw({"type": "ai-title", "aiTitle": "Its"})
    file.user("go")
    found, _ = read(file, tmp_path)
    assert found.state.title == "Mine"


def test_the_directory_is_the_one_that_the_folder_is_named_after(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("go", cwd="/elsewhere")
    file.user("on", cwd=CWD)
    found, _ = read(file, tmp_path)
    assert found.state.cwd == CWD


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None], {"content": None}, {"content": [None, 7, {}]}])
def test_odd_values_in_any_field_lose_only_themselves(file: ClaudeFile, tmp_path: Path, odd: object) -> None:
    file.user("go")
    for kind in ("user", "assistant", "attachment", "system"):
        file.record(kind, message=odd, timestamp=odd, cwd=odd, origin={}, attachment=odd)
    file.record("assistant", message={"id": odd, "content": odd, "usage": odd, "model": odd})
    file.assistant("m1", said("fine"), {"type": odd}, call("c", "X"), timestamp="0001-01-01T00:00:00+14:00")
    _, turns = read(file, tmp_path)
    assert turns[0].prompt == "go" and turns[-1].answer.endswith("fine")


def test_a_circle_of_records_ends(file: ClaudeFile, tmp_path: Path) -> None:
    file.record("user", uuid="a", after="b", message={"content": "round"})
    file.record("user", uuid="b", after="a", message={"content": "and round"})
    file.record("assistant", uuid="c", after="b", message={"content": "x"})
    _, turns = read(file, tmp_path)
    assert prompts(turns) == ["round", "and round"]


def test_a_line_beyond_the_limit_is_left_out_and_counted(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("go")
    kept = file.last
    file.user("x" * (2 * LINE_LIMIT + 17))
    file.assistant("m1", said("fine"), after=kept)
    found, (turn,) = read(file, tmp_path)
    assert (turn.prompt, turn.answer) == ("go", "fine")
    assert +found.left_out == {"damaged lines": 1}


def test_a_last_line_that_is_still_being_written_is_named_so(file: ClaudeFile, tmp_path: Path) -> None:
    file.user("go")
    path = file.write(tmp_path)
    with path.open("a") as out:
        out.write('{"type": "assi')
    assert +claude_session(path).left_out == {"unfinished last lines": 1}


@pytest.mark.parametrize(
    "content", ["", "\n\n", "no json\n", '{"type": "mode"}\n', '{"resourceSpans": []}\n']
)
def test_a_file_without_messages_is_refused_with_a_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(content)
    with pytest.raises(SourceError, match=r"traces\.jsonl holds no messages of Claude Code\."):
        claude_session(path)
