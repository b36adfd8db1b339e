"""Where everything from outside comes in: texts are sanitized once, and tags become events.

What leaves here is what is shown, stored and handed over. It knows no agent and no state.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from milk_tui.core.clean_json import clean_json
from milk_tui.core.errors import Failure
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    AgentReady,
    EscalationRequested,
    NeedChanged,
    Noticed,
    PerceptRecorded,
    RetryScheduled,
    StepStarted,
    StepVoided,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
)
from milk_tui.core.tags import Tag, TagParser
from milk_tui.core.text import Sanitizer, sanitize

_ENDS_TEXT = (StepStarted, ToolCallStarted, ToolCallFinished, AgentFinished, AgentFailed)


async def taken_in(events: AsyncIterator[AgentEvent], nonce: str) -> AsyncGenerator[AgentEvent, None]:
    """The agent's events with clean texts, and with the tags in its answer as events of their own."""
    intake = Intake(nonce)
    async for event in events:
        for clean in intake.take(event):
            yield clean


class Intake:
    """Takes in one event after the other.

    Text may be cut anywhere by the stream, so sanitizing and tags remember what is not decided yet.
    """

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._restart()

    def take(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """What an event becomes: itself made clean, with what was held back in front of it."""
        if isinstance(event, TextDelta):
            yield from self._visible(self._tags.feed(self._text.feed(event.text)))
        elif isinstance(event, ThinkingDelta):
            yield from _delta(ThinkingDelta, self._thinking.feed(event.text))
        elif isinstance(event, StepVoided):
            self._restart()
            yield event
        else:
            if isinstance(event, _ENDS_TEXT):
                yield from self._rest()
            yield clean(event)

    def _rest(self) -> Iterator[AgentEvent]:
        yield from _delta(ThinkingDelta, self._thinking.close())
        yield from self._visible([*self._tags.feed(self._text.close()), *self._tags.close()])
        self._restart()

    def _restart(self) -> None:
        self._text, self._thinking = Sanitizer(), Sanitizer()
        self._tags = TagParser(self._nonce)

    def _visible(self, pieces: list[str | Tag]) -> Iterator[AgentEvent]:
        for piece in pieces:
            if isinstance(piece, Tag):
                yield _event_of(piece)
            else:
                yield from _delta(TextDelta, piece)


def clean(event: AgentEvent) -> AgentEvent:
    """The event with every text in it sanitized."""
    match event:
        case ToolCallStarted():
            call = event.call
            fields = {"name": sanitize(call.name), "arguments": clean_json(call.arguments)}
            return ToolCallStarted(call=call.model_copy(update=fields))
        case ToolCallFinished():
            result = event.result.model_copy(update={"text": sanitize(event.result.text)})
            return ToolCallFinished(result=result)
        case AgentFailed():
            failure = event.failure
            return AgentFailed(
                failure=Failure(
                    kind=failure.kind,
                    sentence=sanitize(failure.sentence),
                    remedy=sanitize(failure.remedy),
                )
            )
        case AgentReady():
            return event.model_copy(update={"model": sanitize(event.model)})
        case EscalationRequested() | RetryScheduled():
            return event.model_copy(update={"reason": sanitize(event.reason)})
        case NeedChanged() | PerceptRecorded() | Noticed() | ToolOutput():
            return event.model_copy(update={"text": sanitize(event.text)})
        case _:
            return event


def _delta(kind: type[TextDelta] | type[ThinkingDelta], text: str) -> Iterator[AgentEvent]:
    if text:
        yield kind(text=text)


def _event_of(tag: Tag) -> AgentEvent:
    match tag.kind:
        case "need":
            return NeedChanged(text=tag.body)
        case "percept":
            return PerceptRecorded(text=tag.body)
        case "escalate":
            return EscalationRequested(reason=tag.body)
