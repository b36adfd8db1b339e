"""The incoming brick: what the local agent is told when the floor returns, exactly as it is told.

It takes a quarter of the local model's window at the most, by what its server has counted so far, and no more than a
brick's budget. It decides nothing; the user does.
"""

from collections.abc import Callable

from milk_tui.agents.base import Agent, Sized
from milk_tui.agents.server.messages import BYTES_PER_TOKEN
from milk_tui.conversation.file_watch import named_files, shown_name
from milk_tui.core.cut import cut_lines
from milk_tui.core.handoff import FRAME, fenced
from milk_tui.core.incoming import IncomingBrick
from milk_tui.core.session import Session

DEFAULT_WINDOW = 8_192
"""Tokens assumed of a local model that does not say."""

_TITLE = "What Claude Code did meanwhile, at the user's request"


def share(agent: Agent, window: int | None) -> int:
    """A quarter of the local model's window, in bytes of text: what its server has taught us, else an estimate."""
    known = agent.share() if isinstance(agent, Sized) else None
    return int((window or DEFAULT_WINDOW) / 4 * BYTES_PER_TOKEN) if known is None else known


def incoming_brick(session: Session, share: int) -> IncomingBrick | None:
    """What waits for the local agent; `None` if nothing does. `share` is in bytes, as models count."""
    incoming = session.incoming
    if incoming is None:
        return None
    words, cwd = incoming.text, session.state.cwd
    changed = named_files(session.stay, cwd)
    room = max(min(session.budget, share) - FRAME, 0)

    def made(limit: int) -> str:
        return session.stay_summary(limit).text if words is None else cut_lines(words, limit)

    return IncomingBrick(
        text=_within(made, room, share - FRAME),
        room=room,
        choice=incoming.choice,
        is_edited=words is not None,
        files=tuple(shown_name(file.path, cwd) for file in changed.files),
        may_be_more=changed.may_be_more,
    )


def preface(session: Session, share: int) -> str:
    """What goes in front of the local agent's next prompt: the incoming brick, unless it was discarded."""
    brick = incoming_brick(session, share)
    if brick is None or brick.choice == "discarded" or not brick.text:
        return ""
    return fenced(_TITLE, "claude_summary", brick.text, session.state.nonce)


def _within(made: Callable[[int], str], chars: int, size: int) -> str:
    """A text made for so many characters, or for fewer until it is no larger than so many bytes."""
    text = made(chars)
    while chars and (taken := len(text.encode("utf-8", "replace"))) > size:
        chars = max(min(chars, len(text)) * max(size, 0) // taken, 0)
        text = made(chars)
    return text if chars else ""
