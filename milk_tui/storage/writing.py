"""The statements that write a session, inside a transaction that someone else began.

Each writes what it is given over what is there, so that doing it twice is doing it once.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from milk_tui.core.messages import Message, Turn
from milk_tui.core.session import Percept, SessionState
from milk_tui.core.versions import KEPT, BrickVersion
from milk_tui.storage.rows import well_formed, written


def canonical(cwd: str) -> str:
    """A directory under the one name by which it is stored, whatever links led there."""
    return well_formed(os.path.realpath(cwd))


def stamp(moment: datetime) -> str:
    """A time as text that sorts."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def put_state(connection: sqlite3.Connection, state: SessionState, title: str, now: datetime) -> None:
    """Write a session's own row."""
    connection.execute(
        """INSERT INTO sessions (session, cwd, title, floor, used_at, value) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET cwd = excluded.cwd, title = excluded.title, floor = excluded.floor,
            used_at = excluded.used_at, value = excluded.value""",
        (
            state.id,
            canonical(state.cwd),
            well_formed(title),
            state.floor,
            stamp(now),
            written(state, besides={"id", "cwd", "floor"}),
        ),
    )


def put_title(connection: sqlite3.Connection, state: SessionState, title: str) -> None:
    """Write what a session is called, and leave when it was used."""
    connection.execute(
        "UPDATE sessions SET title = ?, value = ? WHERE session = ?",
        (well_formed(title), written(state, besides={"id", "cwd", "floor"}), state.id),
    )


def put_turn(connection: sqlite3.Connection, session: str, turn: Turn, was: Turn | None) -> None:
    """Write a turn and those of its messages that differ from what `was` written."""
    connection.execute(
        """INSERT INTO turns (session, turn, agent, status, value) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET agent = excluded.agent, status = excluded.status, value = excluded.value""",
        (session, turn.number, turn.agent, turn.status, _head(turn)),
    )
    known = was.messages if was is not None and was.number == turn.number else ()
    for place, message in enumerate(turn.messages):
        if place >= len(known) or known[place] != message:
            _put_message(connection, session, turn.number, place, message)
    # A step that was voided, or an earlier writer, may have left more than there is now.
    connection.execute(
        "DELETE FROM messages WHERE session = ? AND turn = ? AND place >= ?",
        (session, turn.number, len(turn.messages)),
    )


def take_back(connection: sqlite3.Connection, session: str, after: int, until: int) -> None:
    """Take turns out, the numbers after one and up to another. What they have cost stays for the sums, and no word."""
    names = {"session": session, "after": after, "until": until}
    theirs = "session = :session AND turn > :after AND turn <= :until"
    connection.execute(
        f"""UPDATE turns SET status = 'undone',
            value = iif(json_valid(value), json_remove(value, '$.preface', '$.failure'), '{{}}')
        WHERE {theirs}""",
        names,
    )
    for table in ("messages", "percepts"):
        connection.execute(f"DELETE FROM {table} WHERE {theirs}", names)


def put_percepts(
    connection: sqlite3.Connection,
    state: SessionState,
    percepts: Sequence[Percept],
    first: int,
    now: datetime,
) -> None:
    """Write facts, of which the first has this place in its session."""
    connection.executemany(
        """INSERT INTO percepts (session, place, turn, cwd, at, text) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (session, place) DO UPDATE SET turn = excluded.turn, text = excluded.text""",
        [
            (state.id, place, percept.turn, canonical(state.cwd), stamp(now), well_formed(percept.text))
            for place, percept in enumerate(percepts, first)
        ],
    )


def put_versions(connection: sqlite3.Connection, session: str, versions: Iterable[BrickVersion]) -> None:
    """Write versions of bricks; of each brick only the last ones stay."""
    for version in versions:
        connection.execute(
            """INSERT INTO versions (session, number, brick, value) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET brick = excluded.brick, value = excluded.value""",
            (session, version.number, version.brick, written(version, besides={"number", "brick"})),
        )
        connection.execute(
            """DELETE FROM versions WHERE session = :session AND brick = :brick AND number <= (
                SELECT number FROM versions WHERE session = :session AND brick = :brick
                ORDER BY number DESC LIMIT 1 OFFSET :kept)""",
            {"session": session, "brick": version.brick, "kept": KEPT},
        )


def _put_message(
    connection: sqlite3.Connection, session: str, turn: int, place: int, message: Message
) -> None:
    connection.execute(
        """INSERT INTO messages (session, turn, place, role, text, value) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (session, turn, place) DO UPDATE
            SET role = excluded.role, text = excluded.text, value = excluded.value""",
        (
            session,
            turn,
            place,
            message.role,
            well_formed(message.text),
            written(message, besides={"id", "role", "text"}),
        ),
    )


def _head(turn: Turn) -> str:
    head = turn.model_copy(update={"messages": ()})
    return written(head, besides={"number", "agent", "status", "messages"})
