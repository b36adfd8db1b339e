"""The local agent against a server that misbehaves in every way seen in the field."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import SecretStr

from milk_tui.agents.server.chat import ChatSettings, OpenAIChat, Waiting
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.loops import STEPS
from milk_tui.agents.toolbox import Report
from milk_tui.core.errors import FailureKind
from milk_tui.core.events import (
    AgentEvent,
    AgentFinished,
    AgentReady,
    EscalationRequested,
    Noticed,
    RetryScheduled,
    Silent,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from milk_tui.core.messages import Message, ToolCall, ToolResult
from tests.agents.canned_replies import (
    DONE,
    aborted_reply,
    call,
    data,
    delta,
    error_reply,
    escalation_reply,
    finish,
    held_reply,
    html_reply,
    json_reply,
    loading_reply,
    stream,
    text,
    text_chunks,
    tool_reply,
    usage,
    window_reply,
)
from tests.agents.conformance import (
    answered,
    asked,
    check_answers,
    check_closing_stops,
    check_failure_is_an_event,
    collected,
    failed,
    said,
    thought,
)
from tests.agents.loopback_server import Gate, ModelServer, Reply, until

Make = Callable[..., OpenAIChat]


class Echo:
    """A toolbox whose one tool gives its arguments back."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        return [{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        return ToolResult(call_id=call.id, text=call.arguments)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    agents: list[OpenAIChat] = []

    def made(settings: ChatSettings | None = None, toolbox: Any = None, **fields: Any) -> OpenAIChat:
        values = {"url": server.url, "model": "m", "window": 8192, "supports_tools": True, **fields}
        agents.append(OpenAIChat(Server.model_validate(values), settings, toolbox))
        return agents[-1]

    yield made
    for agent in agents:
        await agent.close()


def notices(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Noticed)]


def calls(events: list[AgentEvent]) -> list[ToolCall]:
    return [event.call for event in events if isinstance(event, ToolCallStarted)]


def results(events: list[AgentEvent]) -> list[ToolResult]:
    return [event.result for event in events if isinstance(event, ToolCallFinished)]


async def test_an_answer_comes_as_ready_step_text_usage_and_end(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("Hello"), text(" world"), finish(), usage(100, 5, cached=60), DONE))
    events = await collected(make(), asked())
    assert events[0] == AgentReady(model="m", window=8192)
    assert events[1] == StepStarted()
    assert said(events) == "Hello world"
    report = next(event.usage for event in events if isinstance(event, UsageReported))
    assert (report.input_tokens, report.output_tokens, report.cached_tokens) == (100, 5, 60)
    assert (report.context_tokens, report.window) == (105, 8192)
    assert report.seconds is not None
    assert events[-1] == AgentFinished(stop_reason="stop")


async def test_the_request_asks_for_a_stream_with_usage_and_a_limit(server: ModelServer, make: Make) -> None:
    server.reply(text_chunks(["ok"]))
    await check_answers(make(api_key=SecretStr("s3cret")), asked(), "ok")
    request = server.chats[0]
    assert request.body["stream"] is True
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["max_tokens"] == 2048
    assert request.headers["authorization"] == "Bearer s3cret"


async def test_a_proxy_of_the_environment_is_not_asked_about_loopback(
    server: ModelServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.reply(text_chunks(["ok"]))
    await check_answers(make(), asked(), "ok")


async def test_closing_the_turn_closes_the_connection(server: ModelServer, make: Make) -> None:
    server.reply(held_reply("one "))
    await check_closing_stops(make(), asked(), lambda: server.chats[0].is_closed)


async def test_closing_before_the_head_has_come_closes_the_connection(
    server: ModelServer, make: Make
) -> None:
    server.reply(Reply((Gate(),), is_raw=True))
    async with aclosing(make().run(asked())) as events:
        task = asyncio.create_task(_drained(events))
        await until(lambda: server.chats)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await until(lambda: server.chats[0].is_closed)


async def test_text_is_shown_before_the_answer_is_complete(server: ModelServer, make: Make) -> None:
    gate = Gate()
    server.reply(stream(text("early"), gate, text(" late"), finish(), DONE))
    heard: list[str] = []
    async with aclosing(make().run(asked())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                heard.append(event.text)
                gate.open()
    assert heard == ["early", " late"]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_in_a_field_of_its_own_is_thinking(
    server: ModelServer, make: Make, field: str
) -> None:
    server.reply(stream(*[delta({field: "hm "})] * 50, text("Yes."), finish(), DONE))
    events = await collected(make(), asked())
    assert (said(events), thought(events)) == ("Yes.", "hm " * 50)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 100])
