"""Sessions on disk: saved as they grow, reopened, listed and found.

Saving costs what is new, not what is there: the store remembers what it has written of each session and adds the
rest in one transaction. After a kill at any moment everything saved is there. It decides nothing about a session;
who may write to one is the business of `milk_tui.storage.locks`.
"""

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from milk_tui.core.budget import CONTEXT_BUDGET
from milk_tui.core.errors import StoreError
from milk_tui.core.messages import Turn
from milk_tui.core.route import FRESH_AFTER
from milk_tui.core.session import Session, SessionState
from milk_tui.storage import reading
from milk_tui.storage.database import Damaged, Database
from milk_tui.storage.prompts import prompts_in
from milk_tui.storage.reading import SessionEntry
from milk_tui.storage.rows import closed
from milk_tui.storage.usage import UsageReport, usage_of
from milk_tui.storage.writing import canonical, put_percepts, put_state, put_turn, put_versions, take_back

__all__ = ["SessionEntry", "SessionStore"]

T = TypeVar("T")

PERCEPTS_LIMIT = 20_000
"""Characters of a directory's facts that are read; a hand-off takes fewer."""

_LIST = "`milk-tui sessions` lists what there is."


@dataclass(frozen=True)
class _Written:
    """What of a session is known to be on disk."""

    state: SessionState | None = None
    turns: int = 0
    running: Turn | None = None
    percepts: int = 0
    versions: int = 0
    """The number of the newest one."""


