"""The turns of the real Claude Code: what may run, how one is stopped, what is said of silence."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from milk_tui.core.events import AgentEvent, Silent
from milk_tui.core.permission import Answer
from tests.agents.claude_environment import (
    Stage,
    claude_stage,
    events_of,
    handed,
    is_finished,
    results_of,
    session_of,
    soon,
    text_of,
    until,
)
from tests.agents.messages_api import Hang, Say, UseTool

WRITE = UseTool("Bash", {"command": "echo written > note.txt"})
TOUCH = UseTool("Bash", {"command": "touch note.txt"})
BLOCK = "tail -f /dev/null > block.txt"


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


def is_delta(event: AgentEvent) -> bool:
    return event.type == "text_delta"


def is_call(event: AgentEvent) -> bool:
    return event.type == "tool_call_started"


async def test_a_no_keeps_the_tool_from_running_and_its_word_reaches_claude(stage: Stage) -> None:
    stage.api.play(WRITE)
    stage.asked.answers = [Answer(word="Use another file.")]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    (question,) = stage.asked.questions
    assert question.tool == "Bash" and json.loads(question.arguments) == WRITE.arguments
    assert question.path == str(stage.cwd / "note.txt")
    assert "Bash(echo written *)" in question.session_scope
    assert not (stage.cwd / "note.txt").exists()
    assert "Use another file." in results_of(events)[0] and "Use another file." in stage.api.last.said
    assert is_finished(events)


async def test_once_is_once_and_for_this_session_lasts_until_the_return(stage: Stage) -> None:
    once, session = Answer(decision="once"), Answer(decision="session")
    agent = stage.agent()

    async def questions(*answers: Answer, **settings: Any) -> int:
        (stage.cwd / "note.txt").unlink(missing_ok=True)
        stage.asked.answers, stage.asked.questions = list(answers), []
        stage.api.play(TOUCH)
        assert is_finished(await events_of(agent, stage.request(**settings)))
        assert (stage.cwd / "note.txt").exists()
        return len(stage.asked.questions)

    assert await questions(once, handoff=handed()) == 1
    assert await questions(session) == 1
    assert await questions() == 0
    await agent.close()
    assert await questions(once) == 1
    assert not list(stage.root.rglob("settings.local.json"))


@pytest.mark.parametrize("what", ["stream", "tool", "question"])
async def test_a_stopped_turn_leaves_nothing_behind_and_the_next_is_answered(stage: Stage, what: str) -> None:
    agent = stage.agent()
    stage.api.play(Hang("partial answer") if what == "stream" else UseTool("Bash", {"command": BLOCK}))
    stage.asked.answers = [Answer(decision="once")] if what == "tool" else []

    async def under_way() -> None:
        if what == "tool":
            await soon(lambda: stage.pids("/dev/null > block.txt"))
        if what == "question":
            await soon(lambda: stage.asked.questions)

    seen = await until(
        agent, stage.request(handoff=handed()), is_delta if what == "stream" else is_call, under_way
    )
    await soon(lambda: not stage.pids("/dev/null > block.txt"))
    assert stage.asked.withdrawn == (what == "question")
    pids = stage.pids()
    stage.api.play(Say("The second answer."))
    events = await events_of(agent, stage.request("second", resume_id=session_of(seen)))
    assert text_of(events) == "The second answer." and is_finished(events)
    assert stage.pids() == pids
    assert "second" in stage.api.last.said and len(stage.api.requests) == 2


async def test_a_turn_closed_while_claude_starts_ends_it(stage: Stage) -> None:
    agent = stage.agent()
    async with aclosing(agent.run(stage.request(handoff=handed()))) as events:
        first = asyncio.ensure_future(anext(events))
        await soon(stage.pids)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    assert stage.pids() == [] and stage.api.requests == []
    assert is_finished(await events_of(agent, stage.request(handoff=handed())))


async def test_a_turn_cancelled_again_and_again_is_still_wound_down(stage: Stage) -> None:
    agent = stage.agent()
    stage.api.play(Hang("partial"))
    turn = asyncio.create_task(events_of(agent, stage.request(handoff=handed())))
    await stage.api.asked(1)
    for _ in range(5):
        turn.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(turn, return_exceptions=True)
    stage.api.play(Say("fine"))
    assert text_of(await events_of(agent, stage.request("second"))) == "fine"


async def test_silence_is_told_again_and_again_and_the_turn_stays_open(stage: Stage) -> None:
    stage.api.play(Hang())
    seconds: list[float] = []

    def three(event: AgentEvent) -> bool:
        if isinstance(event, Silent):
            seconds.append(event.seconds)
        return len(seconds) == 3

    await until(stage.agent(silence_seconds=0.2), stage.request(handoff=handed()), three)
    assert seconds[1] - seconds[0] == pytest.approx(0.1) and len(stage.api.requests) <= 1


async def test_time_that_the_user_takes_for_an_answer_is_not_silence(stage: Stage) -> None:
    stage.api.play(WRITE)
    agent = stage.agent(silence_seconds=0.3)
    async with asyncio.timeout(20), aclosing(agent.run(stage.request(handoff=handed()))) as events:
        awaited = {"tool_call_started", "cost_estimated"}
        async for event in events:
            awaited.discard(event.type)
            if not awaited:
                break
        await soon(lambda: stage.asked.questions)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(events), 1.0)
