"""The statements that read sessions. What comes out is safe to show, whoever wrote the file."""

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime

from milk_tui.core.cut import one_line
from milk_tui.core.messages import AgentRole, Message, Turn, Value
from milk_tui.core.session import Percept, SessionState
from milk_tui.core.text import sanitize
from milk_tui.core.versions import BrickVersion
from milk_tui.storage.rows import message_read, state_read, turn_read, version_read, well_formed

WORDS_LIMIT = 80


class SessionEntry(Value):
    """One line of a list of sessions."""

    id: str
    title: str
    cwd: str
    used_at: datetime
    floor: AgentRole
    turns: int
    words: str
    """The first words of its first prompt."""


def has_session(connection: sqlite3.Connection, session: str) -> bool:
    """Whether there is a session of that id."""
    found = connection.execute("SELECT 1 FROM sessions WHERE session = ?", (well_formed(session),))
    return found.fetchone() is not None


def state_of(connection: sqlite3.Connection, session: str) -> SessionState | None:
    """A session's state; None if its row cannot be read."""
    row = connection.execute(
        "SELECT session, cwd, floor, value FROM sessions WHERE session = ?", (session,)
    ).fetchone()
    return state_read(*row) if row else None


def turns_of(connection: sqlite3.Connection, session: str) -> tuple[list[Turn], list[int]]:
    """A session's turns, oldest first, and the numbers of those that cannot be read."""
    messages: dict[int, list[Message]] = {}
    for number, *rest in connection.execute(
        "SELECT turn, place, role, text, value FROM messages WHERE session = ? ORDER BY turn, place",
        (session,),
    ):
        message = message_read(number, *rest)
        if message is not None:
            messages.setdefault(number, []).append(message)
    turns: list[Turn] = []
    lost: list[int] = []
    for number, agent, status, value in connection.execute(
        "SELECT turn, agent, status, value FROM turns WHERE session = ? AND status != 'undone' ORDER BY turn",
        (session,),
    ):
        turn = turn_read(number, agent, status, value, messages.get(number, ()))
        if turn is None:
            lost.append(number)
        else:
            turns.append(turn)
    return turns, lost


def percepts_of(connection: sqlite3.Connection, session: str) -> list[Percept]:
    """A session's facts, oldest first."""
    rows = connection.execute("SELECT text, turn FROM percepts WHERE session = ? ORDER BY place", (session,))
    return [Percept(text=sanitize(str(text)), turn=turn) for text, turn in rows]


def versions_of(connection: sqlite3.Connection, session: str) -> list[BrickVersion]:
    """What a session's bricks were, oldest first; one that cannot be read is left out."""
    rows = connection.execute(
        "SELECT number, brick, value FROM versions WHERE session = ? ORDER BY number", (session,)
    )
    versions = (version_read(*row) for row in rows)
    return [version for version in versions if version is not None]


def percepts_in(connection: sqlite3.Connection, cwd: str, besides: str, limit: int) -> list[str]:
    """The different facts of a directory, newest first, up to so many characters; one session's left out."""
    found: dict[str, None] = {}
    for (raw,) in connection.execute(
        "SELECT text FROM percepts WHERE cwd = ? AND session != ? ORDER BY at DESC, row DESC", (cwd, besides)
    ):
        text = sanitize(str(raw))
        if text in found:
            continue
        limit -= len(text)
        if limit < 0:
            break
        found[text] = None
    return list(found)


def latest_in(connection: sqlite3.Connection, cwd: str) -> str | None:
    """The session of a directory that was used last."""
    row = connection.execute(
        "SELECT session FROM sessions WHERE cwd = ? ORDER BY used_at DESC LIMIT 1", (cwd,)
    ).fetchone()
    return str(row[0]) if row else None


def entries(connection: sqlite3.Connection, cwd: str | None, limit: int) -> list[SessionEntry]:
    """Sessions, last used first."""
    rows = connection.execute(
        """
        SELECT session, title, cwd, used_at, floor,
            (SELECT count(*) FROM turns WHERE turns.session = sessions.session AND status != 'undone'),
            (SELECT substr(text, 1, 1000) FROM messages WHERE messages.session = sessions.session
                ORDER BY turn, place LIMIT 1)
        FROM sessions WHERE :cwd IS NULL OR cwd = :cwd ORDER BY used_at DESC LIMIT :limit
        """,
        {"cwd": cwd, "limit": limit},
    )
    return [_entry(*row) for row in rows]


def ids_beginning(connection: sqlite3.Connection, prefix: str, limit: int) -> list[str]:
    """Ids that begin so: the one that is no longer than this first, the others by last use."""
    rows: Iterable[tuple[object]] = connection.execute(
        "SELECT session FROM sessions WHERE substr(session, 1, ?) = ? "
        "ORDER BY length(session) = ? DESC, used_at DESC LIMIT ?",
        (len(prefix), well_formed(prefix), len(prefix), limit),
    )
    return [str(row[0]) for row in rows]


def _entry(
    session: str, title: str, cwd: str, used_at: str, floor: str, turns: int, words: str | None
) -> SessionEntry:
    return SessionEntry(
        id=session,
        title=one_line(sanitize(str(title)), WORDS_LIMIT),
        cwd=sanitize(str(cwd)),
        used_at=moment(used_at),
        floor="claude" if floor == "claude" else "local",
        turns=turns,
        words=one_line(sanitize(str(words or "")), WORDS_LIMIT),
    )


def moment(text: object) -> datetime:
    """A time as it was written; what is none is 1970."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
