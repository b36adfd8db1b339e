"""Files that hold what must not be lost: private to their owner, and whole at every moment."""

import os
import tempfile
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
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


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
