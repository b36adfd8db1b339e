"""The file `sessions.db`: opened when it is needed, private, and replaced when it is damaged.

Every failure leaves here as a `StoreError` with a sentence. It knows the tables' shape and nothing of what is in them.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from milk_tui.core.errors import StoreError
from milk_tui.storage.files import make_folder
from milk_tui.storage.rescue import rescued
from milk_tui.storage.schema import COLUMNS, SCHEMA, STEPS

BUSY_SECONDS = 2.0
"""How long another program's write is waited for."""

ALONE_SECONDS = 10.0
"""How long another program's creating, upgrading or replacing of the file is waited for."""

_WHY = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_BUSY: "another program is writing to it",
    sqlite3.SQLITE_LOCKED: "another program is writing to it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "access to it is denied",
    sqlite3.SQLITE_IOERR: "the disk refused",
}

FileId = tuple[int, int]
"""Device and number of a file: a file put in its place has another one."""


class Damaged(StoreError):
    """The database is no database, or not ours, or parts of it cannot be read."""


class Database:
    """One connection to `sessions.db`, for one thread at a time."""

    def __init__(self, home: Path) -> None:
        """Nothing is opened or created before the first call that needs it."""
        self.path = home / "sessions.db"
        self.warnings: tuple[str, ...] = ()
        """What was lost, and where it was kept, for the user to read."""
        self.opened = 0
        """How often a file was opened. Once it grows, nothing of what was written before is known to be there."""
        self._file: FileId | None = None
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read from. While there is no file it finds nothing, and none is created.

        Raises:
            StoreError: it cannot be read.
        """
        with self._lock, self._explained("read"):
            if self._connection is not None or self.path.exists():
                yield self._opened()
                return
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
                _upgrade(empty)
                yield empty

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction: all that is done with it is kept, or nothing.

        Raises:
            StoreError: it cannot be written; nothing was changed.
        """
        with self._lock, self._explained("written"):
            if self._connection is not None and self._file_id() != self._file:
                self.close()  # deleted or replaced under us: what is written to it would be lost
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                # Some failures end the transaction by themselves.
                if connection.in_transaction:
                    connection.rollback()

    def close(self) -> None:
        """Close the file. The next call that needs it opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def set_aside(self) -> None:
        """Keep the damaged file under another name and begin a new one with every session that can still be read.

        Raises:
            StoreError: it cannot be moved.
        """
        with self._lock, self._explained("replaced"):
            damaged = self._file
            self.close()
            with self._alone():
                if self._file_id() == damaged:
                    self._create(self._moved())

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._usable() or self._made()
        return self._connection

    def _usable(self) -> sqlite3.Connection | None:
        """The file, if it can be used as it stands."""
        if self._is_blank():
            return None
        # Whatever is wrong, it may be another program's work in progress: that is seen when alone with the file.
        with suppress(sqlite3.Error, Damaged), ExitStack() as stack:
            connection = stack.enter_context(closing(self._connect()))
            if _schema(connection) == SCHEMA:
                _settle(connection)
                stack.pop_all()
                return connection
        return None

    def _made(self) -> sqlite3.Connection:
        """The file after it was created, upgraded or replaced, whichever it needs."""
        make_folder(self.path.parent)
        with self._alone():
            if self._is_blank():
                journal = self.path.with_name(f"{self.path.name}-wal")
                self._create(self._moved() if journal.exists() else None)
            try:
                return self._upgraded()
            except Damaged:
                self._create(self._moved())
            return self._upgraded()

    def _connect(self) -> sqlite3.Connection:
        # Before and not after: if the file is replaced in between, the next write notices.
        self._file = self._file_id()
        self.opened += 1
        return _connected(self.path)

    def _upgraded(self) -> sqlite3.Connection:
        with self._explained("opened"), ExitStack() as stack:
            connection = stack.enter_context(closing(self._connect()))
            _refuse(connection)
            _settle(connection)
            stack.pop_all()
            return connection

    def _create(self, damaged: Path | None) -> None:
        """Put a new file in its place, whole from the first moment, with what can be read of a damaged one."""
        new = self.path.with_name(f"{self.path.name}.new")
        for suffix in ("-wal", "-shm", ""):
            new.with_name(new.name + suffix).unlink(missing_ok=True)
        # Created here and not by SQLite, so that it is never readable by others; its companions follow its mode.
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_connected(new)) as connection:
            _settle(connection)
            count = rescued(connection, damaged) if damaged else 0
        new.replace(self.path)
        if damaged:
            kept = {0: "No session could be read", 1: "One session was taken over"}
            taken = kept.get(count, f"{count} sessions were taken over")
            self.warnings += (f"{self.path} was damaged and is kept as {damaged.name}. {taken}.",)

    def _moved(self) -> Path:
        """The damaged file under its new name, with its companions: a new file must never meet an old journal."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        aside = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        for suffix in ("-wal", "-shm", ""):
            source = self.path.with_name(self.path.name + suffix)
            if source.exists():
                source.rename(aside.with_name(aside.name + suffix))
        return aside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While this lasts no other program creates, upgrades or replaces the file."""
        from filelock import FileLock

        with FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=ALONE_SECONDS, mode=0o600):
            yield

    def _is_blank(self) -> bool:
        """Whether there is no file, or an empty one, beside which SQLite would delete a journal."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True

    def _file_id(self) -> FileId | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._sentence(error, done) from error
        except OSError as error:
            raise StoreError(f"{self.path} cannot be {done}: {error.strerror or error}.") from error

    def _sentence(self, error: sqlite3.Error, done: str) -> StoreError:
        # An error of the module itself, such as a wrong call, carries no code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return Damaged(f"{self.path} cannot be {done}: it is damaged.", "Other sessions may still open.")
        return StoreError(f"{self.path} cannot be {done}: {_WHY.get(code, str(error))}.")


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
    )
    # Bytes that are no UTF-8 are shown as such and never stop a session from opening.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _refuse(connection: sqlite3.Connection) -> None:
    """Refuse a file that is not for us, before anything in it is changed."""
    schema = _schema(connection)
    if schema > SCHEMA:
        raise StoreError(
            "The sessions were written by a newer milk-tui than this one.",
            "Update milk-tui, or name another folder with MILK_HOME.",
        )
    if schema == 0:
        raise Damaged("The file is another program's.")


def _settle(connection: sqlite3.Connection) -> None:
    """Make the file and the connection what the rest of the room expects."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA journal_mode = WAL")
    # In this mode a kill of the program loses nothing; a power cut may lose the last moments, never the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    _upgrade(connection)
    try:
        for table, columns in COLUMNS.items():
            connection.execute(f"SELECT {columns} FROM {table} LIMIT 0")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
            raise Damaged("Some tables are missing.") from error
        raise


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, all or none."""
    schema = _schema(connection)
    if schema == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in (statement for step in STEPS[schema:] for statement in step):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()
