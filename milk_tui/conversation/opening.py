"""Beginning a session and reopening one, and the right to write to it.

A session that another window has open is never written to from here: it is copied, and the user is told.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from milk_tui.core.errors import StoreError
from milk_tui.core.forking import forked
from milk_tui.core.session import Session, SessionState
from milk_tui.core.session_reading import SessionReading
from milk_tui.core.tags import new_nonce
from milk_tui.storage.config import Settings
from milk_tui.storage.locks import SessionLock
from milk_tui.storage.session_store import SessionStore
from milk_tui.storage.writing import canonical


class Keeper:
    """Saves one session, and holds the right to do so from the first save on."""

    def __init__(self, store: SessionStore, lock: SessionLock) -> None:
        self._store = store
        self._lock = lock

    @property
    def is_up_to_date(self) -> bool:
        """Whether the last save succeeded."""
        return self._lock.is_taken and self._store.is_up_to_date

    def save(self, session: Session) -> None:
        """Write what is new. Raises `StoreError`."""
        self._lock.take()
        self._store.save(session)

    def close(self) -> None:
        """Let others open the session."""
        self._lock.close()
        self._store.close()


@dataclass(frozen=True)
class Opened:
    """A session that is ready to be talked in."""

    session: Session
    keeper: Keeper
    notices: tuple[str, ...] = ()
    """What the user should know about how it was opened."""


def new_session(store: SessionStore, settings: Settings, cwd: str) -> Opened:
    """Begin a session in a directory. Nothing is written before its first prompt."""
    state = SessionState(id=str(uuid4()), cwd=canonical(cwd), nonce=new_nonce(), created_at=datetime.now(UTC))
    session = Session(
        state,
        directory_percepts=store.directory_percepts(cwd),
        budget=settings.context_budget_chars,
        fresh_after=settings.returning_fresh_start_local_turns,
    )
    lock = SessionLock(settings.home, state.id)
    return Opened(session, Keeper(store, lock), store.warnings)


def stored(store: SessionStore, settings: Settings, session_id: str) -> Session:
    """A stored session as it is, to read. Raises `StoreError`."""
    return store.load(session_id, settings.context_budget_chars, settings.returning_fresh_start_local_turns)


def forked_from(store: SessionStore, session: SessionReading, up_to: int | None = None) -> str:
    """Write a fork of a session, as it was after a turn or is now; its id. Raises `StoreError`."""
    last = session.turns[-1].number if session.turns else 0
    if not last:
        raise StoreError("There is nothing to fork yet.", "Wait for a first answer.")
    new = {"id": str(uuid4()), "nonce": new_nonce()}
    fork = forked(session, last if up_to is None else up_to, **new, at=datetime.now(UTC))
    if not fork.turns:
        raise StoreError("There is nothing before that to fork.", "/new begins a session without anything.")
    store.save(fork)
    return fork.state.id


def reopened(store: SessionStore, settings: Settings, session_id: str) -> Opened:
    """Open a stored session; a copy of it if another window has it open. Raises `StoreError`."""
    lock = SessionLock(settings.home, session_id)
    try:
        lock.take()
    except StoreError as taken:
        copy = forked_from(store, stored(store, settings, session_id))
        opened = reopened(store, settings, copy)
        told = f"{taken.sentence} This is a copy of it; the other window is not touched."
        return Opened(opened.session, opened.keeper, (told, *opened.notices))
    return _held(store, settings, lock, session_id)


def alone(store: SessionStore, settings: Settings, session_id: str) -> Opened:
    """Open a stored session, if no other window has it open. Raises `StoreError`."""
    lock = SessionLock(settings.home, session_id)
    lock.take()
    return _held(store, settings, lock, session_id)


def _held(store: SessionStore, settings: Settings, lock: SessionLock, session_id: str) -> Opened:
    """Open a stored session whose lock is ours. Raises `StoreError`, and gives the lock back then."""
    try:
        session = stored(store, settings, session_id)
    except StoreError:
        lock.close()
        raise
    return Opened(session, Keeper(store, lock), store.warnings)


def wanted(
    store: SessionStore, settings: Settings, cwd: str, *, last: bool = False, session: str = ""
) -> Opened:
    """The session that the command line asks for: a given one, the directory's last, or a new one."""
    if session:
        return reopened(store, settings, store.find(session))
    found = store.latest(cwd) if last else None
    if found:
        return reopened(store, settings, found)
    opened = new_session(store, settings, cwd)
    if last:
        told = "This directory has no session yet; this is a new one."
        return Opened(opened.session, opened.keeper, (told, *opened.notices))
    return opened
