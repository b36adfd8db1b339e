"""How turns of Claude Code fail: each with its own kind and sentence, and none of them is the agent's last."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from milk_tui.agents.claude import connection as claude_connection
from milk_tui.agents.claude.process import claude_facts, find_cli, leave_outer_session, masked
from milk_tui.core.errors import FailureKind
from milk_tui.core.events import AgentEvent, Noticed, RetryScheduled
from milk_tui.core.permission import Answer
from tests.agents.claude_environment import (
    DUMMY_KEY,
    Stage,
    claude_stage,
    events_of,
    failure_of,
    handed,
    is_finished,
    session_of,
    soon,
    text_of,
    until,
)
from tests.agents.claude_stub import answer, init, result, script, stub
from tests.agents.messages_api import Answer as Scripted
from tests.agents.messages_api import Hang, Refuse, Say, UseTool

UNKNOWN = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


@pytest.mark.parametrize(
    ("refusal", "kind", "words", "retries"),
    [
        (Refuse(401, "bad key", "authentication_error"), "refused", "bad key", 1),
        (Refuse(429, "slow down", "rate_limit_error", retry_after=1), "rate_limited", "slow down", 1),
        (Refuse(500, "boom"), "server", "boom", 1),
        (Refuse(400, "prompt is too long: 300000 tokens > 200000 maximum"), "context_full", "too long", 0),
    ],
    ids=["401", "429", "500", "context"],
)
async def test_what_the_api_refuses_is_told_in_its_words_with_every_retry(
    stage: Stage, refusal: Scripted, kind: FailureKind, words: str, retries: int
) -> None:
    agent = stage.agent(max_retries=1)
    stage.api.play(*[refusal] * (retries + 1))
    events = await events_of(agent, stage.request("first", handoff=handed()))
    failure = failure_of(events)
    assert failure.kind == kind and words in failure.sentence and failure.remedy
    assert [event.of for event in events if isinstance(event, RetryScheduled)] == [1] * retries
    assert text_of(events) == ""
    again = await events_of(agent, stage.request("second", resume_id=session_of(events)))
    assert is_finished(again) and "first" in stage.api.last.said


async def test_a_stream_that_breaks_is_begun_again_and_no_word_is_said_twice(stage: Stage) -> None:
    stage.api.play(Hang("The answer is"), Say("The answer is forty-two."))
    events: list[AgentEvent] = []
    async with aclosing(stage.agent().run(stage.request(handoff=handed()))) as turn:
        async for event in turn:
            events.append(event)
            if text_of(events) == "The answer is":
                stage.api.release()
    assert "step_voided" in [event.type for event in events]
    assert text_of(events) == "The answer is forty-two." and is_finished(events)


async def test_without_a_server_the_failure_says_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    agent = stage.agent(max_retries=1)
    failure = failure_of(await events_of(agent, stage.request(handoff=handed())))
    assert failure.kind == "unreachable" and "ANTHROPIC_BASE_URL" in failure.remedy
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stage.api.url)
    assert is_finished(await events_of(agent, stage.request(handoff=handed())))


async def test_without_a_login_nothing_is_sent_and_the_remedy_is_named(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    agent = stage.agent()
    failure = failure_of(await events_of(agent, stage.request(handoff=handed())))
    assert failure.kind == "refused" and "Not logged in" in failure.sentence and "log in" in failure.remedy
    assert stage.api.requests == []
    facts = await claude_facts()
    assert not facts.is_logged_in and facts.credential == "" and "log in" in facts.problem
    monkeypatch.setenv("ANTHROPIC_API_KEY", DUMMY_KEY)
    assert is_finished(await events_of(agent, stage.request(handoff=handed())))


async def test_a_killed_claude_is_named_its_tools_go_with_it_and_the_session_lives(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("first", handoff=handed()))
    stage.api.play(UseTool("Bash", {"command": "tail -f /dev/null > block.txt"}))
    stage.asked.answers = [Answer(decision="once")]
    events: list[AgentEvent] = []
    async with aclosing(agent.run(stage.request("second"))) as turn:
        async for event in turn:
            events.append(event)
            if event.type == "tool_call_started":
                await soon(lambda: stage.pids("/dev/null > block.txt"))
                os.kill(stage.pids("stream-json")[0], signal.SIGKILL)
    failure = failure_of(events)
    assert failure.kind == "died" and "signal 9" in failure.sentence
    assert stage.pids() == []
    again = await events_of(agent, stage.request("third"))
    assert is_finished(again) and session_of(again) == session_of(first) and "second" in stage.api.last.said


@pytest.mark.parametrize("session", [UNKNOWN, "--help", "no such title"])
async def test_a_session_that_is_gone_is_told_apart_and_a_first_hand_off_works(
    stage: Stage, session: str
) -> None:
    agent = stage.agent()
    resumed = stage.request(handoff=handed(situation="resume"), resume_id=session)
    assert failure_of(await events_of(agent, resumed)).kind == "unknown_session"
    assert is_finished(await events_of(agent, stage.request(handoff=handed())))


async def test_programs_that_are_not_claude_code_are_told_apart(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_connection, "START_SECONDS", 1.0)

    async def failure(cli: str) -> tuple[FailureKind, str]:
        found = failure_of(await events_of(stage.agent(cli_path=cli), stage.request(handoff=handed())))
        assert found.remedy
        return found.kind, found.sentence

    plain = stage.root / "plain.txt"
    plain.write_text("no program")
    gone = str(stage.root / "gone")
    assert await failure(gone) == ("missing", f"There is no Claude Code at {gone}.")
    assert await failure(str(plain)) == ("missing", f"{plain} cannot be run: Permission denied.")
    kind, sentence = await failure(
        script(stage.root / "ends", "echo the disk is full sk-ant-secret99 >&2; exit 3")
    )
    assert kind == "died" and "the disk is full [secret]" in sentence
    assert (await failure(script(stage.root / "quits", "exit 0")))[0] in ("died", "silent")
    kind, sentence = await failure(script(stage.root / "mute", "echo reading >&2; cat > /dev/null"))
    assert kind == "silent" and "did not get ready" in sentence and "reading" in sentence
    kind, sentence = await failure(script(stage.root / "garbage", "echo '{garbage'; cat > /dev/null"))
    assert kind == "protocol" and "does not answer as Claude Code does" in sentence


async def test_a_directory_that_is_gone_is_named(stage: Stage) -> None:
    failure = failure_of(await events_of(stage.agent(), stage.request(handoff=handed(), cwd="/gone/away")))
    assert failure.kind == "missing" and "/gone/away" in failure.sentence


async def test_an_end_without_a_result_is_no_answer(stage: Stage) -> None:
    agent = stage.agent(cli_path=stub(stage.root / "stub", [init(), answer("half"), "exit 0"]))
    events = await events_of(agent, stage.request(handoff=handed()))
    assert failure_of(events).kind == "lost" and text_of(events) == "half"


async def test_an_exit_in_the_middle_is_told_with_its_status_and_last_words(stage: Stage) -> None:
    agent = stage.agent(cli_path=stub(stage.root / "stub", [init(), answer("half"), "exit 3"]))
    failure = failure_of(await events_of(agent, stage.request(handoff=handed())))
    assert (
        failure.kind == "died"
        and "exit status 3" in failure.sentence
        and "the last words" in failure.sentence
    )


async def test_thrashing_is_a_full_context_and_its_words_are_no_answer(stage: Stage) -> None:
    words = "Autocompact is thrashing: the context refilled to the limit within 3 turns."
    turn = [init(), answer(words), result(is_error=True, result=words)]
    events = await events_of(
        stage.agent(cli_path=stub(stage.root / "stub", turn)), stage.request(handoff=handed())
    )
    assert failure_of(events).kind == "context_full" and text_of(events) == ""


async def test_a_message_over_the_limit_fails_visibly_and_the_next_prompt_is_answered(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_connection, "LINE_LIMIT", 100_000)
    cli = stub(stage.root / "stub", [init(), answer("x" * 200_000), result()])
    agent = stage.agent(cli_path=cli)
    failure = failure_of(await events_of(agent, stage.request(handoff=handed())))
    assert failure.kind == "protocol" and "too large" in failure.sentence
    stub(stage.root / "stub", [init(), answer("fine"), result()])
    assert text_of(await events_of(agent, stage.request())) == "fine"


async def test_late_words_of_a_stopped_turn_never_reach_the_next_one(stage: Stage) -> None:
    late = (0.3, answer("late", "m2"), result(is_error=True, user_message_uuid=None))
    turns = [init(), answer("early")], [init(), answer("second"), result()]
    agent = stage.agent(cli_path=stub(stage.root / "stub", *turns, interrupted=late))
    await until(agent, stage.request(handoff=handed()), lambda event: event.type == "text_delta")
    assert text_of(await events_of(agent, stage.request())) == "second"


async def test_a_claude_that_does_not_stop_is_ended_and_another_answers(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_connection, "STOP_SECONDS", 0.3)
    cli = stub(stage.root / "stub", [init(), answer("early")], [init(), answer("late"), result()])
    agent = stage.agent(cli_path=cli)
    await until(agent, stage.request(handoff=handed()), lambda event: event.type == "text_delta")
    assert stage.pids() == []
    stub(stage.root / "stub", [init(), answer("second"), result()])
    assert text_of(await events_of(agent, stage.request())) == "second"


async def test_what_claude_does_unasked_between_turns_is_told_and_answers_no_prompt(stage: Stage) -> None:
    injected = {"user_message_uuid": None, "origin": {"kind": "task-notification"}}
    first = [init(), answer("first"), result(), answer("The build is done.", "m2"), result(**injected)]
    second = [result(**injected), answer("second", "m3"), result()]
    agent = stage.agent(cli_path=stub(stage.root / "stub", first, second))
    assert text_of(await events_of(agent, stage.request(handoff=handed()))) == "first"
    connection = agent._connection
    assert connection is not None
    await soon(lambda: connection._items.qsize() == 2)
    events = await events_of(agent, stage.request())
    assert [event.text for event in events if isinstance(event, Noticed)] == [
        "Meanwhile Claude said, unasked: The build is done."
    ]
    assert text_of(events) == "second"


async def test_the_facts_name_the_credential_and_never_its_value(stage: Stage) -> None:
    facts = await claude_facts()
    assert (facts.place, facts.is_logged_in, facts.problem) == ("bundled", True, "")
    assert facts.credential == "the API key from ANTHROPIC_API_KEY" and facts.version
    assert DUMMY_KEY not in facts.model_dump_json()
    assert stage.api.requests == stage.api.side == []


async def test_the_facts_of_what_is_no_claude_code_name_the_problem(stage: Stage) -> None:
    other = await claude_facts(script(stage.root / "other", "echo hello"))
    assert "does not answer as Claude Code does" in other.problem
    assert "cannot be run" in (await claude_facts("/gone/claude")).problem


def test_the_program_that_is_set_wins() -> None:
    assert find_cli("/set/claude") == ("/set/claude", "setting")
    assert find_cli(None)[1] == "bundled"


def test_only_what_marks_an_outer_session_is_forgotten() -> None:
    kept = {
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CONFIG_DIR": "d",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "CLAUDE_CODE_USE_BEDROCK": "1",
    }
    outer = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_MESSAGING_TOKEN": "x",
        "CLAUDE_PID": "1",
        "CLAUDE_CODE_SSE_PORT": "1",
    }
    environ = {**kept, **outer}
    leave_outer_session(environ)
    assert environ == kept


def test_a_line_that_is_shown_holds_no_secret_and_moves_no_cursor() -> None:
    line = "\x1b[31mkey sk-ant-abc12345 or hunter2hunter2, Bearer abcdef.123456"
    assert masked(line, {"MY_TOKEN": "hunter2hunter2"}) == "key [secret] or [secret], [secret]"
