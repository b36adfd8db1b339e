"""What Claude Code reports, as the events of an agent: pure translation, one translator a turn.

A step is one message of Claude's. Its text streams; when a stream breaks, Claude Code replays the step or falls back
to the whole message, and the text seen before does not count. Text of sub-agents is theirs and stays out; their tool
calls are shown under the call that started them. This module imports the SDK, so import it late.
"""

import json
from collections.abc import Iterator
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    Message,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from milk_tui.agents.claude.failures import of_result
from milk_tui.agents.claude.permission import PLAN
from milk_tui.agents.claude.results import result_text
from milk_tui.agents.claude.spending import Spending
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    AgentReady,
    ContextMeasured,
    Noticed,
    PlanningChanged,
    RetryScheduled,
    StepStarted,
    StepVoided,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from milk_tui.core.messages import ToolCall, ToolResult, Usage

SYNTHETIC = "<synthetic>"
"""The model named in messages that Claude Code wrote by itself, such as an error in words."""


class Translator:
    """One turn of Claude Code. Ask `is_over` after each message."""

    def __init__(self, prompt_id: str, spent: float = 0.0, *, plans_only: bool = False) -> None:
        """Begin a turn.

        Args:
            prompt_id: the id that the prompt was sent with; only its result ends the turn.
            spent: what the session had cost before, in US dollars.
            plans_only: whether Claude Code was told to plan only.
        """
        self.is_over = False
        self.total_cost: float | None = None
        """What the session has cost by the end of this turn."""
        self._prompt_id = prompt_id
        self._spent = spent
        self._plans_only = plans_only
        self._step = _Step()
        self._has_said = False
        self._calls: dict[str, str] = {}
        """The names of the calls that were made, by their ids."""
        self._done: set[str] = set()
        self._error = ""
        self._aside = ""
        self._context = Usage()
        self._spending = Spending()

    def events(self, message: Message) -> Iterator[AgentEvent]:
        """The events that one message stands for, in order; often none."""
        match message:
            case StreamEvent(parent_tool_use_id=None):
                yield from self._streamed(message.event)
            case AssistantMessage():
                yield from self._answered(message)
            case UserMessage(content=list()):
                yield from self._results(message)
            case ResultMessage() if is_result_of(self._prompt_id, message):
                yield from self._ended(message)
            case RateLimitEvent():
                yield from _limit(message)
            case SystemMessage():
                yield from _system(message)
                yield from self._mode(message.data.get("permissionMode"))

    def _mode(self, mode: str | None) -> Iterator[AgentEvent]:
        plans_only = self._plans_only if mode is None else mode == PLAN
        if plans_only != self._plans_only:
            self._plans_only = plans_only
            yield PlanningChanged(plans_only=plans_only)

    def _streamed(self, event: dict[str, Any]) -> Iterator[AgentEvent]:
        match event.get("type"):
            case "message_start":
                self._spending.began(event["message"])
                yield self._begin(event["message"].get("id"), is_streamed=True)
                if tokens := _tokens_read(event["message"].get("usage") or {}):
                    yield ContextMeasured(tokens=tokens)
            case "content_block_delta":
                yield from self._delta(event["delta"])
            case "message_delta":
                # The one sign of a whole message: Claude Code puts a message_stop behind a broken one as well.
                self._step.is_open = False
                self._note_output(event.get("usage") or {})
                yield from self._spending.ended(event.get("usage") or {})

    def _begin(self, message_id: str | None, *, is_streamed: bool) -> AgentEvent:
        """Start a step, or start again the one that was never completed."""
        event: AgentEvent = StepVoided() if self._step.is_open else StepStarted()
        self._step = _Step(message_id, is_streamed=is_streamed, is_open=is_streamed)
        return event

    def _delta(self, delta: dict[str, Any]) -> Iterator[AgentEvent]:
        match delta.get("type"):
            case "text_delta":
                yield self._say(delta["text"])
            case "thinking_delta":
                yield ThinkingDelta(text=delta["thinking"])

    def _say(self, text: str) -> AgentEvent:
        self._has_said = True
        self._step.text.append(text)
        return TextDelta(text=text)

    def _answered(self, message: AssistantMessage) -> Iterator[AgentEvent]:
        is_own = message.parent_tool_use_id is None
        if is_own and (message.error or message.model == SYNTHETIC):
            self._error = message.error or self._error
            self._aside = "".join(block.text for block in message.content if isinstance(block, TextBlock))
            return
        if is_own:
            self._note_input(message.usage or {})
            if message.message_id != self._step.message_id:
                yield self._begin(message.message_id, is_streamed=False)
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                yield from self._called(block, message.parent_tool_use_id)
            elif is_own and not self._step.is_streamed:
                yield from self._whole(block)

    def _whole(self, block: object) -> Iterator[AgentEvent]:
        """A block that never streamed."""
        if isinstance(block, TextBlock):
            yield self._say(block.text)
        elif isinstance(block, ThinkingBlock):
            yield ThinkingDelta(text=block.thinking)

    def _called(self, block: ToolUseBlock, parent_id: str | None) -> Iterator[AgentEvent]:
        if block.id in self._calls:
            return
        self._calls[block.id] = block.name
        arguments = json.dumps(block.input, ensure_ascii=False)
        yield ToolCallStarted(
            call=ToolCall(id=block.id, name=block.name, arguments=arguments, parent_id=parent_id)
        )

    def _results(self, message: UserMessage) -> Iterator[AgentEvent]:
        blocks = [block for block in message.content if isinstance(block, ToolResultBlock)]
        for block in blocks:
            name = self._calls.get(block.tool_use_id)
            if name is None or block.tool_use_id in self._done:
                continue
            self._done.add(block.tool_use_id)
            is_error = bool(block.is_error)
            structured = message.tool_use_result if len(blocks) == 1 and not is_error else None
            text = result_text(name, block.content, structured)
            yield ToolCallFinished(result=ToolResult(call_id=block.tool_use_id, text=text, is_error=is_error))

    def _ended(self, result: ResultMessage) -> Iterator[AgentEvent]:
        self.is_over = True
        if result.usage and result.num_turns:
            yield UsageReported(usage=self._usage(result, result.usage))
        if result.is_error:
            # Claude Code's own words about its failure may come as if they were an answer.
            if self._step.text and "".join(self._step.text).strip() == (result.result or "").strip():
                yield StepVoided()
            yield AgentFailed(failure=of_result(result, self._error, self._aside))
            return
        if not self._has_said and result.result:
            yield StepStarted()
            yield self._say(result.result)
        yield AgentFinished(stop_reason=result.stop_reason or "stop")

    def _usage(self, result: ResultMessage, tokens: dict[str, Any]) -> Usage:
        """The turn's share: tokens come per turn, money as the session's total, the context by step."""
        cached = _count(tokens, "cache_read_input_tokens")
        fresh = _count(tokens, "input_tokens") + _count(tokens, "cache_creation_input_tokens")
        windows = [model.get("contextWindow") for model in (result.model_usage or {}).values()]
        self.total_cost = result.total_cost_usd
        return Usage(
            input_tokens=fresh + cached,
            cached_tokens=cached,
            output_tokens=_count(tokens, "output_tokens"),
            cost_usd=self._cost(result.total_cost_usd),
            context_tokens=(self._context.input_tokens + self._context.output_tokens) or None,
            window=max(filter(None, windows), default=None),
        )

    def _cost(self, total: float | None) -> float | None:
        if total is None:
            return None
        # A total below what was known means that Claude Code began to count anew.
        return total - self._spent if total >= self._spent else total

    def _note_input(self, usage: dict[str, Any]) -> None:
        self._context = Usage(input_tokens=_tokens_read(usage), output_tokens=_count(usage, "output_tokens"))

    def _note_output(self, usage: dict[str, Any]) -> None:
        self._context = self._context.model_copy(update={"output_tokens": _count(usage, "output_tokens")})


