"""`milk-tui context`: prints what would be handed over."""

import json
from typing import cast

from milk_tui.cli.saying import say
from milk_tui.cli.wish import Wish, here
from milk_tui.conversation.opening import new_session, stored
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Situation
from milk_tui.core.secrets import found, looks
from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore


def run_context(
    wish: Wish, session_id: str, situation: str | None, reason: str, *, is_masked: bool, as_json: bool
) -> None:
    """Print the hand-off of a stored session; nothing is opened for writing and nothing is sent."""
    session = _session(wish, session_id or wish.session)
    row = cast(Situation, situation) if situation else ("agent" if reason else session.situation)
    handoff = session.handoff(row, reason, is_masked or None)
    if as_json:
        print(json.dumps(_plain(handoff), indent=2, ensure_ascii=False))
        return
    print(handoff.standing + handoff.changing, end="")
    count = sum(len(found(part.text)) for part in handoff.parts)
    if count:
        say(f"{looks(count)}; --mask masks them.")
    if reason and row == "resume":
        say("On a resume the reason goes into the prompt.")


def _session(wish: Wish, session_id: str) -> Session:
    settings = wish.settings()
    store = SessionStore(settings.home)
    found = store.find(session_id) if session_id else store.latest(here())
    if found:
        return stored(store, settings, found)
    return new_session(store, settings, here()).session


def _plain(handoff: Handoff) -> dict[str, object]:
    return {
        "situation": handoff.situation,
        "standing": handoff.standing,
        "changing": handoff.changing,
        "chars": handoff.chars,
        "history_chars": handoff.history_chars,
        "parts": [
            {"name": part.name, "text": part.text, "chars": part.chars, "budget": part.budget}
            for part in handoff.parts
        ],
    }
