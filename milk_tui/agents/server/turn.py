"""The loop of one turn: build the request, read the answer, run the tools it calls, ask again.

Raises `ServerError` when the turn cannot go on and leaves the telling to its caller. It knows the wire's messages and
no connection, and it never decides that Claude Code takes over: it only says that the model asks for it.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server.completion import CallDraft, Completion
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.messages import (
    Wire,
    answer_message,
    estimate,
    estimate_text,
    fitting_turns,
    prompt_message,
    result_message,
    system_message,
)
from milk_tui.agents.server.refusals import WindowExceeded
from milk_tui.agents.server.stream import Waiting, completion_events
from milk_tui.agents.server.window import WindowGauge
from milk_tui.agents.server.wire import Exchange
from milk_tui.agents.toolbox import ESCALATE, ESCALATE_SCHEMA, Toolbox, run_call
from milk_tui.core.errors import ServerError
from milk_tui.core.events import (
    AgentEvent,
    AgentFinished,
    EscalationRequested,
    Noticed,
    RetryScheduled,
    StepStarted,
    StepVoided,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from milk_tui.core.instructions import local_system
from milk_tui.core.messages import Usage, Value


class ChatSettings(Value):
    """How a local agent asks."""

    max_tokens: int = 4_096
    """The longest answer; never more than a quarter of the window. Always sent, for small models ramble on."""
    temperature: float | None = None
    """`None` leaves it to the server."""
    max_steps: int = 25
    """Requests in one turn, after which a model that only calls tools is stopped."""
    waiting: Waiting = Waiting()


class OpenAITurn:
    """The steps of one turn, and what has been said in them."""

    def __init__(
        self,
        request: TurnRequest,
        server: Server,
        settings: ChatSettings,
        toolbox: Toolbox,
        gauge: WindowGauge,
        exchange: Callable[[dict[str, Any]], Exchange],
    ) -> None:
        self._request = request
        self._server = server
        self._settings = settings
        self._toolbox = toolbox
        self._gauge = gauge
        self._exchange = exchange
        self._schemas = [ESCALATE_SCHEMA, *toolbox.schemas()] if server.supports_tools else []
        self._said: list[Wire] = []
        self._call_ids: set[str] = set()
        self._sent = 0
        """Our estimate of the present request, before correction."""
        self._earlier = 0
        """Messages of earlier turns in it."""
        self._left_out = 0
        """Earlier turns that are not in it."""
        self._has_told = False

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Ask until the model answers without a call.

        Raises:
            ServerError: the server failed, or the model never came to an answer.
        """
        for _ in range(self._settings.max_steps):
            completion = Completion()
            async with aclosing(self._step(completion)) as step:
                async for event in step:
                    yield event
            drafts = completion.calls.drafts
            if not drafts:
                yield AgentFinished(stop_reason=completion.finish_reason or "stop")
                return
            if escalation := next((d for d in drafts if d.name == ESCALATE and not d.is_broken), None):
                yield EscalationRequested(reason=_reason(escalation))
                yield AgentFinished(stop_reason="escalate")
                return
            async with aclosing(self._run_calls(completion.text, drafts)) as results:
                async for event in results:
                    yield event
        raise ServerError(
            "protocol",
            f"The model at {self._server.url} called tools in {self._settings.max_steps} steps and never answered.",
            "Ask for a smaller step, or choose another model.",
        )

    async def _step(self, completion: Completion) -> AsyncGenerator[AgentEvent, None]:
        """One request; a second one, shorter, when the server says that its window is smaller than we thought."""
        body = self._body()
        yield StepStarted()
        refusal: WindowExceeded | None = None
        try:
            async with aclosing(self._ask(body, completion)) as events:
                async for event in events:
                    yield event
        except WindowExceeded as error:
            self._gauge.learn_refusal(self._sent, error)
            if not self._earlier or completion.has_begun:
                raise
            refusal = error
        if refusal is not None:
            yield RetryScheduled(attempt=1, of=1, delay=0.0, reason=refusal.sentence)
            yield StepVoided()
            async with aclosing(self._ask(self._body(), completion)) as events:
                async for event in events:
                    yield event
        for event in self._accounts(completion):
            yield event

    async def _ask(self, body: dict[str, Any], completion: Completion) -> AsyncGenerator[AgentEvent, None]:
        async with self._exchange(body) as exchange:
            events = completion_events(exchange, completion, self._server.url, self._settings.waiting)
            async with aclosing(events):
                async for event in events:
                    yield event

    def _body(self) -> dict[str, Any]:
        """The next request, with as many earlier turns as fit.

        Raises:
            WindowExceeded: not even the newest prompt fits.
        """
        request, gauge = self._request, self._gauge
        has_tools = self._server.supports_tools
        system = system_message(local_system(request.nonce, has_tools))
        newest = [prompt_message(request.prompt, request.preface), *self._said]
        fixed = estimate([system, *newest]) + (
            estimate_text(json.dumps(self._schemas)) if self._schemas else 0
        )
        if gauge.is_too_large(fixed):
            sentence = (
                f"The prompt is about {gauge.expected(fixed):,} tokens and the model at {self._server.url} reads "
                f"{gauge.tokens:,}; nothing was sent."
            )
            raise WindowExceeded(sentence, None, None)
        earlier, self._left_out = fitting_turns(
            request.turns,
            gauge.tokens - gauge.answer - gauge.expected(fixed),
            lambda wires: gauge.expected(estimate(wires)),
            has_tools=has_tools,
        )
        self._earlier = len(earlier)
        self._sent = fixed + estimate(earlier)
        body: dict[str, Any] = {
            "model": self._server.model,
            "messages": [system, *earlier, *newest],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": gauge.answer,
        }
        if self._settings.temperature is not None:
            body["temperature"] = self._settings.temperature
        if self._schemas:
            body["tools"] = self._schemas
        return body

    def _accounts(self, completion: Completion) -> list[AgentEvent]:
        """What a finished step has taken, and what about it the user should know."""
        usage = completion.usage or Usage()
        context = usage.input_tokens + usage.output_tokens or None
        update = {"context_tokens": context, "window": self._gauge.tokens, "seconds": completion.seconds}
        events: list[AgentEvent] = [UsageReported(usage=usage.model_copy(update=update))]
        counted = usage.input_tokens
        if self._gauge.seems_cut(self._sent, counted):
            events.append(
                Noticed(
                    text=f"{self._server.url} counted {counted:,} tokens of a request of about "
                    f"{self._gauge.expected(self._sent):,}: it seems to have cut the beginning, instructions "
                    "included. Give the server a larger window."
                )
            )
        else:
            self._gauge.learn(self._sent, counted)
        if self._left_out and not self._has_told:
            self._has_told = True
            events.append(Noticed(text=_left_out(self._left_out, self._gauge.tokens)))
        return events + [Noticed(text=text) for text in _remarks(completion, self._gauge.answer)]

    async def _run_calls(self, text: str, drafts: list[CallDraft]) -> AsyncGenerator[AgentEvent, None]:
        pairs = [(draft, draft.call(self._free_id(draft.id))) for draft in drafts]
        self._said.append(answer_message(text, [call for _, call in pairs]))
        for draft, call in pairs:
            yield ToolCallStarted(call=call)
            result = await run_call(self._toolbox, call, is_broken=draft.is_broken)
            self._said.append(result_message(call, result))
            yield ToolCallFinished(result=result)

    def _free_id(self, wanted: str) -> str:
        """The server's id for a call, or one of ours where it gives none or gives it twice in a turn."""
        free = wanted
        number = len(self._call_ids)
        while not free or free in self._call_ids:
            number += 1
            free = f"call_{number}"
        self._call_ids.add(free)
        return free


def _reason(escalation: CallDraft) -> str:
    reason = escalation.call(ESCALATE).parsed().get("reason", "")
    return reason if isinstance(reason, str) else json.dumps(reason)


def _left_out(turns: int, window: int) -> str:
    start = "1 earlier turn was" if turns == 1 else f"{turns:,} earlier turns were"
    return f"{start} not sent: the model's window of {window:,} tokens holds no more."


def _remarks(completion: Completion, answer_tokens: int) -> list[str]:
    remarks: list[str] = []
    if completion.unreadable:
        lines = "1 line" if completion.unreadable == 1 else f"{completion.unreadable} lines"
        remarks.append(f"{lines} of the server's answer could not be read and may be missing from it.")
    if completion.finish_reason == "length":
        remarks.append(
            f"The answer was cut: it reached {answer_tokens:,} tokens (max_tokens) or the window's end."
        )
    if not completion.text.strip() and not completion.calls.drafts:
        remarks.append(
            "The model thought and gave no answer." if completion.has_thought else "The model said nothing."
        )
    return remarks
