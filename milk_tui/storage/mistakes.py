"""What a mistake of ours leaves behind: its traceback, in a file that can be read and sent along.

It is the last thing done before the program ends, so it raises nothing.
"""

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

from milk_tui.storage.files import make_folder

LOG_LIMIT = 1_000_000
"""Bytes after which the log begins anew."""


def written_down(home: Path, error: BaseException) -> Path | None:
    """Write a mistake to the log; where that is, or `None` if it cannot be written. Only the user can read it."""
    path = home / "logs" / "milk-tui.log"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        make_folder(path.parent)
        is_long = path.exists() and path.stat().st_size > LOG_LIMIT
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_long else os.O_APPEND)
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{now}\n{''.join(traceback.format_exception(error))}\n")
    except OSError:
        return None
    return path
