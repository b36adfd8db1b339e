"""What can still be read of a damaged database, taken over into a new one session by session."""

import sqlite3
from pathlib import Path

from milk_tui.storage.schema import COLUMNS, SCHEMA


def rescued(connection: sqlite3.Connection, damaged: Path) -> int:
    """How many sessions were taken over whole. The damaged file is only read."""
    try:
        connection.execute("ATTACH ? AS damaged", (f"{damaged.as_uri()}?mode=ro",))
    except sqlite3.DatabaseError:
        return 0
    try:
        if connection.execute("PRAGMA damaged.user_version").fetchone()[0] != SCHEMA:
            return 0
        return sum(_copied(connection, session) for session in _ids(connection))
    except sqlite3.DatabaseError:
        return 0
    finally:
        connection.execute("DETACH damaged")


def _ids(connection: sqlite3.Connection) -> list[str]:
    """The sessions up to the first that cannot be read."""
    found: list[str] = []
    try:
        for (session,) in connection.execute("SELECT session FROM damaged.sessions"):
            found.append(session)
    except sqlite3.DatabaseError:
        return found
    return found


def _copied(connection: sqlite3.Connection, session: str) -> bool:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table, columns in COLUMNS.items():
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM damaged.{table} WHERE session = ?",
                (session,),
            )
        connection.execute("COMMIT")
    except sqlite3.DatabaseError:
        return False
    finally:
        if connection.in_transaction:
            connection.rollback()
    return True
