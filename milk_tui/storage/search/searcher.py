"""Searching all sessions: the index is brought up to date with them, and what it finds is shown from them.

A turn is found once it has ended. Nothing is written to the sessions.
"""

import sqlite3
from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from milk_tui.core.cut import one_line
from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize
from milk_tui.storage.database import Database
from milk_tui.storage.reading import moment
from milk_tui.storage.search.index import IndexDamaged, Known, Place, SearchIndex
from milk_tui.storage.search.texts import began, findable, texts_of, tool_of
from milk_tui.storage.search.words import Excerpt, Query
from milk_tui.storage.writing import canonical

T = TypeVar("T")

LIMIT = 50
"""Hits of one search, if no other number is asked for."""
PORTION = 200
"""Turns that are indexed in one transaction: what another program that indexes waits for."""
TITLE_LIMIT = 80

By = Literal["user", "local", "claude", "tool"]


class Hit(Value):
    """One message in which all words stand."""

    session: str
    title: str
    """The session's."""
    cwd: str
    message: str
    """The message's id, as in `12.3`."""
    by: By
    tool: str = ""
    """The tool that is called, where nothing else is said."""
    at: datetime
    excerpt: Excerpt


class Found(Value):
    """What a search found, newest first."""

    hits: tuple[Hit, ...] = ()
    has_more: bool = False


class Searcher:
    """Searches the sessions of one home folder, for one thread at a time. Every method raises `StoreError`."""

    def __init__(self, home: Path) -> None:
        """Nothing is opened or created before it is needed."""
        self._database = Database(home)
        self._index = SearchIndex(home)

    def catch_up(
        self, told: Callable[[float], None] = lambda _: None, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Take what is new into the index, the sessions that were used last first.

        Args:
            told: Is told which part is done, from 0 to 1, whenever more is.
            stopped: Whether to stop early; what is missing then is taken the next time.
        """
        self._sure(lambda: self._catch_up(told, stopped))

    def search(
        self, query: Query, limit: int = LIMIT, cwd: str | None = None, besides: Collection[str] = ()
    ) -> Found:
        """Find messages.

        Args:
            query: The words.
            limit: The most hits.
            cwd: Only the sessions of this directory.
            besides: Sessions that are left out.
        """
        if query.is_empty or not self._index.is_there:
            return Found()
        with self._database.reading() as connection:
            only = None if cwd is None else _sessions_in(connection, canonical(cwd))
            places = self._sure(lambda: self._index.find(query.expression, limit + 1, only, besides))
            hits = [hit for place in places[:limit] if (hit := _hit(connection, place, query))]
        return Found(hits=tuple(hits), has_more=len(places) > limit)

    def forget(self, session: str) -> None:
        """Take a session out of the index; it is about to be deleted."""
        if self._index.is_there:
            with self._database.reading() as connection:
                texts = texts_of(connection, session, after=0, limit=-1)
            self._sure(lambda: self._index.forget(session, texts))

    def close(self) -> None:
        """Close the files. The next call opens them again."""
        self._database.close()
        self._index.close()

    def _catch_up(self, told: Callable[[float], None], stopped: Callable[[], bool]) -> None:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT session, used_at FROM sessions ORDER BY used_at DESC")
            stored = {str(session): str(used_at) for session, used_at in rows}
        known = self._index.known() if stored or self._index.is_there else {}
        for gone in known.keys() - stored.keys():
            self._index.drop(gone)
        changed = [name for name, used_at in stored.items() if known.get(name, Known()).used_at != used_at]
        for place, name in enumerate(changed, 1):
            if stopped():
                return
            self._take(name, stored[name], known.get(name, Known()), stopped)
            told(place / len(changed))

    def _take(self, session: str, used_at: str, before: Known, stopped: Callable[[], bool]) -> None:
        """Take what is new of one session, in portions."""
        with self._database.reading() as connection:
            source = _source(connection, session)
            is_another = began(connection, session, before.turns) != before.began
        if before.source != source or is_another:
            self._index.drop(session)
            before = Known()
        is_whole = False
        while not is_whole and not stopped():
            with self._database.reading() as connection:
                texts = texts_of(connection, session, before.turns, PORTION)
            is_whole = len({text.turn for text in texts}) < PORTION
            taken = max((text.turn for text in texts), default=before.turns)
            start = texts[-1].milliseconds if texts else before.began
            after = Known(used_at if is_whole else "", source, taken, start)
            if not self._index.add(session, before, after, texts):
                return
            before = after

    def _sure(self, work: Callable[[], T]) -> T:
        """Do it, if need be on a new index."""
        try:
            return work()
        except IndexDamaged:
            self._index.remove()
            return work()


def _sessions_in(connection: sqlite3.Connection, cwd: str) -> list[str]:
    return [str(row[0]) for row in connection.execute("SELECT session FROM sessions WHERE cwd = ?", (cwd,))]


def _source(connection: sqlite3.Connection, session: str) -> str:
    """The mark of the file that a session was imported from; empty if it is our own."""
    row = connection.execute(
        """SELECT CASE WHEN json_valid(value) THEN coalesce(json_extract(value, '$.source_mark'), '') ELSE '' END
        FROM sessions WHERE session = ?""",
        (session,),
    ).fetchone()
    return str(row[0]) if row else ""


def _hit(connection: sqlite3.Connection, place: Place, query: Query) -> Hit | None:
    """What stands in a place; None if it was deleted meanwhile."""
    row = connection.execute(
        """SELECT title, cwd, agent, role, text, messages.value,
            CASE WHEN json_valid(turns.value) THEN json_extract(turns.value, '$.started_at') END
        FROM messages JOIN turns USING (session, turn) JOIN sessions USING (session)
        WHERE session = ? AND turn = ? AND place = ?""",
        (place.session, place.turn, place.place),
    ).fetchone()
    if row is None:
        return None
    title, cwd, agent, role, text, value, at = row
    return Hit(
        session=place.session,
        title=one_line(sanitize(str(title)), TITLE_LIMIT),
        cwd=sanitize(str(cwd)),
        message=f"{place.turn}.{place.place}",
        by=_by(role, agent),
        tool="" if text else sanitize(tool_of(value)),
        at=moment(at),
        excerpt=query.excerpt(findable(text, value)),
    )


def _by(role: object, agent: object) -> By:
    if role == "user" or role == "tool":
        return role
    return "claude" if agent == "claude" else "local"
