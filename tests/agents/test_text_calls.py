"""Tool calls written as text, in every form that models use and however the stream is cut."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.agents.server.call_forms import TextCall
from milk_tui.agents.server.chat import ChatSettings, OpenAIChat
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.text_calls import LOOK_AHEAD, TextCalls
from milk_tui.agents.toolbox import Report
from milk_tui.core.events import (
    AgentEvent,
    AgentFinished,
    EscalationRequested,
    Noticed,
    RetryScheduled,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from milk_tui.core.messages import Message, ToolCall, ToolResult
from tests.agents.canned_replies import DONE, error_reply, finish, stream, text, text_chunks, tool_reply
from tests.agents.canned_replies import call as native_call
from tests.agents.conformance import (
    answered,
    asked,
    check_answers,
    check_failure_is_an_event,
    collected,
    said,
    thought,
)
from tests.agents.loopback_server import Gate, ModelServer, Reply

SCHEMAS: Sequence[Mapping[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "first": {"type": "integer"}},
            },
        },
    },
    {"type": "function", "function": {"name": "list_dir"}},
]
READ = TextCall("read_file", '{"path": "a"}')
LIST = TextCall("list_dir", "{}")
READ_JSON = '{"name": "read_file", "arguments": {"path": "a"}}'
READ_XML = "<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>"


def split(answer: str, *cuts: int, width: int = 0) -> tuple[str, list[TextCall]]:
    """The text and the calls of an answer that is cut at these places, or every `width` characters."""
    places = sorted({0, len(answer), *cuts, *(range(0, len(answer), width) if width else ())})
    parser = TextCalls(SCHEMAS)
    found: list[str | TextCall] = []
    for start, end in pairwise(places):
        found += parser.feed(answer[start:end])
    found += parser.finish()
    shown = "".join(piece for piece in found if isinstance(piece, str))
    return shown, [piece for piece in found if isinstance(piece, TextCall)]


FORMS: dict[str, tuple[str, str, list[TextCall]]] = {
    "hermes": (f"<tool_call>\n{READ_JSON}\n</tool_call>", "", [READ]),
    "hermes on one line after text": (f"I look. <tool_call>{READ_JSON}</tool_call>", "I look. ", [READ]),
    "hermes twice": (
        f'<tool_call>{READ_JSON}</tool_call>\n<tool_call>{{"name": "list_dir", "arguments": {{}}}}</tool_call>\n',
        "",
        [READ, LIST],
    ),
    "hermes without its end": (f"<tool_call>{READ_JSON}", "", [READ]),
    "hermes with one brace too many": (f"<tool_call>{READ_JSON}}}\n</tool_call>", "", [READ]),
    "hermes with text behind": (f"One.\n<tool_call>{READ_JSON}</tool_call>\nTwo.", "One.\n\n\nTwo.", [READ]),
    "hermes with its mark in a string": (
        '<tool_call>{"name": "read_file", "arguments": {"path": "</tool_call>}\\"<"}}</tool_call>',
        "",
        [TextCall("read_file", '{"path": "</tool_call>}\\"<"}')],
    ),
    "hermes with a line end in a string": (
        '<tool_call>{"name": "read_file", "arguments": {"path": "a\nb"}}</tool_call>',
        "",
        [TextCall("read_file", '{"path": "a\\nb"}')],
    ),
    "hermes with arguments as text": (
        '<tool_call>{"name": "read_file", "arguments": "{\\"path\\": \\"a\\"}"}</tool_call>',
        "",
        [READ],
    ),
    "hermes without arguments": ('<tool_call>{"name": "list_dir"}</tool_call>', "", [LIST]),
    "qwen coder": (f"<tool_call>\n{READ_XML}\n</tool_call>", "", [READ]),
    "qwen coder without its beginning": (f"Now.\n{READ_XML}\n</tool_call>", "Now.\n", [READ]),
    "qwen coder, bare": (READ_XML, "", [READ]),
    "qwen coder with code in a value": (
        "<tool_call><function=read_file><parameter=path>\nx </function> <b>\n  y\n</parameter></function></tool_call>",
        "",
        [TextCall("read_file", '{"path": "x </function> <b>\\n  y"}')],
    ),
    "qwen coder with a number": (
        "<function=read_file><parameter=path>12</parameter><parameter=first>12</parameter></function>",
        "",
        [TextCall("read_file", '{"path": "12", "first": 12}')],
    ),
    "qwen coder without parameters": ("<function=list_dir>\n</function>", "", [LIST]),
    "llama tag": (
        f'<|python_tag|>{READ_JSON}; {{"name": "list_dir", "parameters": {{}}}}<|eom_id|>',
        "",
        [READ, LIST],
    ),
    "llama bare": ('{"name": "read_file", "parameters": {"path": "a"}}', "", [READ]),
    "llama bare with its kind": (
        '\n{ "type": "function",\n "name": "read_file", "parameters": {"path": "a"} }\n',
        "",
        [READ],
    ),
    "mistral": (
        f'[TOOL_CALLS] [{READ_JSON}, {{"name": "list_dir", "arguments": {{}}}}]</s>',
        "",
        [READ, LIST],
    ),
    "mistral with names in front": (
        'So.[TOOL_CALLS]read_file[CALL_ID]x1[ARGS]{"path": "a"}[TOOL_CALLS]list_dir{}',
        "So.",
        [READ, LIST],
    ),
}
PROSE = {
    "comparison": "a < b, b<c and [x](y) or {z} ~ w",
    "html": "Use <b>bold</b> and <tool> or <function> or [TOOL].",
    "the mark by itself": "Write <tool_call> and then </tool_call>.",
    "marks explained": "[TOOL_CALLS] is Mistral's and <|python_tag|> is Llama's.",
    "a function nobody knows": "<function=nobody><parameter=x>1</parameter></function>",
    "json": '{"name": "Alice", "parameters": {"age": 3}}',
    "json with a tool's name": '{"name": "read_file", "size": 3}',
    "json and more": '{"name": "read_file", "parameters": {"path": "a"}} is how it is called.',
    "span": f"Such as `<tool_call>{READ_JSON}</tool_call>` here.",
    "double span": f"Such as ``a ` <tool_call>{READ_JSON}</tool_call>`` here.",
    "fence": f"Such as\n```\n<tool_call>{READ_JSON}</tool_call>\n```\nhere.",
    "fence with a language": f"1. ```json\n   <tool_call>{READ_JSON}</tool_call>\n   ```\n",
    "tilde fence": f"~~~~\n~~~\n{READ_XML}\n~~~~\n",
    "fence without an end": f"```python\n[TOOL_CALLS] [{READ_JSON}]",
    "fence that is not closed by text": f"```\n``` x\n<tool_call>{READ_JSON}</tool_call>\n```",
    "indented": "    code\n",
    "only the beginning": "<tool_cal",
    "nothing": "",
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("width", [0, 1, 3])
def test_a_written_call_is_a_call_and_no_text(name: str, width: int) -> None:
    answer, shown, calls = FORMS[name]
    assert split(answer, width=width) == (shown, calls)


@pytest.mark.parametrize("name", PROSE)
@pytest.mark.parametrize("width", [0, 1, 3])
def test_what_is_no_call_stays_text_to_the_letter(name: str, width: int) -> None:
    assert split(PROSE[name], width=width) == (PROSE[name], [])


def test_a_call_after_a_fence_or_after_a_lonely_backtick_is_a_call() -> None:
    assert split(f"```\nx\n```\n<tool_call>{READ_JSON}</tool_call>")[1] == [READ]
    assert split(f"It`s so.\n<tool_call>{READ_JSON}</tool_call>")[1] == [READ]
    assert split(f"```a``` is code.\n<tool_call>{READ_JSON}</tool_call>")[1] == [READ]


BROKEN = {
    "cut off": '<tool_call>{"name": "read_file", "arguments": {"path": "a',
    "no json": '<tool_call>{"name": "read_file", "arguments": {path: a}}</tool_call>',
    "ended early": '<tool_call>{"name": "read_file", "arguments": {"path": </tool_call>',
    "cut in a value": "<function=read_file>\n<parameter=path>\nhalf of a fi",
    "cut before the end": "<tool_call><function=read_file><parameter=path>a</parameter>",
    "mistral": '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": ',
    "bare": '{"name": "read_file", "parameters": {"path": "a"',
    "python": "<|python_tag|>read_file.call(path='a')",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("width", [0, 1])
def test_a_call_that_cannot_be_read_keeps_its_name_and_never_runs_in_part(name: str, width: int) -> None:
    shown, calls = split(BROKEN[name], width=width)
    assert shown == ""
    assert [call.name for call in calls] == ["read_file"]
    with pytest.raises(ValueError, match=r"Expecting|Invalid|Unterminated|Extra"):
        json.loads(calls[0].arguments)


@pytest.mark.parametrize(
    "word", ["a < b ", "x[1] ", "{ y } ", "1 ~ 2 ", "<b>", "# [a](b) ", "<toot", "[T", "<function=x"]
)
def test_ordinary_text_is_passed_on_with_the_chunk_that_shows_that_it_is_no_call(word: str) -> None:
    parser = TextCalls(SCHEMAS)
    assert "".join(map(str, parser.feed(f"Yes: {word}and"))) == f"Yes: {word}and"


def test_json_that_is_asked_for_streams_as_soon_as_it_is_no_call() -> None:
    parser = TextCalls(SCHEMAS)
    assert parser.feed('{"name": "r') == []
    assert parser.feed("x") == ['{"name": "rx']


def test_nothing_is_looked_for_without_tools() -> None:
    parser = TextCalls(())
    assert parser.feed(f"<tool_call>{READ_JSON}</tool_call>") == [f"<tool_call>{READ_JSON}</tool_call>"]
    assert parser.finish() == []


def test_white_space_does_not_hold_text_back_for_ever() -> None:
    parser = TextCalls(SCHEMAS)
    found = parser.feed("x<tool_call>") + [piece for _ in range(LOOK_AHEAD) for piece in parser.feed(" ")]
    assert "".join(map(str, found)).startswith("x<tool_call>  ")


_PIECES = [*(form[0] for form in FORMS.values()), *PROSE.values(), *BROKEN.values()]
_SHREDS = [
    "```",
    "`",
    "~~~",
    "\n",
    " ",
    "<",
    "[",
    "{",
    "}",
    '"',
    "\\",
    "text",
    "</tool_call>",
    "<tool_call>{",
]
_ANSWER = st.lists(st.sampled_from([*_PIECES, *_SHREDS]), max_size=8).map("".join)


@settings(deadline=None, max_examples=300)
@given(answer=_ANSWER, cuts=st.lists(st.integers(0, 400), max_size=12), width=st.sampled_from([0, 1, 2, 7]))
def test_how_an_answer_is_cut_makes_no_difference(answer: str, cuts: list[int], width: int) -> None:
    whole = split(answer)
    assert split(answer, *(cut for cut in cuts if cut < len(answer)), width=width) == whole


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(exclude_characters="<[{"), max_size=200))
def test_text_without_a_mark_comes_out_as_it_went_in(answer: str) -> None:
    assert split(answer, width=3) == (answer if answer.strip() else "", [])


@pytest.mark.parametrize(
    "piece",
    ["<tool_call>", "<", "`", "``` ", "[TOOL_CALLS]", "{", '<tool_call>{"a": "', "<function=", " ", "word "],
)
def test_the_work_grows_with_the_length_of_the_answer_only(piece: str) -> None:
    def work(times: int) -> int:
        """Calls of functions, ours and the interpreter's."""
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            split(piece * times, width=5)
        finally:
            sys.setprofile(None)
        return calls

    assert work(3_200) < 20 * work(200)


