"""The one lock of a Claude session: two programs on one session silently lose what one of them did.

The lock is the operating system's, so one left behind by a program that was killed is free. It knows nothing of what
a session is.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import Failure
from milk_tui.core.text import sanitize

if TYPE_CHECKING:
    from filelock import BaseFileLock


class ClaudeLock:
    """The right to go on with one session at a time, from `take` until `release`."""

    def __init__(self, folder: Path) -> None:
        """Nothing is created before `take`."""
        self._folder = folder
        self._lock: BaseFileLock | None = None
        self._session_id: str | None = None

    def take(self, session_id: str | None) -> Failure | None:
        """Let go of the session before and take this one; why that cannot be, or nothing."""
        from filelock import FileLock, Timeout

        if session_id == self._session_id and self._lock is not None:
            return None
        self.release()
        if session_id is None:
            return None
        lock = FileLock(self._folder / f"claude-{sha256(session_id.encode()).hexdigest()[:32]}.lock")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            return _locked(session_id)
        except OSError as error:
            return _unlockable(self._folder, error)
        self._lock, self._session_id = lock, session_id
        return None

    def release(self) -> None:
        """Let others go on with the session."""
        if self._lock is not None:
            self._lock.release()
        self._lock = self._session_id = None


def _locked(session_id: str) -> Failure:
    return Failure(
        kind="refused",
        sentence=f"Claude's session {sanitize(session_id)} is in use by another milk-tui.",
        remedy="Return to the local agent there, or escalate afresh here.",
    )


def _unlockable(folder: Path, error: OSError) -> Failure:
    sentence = f"No lock can be made in {folder}: {error.strerror or error}."
    return Failure(kind="refused", sentence=sentence, remedy="Make the folder writable, then try again.")
