"""What can still be read of a damaged database, taken over into a new one session by session."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from milk_tui.storage.schema import COLUMNS, SCHEMA


def rescued(connection: sqlite3.Connection, damaged: Path) -> int:
    """How many sessions were taken over whole. The damaged file is only read."""
    try:
        connection.execute("ATTACH ? AS damaged", (f"{damaged.as_uri()}?mode=ro",))
    except sqlite3.DatabaseError:
        return 0
    try:
        schema = connection.execute("PRAGMA damaged.user_version").fetchone()[0]
        if not 0 < schema <= SCHEMA:
            return 0
        tables = [table for table in COLUMNS if _has(connection, table)]
        return sum(_copied(connection, session, tables) for session in _ids(connection))
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


def _has(connection: sqlite3.Connection, table: str) -> bool:
    """Whether the damaged file has the table: one of an earlier schema may not."""
    found = connection.execute("SELECT 1 FROM damaged.sqlite_master WHERE name = ?", (table,))
    return found.fetchone() is not None


def _copied(connection: sqlite3.Connection, session: str, tables: Sequence[str]) -> bool:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table in tables:
            columns = COLUMNS[table]
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
