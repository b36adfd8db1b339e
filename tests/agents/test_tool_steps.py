"""Tools under way: what they write, how they are stopped, and models that go round in circles."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from milk_tui.agents.server.chat import ChatSettings, OpenAIChat
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.loops import LOOP, Repetition
from milk_tui.agents.server.running import LIVE_LIMIT, REPORT_SECONDS
from milk_tui.agents.toolbox import Report
from milk_tui.core.events import (
    AgentEvent,
    AgentFinished,
    Noticed,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
)
from milk_tui.core.messages import ToolCall, ToolResult
from tests.agents.canned_replies import call, text_chunks, tool_reply
from tests.agents.conformance import asked, collected, said
from tests.agents.loopback_server import ModelServer, Reply, until

Work = Callable[[ToolCall, Report], Awaitable[str]]
Make = Callable[..., OpenAIChat]


class Working:
    """A toolbox with one tool that does what a test says."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        return [{"type": "function", "function": {"name": "work", "parameters": {"type": "object"}}}]

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        return ToolResult(call_id=call.id, text=await self._work(call, report))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    agents: list[OpenAIChat] = []

    def made(work: Work, settings: ChatSettings | None = None) -> OpenAIChat:
        described = Server(url=server.url, model="m", window=8192, supports_tools=True)
        agents.append(OpenAIChat(described, settings, Working(work)))
        return agents[-1]

    yield made
    for agent in agents:
        await agent.close()


def works(*arguments: object) -> Reply:
    """An answer that calls the tool so often."""
    return tool_reply(*(call("work", json.dumps(each), index=n) for n, each in enumerate(arguments)))


def outputs(events: Sequence[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ToolOutput)]


async def test_what_a_tool_writes_is_shown_while_it_runs(server: ModelServer, make: Make) -> None:
    seen = asyncio.Event()

    async def work(call: ToolCall, report: Report) -> str:
        report("one\n")
        await seen.wait()
        report("two\n")
        return "one\ntwo\n"

    server.reply(works({}), text_chunks(["done"]))
    events: list[AgentEvent] = []
    async with aclosing(make(work).run(asked())) as running:
        async for event in running:
            events.append(event)
            if isinstance(event, ToolOutput):
                seen.set()
    assert outputs(events) == ["one\n", "one\ntwo\n"]
    kinds = [type(e) for e in events if isinstance(e, ToolCallStarted | ToolOutput | ToolCallFinished)]
    assert kinds == [ToolCallStarted, ToolOutput, ToolOutput, ToolCallFinished]
    started = next(event for event in events if isinstance(event, ToolCallStarted))
    assert {event.call_id for event in events if isinstance(event, ToolOutput)} == {started.call.id}


async def test_a_flood_of_output_is_few_events_that_hold_its_end(server: ModelServer, make: Make) -> None:
    async def work(call: ToolCall, report: Report) -> str:
        until_then = time.monotonic() + 5 * REPORT_SECONDS
        number = 0
        while time.monotonic() < until_then:
            report(f"line {number}\n" * 100)
            number += 1
            await asyncio.sleep(0)
        return "done"

    server.reply(works({}), text_chunks(["done"]))
    shown = outputs(await collected(make(work), asked()))
    assert 2 <= len(shown) <= 7
    assert all(len(text) <= LIVE_LIMIT for text in shown)
    assert all(text.startswith("line ") and text.endswith("\n") for text in shown)


async def test_one_line_without_an_end_is_shown_by_its_end(server: ModelServer, make: Make) -> None:
    async def work(call: ToolCall, report: Report) -> str:
        report("")
        report("a" * 50_000 + "z")
        return "done"

    server.reply(works({}), text_chunks(["done"]))
    (shown,) = outputs(await collected(make(work), asked()))
    assert shown == "a" * (LIVE_LIMIT - 1) + "z"


