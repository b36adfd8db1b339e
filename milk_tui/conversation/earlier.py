"""Earlier prompts: what the user has written before, newest first."""

from collections.abc import Iterable

from milk_tui.core.session import Session


def prompts_of(session: Session, others: Iterable[str] = ()) -> list[str]:
    """A session's prompts, the running turn's too, and behind them those of others; each text once.

    Those that differ only in the space around them are the same.
    """
    turns = [*session.turns, *filter(None, [session.running])]
    found: dict[str, str] = {}
    for text in (*(turn.prompt for turn in reversed(turns)), *others):
        found.setdefault(text.strip(), text)
    return list(found.values())