class _Step:
    """One message of Claude's while it comes in."""

    def __init__(
        self, message_id: str | None = "", *, is_streamed: bool = False, is_open: bool = False
    ) -> None:
        self.message_id = message_id
        self.is_streamed = is_streamed
        self.is_open = is_open
        self.text: list[str] = []


def is_result_of(prompt_id: str, result: ResultMessage) -> bool:
    """Whether a result ends the turn of this prompt, and not one that Claude Code began by itself."""
    ids = {*(result.user_message_uuids or ()), result.user_message_uuid} - {None}
    if ids:
        return prompt_id in ids
    return result.origin is None or result.origin["kind"] == "human"


def _system(message: SystemMessage) -> Iterator[AgentEvent]:
    data = message.data
    match message.subtype:
        case "init":
            yield AgentReady(model=str(data.get("model") or ""), session_id=data.get("session_id"))
        case "api_retry":
            yield RetryScheduled(
                attempt=_count(data, "attempt"),
                of=_count(data, "max_retries"),
                delay=_count(data, "retry_delay_ms") / 1000,
                reason=_retry_reason(data),
            )
        case "compact_boundary":
            yield Noticed(text="Claude Code has summarized its own conversation to make room.")


def _retry_reason(data: dict[str, Any]) -> str:
    status, error = data.get("error_status"), data.get("error")
    words = str(error).replace("_", " ") if error not in (None, "unknown") else "the connection broke"
    return f"{words} ({status})" if status else words


def _limit(message: RateLimitEvent) -> Iterator[AgentEvent]:
    info = message.rate_limit_info
    if info.status == "allowed":
        return
    name = (info.rate_limit_type or "usage").replace("_", " ")
    if info.status == "rejected":
        yield Noticed(text=f"Claude's {name} limit is reached.")
    else:
        share = "nearly" if info.utilization is None else f"{info.utilization:.0%}"
        yield Noticed(text=f"Claude's {name} limit is {share} used.")


def _tokens_read(usage: dict[str, Any]) -> int:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(_count(usage, name) for name in names)


def _count(data: dict[str, Any], name: str) -> int:
    value = data.get(name)
    return int(value) if isinstance(value, int | float) else 0
