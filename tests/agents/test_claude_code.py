"""The Claude Code agent with the real CLI: what reaches Claude, and with what it is started."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents.claude.pieces import CONTEXT_LIMIT, pieces
from milk_tui.core.events import AgentEvent, UsageReported
from tests.agents.claude_environment import (
    Stage,
    claude_stage,
    events_of,
    failure_of,
    handed,
    is_finished,
    session_of,
    text_of,
    until,
)
from tests.agents.messages_api import Hang, Request, Say


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


def plain(value: Any) -> Any:
    """A request's content without the marks that move with every request: cache marks, and text as a list of one."""
    if isinstance(value, list):
        parts = [plain(part) for part in value]
        is_text = len(parts) == 1 and isinstance(parts[0], dict) and parts[0].get("type") == "text"
        return parts[0]["text"] if is_text else parts
    if isinstance(value, dict):
        return {
            name: plain(part)
            for name, part in value.items()
            if name not in ("cache_control", "output_config")
        }
    return value


def assert_prefix_kept(first: Request, later: Request) -> None:
    """Everything that the first request held is at the beginning of the later one, byte for byte."""
    assert later.system_blocks[1:] == first.system_blocks[1:]
    assert [plain(m) for m in later.messages[: len(first.messages)]] == [plain(m) for m in first.messages]


def is_delta(event: AgentEvent) -> bool:
    return event.type == "text_delta"


async def test_the_first_hand_off_stands_behind_claudes_own_prompt_word_for_word(stage: Stage) -> None:
    stage.api.play(Say("Understood.", thinking="Let me see."))
    handoff = handed("Standing: `code`, ünïcode 🧀,\n  indented.", "Changing: the need.\n- [ ] a box")
    events = await events_of(stage.agent(), stage.request("- [ ] do it", handoff=handoff))
    assert is_finished(events) and text_of(events) == "Understood."
    request = stage.api.last
    assert f"{handoff.standing}\n\n{handoff.changing}" in request.system
    assert request.system.index(handoff.standing) > 3_000
    assert plain(request.messages[0]["content"])[-1]["text"] == "- [ ] do it"
    kinds = [event.type for event in events if event.type != "context_measured"]
    assert kinds[:3] == ["agent_ready", "step_started", "thinking_delta"]
    assert kinds[-2:] == ["usage_reported", "agent_finished"]


async def test_a_long_context_is_in_no_argument_and_its_file_is_private_and_goes(stage: Stage) -> None:
    stage.api.play(Hang("a"))
    handoff = handed("s" * 200_000, "secret plans")
    files: list[Path] = []

    async def look() -> None:
        (pid,) = stage.pids("--append-system-prompt-file")
        argv = stage.argv(pid)
        assert max(map(len, argv)) < 1_000 and not any("secret plans" in argument for argument in argv)
        file = Path(argv[argv.index("--append-system-prompt-file") + 1])
        assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
        files.append(file)

    await until(stage.agent(), stage.request(handoff=handoff), is_delta, look)
    assert handoff.standing in stage.api.last.system
    assert files and not files[0].parent.exists()


async def test_a_prompt_is_text_and_neither_a_command_nor_a_file_mention(stage: Stage) -> None:
    (stage.cwd / "private.txt").write_text("what the file holds")
    (stage.cwd / "CLAUDE.md").write_text("The project's own rules.")
    prompt = "/clear and read @private.txt"
    await events_of(stage.agent(), stage.request(prompt, handoff=handed()))
    assert prompt in stage.api.last.said
    assert "what the file holds" not in stage.api.last.said
    assert "The project's own rules." in stage.api.last.said


async def test_a_follow_up_goes_to_the_same_process_and_repeats_nothing(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("one", handoff=handed(changing="THE-NEED")))
    pids = stage.pids()
    events = await events_of(agent, stage.request("two", preface="Context.", resume_id=session_of(first)))
    assert is_finished(events) and stage.pids() == pids
    before, after = stage.api.requests
    assert_prefix_kept(before, after)
    assert json.dumps(after.body).count("THE-NEED") == 1
    assert plain(after.messages[-1]["content"]) == "Context.\n\ntwo"


