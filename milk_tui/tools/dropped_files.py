"""Files dropped on the terminal: it pastes their paths, each terminal in its own quotation."""

import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from milk_tui.core.mention import as_mention

_MOST_CHARS = 10_000


def as_mentions(text: str, directory: Path) -> str | None:
    """What was pasted as mentions of files, relative where they are inside; `None` if it is not all paths of files."""
    if len(text) > _MOST_CHARS:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    paths = [_path(word) for word in words]
    if not paths or not all(path is not None and _is_there(path) for path in paths):
        return None
    return "".join(f"{as_mention(_shown(path, directory))} " for path in paths if path is not None)


def _path(word: str) -> Path | None:
    """The absolute path that a word is; `None` if it is none."""
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    path = Path(word)
    return path if path.is_absolute() and path.name else None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _shown(path: Path, directory: Path) -> str:
    return str(path.relative_to(directory) if path.is_relative_to(directory) and path != directory else path)
