"""What was written and not sent: one private file for each session, so that neither a kill nor a switch loses it.

A session that never had a turn is not kept, but its draft is: the next new session in the same directory takes it.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from milk_tui.core.messages import Value
from milk_tui.storage.files import make_folder, replace_text

KEPT_DAYS = 30
"""Days after which a draft that nobody took is let go."""


class StoredDraft(Value):
    """A draft as it was on the screen."""

    cwd: str
    text: str
    pastes: Mapping[int, str] = {}
    """What each label in the text stands for, by its number."""
    process: int = 0
    """Who wrote it."""


class Drafts:
    """The drafts of one home. A draft that cannot be written or read is no draft: nothing else depends on it."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "drafts"

    def keep(self, session_id: str, draft: StoredDraft) -> None:
        """Keep a session's draft, or that there is none."""
        path = self._path(session_id)
        with suppress(OSError):
            if draft.text:
                make_folder(self._folder)
                replace_text(path, draft.model_copy(update={"process": os.getpid()}).model_dump_json())
            else:
                path.unlink(missing_ok=True)

    def of_session(self, session_id: str) -> StoredDraft | None:
        """The draft of a session, if there is one."""
        return _read(self._path(session_id))

    def left_behind(self, cwd: str, is_stored: Callable[[str], bool]) -> StoredDraft | None:
        """Take the newest draft of a directory whose session was never kept and whose program is gone."""
        for path in self._newest_first():
            draft = _read(path)
            if draft is None or draft.cwd != cwd or is_stored(path.stem) or _runs(draft.process):
                continue
            with suppress(OSError):
                path.unlink()
            return draft
        return None

    def _newest_first(self) -> Iterator[Path]:
        """Every draft; those that are too old go."""
        oldest = time.time() - KEPT_DAYS * 86_400
        dated: list[tuple[float, Path]] = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError):
                dated.append((path.stat().st_mtime, path))
        for written, path in sorted(dated, reverse=True):
            if written < oldest:
                with suppress(OSError):
                    path.unlink()
            else:
                yield path

    def _path(self, session_id: str) -> Path:
        # An id may come from the command line; in a file name it must not lead elsewhere.
        return self._folder / f"{''.join(c if c.isalnum() or c == '-' else '_' for c in session_id)}.json"


def _read(path: Path) -> StoredDraft | None:
    try:
        return StoredDraft.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _runs(process: int) -> bool:
    """Whether another program than this one, with that number, is there."""
    if process in (0, os.getpid()):
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
