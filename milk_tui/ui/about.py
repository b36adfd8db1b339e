"""When a turn was, and what it took: a few words for those who want to know."""

from collections.abc import Iterator
from datetime import datetime

from milk_tui.core.messages import Turn, Usage


def about_turn(turn: Turn) -> str:
    """When a turn began, and what it took if it has ended."""
    return about(turn.started_at, turn.ended_at, turn.usage)


def about(began: datetime, ended: datetime | None = None, usage: Usage | None = None) -> str:
    """The same of a turn that is not there as a value yet. Times are those of this machine's clock."""
    return " · ".join(_words(began, ended, usage))


def _words(began: datetime, ended: datetime | None, usage: Usage | None) -> Iterator[str]:
    yield began.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if ended is not None:
        yield f"{(ended - began).total_seconds():.1f} s"
    if usage is not None and (usage.input_tokens or usage.output_tokens):
        cached = f" ({usage.cached_tokens:,} from the cache)" if usage.cached_tokens else ""
        yield f"{usage.input_tokens:,} tokens read{cached}, {usage.output_tokens:,} written"
