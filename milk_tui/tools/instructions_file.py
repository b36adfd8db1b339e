"""A project's own instructions for agents: `AGENTS.md`, or `CLAUDE.md`, in the session's directory.

Reads one ordinary text file inside the directory and says in a sentence why one is not used. How much of it a model is
shown, and where, is decided elsewhere.
"""

import os
import stat
from pathlib import Path

from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize

NAMES = ("AGENTS.md", "CLAUDE.md")
"""The first that is there counts."""
FILE_BYTES = 1_000_000
"""A larger file is no instructions."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class ProjectFile(Value):
    """A project's instructions as they were read."""

    name: str
    text: str = ""
    """Sanitized and whole."""
    problem: str = ""
    """Why the file is not used, as a sentence for the user; then there is no text."""


class ProjectInstructions:
    """The instructions in one directory; read again only when the file has changed, so that they are stable."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._seen: tuple[object, ...] | None = None
        self._file: ProjectFile | None = None

    def current(self) -> ProjectFile | None:
        """What holds for a turn that starts now; `None` when there is no such file."""
        seen = tuple(_trace(Path(self._cwd, name)) for name in NAMES)
        if seen != self._seen:
            self._seen, self._file = seen, project_instructions(self._cwd)
        return self._file


def project_instructions(cwd: str) -> ProjectFile | None:
    """Read the instructions in this directory; `None` when there are none. Never waits and raises nothing."""
    for name in NAMES:
        found = _read(Path(cwd), name)
        if found is not None and (found.text.strip() or found.problem):
            return found
    return None


def _read(folder: Path, name: str) -> ProjectFile | None:
    try:
        path = (folder / name).resolve(strict=True)
        # A link to a file elsewhere could show a model anything of the user's.
        if not path.is_relative_to(folder.resolve()):
            return _unused(name, "it is a link that leads out of the project")
        data = _bytes(path)
        return ProjectFile(name=name, text=sanitize(data.decode("utf-8-sig")))
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return _unused(name, "it is not UTF-8 text")
    except ValueError as error:
        return _unused(name, str(error))
    except (OSError, RuntimeError) as error:
        return _unused(name, getattr(error, "strerror", None) or str(error))


def _bytes(path: Path) -> bytes:
    """Raises `ValueError` with the reason when this is no ordinary file of a reasonable size."""
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not an ordinary file")
        data = file.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise ValueError(f"it is larger than {FILE_BYTES // 1_000_000} MB")
    return data


def _unused(name: str, reason: str) -> ProjectFile:
    return ProjectFile(name=name, problem=f"{name} is not used: {reason}.")


def _trace(path: Path) -> object:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size
