"""What the user has written in all stored sessions, to be found again: newest first, each text once.

SQLite puts the turns in order, so that of a hundred thousand only the prompts that are given are read.
"""

import sqlite3
from collections.abc import Collection

from milk_tui.core.text import sanitize

MOST = 2_000
"""Prompts that are given."""
MOST_CHARS = 4_000_000
"""Characters of all of them together."""

_NEWEST = """
    SELECT session, turn FROM turns WHERE status != 'undone'
    ORDER BY julianday(CASE WHEN json_valid(value) THEN json_extract(value, '$.started_at') END) DESC, turn DESC
"""
_PROMPT = "SELECT text FROM messages WHERE session = ? AND turn = ? AND place = 0 AND role = 'user'"


def prompts_in(
    connection: sqlite3.Connection, besides: Collection[str], most: int = MOST, most_chars: int = MOST_CHARS
) -> list[str]:
    """The prompts of all sessions but these. Those that differ only in the space around them are the same."""
    found: dict[str, str] = {}
    for session, turn in connection.execute(_NEWEST):
        row = None if session in besides else connection.execute(_PROMPT, (session, turn)).fetchone()
        text = sanitize(row[0]) if row and isinstance(row[0], str) else ""
        if not text.strip() or text.strip() in found:
            continue
        most_chars -= len(text)
        if most_chars < 0 or len(found) == most:
            break
        found[text.strip()] = text
    return list(found.values())
