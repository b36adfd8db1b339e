"""The translation of what the SDK reports into events, without any Claude Code."""

import json
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    Message,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from claude_agent_sdk.types import ContentBlock, RateLimitInfo

from milk_tui.agents.claude.events import SYNTHETIC, Translator
from milk_tui.agents.claude.results import result_text
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    Noticed,
    RetryScheduled,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from tests.agents.claude_environment import text_of

PROMPT = "prompt-1"


def told(*messages: Message, translator: Translator | None = None) -> list[AgentEvent]:
    translator = translator or Translator(PROMPT)
    return [event for message in messages for event in translator.events(message)]


def kinds(events: list[AgentEvent]) -> list[str]:
    return [event.type for event in events]


def stream(event: dict[str, Any], parent: str | None = None) -> StreamEvent:
    return StreamEvent(uuid="u", session_id="s", event=event, parent_tool_use_id=parent)


def start(message_id: str) -> StreamEvent:
    return stream({"type": "message_start", "message": {"id": message_id}})


def said(text: str, parent: str | None = None) -> StreamEvent:
    delta = {"type": "text_delta", "text": text}
    return stream({"type": "content_block_delta", "index": 0, "delta": delta}, parent)


def whole(output_tokens: int = 5) -> StreamEvent:
    usage = {"output_tokens": output_tokens}
    return stream({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})


def answered(*blocks: ContentBlock | str, message_id: str = "m1", **fields: Any) -> AssistantMessage:
    content = [TextBlock(text=block) if isinstance(block, str) else block for block in blocks]
    return AssistantMessage(content=content, message_id=message_id, **{"model": "claude", **fields})


def result(**fields: Any) -> ResultMessage:
    base: dict[str, Any] = {
        "subtype": "success",
        "duration_ms": 1,
        "duration_api_ms": 1,
        "is_error": False,
        "num_turns": 1,
        "session_id": "s",
        "user_message_uuid": PROMPT,
    }
    return ResultMessage(**{**base, **fields})


def test_a_streamed_step_is_not_said_again_by_its_whole_message() -> None:
    events = told(start("m1"), said("Hel"), said("lo"), answered("Hello"), whole(), result())
    assert kinds(events) == ["step_started", "text_delta", "text_delta", "agent_finished"]


def test_a_broken_step_is_voided_though_claude_code_closes_it() -> None:
    broken = [start("m1"), said("Hel"), stream({"type": "message_stop"})]
    events = told(*broken, start("m2"), said("Hello"), answered("Hello", message_id="m2"), whole(), result())
    assert kinds(events).count("step_voided") == 1 and text_of(events) == "Hello"


def test_after_a_whole_step_the_next_one_is_new() -> None:
    events = told(start("m1"), said("One."), whole(), start("m2"), said("Two."), whole(), result())
    assert "step_voided" not in kinds(events) and text_of(events) == "One.Two."


def test_a_message_that_never_streamed_is_said_once_and_in_place_of_a_broken_stream() -> None:
    one, two = answered("Hello", message_id="m2"), answered(" there", message_id="m2")
    assert text_of(told(one, two, result(result="Hello there"))) == "Hello there"
    assert text_of(told(start("m1"), said("Hel"), one, two, result(result="Hello there"))) == "Hello there"


def test_a_result_speaks_for_a_turn_in_which_nothing_was_said() -> None:
    assert text_of(told(result(result="Compacted."))) == "Compacted."


def test_a_sub_agents_calls_are_shown_under_their_call_and_its_words_are_not() -> None:
    task, read = ToolUseBlock("t1", "Task", {}), ToolUseBlock("t2", "Read", {"file_path": "ü"})
    events = told(
        answered(task),
        said("inner", parent="t1"),
        answered("inner words", read, message_id="m2", parent_tool_use_id="t1"),
        UserMessage([ToolResultBlock("t2", "found")], parent_tool_use_id="t1"),
        answered("outer", message_id="m3"),
        result(),
    )
    calls = [event.call for event in events if isinstance(event, ToolCallStarted)]
    assert [(call.id, call.parent_id) for call in calls] == [("t1", None), ("t2", "t1")]
    assert calls[1].arguments == '{"file_path": "ü"}'
    assert text_of(events) == "outer"


def test_every_call_has_one_start_and_one_result_however_often_they_are_reported() -> None:
    call, found = ToolUseBlock("t1", "Read", {}), UserMessage([ToolResultBlock("t1", "found", is_error=True)])
    stray = UserMessage([ToolResultBlock("t9", "of no call")])
    events = told(answered(call), answered(call), found, found, stray, UserMessage("plain text"))
    assert kinds(events) == ["step_started", "tool_call_started", "tool_call_finished"]
    assert isinstance(events[-1], ToolCallFinished) and events[-1].result.is_error


def test_a_results_parts_are_joined_and_what_is_no_text_is_named() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x" * 99}}
    assert result_text("Read", [{"type": "text", "text": "one"}, image, {"type": "document"}]) == (
        "one\n[image: image/png]\n[document]"
    )
    assert result_text("Read", None) == "" and result_text("Read", "plain") == "plain"


