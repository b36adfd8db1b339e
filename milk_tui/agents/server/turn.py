"""The loop of one turn: build the request, read the answer, run the tools it calls, ask again.

Raises `ServerError` when the turn cannot go on and leaves the telling to its caller. It knows the wire's messages and
no connection, and it never decides that Claude Code takes over: it only says that the model asks for it.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server import ollama, remarks
from milk_tui.agents.server.body import RequestBody
from milk_tui.agents.server.calls import CallDraft
from milk_tui.agents.server.completion import Completion
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.loops import LOOP, STEPS, Repetition, many_steps, repeated
from milk_tui.agents.server.messages import BYTES_PER_TOKEN, answer_message, result_message
from milk_tui.agents.server.refusals import ToolsRefused, WindowExceeded
from milk_tui.agents.server.running import running
from milk_tui.agents.server.stream import Waiting, completion_events
from milk_tui.agents.server.text_calls import TextCalls
from milk_tui.agents.server.tool_text import ToolForm
from milk_tui.agents.server.window import WindowGauge
from milk_tui.agents.server.wire import Exchange
from milk_tui.agents.toolbox import ESCALATE, Toolbox
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
    ToolOutput,
    UsageReported,
)
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
        form: ToolForm,
    ) -> None:
        self._server = server
        self._settings = settings
        self._toolbox = toolbox
        self._gauge = gauge
        self._exchange = exchange
        self._schemas = list(toolbox.schemas())
        self._body = RequestBody(request, server, gauge, self._schemas, form)
        self._repetition = Repetition()
        self._call_ids: set[str] = set()
        self._told: set[str] = set()
        """Kinds of notices that a turn gives once."""

    @property
    def form(self) -> ToolForm:
        """How the tools are offered, as far as the server has let us."""
        return self._body.form

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Ask until the model answers without a call, or goes round in circles.

        Raises:
            ServerError: the server failed.
        """
        for _ in range(self._settings.max_steps):
            completion = self._completion()
            async with aclosing(self._step(completion)) as step:
                async for event in step:
                    yield event
            endings = self._endings(completion)
            for event in endings:
                yield event
            if endings:
                return
            async with aclosing(self._run_calls(completion)) as results:
                async for event in results:
                    yield event
        yield Noticed(text=many_steps(self._settings.max_steps, len(self._call_ids)))
        yield AgentFinished(stop_reason=STEPS)

    def _endings(self, completion: Completion) -> list[AgentEvent]:
        """How the turn ends after this answer; nothing when its calls are to be run."""
        drafts = completion.drafts
        if not drafts:
            return [AgentFinished(stop_reason=completion.finish_reason or "stop")]
        if escalation := next((d for d in drafts if d.name == ESCALATE and not d.is_broken), None):
            return [EscalationRequested(reason=_reason(escalation)), AgentFinished(stop_reason="escalate")]
        calls = (draft.call("") for draft in drafts)
        if again := next((call for call in calls if self._repetition.is_loop(call)), None):
            return [Noticed(text=repeated(again)), AgentFinished(stop_reason=LOOP)]
        return []

    def _completion(self) -> Completion:
        translate = ollama.completion_chunk if self._server.kind == "ollama" else None
        return Completion(TextCalls(self._body.tools), translate)

    async def _step(self, completion: Completion) -> AsyncGenerator[AgentEvent, None]:
        """One request; again, and only once for each reason, when the server refuses what could be left out of it."""
        yield StepStarted()
        remedied: set[type[ServerError]] = set()
        refusal: ServerError | None = None
        while True:
            body = self._body.next(self._gauge.answer, self._settings.temperature)
            try:
                async with aclosing(self._ask(body, completion)) as events:
                    async for event in events:
                        yield event
                break
            except (WindowExceeded, ToolsRefused) as error:
                if type(error) in remedied or completion.has_begun or not self._remedy(error):
                    raise
                refusal = error
            remedied.add(type(refusal))
            completion.error = None
            yield RetryScheduled(attempt=1, of=1, delay=0.0, reason=refusal.sentence)
            yield StepVoided()
        for event in self._accounts(completion):
            yield event

    def _remedy(self, error: ServerError) -> bool:
        """Learn from a refusal; whether the next request will be another one."""
        if isinstance(error, WindowExceeded):
            self._gauge.learn_refusal(self._body.sent, error)
            return self._body.can_shrink
        if self.form != "native":
            return False
        self._body.use("text" if self._schemas else "none")
        return True

    async def _ask(self, body: dict[str, Any], completion: Completion) -> AsyncGenerator[AgentEvent, None]:
        async with self._exchange(body) as exchange:
            events = completion_events(exchange, completion, self._server.url, self._settings.waiting)
            async with aclosing(events):
                async for event in events:
                    yield event

    def _accounts(self, completion: Completion) -> list[AgentEvent]:
        """What a finished step has taken, and what about it the user should know."""
        usage = completion.usage or Usage()
        context = usage.input_tokens + usage.output_tokens or None
        update = {"context_tokens": context, "window": self._gauge.tokens, "seconds": completion.seconds}
        texts = [*self._cuts(usage.input_tokens), *remarks.of_answer(completion, self._gauge.answer)]
        return [
            UsageReported(usage=usage.model_copy(update=update)),
            *(Noticed(text=text) for text in texts),
        ]

    def _cuts(self, counted: int) -> list[str]:
        """What the model has not seen, each told once in a turn."""
        body, gauge, server = self._body, self._gauge, self._server
        texts: dict[str, str] = {}
        if gauge.seems_cut(body.sent, counted):
            texts["cut"] = remarks.cut_by_server(server.url, server.kind, counted, gauge.expected(body.sent))
        else:
            gauge.learn(body.sent, counted)
        if body.left_out:
            texts["left_out"] = remarks.left_out(body.left_out, gauge.tokens)
        if body.shortened:
            texts["shortened"] = remarks.shortened(body.shortened, gauge.tokens)
        new = [text for kind, text in texts.items() if kind not in self._told]
        self._told.update(texts)
        return new

    async def _run_calls(self, completion: Completion) -> AsyncGenerator[AgentEvent, None]:
        pairs = [(draft, draft.call(self._free_id(draft.id))) for draft in completion.drafts]
        self._body.said.append(answer_message(completion.text, [call for _, call in pairs]))
        for draft, call in pairs:
            yield ToolCallStarted(call=call)
            run = running(
                self._toolbox,
                call,
                limit_chars=int(self._gauge.quarter * BYTES_PER_TOKEN),
                limit_tokens=self._gauge.quarter,
                is_broken=draft.is_broken,
            )
            async with aclosing(run) as outcomes:
                async for outcome in outcomes:
                    if isinstance(outcome, ToolOutput):
                        yield outcome
                        continue
                    self._repetition.add(call, outcome)
                    self._body.said.append(result_message(call, outcome))
                    yield ToolCallFinished(result=outcome)

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


def first_form(server: Server, toolbox: Toolbox, *, is_refused: bool) -> ToolForm:
    """How the tools are offered at first: natively where the server takes them, else in words where there are any."""
    if server.supports_tools and not is_refused:
        return "native"
    has_words = (server.text_tools or is_refused) and bool(toolbox.schemas())
    return "text" if has_words else "none"
