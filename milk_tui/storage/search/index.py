"""The file `search.db`: which words stand in which messages, and no text.

It is made from the sessions and may be deleted at any time: what is missing is made anew. It is a file of its own, so
that making it never keeps a conversation waiting for its save. The number of a message in it is the time it was
written, so that FTS5 itself gives the newest first and stops when there are enough.
"""

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from milk_tui.core.errors import StoreError
from milk_tui.storage.files import make_folder
from milk_tui.storage.search.words import indexed

BUSY_SECONDS = 10.0
"""How long another program's indexing is waited for; it writes in small portions."""

_VERSION = 1
"""Of the tables and of what is taken of a message. A file of any other version is made anew."""
_SLOTS = 2**20
"""Messages that can be told apart in one millisecond."""
_EARLIEST, _LATEST = 0, 2**42
"""Milliseconds since 1970 that have room in a number."""
_TABLES = (
    """CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        used_at TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL DEFAULT '',
        turns INTEGER NOT NULL DEFAULT 0,
        began INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE messages (
        number INTEGER PRIMARY KEY,
        owner INTEGER NOT NULL REFERENCES sessions,
        turn INTEGER NOT NULL,
        place INTEGER NOT NULL
    )""",
    "CREATE INDEX messages_by_owner ON messages (owner)",
    """CREATE VIRTUAL TABLE words USING fts5(
        text, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
    )""",
    f"PRAGMA user_version = {_VERSION}",
)


class IndexDamaged(StoreError):
    """The file cannot be used as it is; `remove` makes room for a new one."""


@dataclass(frozen=True)
class Known:
    """How much of a session is in the index."""

    used_at: str = ""
    """When the session had been used last when all of it was taken; empty while a part is missing."""
    source: str = ""
    """The mark of the file that it was imported from."""
    turns: int = 0
    """The last turn that is in it."""
    began: int = 0
    """When that turn began, in milliseconds since 1970: another one may have got its number since."""


@dataclass(frozen=True)
class Place:
    """Where a message stands."""

    session: str
    turn: int
    place: int


@dataclass(frozen=True)
class Text:
    """What can be found of one message."""

    turn: int
    place: int
    milliseconds: int
    """When its turn began, since 1970."""
    text: str


class SearchIndex:
    """The index of one home folder, for one thread at a time. Every method raises `StoreError` if it cannot be used."""

    def __init__(self, home: Path) -> None:
        """Nothing is opened or created before the first call that needs it."""
        self._path = home / "search.db"
        self._connection: sqlite3.Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether anything was ever searched."""
        return self._path.exists()

    def known(self) -> dict[str, Known]:
        """All sessions that are in it."""
        with self._using() as connection:
            rows = connection.execute("SELECT session, used_at, source, turns, began FROM sessions")
            return {session: Known(*rest) for session, *rest in rows}

    def add(self, session: str, before: Known, after: Known, texts: Iterable[Text]) -> bool:
        """Take the next messages of a session; False if another program has done so meanwhile."""
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO sessions (session) VALUES (?)", (session,))
            number, *found = connection.execute(
                "SELECT number, used_at, source, turns, began FROM sessions WHERE session = ?", (session,)
            ).fetchone()
            if Known(*found) != before:
                return False
            _add(connection, number, texts)
            connection.execute(
                "UPDATE sessions SET used_at = ?, source = ?, turns = ?, began = ? WHERE number = ?",
                (after.used_at, after.source, after.turns, after.began, number),
            )
            return True

    def drop(self, session: str) -> None:
        """Find a session no longer whose texts are not known any more: its words stay, as words of nothing."""
        with self._writing() as connection:
            _drop(connection, session)
            words, messages = connection.execute(
                "SELECT (SELECT count(*) FROM words_docsize), (SELECT count(*) FROM messages)"
            ).fetchone()
            if words > 2 * messages:
                connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
                connection.execute("DELETE FROM messages")
                connection.execute("DELETE FROM sessions")

    def forget(self, session: str, texts: Iterable[Text]) -> None:
        """Take a session out with all its words, given its texts."""
        by_place = {(text.turn, text.place): text.text for text in texts}
        with self._writing() as connection:
            rows = connection.execute(
                "SELECT messages.number, turn, place FROM messages JOIN sessions ON sessions.number = owner "
                "WHERE session = ?",
                (session,),
            ).fetchall()
            connection.executemany(
                "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
                [
                    (number, indexed(by_place[turn, place]))
                    for number, turn, place in rows
                    if (turn, place) in by_place
                ],
            )
            _drop(connection, session)

    def find(
        self, expression: str, limit: int, only: Collection[str] | None = None, besides: Collection[str] = ()
    ) -> list[Place]:
        """Where the words of an FTS5 expression stand, newest first: in some sessions only, or not in some."""
        named = "" if only is None else "AND session IN (SELECT value FROM json_each(:only))"
        with self._using() as connection:
            rows = connection.execute(
                f"""SELECT session, turn, place FROM words
                JOIN messages ON messages.number = words.rowid JOIN sessions ON sessions.number = owner
                WHERE words MATCH :expression {named}
                    AND session NOT IN (SELECT value FROM json_each(:besides))
                ORDER BY words.rowid DESC LIMIT :limit""",
                {
                    "expression": expression,
                    "only": json.dumps(list(only or ())),
                    "besides": json.dumps(list(besides)),
                    "limit": limit,
                },
            )
            return [Place(*row) for row in rows]

    def remove(self) -> None:
        """Delete the file."""
        self.close()
        with self._explained():
            for suffix in ("-wal", "-shm", ""):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction."""
        with self._using() as connection, _transaction(connection):
            yield connection

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            if self._connection is None:
                self._connection = self._opened()
            yield self._connection

    def _opened(self) -> sqlite3.Connection:
        make_folder(self._path.parent)
        # Created here and not by SQLite, so that it is never readable by others; its companions follow its mode.
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(self._path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _settle(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise IndexDamaged(f"{self._path} is damaged.", "It holds no sessions: delete it.") from error
            raise StoreError(f"The sessions cannot be searched: {error} ({self._path}).") from error
        except OSError as error:
            raise StoreError(f"{self._path} cannot be used: {error.strerror or error}.") from error


def _settle(connection: sqlite3.Connection) -> None:
    """Make the tables where there are none."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with _transaction(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, _VERSION):
            raise IndexDamaged(
                "The search index is another version's.", "Delete search.db; it holds no sessions."
            )
        if version == 0:
            for statement in _TABLES:
                connection.execute(statement)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()


def _add(connection: sqlite3.Connection, session: int, texts: Iterable[Text]) -> None:
    for text in texts:
        first = min(max(text.milliseconds, _EARLIEST), _LATEST) * _SLOTS
        # Among all words, also those of sessions that were dropped: no number is used twice.
        (last,) = connection.execute(
            "SELECT max(id) FROM words_docsize WHERE id >= ? AND id < ?", (first, first + _SLOTS)
        ).fetchone()
        number = first if last is None else last + 1
        connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, indexed(text.text)))
        connection.execute(
            "INSERT INTO messages (number, owner, turn, place) VALUES (?, ?, ?, ?)",
            (number, session, text.turn, text.place),
        )


def _drop(connection: sqlite3.Connection, session: str) -> None:
    connection.execute(
        "DELETE FROM messages WHERE owner = (SELECT number FROM sessions WHERE session = ?)", (session,)
    )
    connection.execute("DELETE FROM sessions WHERE session = ?", (session,))