async def test_a_think_block_at_the_start_is_thinking_however_it_is_split(
    server: ModelServer, make: Make, width: int
) -> None:
    whole = "\n<think>\na < b </thin\n</think>\n\nAnswer: <think>x</think>"
    pieces = [text(whole[start : start + width]) for start in range(0, len(whole), width)]
    server.reply(stream(*pieces, finish(), DONE))
    events = await collected(make(), asked())
    assert said(events) == "Answer: <think>x</think>"
    assert thought(events) == "a < b </thin\n"


async def test_an_answer_that_only_begins_like_a_think_block_is_text(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("<thi"), finish(), DONE))
    assert said(await collected(make(), asked())) == "<thi"


ODD_STREAMS = {
    "empty choices": stream(data({"choices": []}), text("Hi"), finish(), DONE),
    "missing choices": stream(data({"id": "x"}), text("Hi"), finish(), DONE),
    "null delta": stream(delta(None), text("Hi"), delta(None, "stop"), DONE),
    "null content": stream(delta({"role": "assistant", "content": None}), text("Hi"), finish(), DONE),
    "wrong types": stream(
        data({"choices": {"a": 1}}), data({"choices": ["x"]}), data([1]), text("Hi"), finish(), DONE
    ),
    "crlf": stream(text("Hi").replace(b"\n", b"\r\n"), finish().replace(b"\n", b"\r\n"), DONE),
    "comments": stream(b": ping\n\n", b":\n\n", b"data:\n\n", text("Hi"), b": ping\n\n", finish(), DONE),
    "ids and retries": stream(b"id: 1\nretry: 5\nevent: message\n", text("Hi"), finish(), DONE),
    "no empty lines": stream(text("Hi").strip() + b"\n", finish().strip() + b"\n", DONE.strip() + b"\n"),
    "no end mark": stream(text("Hi"), finish()),
    "no newline at the end": stream(text("Hi"), finish().strip()),
    "end mark only": stream(text("Hi"), DONE),
    "every byte alone": stream(*[bytes([b]) for b in text("Hi") + finish() + DONE]),
    "parts": stream(delta({"content": [{"type": "text", "text": "Hi"}]}), finish(), DONE),
    "not streamed": json_reply({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}),
    "no content type": stream(text("Hi"), finish(), DONE, content_type="text/plain"),
    "other ids": stream(
        text("H"), data({"id": "z", "choices": [{"delta": {"content": "i"}}]}), finish(), DONE
    ),
}


@pytest.mark.parametrize("name", ODD_STREAMS)
async def test_an_odd_stream_is_understood(server: ModelServer, make: Make, name: str) -> None:
    server.reply(ODD_STREAMS[name])
    await check_answers(make(), asked(), "Hi")


async def test_characters_cut_between_chunks_and_unicode_line_ends_survive(
    server: ModelServer, make: Make
) -> None:
    answer = "naïve 日本 🥛\u2028next\u0085end"
    body = text(answer) + finish() + DONE
    server.reply(stream(*[body[start : start + 3] for start in range(0, len(body), 3)]))
    await check_answers(make(), asked(), answer)


async def test_a_garbage_line_is_skipped_and_told(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("a"), b"data: {{nonsense\n\n", text("b"), finish(), DONE))
    events = await collected(make(), asked())
    assert said(events) == "ab"
    assert any("1 line" in notice for notice in notices(events))


