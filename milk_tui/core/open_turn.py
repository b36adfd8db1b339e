"""The turn in progress: it grows with every event and becomes a `Turn`.

It is the one mutable thing behind a turn, so that a fragment costs the same at the start and at the end of a long
answer. Only `Session` touches it.
"""

from datetime import datetime
from typing import assert_never

from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.messages import CANCELLED, Message, Receipt, ToolCall, ToolResult, Turn, TurnStatus, Usage


class OpenTurn:
    """Messages as they complete, and the agent's message that is still being written."""

    def __init__(self, number: int, started: ev.TurnStarted) -> None:
        self.number = number
        self.agent = started.agent
        self.status: TurnStatus = "running"
        self.failure: Failure | None = None
        self.usage = Usage()
        self.model = ""
        self._started = started
        self._messages = [Message(id=f"{number}.0", role="user", text=started.prompt)]
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[ToolCall] = []
        self._unanswered: dict[str, None] = {}
        self._sealed_chars = self._messages[0].chars
        self._step = 1
        """Where the messages of the present step begin: what a voided step takes back."""
        self._written_chars = 0

    @property
    def chars(self) -> int:
        """Characters of the turn so far, as a full history would count them."""
        return self._sealed_chars + self._written_chars

    def take(self, event: ev.AgentEvent | ev.TurnInterrupted) -> None:
        """Record one event as far as it belongs to the turn."""
        match event:
            case ev.TextDelta():
                self.add_text(event.text)
            case ev.ThinkingDelta():
                self.add_thinking(event.text)
            case ev.StepStarted():
                self.begin_step()
            case ev.StepVoided():
                self.void()
            case ev.ToolCallStarted():
                self.add_call(event.call)
            case ev.ToolCallFinished():
                self.add_result(event.result)
            case _:
                self._note(event)

    def _note(
        self,
        event: ev.AgentReady
        | ev.NeedChanged
        | ev.PerceptRecorded
        | ev.EscalationRequested
        | ev.UsageReported
        | ev.CostEstimated
        | ev.ContextMeasured
        | ev.RetryScheduled
        | ev.Silent
        | ev.Noticed
        | ev.ToolOutput
        | ev.PlanningChanged
        | ev.AgentFinished
        | ev.AgentFailed
        | ev.TurnInterrupted,
    ) -> None:
        """What adds no message."""
        match event:
            case ev.AgentReady():
                self.model = event.model or self.model
            case ev.UsageReported():
                self.usage = self.usage.plus(event.usage)
            case ev.AgentFinished():
                self.end("finished")
            case ev.AgentFailed():
                self.end("failed", event.failure)
            case ev.TurnInterrupted():
                self.end("interrupted")
            case ev.NeedChanged() | ev.PerceptRecorded() | ev.EscalationRequested():
                pass  # the session's
            case ev.CostEstimated() | ev.ContextMeasured() | ev.RetryScheduled() | ev.Silent():
                pass
            case ev.Noticed() | ev.ToolOutput():
                pass
            case ev.PlanningChanged():
                pass
            case _:
                assert_never(event)

    def add_text(self, text: str) -> None:
        """Go on with the answer. Text after a tool call begins a message, so that the order stays readable."""
        if self._calls:
            self.seal()
        self._text.append(text)
        self._written_chars += len(text)

    def add_thinking(self, text: str) -> None:
        """Go on with the visible reasoning."""
        if self._text or self._calls:
            self.seal()
        self._thinking.append(text)

    def add_call(self, call: ToolCall) -> None:
        """Record a tool call of the message being written."""
        self._calls.append(call)
        self._unanswered[call.id] = None
        self._written_chars += len(call.name) + len(call.arguments)

    def add_result(self, result: ToolResult) -> None:
        """Record a call's one result. A second one, or one without its call, is left out."""
        if result.call_id not in self._unanswered:
            return
        del self._unanswered[result.call_id]
        self.seal()
        self._append(Message(id=self._next_id(), role="tool", result=result))
        self._step = len(self._messages)

    def begin_step(self) -> None:
        """Complete the step before; what follows belongs to a new one."""
        self.seal()
        self._step = len(self._messages)

    def void(self) -> None:
        """Forget what the present step has said: the agent starts it again. What has a result has happened."""
        self.seal()
        for message in self._messages[self._step :]:
            self._sealed_chars -= message.chars
            for call in message.calls:
                self._unanswered.pop(call.id, None)
        del self._messages[self._step :]

    def end(self, status: TurnStatus, failure: Failure | None = None) -> None:
        """Say how the turn ended. The first word counts: what comes after an interruption is too late."""
        if self.status == "running":
            self.status, self.failure = status, failure

    def seal(self) -> None:
        """Complete the message being written, if there is anything in it."""
        message = self._written()
        if message is not None:
            self._append(message)
        self._start_message()

    def snapshot(self) -> Turn:
        """The turn as it stands, with the unfinished message at its end."""
        written = self._written()
        return self._turn((*self._messages, written) if written else tuple(self._messages))

    def closed(self, at: datetime, receipt: Receipt | None) -> Turn:
        """The turn as it will stay. Every call has exactly one result: what never came was cancelled."""
        self.end("interrupted")
        self.seal()
        for call_id in tuple(self._unanswered):
            self.add_result(ToolResult(call_id=call_id, text=CANCELLED, is_error=True))
        turn = self._turn(tuple(self._messages))
        return turn.model_copy(update={"ended_at": at, "receipt": receipt})

    def _turn(self, messages: tuple[Message, ...]) -> Turn:
        return Turn(
            number=self.number,
            agent=self.agent,
            messages=messages,
            status=self.status,
            started_at=self._started.at,
            failure=self.failure,
            usage=self.usage,
            model=self.model,
            preface=self._started.preface,
        )

    def _written(self) -> Message | None:
        if not (self._text or self._thinking or self._calls):
            return None
        return Message(
            id=self._next_id(),
            role="agent",
            text="".join(self._text),
            thinking="".join(self._thinking),
            calls=tuple(self._calls),
        )

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        self._sealed_chars += message.chars

    def _start_message(self) -> None:
        self._text, self._thinking, self._calls = [], [], []
        self._written_chars = 0

    def _next_id(self) -> str:
        return f"{self.number}.{len(self._messages)}"
