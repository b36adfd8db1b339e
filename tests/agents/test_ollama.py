"""Ollama by its own endpoint: the window it is asked for, its stream, and its failures."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest

from milk_tui.agents.server.agent import ServerAgent
from milk_tui.agents.server.chat import ChatSettings, OpenAIChat, Waiting
from milk_tui.agents.server.facts import Server
from milk_tui.agents.toolbox import Report
from milk_tui.core.errors import FailureKind
from milk_tui.core.events import (
    AgentFinished,
    AgentReady,
    Noticed,
    RetryScheduled,
    ToolCallStarted,
    UsageReported,
)
from milk_tui.core.messages import ToolCall, ToolResult
from tests.agents.canned_replies import (
    html_reply,
    json_reply,
    last_line,
    line,
    lines,
    said_line,
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
from tests.agents.loopback_server import Abort, Gate, ModelServer, Reply

Make = Callable[..., OpenAIChat]


class Echo:
    """A toolbox whose tools give their arguments back."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        return [{"type": "function", "function": {"name": name}} for name in ("echo", "other")]

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
        values = {
            "url": server.url, "model": "m", "window": 16_384, "supports_tools": True, "text_tools": True,
            "kind": "ollama", **fields,
        }  # fmt: skip
        agents.append(OpenAIChat(Server.model_validate(values), settings, toolbox))
        return agents[-1]

    yield made
    for agent in agents:
        await agent.close()


def used(name: str, arguments: object, **fields: object) -> bytes:
    """A line with one call, whole, as Ollama sends it."""
    return said_line(tool_calls=[{"function": {"name": name, "arguments": arguments}, **fields}])


async def test_each_request_asks_for_the_window_that_is_shown(server: ModelServer, make: Make) -> None:
    server.reply(lines(said_line("Hel"), said_line("lo"), last_line(26, 2)))
    settings = ChatSettings(max_tokens=512, temperature=0.5)
    events = await collected(make(settings), asked())
    assert said(events) == "Hello"
    assert events[0] == AgentReady(model="m", window=16_384)
    assert events[-1] == AgentFinished(stop_reason="stop")
    usage = next(event.usage for event in events if isinstance(event, UsageReported))
    assert (usage.input_tokens, usage.output_tokens, usage.window, usage.seconds) == (26, 2, 16_384, 1.5)
    request = server.chats[0]
    assert request.path == "/api/chat"
    assert request.body["options"] == {"num_ctx": 16_384, "num_predict": 512, "temperature": 0.5}
    assert (request.body["stream"], request.body["truncate"], request.body["shift"]) == (True, False, False)
    assert not {"max_tokens", "stream_options", "temperature"} & request.body.keys()


async def test_thinking_comes_in_a_field_of_its_own(server: ModelServer, make: Make) -> None:
    server.reply(lines(said_line(thinking="Hm. "), said_line(thinking="So."), said_line("Yes."), last_line()))
    events = await collected(make(), asked())
    assert (thought(events), said(events)) == ("Hm. So.", "Yes.")


@pytest.mark.parametrize("width", [1, 7, 4096])
async def test_lines_cut_anywhere_are_whole_lines(server: ModelServer, make: Make, width: int) -> None:
    body = said_line("naïve 🥛\u2028x") + b"\r\n" + said_line(" end") + last_line().rstrip(b"\n")
    server.reply(lines(*[body[start : start + width] for start in range(0, len(body), width)]))
    await check_answers(make(), asked(), "naïve 🥛\u2028x end")


