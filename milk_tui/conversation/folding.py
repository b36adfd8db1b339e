"""Turns that were made in Claude Code's own screen, as the events that they would have been here.

It knows no file and no state: turns come in as they were read, and go out as events in the order of what happened.
"""

from collections.abc import Iterator, Sequence

from milk_tui.conversation.endings import receipt
from milk_tui.conversation.intake import Intake
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Message, Receipt, Turn, Usage
from milk_tui.core.prices import price_of

_NOTHING_HANDED = Receipt(situation="resume", chars=0, history_chars=0)
_UNSAID = Failure(kind="server", sentence="Claude Code failed without a word.")


def priced(turns: Sequence[Turn], cost_usd: float | None) -> list[Turn]:
    """The turns with what each has cost.

    What Claude Code measured for all of them is shared out by their tokens. Without that, published prices say it, and
    a model without one leaves it unknown.
    """
    if cost_usd is None:
        return [_with_cost(turn, _by_price(turn)) for turn in turns]
    tokens = [turn.usage.input_tokens + turn.usage.output_tokens or 1 for turn in turns]
    return [
        _with_cost(turn, cost_usd * count / sum(tokens)) for turn, count in zip(turns, tokens, strict=True)
    ]


def folded(turn: Turn, handoff: Handoff | None, *, nonce: str, session_id: str) -> Iterator[ev.Event]:
    """One turn as events, with the tags in its answer as events of their own.

    Args:
        turn: as it was read.
        handoff: what was handed over with it.
        nonce: the word in the session's tags.
        session_id: Claude's session that it was made in.
    """
    intake = Intake(nonce)
    begins = handoff is not None and handoff.situation != "resume"
    yield ev.TurnStarted(agent="claude", prompt=turn.prompt, at=turn.started_at, is_fresh_start=begins)
    for event in _reported(turn, session_id):
        yield from intake.take(event)
    ended = turn.ended_at or turn.started_at
    if turn.status == "interrupted":
        yield ev.TurnInterrupted(at=ended)
    seconds = (ended - turn.started_at).total_seconds()
    paid = receipt(handoff, turn, seconds) if handoff else _NOTHING_HANDED
    paid = paid.model_copy(update={"usage": turn.usage, "seconds": seconds, "in_own_screen": True})
    yield ev.TurnEnded(at=ended, receipt=paid, handed=handoff.parts if handoff else ())


def _reported(turn: Turn, session_id: str) -> Iterator[ev.AgentEvent]:
    yield ev.AgentReady(model=turn.model, session_id=session_id)
    for message in turn.messages[1:]:
        yield from _said(message)
    # Also where the turn was stopped: what is held back of the text ends with a step.
    yield ev.StepStarted()
    yield ev.UsageReported(usage=turn.usage)
    if turn.status == "failed":
        yield ev.AgentFailed(failure=turn.failure or _UNSAID)
    elif turn.status == "finished":
        yield ev.AgentFinished()


def _said(message: Message) -> Iterator[ev.AgentEvent]:
    if message.result is not None:
        yield ev.ToolCallFinished(result=message.result)
        return
    yield ev.StepStarted()
    if message.thinking:
        yield ev.ThinkingDelta(text=message.thinking)
    if message.text:
        yield ev.TextDelta(text=message.text)
    for call in message.calls:
        yield ev.ToolCallStarted(call=call)


def _by_price(turn: Turn) -> float | None:
    price = price_of(turn.model)
    return None if price is None else price.cost(turn.usage)


def _with_cost(turn: Turn, cost_usd: float | None) -> Turn:
    usage: Usage = turn.usage.model_copy(update={"cost_usd": cost_usd})
    return turn.model_copy(update={"usage": usage})
