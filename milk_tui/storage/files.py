"""Files that hold what must not be lost: private to their owner, and whole at every moment."""

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter. One that is there already stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def write_new(path: Path, text: str) -> None:
    """Write a new file that only its owner may read.

    Raises:
        FileExistsError: there is one; it stays as it is.
        OSError: it cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def remove_old(folder: Path, days: float) -> None:
    """Remove the files below a folder that were written so many days ago, and folders left empty by that.

    What cannot be removed stays: it is only taking room.
    """
    oldest = time.time() - days * 86_400
    for parent, _folders, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(parent, name)
            with suppress(OSError):
                if path.lstat().st_mtime < oldest:
                    path.unlink()
        if Path(parent) != folder:
            # Fails for a folder that still holds something, which is what is wanted.
            with suppress(OSError):
                Path(parent).rmdir()


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text at once: after a crash it holds the old text or the new one, never a part.

    Raises:
        OSError: it cannot be written; the old text is still there.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
