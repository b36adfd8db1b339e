"""What must hold for every agent, whatever is behind it."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.core.errors import FailureKind
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    StepVoided,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from milk_tui.core.messages import Message, Turn
from tests.agents.loopback_server import until


def asked(prompt: str = "Hi", **fields: object) -> TurnRequest:
    """A request with everything but the prompt filled in."""
    values: dict[str, object] = {"cwd": "/", "nonce": "n0nce", **fields}
    return TurnRequest(prompt=prompt, **values)  # type: ignore[arg-type]


def answered(number: int, prompt: str, answer: str = "", **fields: object) -> Turn:
    """An earlier turn of the local agent."""
    messages = [Message(id=f"{number}.1", role="user", text=prompt)]
    if answer:
        messages.append(Message(id=f"{number}.2", role="agent", text=answer))
    values: dict[str, object] = {
        "agent": "local",
        "messages": tuple(messages),
        "status": "finished",
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        **fields,
    }
    return Turn.model_validate({"number": number, **values})


async def collected(agent: Agent, request: TurnRequest) -> list[AgentEvent]:
    """All events of one turn, whose form is checked."""
    async with aclosing(agent.run(request)) as events:
        found = [event async for event in events]
    assert_well_formed(found)
    return found


def assert_well_formed(events: Sequence[AgentEvent]) -> None:
    """It ends once and at the end; every call has exactly one result, after it."""
    ends = [place for place, event in enumerate(events) if isinstance(event, AgentFinished | AgentFailed)]
    assert ends == [len(events) - 1], f"ends at {ends} of {len(events)} events: {events!r}"
    open_calls: set[str] = set()
    for event in events:
        if isinstance(event, ToolCallStarted):
            assert event.call.id not in open_calls
            open_calls.add(event.call.id)
        elif isinstance(event, ToolCallFinished):
            open_calls.remove(event.result.call_id)
    assert not open_calls or isinstance(events[-1], AgentFailed)


def said(events: Sequence[AgentEvent]) -> str:
    """The answer, without what was voided."""
    text = ""
    for event in events:
        if isinstance(event, StepVoided):
            text = ""
        elif isinstance(event, TextDelta):
            text += event.text
    return text


def thought(events: Sequence[AgentEvent]) -> str:
    """The visible reasoning."""
    return "".join(event.text for event in events if isinstance(event, ThinkingDelta))


def failed(events: Sequence[AgentEvent]) -> AgentFailed:
    """The failure at the end."""
    end = events[-1]
    assert isinstance(end, AgentFailed), f"did not fail: {end!r}"
    return end


async def check_answers(agent: Agent, request: TurnRequest, answer: str) -> None:
    """It says this and finishes."""
    events = await collected(agent, request)
    assert isinstance(events[-1], AgentFinished), events[-1]
    assert said(events) == answer


async def check_failure_is_an_event(agent: Agent, request: TurnRequest, kind: FailureKind) -> None:
    """It raises nothing; the last event says what went wrong and what to do."""
    failure = failed(await collected(agent, request)).failure
    assert failure.kind == kind
    assert failure.sentence.endswith((".", "!", "?")), failure.sentence
    assert failure.remedy


async def check_closing_stops(agent: Agent, request: TurnRequest, has_stopped: Callable[[], object]) -> None:
    """Closed after its first text, it has ended what it started."""
    async with aclosing(agent.run(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
        else:
            raise AssertionError("there was no text to stop after")
    await until(has_stopped)