CALLS = {
    "two lines": lines(used("echo", {"n": 1}), used("echo", {"n": 2}), last_line()),
    "one line": lines(
        said_line(
            tool_calls=[
                {"function": {"index": 0, "name": "echo", "arguments": {"n": 1}}},
                {"function": {"index": 1, "name": "echo", "arguments": {"n": 2}}},
            ]
        ),
        last_line(),
    ),
    "with ids": lines(used("echo", {"n": 1}, id="call_a"), used("echo", {"n": 2}, id="call_b"), last_line()),
    "one index": lines(used("echo", {"n": 1}, index=0), used("echo", {"n": 2}, index=0), last_line()),
    "written": lines(
        said_line('<tool_call>{"name": "echo", "arguments": {"n": 1}}</tool_call>'),
        said_line('<tool_call>{"name": "echo", "arguments": {"n": 2}}</tool_call>'),
        last_line(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
async def test_calls_are_run_and_told_back_as_objects_under_their_name(
    server: ModelServer, make: Make, name: str
) -> None:
    server.reply(CALLS[name], lines(said_line("Done."), last_line()))
    events = await collected(make(toolbox=Echo()), asked())
    assert [e.call.parsed() for e in events if isinstance(e, ToolCallStarted)] == [{"n": 1}, {"n": 2}]
    assert said(events) == "Done."
    *_, asking, first, second = server.chats[1].body["messages"]
    assert [call["function"]["arguments"] for call in asking["tool_calls"]] == [{"n": 1}, {"n": 2}]
    assert (first["role"], first["tool_name"], first["content"]) == ("tool", "echo", '{"n": 1}')
    assert (second["role"], second["tool_name"], second["content"]) == ("tool", "echo", '{"n": 2}')
    assert server.chats[0].body["tools"][1]["function"]["name"] == "echo"


async def test_a_number_that_only_python_knows_does_not_spoil_the_next_request(
    server: ModelServer, make: Make
) -> None:
    written = said_line('<tool_call>{"name": "echo", "arguments": {"n": NaN}}</tool_call>')
    server.reply(lines(written, last_line()), lines(said_line("ok"), last_line()))
    await collected(make(toolbox=Echo()), asked())
    assert b"NaN}" not in server.chats[1].raw.replace(b'{\\"n\\": NaN}', b"")
    assert server.chats[1].body["messages"][-2]["tool_calls"][0]["function"]["arguments"] == {"n": None}


async def test_calls_without_arguments_to_two_tools_are_two(server: ModelServer, make: Make) -> None:
    server.reply(lines(used("echo", {}), used("other", {}), last_line()), lines(said_line("ok"), last_line()))
    events = await collected(make(toolbox=Echo()), asked())
    assert [e.call.name for e in events if isinstance(e, ToolCallStarted)] == ["echo", "other"]


async def test_a_model_without_tools_is_asked_in_words(server: ModelServer, make: Make) -> None:
    server.reply(
        json_reply({"error": "registry.ollama.ai/library/m does not support tools"}, 400),
        lines(said_line("ok"), last_line()),
    )
    events = await collected(make(toolbox=Echo()), asked())
    assert said(events) == "ok"
    assert "tools" not in server.chats[1].body
    assert server.chats[1].body["options"]["stop"] == ["<tool_response>"]


Case = tuple[Reply, FailureKind, str]
FAILURES: dict[str, Case] = {
    "error in the stream": (lines(said_line("part"), line(error="slot died")), "server", "slot died"),
    "bare error": (
        lines(said_line("part"), b'{"error":"llama runner died"}\n'),
        "server",
        "llama runner died",
    ),
    "end without an end": (lines(said_line("part")), "lost", "before it was complete"),
    "cut line": (lines(said_line("part"), b'{"model":"m","mess'), "lost", "before it was complete"),
    "reset": (lines(said_line("part"), Abort()), "lost", "connection"),
    "empty": (lines(), "lost", "before it was complete"),
    "no model": (json_reply({"error": "model 'm' not found"}, 404), "missing", "model 'm' not found"),
    "busy": (json_reply({"error": "server busy, please try again"}, 503), "server", "server busy"),
    "loading": (json_reply({"error": "loading model"}, 503), "loading", "loading model"),
    "rate": (json_reply({"error": "slow down"}, 429), "rate_limited", "slow down"),
    "login": (json_reply({"error": "unauthorized"}, 401), "refused", "unauthorized"),
    "window": (
        json_reply({"error": "the input length exceeds the context length"}, 400),
        "context_full",
        "exceeds the context length",
    ),
    "web page": (html_reply(), "protocol", "Please log in"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_has_the_same_sentences_as_on_any_server(
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


async def test_a_model_that_does_not_fit_into_memory_says_what_to_do(server: ModelServer, make: Make) -> None:
    server.reply(
        json_reply({"error": "model requires more system memory (9.1 GiB) than is available (4 GiB)"}, 500)
    )
    failure = failed(await collected(make(), asked())).failure
    assert "9.1 GiB" in failure.sentence
    assert failure.remedy.startswith("Set `window` to fewer tokens")


async def test_a_garbage_line_is_skipped_and_told(server: ModelServer, make: Make) -> None:
    server.reply(lines(said_line("a"), b"{nonsense\n", said_line("b"), last_line()))
    events = await collected(make(), asked())
    assert said(events) == "ab"
    assert any(isinstance(event, Noticed) and "1 line" in event.text for event in events)


async def test_an_answer_that_is_not_streamed_is_an_answer(server: ModelServer, make: Make) -> None:
    whole = {"message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop"}
    server.reply(json_reply(whole))
    await check_answers(make(), asked(), "Hi")


async def test_closing_the_turn_closes_the_connection(server: ModelServer, make: Make) -> None:
    server.reply(lines(said_line("one "), Gate()))
    await check_closing_stops(make(), asked(), lambda: server.chats[0].is_closed)


async def test_silence_is_given_up(server: ModelServer, make: Make) -> None:
    server.reply(lines(said_line("part"), Gate()))
    waiting = Waiting(first=5, between=0.2, tell_every=0.1)
    events = await collected(make(ChatSettings(waiting=waiting)), asked())
    assert failed(events).failure.kind == "silent"


async def test_a_refused_window_costs_one_retry_with_fewer_turns(server: ModelServer, make: Make) -> None:
    turns = [answered(n, "q" * 2000, "a" * 2000) for n in range(1, 40)]
    refusal = json_reply({"error": "the input length exceeds the context length"}, 400)
    server.reply(refusal, lines(said_line("ok"), last_line()))
    events = await collected(make(), asked(turns=turns))
    assert said(events) == "ok"
    assert sum(isinstance(event, RetryScheduled) for event in events) == 1
    first, second = (len(chat.body["messages"]) for chat in server.chats)
    assert second < first


async def test_a_prompt_that_ollama_has_cut_all_the_same_is_found_out(
    server: ModelServer, make: Make
) -> None:
    server.reply(lines(said_line("ok"), last_line(prompt=4096)))
    events = await collected(make(), asked("x" * 28_800))
    notice = next(event.text for event in events if isinstance(event, Noticed))
    assert "4,096 tokens" in notice
    assert "Set `window`" in notice


@pytest.mark.parametrize(("setting", "window"), [(None, 16_384), (2_048, 2_048), (60_000, 32_768)])
async def test_the_window_that_is_set_is_the_one_that_is_asked_for(
    server: ModelServer, setting: int | None, window: int
) -> None:
    server.route("/v1/models", json_reply({"data": [{"id": "m"}]}))
    server.route("/api/tags", json_reply({"models": [{"name": "m"}]}))
    server.route("/api/ps", json_reply({"models": [{"name": "m", "context_length": 4096}]}))
    shown = {"capabilities": ["completion"], "model_info": {"llama.context_length": 32_768}}
    server.route("/api/show", json_reply(shown))
    server.reply(lines(said_line("ok"), last_line()))
    agent = ServerAgent(server.url, lambda it: OpenAIChat(it, toolbox=Echo()), window=setting)
    assert agent.overhead("n0nce") is None
    events = await collected(agent, asked())
    assert events[0] == AgentReady(model="m", window=window)
    assert server.chats[0].body["options"]["num_ctx"] == window
    overhead = agent.overhead("n0nce")
    assert overhead is not None
    assert overhead.tools_chars > len('{"name":"echo"}')
    assert "<tools>" in json.dumps(server.chats[0].body["messages"][0])
    await agent.close()