class Files:
    """A toolbox that reads any path."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        return SCHEMAS

    async def run(self, call: ToolCall, report: Report, limit_chars: int) -> ToolResult:
        return ToolResult(call_id=call.id, text=f"content of {call.parsed().get('path')}</tool_response>")


Make = Callable[..., OpenAIChat]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    agents: list[OpenAIChat] = []

    def made(toolbox: Any = None, **fields: Any) -> OpenAIChat:
        values = {"url": server.url, "model": "m", "window": 8192, "text_tools": True, **fields}
        agents.append(OpenAIChat(Server.model_validate(values), ChatSettings(), toolbox or Files()))
        return agents[-1]

    yield made
    for agent in agents:
        await agent.close()


def answer_of(whole: str, width: int = 4) -> Reply:
    pieces = [text(whole[start : start + width]) for start in range(0, len(whole), width)]
    return stream(*pieces, finish(), DONE)


def started(events: Sequence[AgentEvent]) -> list[ToolCall]:
    return [event.call for event in events if isinstance(event, ToolCallStarted)]


async def test_tools_in_words_are_described_called_and_answered_without_a_field_or_a_role_for_them(
    server: ModelServer, make: Make
) -> None:
    server.reply(answer_of(f"Let me look.\n<tool_call>\n{READ_JSON}\n</tool_call>"), answer_of("It is so."))
    events = await collected(make(), asked("What is in a?"))
    assert said(events) == "Let me look.\nIt is so."
    assert [call.name for call in started(events)] == ["read_file"]
    first, second = (chat.body for chat in server.chats)
    assert "tools" not in first
    assert first["stop"] == ["<tool_response>"]
    system = first["messages"][0]["content"]
    assert '{"name":"list_dir"}' in system
    assert "escalate_to_claude" not in system
    assert "<milk:escalate:n0nce>" in system
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2]["content"] == f"Let me look.\n<tool_call>\n{READ_JSON}\n</tool_call>"
    assert second["messages"][3]["content"] == (
        "<tool_response>\ncontent of a< /tool_response>\n</tool_response>"
    )


async def test_two_results_in_words_are_one_message_of_the_user(server: ModelServer, make: Make) -> None:
    server.reply(answer_of(FORMS["hermes twice"][0]), answer_of("Done."))
    await collected(make(), asked())
    last = server.chats[1].body["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].count("<tool_response>") == 2


async def test_earlier_calls_are_told_in_words_too(server: ModelServer, make: Make) -> None:
    messages = (
        Message(id="1.0", role="user", text="q"),
        Message(id="1.1", role="agent", calls=(ToolCall(id="x", name="list_dir"),)),
        Message(id="1.2", role="tool", result=ToolResult(call_id="x", text="a b")),
        Message(id="1.3", role="agent", text="Two files."),
    )
    server.reply(answer_of("ok"))
    await collected(make(), asked(turns=[answered(1, "q", messages=messages)]))
    sent = server.chats[0].body["messages"]
    assert [message["role"] for message in sent] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "list_dir" in sent[2]["content"]
    assert not any("tool_calls" in message for message in sent)


async def test_a_broken_written_call_goes_back_as_an_error_and_is_repeated_whole(
    server: ModelServer, make: Make
) -> None:
    server.reply(answer_of(BROKEN["no json"]), answer_of("Sorry."))
    events = await collected(make(), asked())
    results = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert results[0].is_error
    assert "read_file are not a JSON object" in results[0].text
    assert said(events) == "Sorry."
    echoed = server.chats[1].body["messages"][2]["content"]
    assert echoed == '<tool_call>\n{"name": "read_file", "arguments": {}}\n</tool_call>'


async def test_a_server_with_tools_whose_model_writes_its_calls_is_answered_natively(
    server: ModelServer, make: Make
) -> None:
    server.reply(answer_of(READ_XML), answer_of("Done."))
    events = await collected(make(supports_tools=True), asked())
    assert started(events)[0].parsed() == {"path": "a"}
    *_, asking, result = server.chats[1].body["messages"]
    assert asking["tool_calls"][0]["function"]["name"] == "read_file"
    assert result["role"] == "tool"


async def test_a_call_that_the_server_found_and_left_standing_runs_once(
    server: ModelServer, make: Make
) -> None:
    both = tool_reply(
        native_call("read_file", '{"path": "a"}', id="x"), before=f"<tool_call>{READ_JSON}</tool_call>"
    )
    server.reply(both, answer_of("Done."))
    events = await collected(make(supports_tools=True), asked())
    assert [call.id for call in started(events)] == ["x"]
    assert said(events) == "Done."


async def test_a_call_in_the_thinking_is_a_thought(server: ModelServer, make: Make) -> None:
    server.reply(answer_of(f"<think>Maybe <tool_call>{READ_JSON}</tool_call></think>No."))
    events = await collected(make(), asked())
    assert not started(events)
    assert said(events) == "No."
    assert "<tool_call>" in thought(events)


async def test_text_before_a_written_call_is_shown_while_the_call_still_comes(
    server: ModelServer, make: Make
) -> None:
    gate = Gate()
    server.reply(
        stream(text("Looking.\n<tool_call>"), gate, text(READ_JSON + "</tool_call>"), finish(), DONE),
        answer_of("Done."),
    )
    heard: list[str] = []
    async for event in make().run(asked()):
        if isinstance(event, TextDelta):
            heard.append(event.text)
            gate.open()
    assert heard[0] == "Looking.\n"


async def test_claude_is_asked_for_by_a_written_call_as_well(server: ModelServer, make: Make) -> None:
    written = '<tool_call>{"name": "escalate_to_claude", "arguments": {"reason": "too hard"}}</tool_call>'
    server.reply(answer_of(written))
    events = await collected(make(), asked())
    assert events[-2:] == [EscalationRequested(reason="too hard"), AgentFinished(stop_reason="escalate")]


async def test_tools_are_not_described_to_a_model_that_is_to_have_none(
    server: ModelServer, make: Make
) -> None:
    server.reply(answer_of(f"<tool_call>{READ_JSON}</tool_call>"))
    events = await collected(make(text_tools=False), asked())
    assert "read_file" not in json.dumps(server.chats[0].body)
    assert "stop" not in server.chats[0].body
    assert said(events) == f"<tool_call>{READ_JSON}</tool_call>"


REFUSALS = {
    "ollama": error_reply(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "vllm": error_reply(
        400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    ),
    "llama.cpp": error_reply(500, "tools param requires --jinja flag"),
    "old llama.cpp": error_reply(500, "Unsupported param: tools"),
    "strict": error_reply(422, "body.tools: Extra inputs are not permitted"),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_server_that_refuses_tools_is_asked_once_more_in_words_and_remembered(
    server: ModelServer, make: Make, name: str
) -> None:
    server.reply(REFUSALS[name], answer_of("One."), answer_of("Two."))
    agent = make(supports_tools=True, text_tools=False)
    events = await collected(agent, asked())
    assert said(events) == "One."
    assert sum(isinstance(event, RetryScheduled) for event in events) == 1
    notices = [event.text for event in events if isinstance(event, Noticed)]
    assert notices == [
        f"{server.url} takes no tools with a request, so they are described to the model in words from now on."
    ]
    later = await collected(agent, asked())
    assert said(later) == "Two."
    assert not any(isinstance(event, Noticed | RetryScheduled) for event in later)
    assert ["tools" in chat.body for chat in server.chats] == [True, False, False]
    assert "<tools>" in server.chats[1].body["messages"][0]["content"]


async def test_a_refusal_that_stays_is_a_failure_after_one_retry(server: ModelServer, make: Make) -> None:
    server.default = REFUSALS["ollama"]
    await check_failure_is_an_event(make(supports_tools=True), asked(), "server")
    assert len(server.chats) == 2


async def test_a_failure_that_only_mentions_a_tool_is_not_taken_for_a_refusal(
    server: ModelServer, make: Make
) -> None:
    server.reply(error_reply(500, "Failed to parse tool call arguments as JSON"))
    await check_failure_is_an_event(make(supports_tools=True), asked(), "server")
    assert len(server.chats) == 1


async def test_without_a_tool_but_claude_a_refusal_leaves_the_tag(server: ModelServer, make: Make) -> None:
    class Empty(Files):
        def schemas(self) -> Sequence[Mapping[str, Any]]:
            return ()

    server.reply(REFUSALS["ollama"], text_chunks(["ok"]), text_chunks(["ok"]))
    agent = make(Empty(), supports_tools=True)
    events = await collected(agent, asked())
    assert any(isinstance(event, Noticed) and "none are offered" in event.text for event in events)
    await check_answers(agent, asked(), "ok")
    assert "<tools>" not in server.chats[2].body["messages"][0]["content"]
    assert "<milk:escalate:n0nce>" in server.chats[2].body["messages"][0]["content"]