async def test_calls_of_one_answer_run_one_after_the_other(server: ModelServer, make: Make) -> None:
    log: list[str] = []

    async def work(call: ToolCall, report: Report) -> str:
        log.append(f"begin {call.arguments}")
        await asyncio.sleep(0.01)
        log.append(f"end {call.arguments}")
        return "ok"

    server.reply(works({"n": 2}, {"n": 3}), text_chunks(["done"]))
    await collected(make(work), asked())
    assert log == ['begin {"n": 2}', 'end {"n": 2}', 'begin {"n": 3}', 'end {"n": 3}']


async def test_closing_the_turn_ends_the_tool_before_it_returns(server: ModelServer, make: Make) -> None:
    ended: list[str] = []

    async def work(call: ToolCall, report: Report) -> str:
        report("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            ended.append("cleaned up")
        return ""

    server.reply(works({}))
    async with aclosing(make(work).run(asked())) as events:
        async for event in events:
            if isinstance(event, ToolOutput):
                break
    assert ended == ["cleaned up"]
    assert len(server.chats) == 1


async def test_cancelling_the_task_of_a_turn_ends_the_tool_too(server: ModelServer, make: Make) -> None:
    states: list[str] = []

    async def work(call: ToolCall, report: Report) -> str:
        states.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            states.append("ended")
        return ""

    server.reply(works({}))
    turn = asyncio.create_task(collected(make(work), asked()))
    await until(lambda: states)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    assert states == ["begun", "ended"]


async def test_a_tool_that_cancels_itself_is_an_error_result(server: ModelServer, make: Make) -> None:
    async def work(call: ToolCall, report: Report) -> str:
        raise asyncio.CancelledError

    server.reply(works({}), text_chunks(["done"]))
    events = await collected(make(work), asked())
    (result,) = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert result.is_error
    assert said(events) == "done"


async def _same(call: ToolCall, report: Report) -> str:
    return "nothing new"


async def test_the_same_call_with_the_same_outcome_stops_the_turn_at_the_third_time(
    server: ModelServer, make: Make
) -> None:
    server.reply(works({"a": 1, "b": 2}), works({"b": 2, "a": 1}), works({"a": 1, "b": 2}))
    events = await collected(make(_same), asked())
    assert events[-1] == AgentFinished(stop_reason=LOOP)
    notice = events[-2]
    assert isinstance(notice, Noticed)
    assert 'work {"a": 1, "b": 2}' in notice.text
    assert "3 times for the same call" in notice.text
    assert sum(isinstance(event, ToolCallFinished) for event in events) == 2


async def test_two_calls_in_turn_are_a_loop_as_well(server: ModelServer, make: Make) -> None:
    server.reply(*(works({"n": n % 2}) for n in range(6)))
    events = await collected(make(_same), asked())
    assert events[-1] == AgentFinished(stop_reason=LOOP)
    assert len(server.chats) == 5


async def test_a_call_that_brings_something_new_each_time_is_no_loop(server: ModelServer, make: Make) -> None:
    count = 0

    async def work(call: ToolCall, report: Report) -> str:
        nonlocal count
        count += 1
        return f"{count} tests failed"

    server.reply(*(works({}) for _ in range(5)), text_chunks(["done"]))
    events = await collected(make(work), asked())
    assert said(events) == "done"
    assert count == 5


async def test_after_a_loop_a_further_prompt_goes_on(server: ModelServer, make: Make) -> None:
    server.reply(works({}), works({}), works({}), works({}), text_chunks(["done"]))
    agent = make(_same)
    await collected(agent, asked())
    events = await collected(agent, asked("go on"))
    assert said(events) == "done"
    assert events[-1] == AgentFinished(stop_reason="stop")


def test_outcomes_that_change_back_and_forth_are_counted_anew() -> None:
    repetition = Repetition()
    asking = ToolCall(id="x", name="work")
    for text in ("red", "red", "green", "red"):
        repetition.add(asking, ToolResult(call_id="x", text=text))
    assert not repetition.is_loop(asking)
    repetition.add(asking, ToolResult(call_id="x", text="red"))
    assert repetition.is_loop(asking)
