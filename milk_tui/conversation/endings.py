"""How a turn ends: why, where it did not end by itself, and the receipt of a hand-off."""

from datetime import datetime

from milk_tui.conversation.turn_stream import TurnStream
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Receipt, Turn, Usage

_NO_ENDING = Failure(
    kind="protocol",
    sentence="The agent stopped without saying that it had finished.",
    remedy="Your prompt and the answer so far are kept; please send it again.",
)


def ending(stream: TurnStream, running: Turn | None, at: datetime) -> ev.Event | None:
    """The event that ends a turn in the agent's place; `None` if the agent has said how it ended."""
    if stream.error is not None:
        return ev.AgentFailed(failure=bug(stream.error))
    if stream.was_stopped:
        why = stream.why_stopped
        return ev.TurnInterrupted(at=at) if why is None else ev.AgentFailed(failure=why)
    is_open = running is not None and running.status == "running"
    return ev.AgentFailed(failure=_NO_ENDING) if is_open else None


def receipt(handoff: Handoff, running: Turn | None, seconds: float) -> Receipt:
    """What a hand-off carried and took."""
    return Receipt(
        situation=handoff.situation,
        chars=handoff.chars,
        history_chars=handoff.history_chars,
        usage=running.usage if running else Usage(),
        seconds=seconds,
        is_masked=handoff.is_masked,
        summary_until=handoff.summary_until,
        facts_until=handoff.facts_until,
    )


def bug(error: Exception) -> Failure:
    """An agent raised instead of reporting: our own mistake."""
    return Failure(
        kind="bug",
        sentence=f"milk-tui itself made a mistake: {type(error).__name__}: {error}",
        remedy="Your prompt and the answer so far are kept; please send it again.",
    )