async def test_a_later_hand_off_brings_what_changed_and_keeps_every_earlier_byte(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("one", handoff=handed(changing="OLD-NEED")))
    old_pids = stage.pids()
    await agent.close()
    assert stage.pids() == []
    lines = [f"{number}: " + "örtlich 🧀 " * 20 for number in range(130)]
    changing = "NEW-NEED\n" + "\n".join(lines) + "\n" + "x" * 12_000 + "END"
    later = handed(changing=changing, situation="resume")
    events = await events_of(agent, stage.request("two", handoff=later, resume_id=session_of(first)))
    assert is_finished(events) and session_of(events) == session_of(first)
    assert stage.pids() != old_pids
    before, after = stage.api.requests
    assert_prefix_kept(before, after)
    said = after.said
    places = [said.find(line) for line in ["NEW-NEED", *lines]]
    assert -1 not in places and places == sorted(places)
    assert said.count("x" * 2_000) and said.count("END") == 1
    assert (
        sum(run.count("x") for run in said[said.index(lines[-1]) :].split() if set(run) <= set("xEND"))
        == 12_000
    )
    follow = await events_of(agent, stage.request("three"))
    assert is_finished(follow) and stage.api.last.said.count("NEW-NEED") == 1


async def test_a_restarted_program_resumes_claudes_session_and_knows_its_cost(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("one", handoff=handed()))
    await agent.close()
    resumed = stage.request("two", handoff=handed(situation="resume"), resume_id=session_of(first))
    events = await events_of(stage.agent(), resumed)
    assert "one" in stage.api.last.said
    (cost,) = [event.usage.cost_usd for event in events if isinstance(event, UsageReported)]
    assert cost


async def test_usage_is_the_turns_own_share_of_a_growing_total(stage: Stage) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50}
    stage.api.play(Say("one", usage=usage, output_tokens=7), Say("two", usage=usage, output_tokens=7))
    agent = stage.agent()
    turns = [await events_of(agent, stage.request(handoff=handed())), await events_of(agent, stage.request())]
    reports = [event.usage for events in turns for event in events if isinstance(event, UsageReported)]
    assert [(u.input_tokens, u.cached_tokens, u.output_tokens) for u in reports] == [(1_050, 900, 7)] * 2
    assert reports[0].cost_usd and reports[1].cost_usd == pytest.approx(reports[0].cost_usd)
    assert all(usage.context_tokens == 1_057 and usage.window for usage in reports)


async def test_one_claude_session_has_one_user_at_a_time(stage: Stage) -> None:
    agent, other = stage.agent(), stage.agent()
    session = session_of(await events_of(agent, stage.request(handoff=handed())))
    resumed = stage.request(handoff=handed(situation="resume"), resume_id=session)
    failure = failure_of(await events_of(other, resumed))
    assert failure.kind == "refused" and session in failure.sentence
    await agent.close()
    assert is_finished(await events_of(other, resumed))


async def test_without_a_lock_the_session_is_not_touched(stage: Stage) -> None:
    (stage.root / "locks").write_text("in the way")
    resumed = stage.request(handoff=handed(situation="resume"), resume_id="some-session")
    failure = failure_of(await events_of(stage.agent(), resumed))
    assert failure.kind == "refused" and str(stage.root / "locks") in failure.sentence
    assert stage.pids() == []


async def test_claude_does_not_learn_that_it_runs_inside_another(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = [
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_SIMPLE",
        "AI_AGENT",
    ]
    for name in nested:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "9000")
    await events_of(stage.agent(), stage.request(handoff=handed()))
    (pid,) = stage.pids("stream-json")
    environ = stage.environ(pid)
    assert not set(nested) & set(environ)
    assert environ["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "9000" and environ["CLAUDE_CODE_MAX_RETRIES"] == "3"
    assert "Bash" in [tool["name"] for tool in stage.api.last.body["tools"]]


async def test_an_answer_of_ten_megabytes_in_one_line_is_read(stage: Stage) -> None:
    text = "0123456789" * 1_000_000
    stage.api.play(Say(text, step=len(text)))
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert is_finished(events) and text_of(events) == text


def test_pieces_are_the_text_and_break_after_lines() -> None:
    text = "".join(f"line {number}\n" for number in range(3_000)) + "e\u0301" * CONTEXT_LIMIT
    parts = pieces(text, CONTEXT_LIMIT)
    assert "".join(parts) == text and max(map(len, parts)) <= CONTEXT_LIMIT
    assert parts[0].endswith("\n") and parts[1].endswith("\n")
    assert not any(part.startswith("\u0301") for part in parts)
    assert pieces("", CONTEXT_LIMIT) == []


async def test_after_a_close_the_stay_before_is_forgotten(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("of one session", handoff=handed()))
    await agent.close()
    other = await events_of(agent, stage.request("of another"))
    assert session_of(other) != session_of(first) and "of one session" not in stage.api.last.said