def test_claude_codes_own_words_about_a_failure_are_no_answer() -> None:
    synthetic = answered("API Error: 529 overloaded", model=SYNTHETIC, error="server_error")
    events = told(start("m1"), said("half"), synthetic, result(is_error=True, api_error_status=529))
    assert text_of(events) == "half"
    assert isinstance(events[-1], AgentFailed)
    assert events[-1].failure.kind == "server" and "529 overloaded" in events[-1].failure.sentence


@pytest.mark.parametrize(
    ("fields", "error", "kind"),
    [
        ({"api_error_status": 401, "result": "bad key"}, "", "refused"),
        ({"api_error_status": 403, "result": "no"}, "authentication_failed", "refused"),
        ({"result": "Credit balance is too low"}, "billing_error", "refused"),
        ({"api_error_status": 429, "result": "slow"}, "rate_limit", "rate_limited"),
        ({"api_error_status": 400, "result": "Prompt is too long"}, "invalid_request", "context_full"),
        ({"result": "Autocompact is thrashing: the context refilled"}, "", "context_full"),
        ({"result": "Connection refused (ECONNREFUSED)"}, "server_error", "unreachable"),
        ({"result": "Connection closed mid-response"}, "unknown", "lost"),
        ({"subtype": "error_during_execution", "errors": ["No conversation found"]}, "", "unknown_session"),
        ({"subtype": "error_max_turns"}, "", "server"),
    ],
)
def test_every_way_to_fail_has_its_kind(fields: dict[str, Any], error: str, kind: str) -> None:
    synthetic = answered("", model=SYNTHETIC, error=error or None)
    event = told(synthetic, result(is_error=True, **fields))[-1]
    assert isinstance(event, AgentFailed) and event.failure.kind == kind and event.failure.remedy


def test_only_the_result_of_the_prompt_ends_its_turn() -> None:
    translator = Translator(PROMPT)
    others = [
        result(user_message_uuid="prompt-0"),
        result(user_message_uuid=None, user_message_uuids=["prompt-0"]),
        result(user_message_uuid=None, origin={"kind": "task-notification"}),
    ]
    assert told(*others, translator=translator) == [] and not translator.is_over
    merged = result(user_message_uuid="prompt-0", user_message_uuids=["prompt-0", PROMPT])
    assert told(merged, translator=translator) == [AgentFinished()] and translator.is_over


def test_a_cost_is_the_growth_of_the_total_and_survives_a_total_that_begins_anew() -> None:
    def cost(total: float | None) -> float | None:
        tokens = {"input_tokens": 1, "output_tokens": 1}
        event = told(result(usage=tokens, total_cost_usd=total), translator=Translator(PROMPT, spent=0.5))[0]
        assert isinstance(event, UsageReported)
        return event.usage.cost_usd

    assert cost(0.75) == pytest.approx(0.25) and cost(0.1) == pytest.approx(0.1) and cost(None) is None


def test_the_context_is_that_of_the_last_step_and_not_the_sum() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    steps: list[Message] = [
        start("m1"),
        answered("a", usage=usage),
        whole(20),
        start("m2"),
        answered("b", message_id="m2", usage=usage),
    ]
    total = {
        "input_tokens": 20,
        "cache_read_input_tokens": 160,
        "cache_creation_input_tokens": 10,
        "output_tokens": 27,
    }
    models: dict[str, Any] = {"small": {"contextWindow": 1}, "large": {"contextWindow": 200_000}}
    events = told(*steps, whole(7), result(usage=total, model_usage=models))
    (report,) = [event.usage for event in events if isinstance(event, UsageReported)]
    assert (report.input_tokens, report.cached_tokens, report.output_tokens) == (190, 160, 27)
    assert report.context_tokens == 102 and report.window == 200_000


def test_retries_limits_and_compaction_are_told() -> None:
    retry = {
        "attempt": 2,
        "max_retries": 3,
        "retry_delay_ms": 1500,
        "error_status": 429,
        "error": "rate_limit",
    }
    limit = RateLimitInfo(status="allowed_warning", rate_limit_type="five_hour", utilization=0.9)
    assert told(
        SystemMessage("api_retry", retry),
        SystemMessage("api_retry", {"attempt": 1, "max_retries": 3, "error": "unknown"}),
        RateLimitEvent(limit, "u", "s"),
        RateLimitEvent(RateLimitInfo(status="allowed"), "u", "s"),
        SystemMessage("compact_boundary", {}),
        SystemMessage("something_new", {}),
    ) == [
        RetryScheduled(attempt=2, of=3, delay=1.5, reason="rate limit (429)"),
        RetryScheduled(attempt=1, of=3, delay=0, reason="the connection broke"),
        Noticed(text="Claude's five hour limit is 90% used."),
        Noticed(text="Claude Code has summarized its own conversation to make room."),
    ]


def test_arguments_stay_readable_json() -> None:
    (_, event) = told(answered(ToolUseBlock("t1", "Write", {"content": 'a\n"b" 🧀'})))
    assert isinstance(event, ToolCallStarted)
    assert json.loads(event.call.arguments) == {"content": 'a\n"b" 🧀'} and "🧀" in event.call.arguments
