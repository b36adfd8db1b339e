"""What can be done with a stored session that is not open: rename it, and delete it with all that is kept beside it.

Deleting is final. Until then a session can wait in a bin, locked, so that no other window opens it meanwhile.
"""

import shutil
from contextlib import closing
from pathlib import Path

from milk_tui.core.errors import StoreError
from milk_tui.core.events import Renamed
from milk_tui.storage.database import Database
from milk_tui.storage.locks import SessionLock
from milk_tui.storage.search.searcher import Searcher
from milk_tui.storage.session_store import SessionStore
from milk_tui.storage.writing import put_title

_BESIDE = ("before", "results")
"""Folders in which sessions have folders of their own."""


def rename(home: Path, session_id: str, title: str) -> str:
    """Give a session a title, or its own one back if the text is empty; what it is called then.

    Raises:
        StoreError: it is open in another window, or cannot be written.
    """
    with (
        SessionLock(home, session_id),
        closing(SessionStore(home)) as store,
        closing(Database(home)) as database,
    ):
        session = store.load(session_id)
        session.apply(Renamed(title=title))
        with database.writing() as connection:
            put_title(connection, session.state, session.title)
        return session.title


def delete(home: Path, session_id: str) -> None:
    """Delete a session for good: its record, its words in the index, and the files kept for it.

    Raises:
        StoreError: it cannot be deleted; it is still there.
    """
    with closing(Searcher(home)) as searcher, closing(Database(home)) as database:
        searcher.forget(session_id)
        with database.writing() as connection:
            # What is deleted is also overwritten.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("DELETE FROM sessions WHERE session = ?", (session_id,))
    for folder in _BESIDE:
        if Path(session_id).name == session_id:
            shutil.rmtree(home / folder / session_id, ignore_errors=True)


class Bin:
    """Sessions that are deleted when the program ends, and not before: each can be taken back until then.

    After a crash they are all still there.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._locks: dict[str, SessionLock] = {}

    @property
    def sessions(self) -> tuple[str, ...]:
        """What is in it, the last one last."""
        return tuple(self._locks)

    def put(self, session_id: str) -> None:
        """Put a session into it. Raises `StoreError` if another window has it open."""
        lock = SessionLock(self._home, session_id)
        lock.take()
        self._locks[session_id] = lock

    def take_back(self) -> str | None:
        """Take the last one out of it again; its id, or `None` if there is none."""
        if not self._locks:
            return None
        session_id, lock = self._locks.popitem()
        lock.close()
        return session_id

    def empty(self) -> None:
        """Delete what is in it. Raises `StoreError` for the first that cannot be deleted; it is still there then."""
        trouble: StoreError | None = None
        while self._locks:
            session_id, lock = self._locks.popitem()
            try:
                delete(self._home, session_id)
            except StoreError as error:
                trouble = trouble or error
            finally:
                lock.close()
        if trouble is not None:
            raise trouble