class SessionStore:
    """The sessions of one home folder. Nothing is created before a session with a prompt is saved."""

    def __init__(self, home: Path) -> None:
        self._database = Database(home)
        self._opened = 0
        self._written: dict[str, _Written] = {}
        self._lost: tuple[str, ...] = ()
        self.trouble: StoreError | None = None
        """Why the last save failed; None once one has succeeded."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was lost so far and where it is kept, for the user to read."""
        return self._database.warnings + self._lost

    @property
    def is_up_to_date(self) -> bool:
        """Whether the last save succeeded."""
        return self.trouble is None

    def save(self, session: Session) -> None:
        """Write what is new in a session, its unfinished turn included. A session without a prompt is not written.

        A save that fails changes nothing on disk; the next one writes all that is missing.

        Raises:
            StoreError: it cannot be written. The same trouble is raised once, until a save succeeds.
        """
        try:
            try:
                self._save(session)
            except Damaged:
                self._database.set_aside()
                self._save(session)
        except StoreError as error:
            is_known = self.trouble is not None and self.trouble.sentence == error.sentence
            self.trouble = StoreError(
                error.sentence, error.remedy or "The conversation goes on in memory; saving is tried again."
            )
            if not is_known:
                raise self.trouble from error
        else:
            self.trouble = None

    def load(self, session_id: str, budget: int = CONTEXT_BUDGET, fresh_after: int = FRESH_AFTER) -> Session:
        """A session as it was saved. A turn that was running is interrupted, with what was answered so far.

        Args:
            session_id: The whole id.
            budget: Characters for each summary.
            fresh_after: Local turns behind at which Claude starts fresh; 0 for never.

        Raises:
            StoreError: there is no such session, or it cannot be read.
        """
        with self._database.reading() as connection:
            if not reading.has_session(connection, session_id):
                raise StoreError(f"There is no session {session_id}.", _LIST)
            state = reading.state_of(connection, session_id)
            turns, lost = reading.turns_of(connection, session_id)
            percepts = reading.percepts_of(connection, session_id)
            versions = reading.versions_of(connection, session_id)
            self._match_file()
        if state is None:
            raise StoreError(f"The record of session {session_id} is damaged.", "Other sessions still open.")
        self._lost += tuple(
            f"Turn {number} of session {session_id} is damaged and left out." for number in lost
        )
        settled = next((i for i, turn in enumerate(turns) if turn.status == "running"), len(turns))
        newest = max((version.number for version in versions), default=0)
        self._written[session_id] = _Written(state, settled, None, len(percepts), newest)
        now = datetime.now(UTC)
        return Session(
            state,
            [closed(turn, now) if turn.status == "running" else turn for turn in turns],
            percepts,
            self.directory_percepts(state.cwd, besides=session_id),
            budget,
            fresh_after,
            versions,
        )

    def latest(self, cwd: str) -> str | None:
        """The session of a directory that was used last."""
        return self._read(lambda connection: reading.latest_in(connection, canonical(cwd)))

    def listed(self, cwd: str | None = None, limit: int = 100) -> list[SessionEntry]:
        """Sessions, last used first; of one directory or of all."""
        name = None if cwd is None else canonical(cwd)
        return self._read(lambda connection: reading.entries(connection, name, limit))

    def usage(self) -> UsageReport:
        """What all stored turns have spent."""
        return self._read(usage_of)

    def prompts(self, besides: Collection[str] = ()) -> list[str]:
        """What was written in all sessions but these, newest first and each text once."""
        return self._read(lambda connection: prompts_in(connection, besides))

    def has(self, session_id: str) -> bool:
        """Whether a session is kept here."""
        return self._read(lambda connection: reading.has_session(connection, session_id))

    def find(self, prefix: str) -> str:
        """The id that begins so.

        Raises:
            StoreError: none does, or several do.
        """
        ids = (
            self._read(lambda connection: reading.ids_beginning(connection, prefix, limit=6))
            if prefix
            else []
        )
        if not ids:
            raise StoreError(f"No session begins with {prefix!r}.", _LIST)
        if len(ids) > 1 and prefix != ids[0]:
            raise StoreError(
                f"Several sessions begin with {prefix!r}: {', '.join(ids)}.", "Give more of the id."
            )
        return ids[0]

    def directory_percepts(self, cwd: str, besides: str = "", limit_chars: int = PERCEPTS_LIMIT) -> list[str]:
        """Facts recorded in a directory, newest first and each once.

        Args:
            cwd: The directory.
            besides: A session whose own facts are left out.
            limit_chars: The most characters of all of them together.
        """
        name = canonical(cwd)
        return self._read(lambda connection: reading.percepts_in(connection, name, besides, limit_chars))

    def close(self) -> None:
        """Close the file. A later call opens it again."""
        self._database.close()

    def _save(self, session: Session) -> None:
        running = session.running
        newest = session.versions.last_number
        after = _Written(session.state, len(session.turns), running, len(session.percepts), newest)
        name = session.state.id
        is_known = name in self._written  # every turn of it may have been taken back
        if self._written.get(name) == after or not (session.turns or running or is_known):
            return
        now = datetime.now(UTC)
        with self._database.writing() as connection:
            self._match_file()
            before = _taken_back(connection, session, self._written.get(name, _Written()))
            # A checkpoint of an answer alone leaves the row with its summaries as it is.
            if before.state != after.state or before.turns != after.turns or before.running is None:
                put_state(connection, session.state, session.title, now)
            for turn in (*session.turns[before.turns :], running):
                if turn is not None:
                    put_turn(connection, name, turn, before.running)
            put_percepts(connection, session.state, session.percepts[before.percepts :], before.percepts, now)
            put_versions(connection, name, session.versions.since(before.versions))
        self._written[name] = after

    def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Ask about all sessions. If the file is damaged, those that can be read are taken over and asked about."""
        try:
            with self._database.reading() as connection:
                return query(connection)
        except Damaged:
            self._database.set_aside()
        with self._database.reading() as connection:
            return query(connection)

    def _match_file(self) -> None:
        """Forget what was written once the file was opened anew: another one may have taken its place."""
        if self._opened != self._database.opened:
            self._opened = self._database.opened
            self._written.clear()


def _taken_back(connection: sqlite3.Connection, session: Session, before: _Written) -> _Written:
    """Take out what the user has taken back since the last save; what is written then."""
    undone = session.state.undone_turn
    if undone == (before.state.undone_turn if before.state else 0):
        return before
    kept = [turn.number for turn in session.turns if turn.number < undone]
    take_back(connection, session.state.id, max(kept, default=0), undone)
    facts = sum(percept.turn <= undone for percept in session.percepts)
    turns, percepts = min(before.turns, len(kept)), min(before.percepts, facts)
    return replace(before, turns=turns, running=None, percepts=percepts)
