"""Who may write to a session: one program at a time.

The lock is the operating system's, so one left behind by a program that was killed is free. It knows nothing of what
is in a session.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import StoreError
from milk_tui.storage.files import make_folder

if TYPE_CHECKING:
    from filelock import FileLock


class SessionLock:
    """The right to write to one session, from `take` until `close`."""

    def __init__(self, home: Path, session_id: str) -> None:
        """Nothing is created before `take`."""
        folder = home / "locks"
        # An id may come from the command line; in a file name it must not lead elsewhere.
        name = "".join(c if c.isalnum() or c == "-" else "_" for c in session_id)
        self._path = folder / f"{name}.lock"
        # Beside the lock and not in it: whoever tries the lock may empty that file.
        self._owner = folder / f"{name}.pid"
        self._session_id = session_id
        self._lock: FileLock | None = None

    @property
    def is_taken(self) -> bool:
        """Whether it is ours."""
        return self._lock is not None

    @property
    def owner(self) -> int | None:
        """The process that took the lock last, as far as it could say so."""
        try:
            return int(self._owner.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def take(self) -> None:
        """Take the lock, or fail at once. Taking what is ours already does nothing.

        Raises:
            StoreError: another program has it, or no lock can be made.
        """
        from filelock import FileLock, Timeout

        if self._lock is not None:
            return
        try:
            make_folder(self._path.parent)
            lock = FileLock(self._path, mode=0o600)
            lock.acquire(blocking=False)
            self._lock = lock
        except Timeout:
            by = f" (process {self.owner})" if self.owner else ""
            raise StoreError(
                f"Session {self._session_id} is open in another window{by}.",
                "Close it there, or begin a new session.",
            ) from None
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(f"{self._path} cannot be locked: {reason}.") from error
        # The lock holds without it: on a full disk only the number is missing.
        with suppress(OSError):
            self._owner.write_text(str(os.getpid()), encoding="ascii")

    def close(self) -> None:
        """Give the lock back. The session is free for others at once."""
        if self._lock is not None:
            self._owner.unlink(missing_ok=True)
            self._lock.release()
        self._lock = None

    def __enter__(self) -> "SessionLock":
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def held_elsewhere(home: Path, besides: Collection[str] = ()) -> dict[str, int | None]:
    """The sessions that other windows have open, and their processes as far as they say so."""
    found: dict[str, int | None] = {}
    # Only a lock that is held, or was when its program was killed, has a number beside it.
    for path in sorted((home / "locks").glob("*.pid")):
        if path.stem in besides:
            continue
        lock = SessionLock(home, path.stem)
        owner = lock.owner
        try:
            lock.take()
        except StoreError:
            found[path.stem] = owner
        lock.close()
    return found
