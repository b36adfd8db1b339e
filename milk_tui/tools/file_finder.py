"""Finding a file of the session's directory by a few of its letters, as fast as one types.

What `.gitignore` leaves out is left out. The listing is taken once and again after a while; a hundred thousand paths
are looked through in a fraction of a second, off the event loop.
"""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from time import monotonic

from milk_tui.core.text import sanitize
from milk_tui.tools.ripgrep import listing
from milk_tui.tools.trouble import ToolError

FRESH_SECONDS = 10.0
"""How long a listing is used before it is taken again."""

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_LOOKED_AT = 3_000
"""Paths that are compared with each other; more have the letters only when the letters say little."""


class FileFinder:
    """The files of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._paths = ""
        """One path a line: searching one long text costs a tenth of searching many short ones."""
        self._taken_at: float | None = None
        self._taking = asyncio.Lock()

    async def find(self, letters: str, limit: int = 50) -> list[str]:
        """The paths that have these letters in this order, the likeliest first. Empty where nothing can be listed."""
        await self._take()
        return await asyncio.to_thread(lambda: best(self._paths, letters, limit))

    async def _take(self) -> None:
        async with self._taking:
            if self._taken_at is not None and monotonic() - self._taken_at < FRESH_SECONDS:
                return
            try:
                found = await listing(self.directory)
            except (ToolError, OSError):
                found = []
            # What cannot be shown on one line as it is cannot be written into a prompt either.
            self._paths = "\n".join(path for path in found if "\n" not in path and sanitize(path) == path)
            self._taken_at = monotonic()


def best(paths: str, letters: str, limit: int) -> list[str]:
    """The likeliest of paths, one a line, for some letters; capitals of ASCII count only where capitals are typed."""
    has_capitals = letters != letters.translate(_SMALL)
    candidates = list(_candidates(paths, paths if has_capitals else paths.translate(_SMALL), letters))
    candidates.sort(key=lambda path: _rank(path, letters.translate(_SMALL)))
    return candidates[:limit]


def _candidates(paths: str, searched: str, letters: str) -> Iterator[str]:
    # Each letter is the first one behind the last: whatever the path, it is looked at once from each start.
    steps = (f"[^{re.escape(letter)}\n]*+{re.escape(letter)}" for letter in letters[1:])
    pattern = re.compile(re.escape(letters[:1]) + "".join(steps) if letters else "(?m:^)(?=[^\n])")
    position = 0
    for _ in range(_LOOKED_AT):
        match = pattern.search(searched, position)
        if match is None:
            return
        start = paths.rfind("\n", 0, match.start()) + 1
        end = paths.find("\n", match.end())
        end = len(paths) if end < 0 else end
        position = end + 1
        yield paths[start:end]


def _rank(path: str, letters: str) -> tuple[int, int, str]:
    """Smaller is likelier: the letters as one piece in the name, then in the path, then spread; short paths first."""
    small = path.translate(_SMALL)
    name = small.rpartition("/")[2]
    if name.startswith(letters):
        place = 0
    elif letters in name:
        place = 1
    elif letters in small:
        place = 2
    else:
        place = 3 if _has(name, letters) else 4
    return place, len(path), path


def _has(name: str, letters: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)
