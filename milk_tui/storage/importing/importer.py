"""Taking sessions over: each file becomes a session of ours, or a sentence that says why it did not.

A session keeps the id that it had, so taking it twice is taking it once. A file that has changed since is taken anew
as long as its session was not gone on with here; after that the two have parted, and ours is left as it is.
"""

import sqlite3
from itertools import chain
from pathlib import Path
from typing import Literal

from milk_tui.core.cut import one_line
from milk_tui.core.errors import StoreError
from milk_tui.core.messages import Value
from milk_tui.storage.database import Database
from milk_tui.storage.importing.claude_session import TITLE_LIMIT, claude_session
from milk_tui.storage.importing.fields import text_in
from milk_tui.storage.importing.found import Found
from milk_tui.storage.importing.go_session import go_session
from milk_tui.storage.importing.own_session import own_session
from milk_tui.storage.importing.searching import is_claude_session, is_go_session, is_own_session
from milk_tui.storage.importing.source import Progress, SourceError, parsed, unmoved
from milk_tui.storage.locks import SessionLock
from milk_tui.storage.session_store import SessionStore
from milk_tui.storage.writing import put_percepts, put_state, put_turn, put_versions

Outcome = Literal["taken", "updated", "unchanged", "skipped"]


class Imported(Value):
    """What became of one file."""

    path: str
    outcome: Outcome
    why: str = ""
    """A sentence; empty if the session was taken."""
    session: str = ""
    title: str = ""
    turns: int = 0
    left_out: dict[str, int] = {}
    """How much of what was not taken."""
    notes: tuple[str, ...] = ()
    """Sentences about what was taken otherwise than it stands in the file."""


class Importer:
    """Takes files into the sessions of one home folder."""

    def __init__(self, home: Path, progress: Progress = unmoved) -> None:
        """Nothing is written before a session was found.

        Raises:
            StoreError: what is stored cannot be read.
        """
        self._home = home
        self._progress = progress
        self._seen: dict[str, Path] = {}
        # Whatever is wrong with the file of sessions is put right here, before a transaction depends on it.
        store = SessionStore(home)
        store.listed(limit=1)
        store.close()
        self.warnings = store.warnings
        self._database = Database(home)

    def take(self, path: Path) -> Imported:
        """Take one file. Whatever is wrong with it is told in the outcome.

        Raises:
            StoreError: the session cannot be stored.
        """
        try:
            return self._taken(path, self._read(path))
        except SourceError as error:
            return Imported(path=str(path), outcome="skipped", why=str(error))

    def close(self) -> None:
        """Close the file of sessions."""
        self._database.close()

    def _read(self, path: Path) -> Found:
        if is_own_session(path):
            return own_session(path, self._progress)
        if is_go_session(path):
            return go_session(path, self._progress)
        if is_claude_session(path):
            return claude_session(path, self._progress)
        if not path.exists():
            raise SourceError(f"{path} does not exist.")
        raise SourceError(f"{path} is no session: none of our exports, no <uuid>.json and no .jsonl file.")

    def _taken(self, path: Path, found: Found) -> Imported:
        session = found.state.id
        report = Imported(path=str(path), outcome="skipped", session=session)
        before = self._seen.setdefault(session, path)
        if before != path:
            return report.model_copy(update={"why": f"The same session was read from {before}."})
        with self._database.reading() as connection:
            mark = _mark_of(connection, session)
            owner = _owner_of(connection, found.state.claude_session_id, besides=session)
        if mark == found.state.source_mark:
            return report.model_copy(update={"outcome": "unchanged", "why": "It is here already."})
        if mark == "":
            why = "It is here already and was gone on with; it is left as it is."
            return report.model_copy(update={"outcome": "unchanged", "why": why})
        if owner and found.state.claude_session_id == session:
            return report.model_copy(
                update={"why": f"It is Claude's part of session {owner}, which is here."}
            )
        if owner:
            # Two sessions that resume the same one of Claude's would each lose a part of the other.
            found.state = found.state.model_copy(update={"claude_session_id": None})
            found.notes.append(
                f"Claude's session belongs to session {owner}; the next hand-off is a first one."
            )
        return self._stored(report, found, is_known=mark is not None)

    def _stored(self, report: Imported, found: Found, *, is_known: bool) -> Imported:
        first = next(found.turns, None)
        if first is None:
            return report.model_copy(update={"why": f"{report.path} holds no prompt and no answer."})
        state = found.state
        title = state.title or state.stated_need or one_line(first.prompt, TITLE_LIMIT)
        lock = SessionLock(self._home, state.id)
        if is_known:
            try:
                lock.take()
            except StoreError as error:
                return report.model_copy(update={"why": str(error)})
        try:
            with self._database.writing() as connection:
                connection.execute("DELETE FROM sessions WHERE session = ?", (state.id,))
                put_state(connection, state, title, found.used_at)
                last = first
                for last in chain([first], found.turns):
                    put_turn(connection, state.id, last, None)
                put_percepts(connection, state, found.percepts, 0, found.used_at)
                put_versions(connection, state.id, found.versions)
        finally:
            lock.close()
        return report.model_copy(
            update={
                "outcome": "updated" if is_known else "taken",
                "title": title,
                "turns": last.number,
                "left_out": dict(+found.left_out),
                "notes": tuple(found.notes),
            }
        )


def _mark_of(connection: sqlite3.Connection, session: str) -> str | None:
    """The mark of what a session was imported from: empty if it is our own by now, None if it is not here."""
    row = connection.execute("SELECT value FROM sessions WHERE session = ?", (session,)).fetchone()
    if row is None:
        return None
    return text_in(parsed(str(row[0]).encode()) or {}, "source_mark")


def _owner_of(connection: sqlite3.Connection, claude_session: str | None, besides: str) -> str | None:
    """Another session that resumes this one of Claude's."""
    row = connection.execute(
        """SELECT session FROM sessions WHERE session != ? AND
        CASE WHEN json_valid(value) THEN json_extract(value, '$.claude_session_id') END = ?""",
        (besides, claude_session),
    ).fetchone()
    return str(row[0]) if row else None
