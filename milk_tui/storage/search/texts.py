"""What can be found of a stored message: its text, what its calls were asked, and what they gave back.

The index and the excerpts are both made from this, so that a word that is found can be shown. Reasoning is left out.
"""

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from milk_tui.core.text import sanitize
from milk_tui.storage.search.index import Text

MOST_CHARS = 100_000
"""Characters of one message that can be found; a longer one is found by its beginning."""

_DEPTH = 20
"""Arguments that lie deeper in others are not looked at."""


def texts_of(connection: sqlite3.Connection, session: str, after: int, limit: int) -> list[Text]:
    """The texts of a session's next turns that have ended, at most so many turns."""
    turns = connection.execute(
        "SELECT turn, value FROM turns WHERE session = ? AND turn > ? AND status != 'running' "
        "ORDER BY turn LIMIT ?",
        (session, after, limit),
    ).fetchall()
    began = {turn: _milliseconds(value) for turn, value in turns}
    rows = connection.execute(
        "SELECT turn, place, text, value FROM messages WHERE session = ? AND turn > ? AND turn <= ? "
        "ORDER BY turn, place",
        (session, after, max(began, default=after)),
    )
    return [Text(turn, place, began[turn], findable(*rest)) for turn, place, *rest in rows if turn in began]


def began(connection: sqlite3.Connection, session: str, turn: int) -> int:
    """When a turn began, in milliseconds since 1970; 0 if there is none of that number."""
    row = connection.execute(
        "SELECT value FROM turns WHERE session = ? AND turn = ?", (session, turn)
    ).fetchone()
    return _milliseconds(row[0]) if row else 0


def findable(text: object, value: object) -> str:
    """What can be found of a message, given its columns; safe to show."""
    parts = [text if isinstance(text, str) else "", *_used(_object(value))]
    return sanitize("\n".join(part for part in parts if part)[:MOST_CHARS])


def tool_of(value: object) -> str:
    """The tool that a message calls first; empty if it calls none."""
    return next((str(call.get("name", "")) for call in _objects(_object(value).get("calls"))), "")


def _used(fields: dict[str, Any]) -> Iterator[str]:
    for call in _objects(fields.get("calls")):
        yield " ".join((str(call.get("name", "")), *_strings(_object(call.get("arguments")))))
    result = fields.get("result")
    if isinstance(result, dict):
        yield str(result.get("text", ""))


def _strings(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    """The values in a call's arguments; what they are called is the tool's business."""
    if isinstance(value, dict | list) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth - 1)
    elif isinstance(value, str | int | float):
        yield str(value)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(text: object) -> dict[str, Any]:
    if not isinstance(text, str) or text == "{}":
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _milliseconds(value: object) -> int:
    try:
        return int(datetime.fromisoformat(str(_object(value).get("started_at"))).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0