async def test_an_empty_completion_is_told(server: ModelServer, make: Make) -> None:
    server.reply(stream(finish(), DONE))
    events = await collected(make(), asked())
    assert isinstance(events[-1], AgentFinished)
    assert notices(events) == ["The model said nothing."]


async def test_an_answer_cut_at_its_limit_says_so(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("a"), finish("length"), DONE))
    events = await collected(make(), asked())
    assert events[-1] == AgentFinished(stop_reason="length")
    assert "2,048 tokens" in notices(events)[0]


async def test_a_complete_answer_does_not_wait_for_an_end_mark(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("Hi"), finish(), Gate()))
    began = time.monotonic()
    await check_answers(make(), asked(), "Hi")
    assert time.monotonic() - began < 2
    await until(lambda: server.chats[0].is_closed)


async def test_numbers_that_come_after_the_end_are_still_read(server: ModelServer, make: Make) -> None:
    gate = Gate()
    server.reply(stream(text("Hi"), finish(), gate, usage(9, 1), DONE))
    answering = asyncio.create_task(collected(make(), asked()))
    await until(lambda: gate.is_reached)
    gate.open()
    events = await answering
    assert next(e for e in events if isinstance(e, UsageReported)).usage.input_tokens == 9


Case = tuple[Reply, FailureKind, str]
FAILURES: dict[str, Case] = {
    "end without a finish": (stream(text("part")), "lost", "before it was complete"),
    "cut json": (stream(text("part"), b'data: {"choices": [{"del'), "lost", "before it was complete"),
    "error line": (stream(text("part"), b'error: {"message":"slot died"}\n\n'), "server", "slot died"),
    "error event": (
        stream(text("part"), b"event: error\n" + data({"message": "slot died"})),
        "server",
        "slot died",
    ),
    "error object": (stream(text("part"), data({"error": {"message": "slot died"}})), "server", "slot died"),
    "error string": (stream(text("part"), data({"error": "slot died"})), "server", "slot died"),
    "bare error": (stream(text("part"), b'{"error": {"message": "slot died"}}\n'), "server", "slot died"),
    "reset": (aborted_reply("part"), "lost", "connection"),
    "web page": (html_reply(), "protocol", "Please log in"),
    "web page refusal": (html_reply(500), "server", "Please log in"),
    "empty body": (stream(), "lost", "before it was complete"),
    "not http": (Reply((b"SSH-2.0-OpenSSH_9.9\r\n\r\n",), is_raw=True), "protocol", "model server"),
    "no head": (Reply(is_raw=True), "lost", "closed the connection"),
    "loading": (loading_reply(), "loading", "Loading model"),
    "busy": (error_reply(503, "all slots are busy"), "server", "all slots are busy"),
    "rate": (error_reply(429, "slow down"), "rate_limited", "slow down"),
    "key": (error_reply(401, "Invalid API Key"), "refused", "Invalid API Key"),
    "no model": (error_reply(404, "model 'm' not found"), "missing", "model 'm' not found"),
    "window": (window_reply(3031, 512), "context_full", "3,031 tokens sent, 512 fit"),
    "window in words": (error_reply(400, "maximum context length is 4096 tokens"), "context_full", "4096"),
    "redirect": (
        Reply((), 307, headers={"Location": "http://evil.test/v1"}),
        "protocol",
        "http://evil.test/v1",
    ),
    "detail": (json_reply({"detail": "no such route"}, 405), "server", "no such route"),
    "line without end": (stream(*[b"data: " + b"x" * 2**20] * 17), "protocol", "without an end"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_names_the_server_and_shows_its_words(
    server: ModelServer, make: Make, name: str
) -> None:
    reply, kind, words = FAILURES[name]
    server.reply(reply)
    await check_failure_is_an_event(make(), asked(), kind)
    server.reply(reply)
    events = await collected(make(), asked())
    sentence = failed(events).failure.sentence
    assert server.url in sentence
    assert words in sentence
    assert ("answer so far is kept" if said(events) else "prompt is kept") in sentence


async def test_partial_text_stays_when_the_stream_breaks(server: ModelServer, make: Make) -> None:
    server.reply(aborted_reply("one ", "two"))
    assert said(await collected(make(), asked())) == "one two"


async def test_nothing_on_the_port_is_a_sentence(make: Make) -> None:
    await check_failure_is_an_event(make(url="http://127.0.0.1:1/v1"), asked(), "unreachable")


async def test_the_first_prompt_after_a_recovery_is_answered(server: ModelServer, make: Make) -> None:
    agent = make()
    server.reply(loading_reply(), aborted_reply(), text_chunks(["back"]))
    await check_failure_is_an_event(agent, asked(), "loading")
    await check_failure_is_an_event(agent, asked(), "lost")
    await check_answers(agent, asked(), "back")


async def test_words_of_a_server_cannot_move_the_cursor_and_are_short(
    server: ModelServer, make: Make
) -> None:
    server.reply(error_reply(500, "\x1b[2J\x1b]0;owned\x07" + "bad\nluck " * 1000))
    sentence = failed(await collected(make(), asked())).failure.sentence
    assert sentence.isprintable()
    assert len(sentence) < 500


async def test_a_silent_server_is_reported_and_then_given_up(server: ModelServer, make: Make) -> None:
    server.reply(held_reply("part"))
    waiting = Waiting(first=5, between=0.3, tell_every=0.1)
    events = await collected(make(ChatSettings(waiting=waiting)), asked())
    silences = [event.seconds for event in events if isinstance(event, Silent)]
    assert len(silences) >= 2
    assert silences == sorted(silences)
    assert failed(events).failure.kind == "silent"
    assert said(events) == "part"


async def test_a_word_ends_the_silence(server: ModelServer, make: Make) -> None:
    first, second = Gate(), Gate()
    server.reply(stream(text("a"), first, text("b"), second, finish(), DONE))
    silences: list[float] = []
    async with aclosing(make(ChatSettings(waiting=Waiting(tell_every=0.2))).run(asked())) as events:
        async for event in events:
            if isinstance(event, Silent):
                silences.append(event.seconds)
                (first if len(silences) == 3 else second if len(silences) == 4 else Gate()).open()
    assert silences[3] < silences[2]


async def test_a_server_that_never_begins_is_given_up(server: ModelServer, make: Make) -> None:
    server.reply(Reply((Gate(),), is_raw=True))
    waiting = Waiting(first=0.2, between=5, tell_every=0.1)
    assert failed(await collected(make(ChatSettings(waiting=waiting)), asked())).failure.kind == "silent"
    await until(lambda: server.chats[0].is_closed)


async def test_pings_keep_a_turn_open_and_still_show_as_silence(server: ModelServer, make: Make) -> None:
    gates = [Gate() for _ in range(8)]
    pings = [part for gate in gates for part in (gate, b": ping\n\n")]
    server.reply(stream(b": ping\n\n", *pings, text("Hi"), finish(), DONE))
    waiting = Waiting(first=1.0, between=1.0, tell_every=0.2)
    closed = iter(gates)
    heard: list[AgentEvent] = []
    async with aclosing(make(ChatSettings(waiting=waiting)).run(asked())) as events:
        async for event in events:
            heard.append(event)
            if isinstance(event, Silent):
                next(closed).open()
    assert said(heard) == "Hi"
    assert heard[-1] == AgentFinished(stop_reason="stop")


A, B = '{"path": "a"}', '{"path": "b"}'
CALL_SHAPES = {
    "whole": tool_reply(call("echo", A, index=0, id="x"), call("echo", B, index=1, id="y")),
    "one index": tool_reply(call("echo", A, index=0, id="x"), call("echo", B, index=0, id="y")),
    "one index, no ids": tool_reply(call("echo", A, index=0), call("echo", B, index=0)),
    "no index": tool_reply(call("echo", A, id="x"), call("echo", B, id="y")),
    "no id": tool_reply(call("echo", A, index=0), call("echo", B, index=1)),
    "neither": tool_reply(call("echo", A), call("echo", B)),
    "one id for both": tool_reply(call("echo", A, id="x", index=0), call("echo", B, id="", index=1)),
    "from one": tool_reply(call("echo", A, index=1, id="x"), call("echo", B, index=2, id="y")),
    "split": tool_reply(
        call("echo", "", index=0, id="x"), call(arguments=A[:5], index=0), call(arguments=A[5:], index=0),
        call("echo", "", index=1, id="y"), call(arguments=B[:1], index=1), call(arguments=B[1:], index=1),
    ),
    "split without index": tool_reply(
        call("echo", A[:4], id="x"), call(arguments=A[4:]), call("echo", B[:4], id="y"), call(arguments=B[4:])
    ),
    "interleaved": tool_reply(
        call("echo", A[:4], index=0, id="x"), call("echo", B[:4], index=1, id="y"),
        call(arguments=A[4:], index=0), call(arguments=B[4:], index=1),
    ),
    "repeated": tool_reply(
        call("echo", A[:4], index=0, id="x"), call("echo", A[4:], index=0, id="x"),
        call("echo", B[:4], index=1, id="y"), call("echo", B[4:], index=1, id="y"),
    ),
    "name repeated without ids": tool_reply(
        call("echo", A[:4], index=0), call("echo", A[4:], index=0), call("echo", B[:4]), call("echo", B[4:])
    ),
    "late id": tool_reply(call("echo", index=0), call(None, A, index=0, id="x"), call("echo", B, index=1, id="y")),
    "objects": tool_reply(call("echo", {"path": "a"}, index=0, id="x"), call("echo", {"path": "b"}, index=1)),
    "finished with stop": stream(call("echo", A, id="x"), call("echo", B, id="y"), finish("stop"), DONE),
}  # fmt: skip


@pytest.mark.parametrize("name", CALL_SHAPES)
async def test_two_calls_arrive_as_two_however_they_are_numbered(
    server: ModelServer, make: Make, name: str
) -> None:
    server.reply(CALL_SHAPES[name], text_chunks(["done"]))
    events = await collected(make(toolbox=Echo()), asked())
    assert [call.parsed() for call in calls(events)] == [{"path": "a"}, {"path": "b"}]
    assert [json.loads(result.text) for result in results(events)] == [{"path": "a"}, {"path": "b"}]
    assert said(events) == "done"
    *_, asking, first, second = server.chats[1].body["messages"]
    assert [c["id"] for c in asking["tool_calls"]] == [first["tool_call_id"], second["tool_call_id"]]
    assert len({first["tool_call_id"], second["tool_call_id"]}) == 2


async def test_a_call_without_arguments_runs_with_an_empty_object(server: ModelServer, make: Make) -> None:
    server.reply(tool_reply(call("echo", "", id="x")), text_chunks(["done"]))
    events = await collected(make(toolbox=Echo()), asked())
    assert results(events) == [ToolResult(call_id="x", text="{}")]


async def test_two_calls_without_arguments_at_one_index_are_told_apart_by_id(
    server: ModelServer, make: Make
) -> None:
    server.reply(
        tool_reply(call("echo", "", index=0, id="x"), call("echo", "", index=0, id="y")), text_chunks(["ok"])
    )
    assert [call.id for call in calls(await collected(make(toolbox=Echo()), asked()))] == ["x", "y"]


@pytest.mark.parametrize("broken", ["{", '{"path": ', "[1]", "null", "nonsense"])
async def test_broken_arguments_go_back_to_the_model_and_never_out_again(
    server: ModelServer, make: Make, broken: str
) -> None:
    server.reply(tool_reply(call("echo", broken, id="x")), text_chunks(["sorry"]))
    events = await collected(make(toolbox=Echo()), asked())
    assert calls(events)[0].arguments == "{}"
    assert results(events)[0].is_error
    assert "not a JSON object" in results(events)[0].text
    assert said(events) == "sorry"
    sent = server.chats[1].body["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert sent == "{}"


async def test_an_unknown_tool_is_an_error_result_and_the_model_goes_on(
    server: ModelServer, make: Make
) -> None:
    server.reply(tool_reply(call("rm_rf", "{}", id="x"), before="Let me. "), text_chunks(["done"]))
    events = await collected(make(), asked())
    assert "no tool called “rm_rf”" in results(events)[0].text
    assert said(events) == "Let me. done"
    assert server.chats[1].body["messages"][-2]["content"] == "Let me. "


async def test_a_tool_that_raises_is_an_error_result(server: ModelServer, make: Make) -> None:
    class Raising(Echo):
        async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
            raise OSError("disk full")

    server.reply(tool_reply(call("echo", "{}", id="x")), text_chunks(["done"]))
    events = await collected(make(toolbox=Raising()), asked())
    assert results(events)[0].is_error
    assert "disk full" in results(events)[0].text


async def test_a_model_that_only_calls_tools_is_stopped(server: ModelServer, make: Make) -> None:
    server.reply(*(tool_reply(call("echo", json.dumps({"n": n}), id="same")) for n in range(3)))
    events = await collected(make(ChatSettings(max_steps=3), toolbox=Echo()), asked())
    assert events[-1] == AgentFinished(stop_reason=STEPS)
    assert "3 steps with 3 calls" in notices(events)[-1]
    assert len(server.chats) == 3
    assert len({call.id for call in calls(events)}) == 3


async def test_the_model_can_ask_for_claude(server: ModelServer, make: Make) -> None:
    server.reply(escalation_reply("needs a refactoring"))
    events = await collected(make(), asked())
    assert events[-2:] == [
        EscalationRequested(reason="needs a refactoring"),
        AgentFinished(stop_reason="escalate"),
    ]
    assert not calls(events)
    assert [tool["function"]["name"] for tool in server.chats[0].body["tools"]] == ["escalate_to_claude"]


async def test_no_tools_are_offered_to_a_server_that_knows_none(server: ModelServer, make: Make) -> None:
    server.reply(text_chunks(["ok"]))
    await check_answers(make(supports_tools=False), asked(), "ok")
    assert "tools" not in server.chats[0].body
    assert "escalate_to_claude" not in server.chats[0].body["messages"][0]["content"]


async def test_history_is_one_system_message_and_roles_that_alternate(
    server: ModelServer, make: Make
) -> None:
    turns = [
        answered(1, "first", "one"),
        answered(2, "for Claude", "from Claude", agent="claude"),
        answered(3, "second"),
        answered(4, "third", "half", status="interrupted"),
        answered(5, "fourth", status="failed"),
        answered(6, "fifth", "five", preface="Claude did this."),
        answered(7, "now", status="running"),
    ]
    server.reply(text_chunks(["ok"]))
    await collected(make(), asked("now", turns=turns, preface="Meanwhile."))
    system, *rest = server.chats[0].body["messages"]
    assert system["role"] == "system"
    assert [message["role"] for message in rest] == ["user", "assistant"] * 5 + ["user"]
    contents = [message["content"] for message in rest]
    assert contents[0:4] == ["first", "one", "second", "[no answer]"]
    assert contents[5] == "half\n\n[stopped by the user]"
    assert contents[7] == "[failed before the answer was complete]"
    assert contents[8] == "Claude did this.\n\nfifth"
    assert contents[-1] == "Meanwhile.\n\nnow"
    assert "Claude did this" not in json.dumps(rest[-1])
    assert "for Claude" not in json.dumps(rest)


async def test_each_earlier_call_has_exactly_one_result(server: ModelServer, make: Make) -> None:
    asking = Message(
        id="1.2",
        role="agent",
        calls=(ToolCall(id="a", name="echo"), ToolCall(id="b", name="echo", arguments="{}")),
    )
    twice = tuple(
        Message(id=f"1.{n}", role="tool", result=ToolResult(call_id=of, text=text))
        for n, of, text in ((3, "a", "first"), (4, "a", "again"), (5, "ghost", "boo"))
    )
    prompt = Message(id="1.1", role="user", text="go")
    turn = answered(1, "go", messages=(prompt, asking, *twice), status="interrupted")
    server.reply(text_chunks(["ok"]), text_chunks(["ok"]))
    await collected(make(), asked(turns=[turn]))
    _, user, calling, first, second, mark, now = server.chats[0].body["messages"]
    assert [c["id"] for c in calling["tool_calls"]] == ["a", "b"]
    assert (first["tool_call_id"], first["content"]) == ("a", "first")
    assert second["tool_call_id"] == "b"
    assert "cancelled" in second["content"]
    assert mark["content"] == "[stopped by the user]"
    assert (user["role"], now["role"]) == ("user", "user")
    await collected(make(supports_tools=False), asked(turns=[turn]))
    assert [m["role"] for m in server.chats[1].body["messages"]] == ["system", "user", "assistant", "user"]


async def test_oldest_turns_are_left_out_whole_and_it_is_said_once(server: ModelServer, make: Make) -> None:
    turns = [answered(n, f"question {n} " + "x" * 1000, f"answer {n} " + "y" * 1000) for n in range(1, 101)]
    server.reply(tool_reply(call("echo", "{}", id="x")), text_chunks(["ok"], prompt=2900))
    events = await collected(make(toolbox=Echo(), window=4096), asked("the newest", turns=turns))
    messages = server.chats[0].body["messages"]
    earlier = messages[1:-1]
    assert messages[0]["role"] == "system"
    assert messages[-1]["content"] == "the newest"
    assert [message["role"] for message in earlier] == ["user", "assistant"] * (len(earlier) // 2)
    assert earlier[-1]["content"].startswith("answer 100 ")
    assert len(server.chats[0].raw) / 3.2 < 4096
    left_out = 100 - len(earlier) // 2
    assert notices(events) == [
        f"{left_out} earlier turns were not sent: the model's window of 4,096 tokens holds no more."
    ]


async def test_the_cost_of_trimming_does_not_depend_on_the_session(server: ModelServer, make: Make) -> None:
    class Counting(list[Any]):
        looked_at = 0

        def __reversed__(self) -> Any:
            for turn in super().__reversed__():
                Counting.looked_at += 1
                yield turn

    turns = Counting([answered(n, "for Claude", "x", agent="claude") for n in range(20_000)])
    server.reply(text_chunks(["ok"]))
    await collected(make(), asked(turns=turns))
    assert Counting.looked_at <= 8192 // 16


async def test_a_prompt_larger_than_the_window_is_not_sent(server: ModelServer, make: Make) -> None:
    failure = failed(await collected(make(window=1024), asked("x" * 10_000))).failure
    assert failure.kind == "context_full"
    assert "1,024" in failure.sentence
    assert not server.chats


async def test_a_prompt_larger_than_an_assumed_window_is_left_to_the_server(
    server: ModelServer, make: Make
) -> None:
    server.reply(text_chunks(["ok"]))
    await check_answers(make(window=1024, window_is_assumed=True), asked("x" * 10_000), "ok")


async def test_a_smaller_window_than_thought_costs_one_retry_with_fewer_turns(
    server: ModelServer, make: Make
) -> None:
    turns = [answered(n, "q" * 2000, "a" * 2000) for n in range(1, 6)]
    server.reply(window_reply(6000, 2048), text_chunks(["ok"]), text_chunks(["ok"]))
    agent = make()
    events = await collected(agent, asked(turns=turns))
    assert said(events) == "ok"
    assert any(isinstance(event, RetryScheduled) for event in events)
    kept = (len(server.chats[1].body["messages"]) - 2) // 2
    assert kept < (len(server.chats[0].body["messages"]) - 2) // 2
    assert notices(events) == [
        f"{5 - kept} earlier turns were not sent: the model's window of 2,048 tokens holds no more."
    ]
    later = await collected(agent, asked(turns=turns))
    assert later[0] == AgentReady(model="m", window=2048)
    assert len(server.chats) == 3


async def test_an_answer_that_has_begun_is_never_asked_for_again(server: ModelServer, make: Make) -> None:
    error = {
        "code": 400,
        "type": "exceed_context_size_error",
        "message": "full",
        "n_prompt_tokens": 9,
        "n_ctx": 8,
    }
    server.reply(stream(text("part"), data({"error": error})), text_chunks(["again"]))
    events = await collected(make(), asked(turns=[answered(1, "q", "a")]))
    assert failed(events).failure.kind == "context_full"
    assert said(events) == "part"
    assert len(server.chats) == 1


async def test_a_refused_window_is_not_retried_for_ever(server: ModelServer, make: Make) -> None:
    server.default = window_reply(6000, 2048)
    await check_failure_is_an_event(make(), asked(turns=[answered(1, "q", "a")]), "context_full")
    assert len(server.chats) == 2


async def test_a_server_that_cuts_the_prompt_is_found_out(server: ModelServer, make: Make) -> None:
    server.reply(text_chunks(["ok"], prompt=4096), text_chunks(["ok"], prompt=7000))
    agent = make(window=32_768)
    events = await collected(agent, asked("x" * 28_800))
    assert any("4,096" in notice and "cut" in notice for notice in notices(events))
    assert not notices(await collected(agent, asked("x" * 28_800)))


async def test_estimates_follow_what_the_server_counts(server: ModelServer, make: Make) -> None:
    turns = [answered(n, "q" * 1000, "a" * 1000) for n in range(1, 101)]
    server.reply(text_chunks(["ok"], prompt=12_000), text_chunks(["ok"]))
    agent = make()
    await collected(agent, asked(turns=turns))
    await collected(agent, asked(turns=turns))
    first, second = (len(chat.body["messages"]) for chat in server.chats)
    assert second < first * 0.7


async def test_half_a_surrogate_pair_in_a_prompt_is_sent_as_something(
    server: ModelServer, make: Make
) -> None:
    server.reply(text_chunks(["ok"]))
    await check_answers(make(), asked("a\ud83eb"), "ok")
    assert server.chats[0].body["messages"][-1]["content"] == "a?b"


async def test_a_burst_does_not_keep_other_tasks_from_running(server: ModelServer, make: Make) -> None:
    server.reply(stream(text("word ") * 5000 + finish() + DONE))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticker = asyncio.create_task(tick())
    events = await collected(make(), asked())
    ticker.cancel()
    assert said(events) == "word " * 5000
    assert ticks > 5000 / 50


async def test_neighbouring_deltas_that_came_together_are_one_event(server: ModelServer, make: Make) -> None:
    body = delta({"reasoning": "a"}) + delta({"reasoning": "b"}) + text("c") + text("d") + finish() + DONE
    server.reply(stream(body))
    events = await collected(make(), asked())
    assert [e for e in events if isinstance(e, TextDelta | ThinkingDelta)] == [
        ThinkingDelta(text="ab"),
        TextDelta(text="cd"),
    ]


async def _drained(events: AsyncIterator[AgentEvent]) -> None:
    async for _ in events:
        pass


async def test_our_own_mistake_is_a_sentence_too(server: ModelServer, make: Make) -> None:
    class Torn(list[Any]):
        def __reversed__(self) -> Any:
            raise RuntimeError("torn page")

    failure = failed(await collected(make(), asked(turns=Torn()))).failure
    assert failure.kind == "bug"
    assert "torn page" in failure.sentence
