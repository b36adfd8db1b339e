"""Reading a file that is somebody else's: never written, never a device, line by line, and marked by what is in it.

It knows nothing of what the file means.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from milk_tui.core.errors import StoreError

LINE_LIMIT = 16 * 2**20
"""Bytes of the longest line that is read; the pictures of one message fit in it."""
WHOLE_LIMIT = 64 * 2**20
"""Bytes of the largest file that is read whole."""

_READING = 1
"""Part of every mark: a newer reading finds more in a file that has not changed."""


class SourceError(StoreError):
    """A file cannot be taken over; others may."""


Progress = Callable[[int], None]
"""Is told of every so many bytes read."""


def unmoved(_: int) -> None:
    """Progress that nobody watches."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, to be read from.

    Raises:
        SourceError: it is something else, or it cannot be read.
    """
    try:
        # Asked before opening, for some devices act on being opened; and after, for it may have been replaced.
        _check(path, path.stat())
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check(path, os.fstat(file.fileno()))
            yield file
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error


class Lines:
    """One pass over the lines of a file."""

    def __init__(self, file: BinaryIO, progress: Progress = unmoved) -> None:
        self._file = file
        self._progress = progress
        self._digest = blake2b(digest_size=16)
        self.has_end = True
        """Whether the last line was ended: a writer may be in the middle of it."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its place in the file. Blank ones are passed over; one beyond the limit comes empty."""
        place = 0
        while line := self._piece():
            size = len(line)
            is_whole = line.endswith(b"\n")
            while not line.endswith(b"\n") and len(line) == LINE_LIMIT:
                is_whole, line = False, self._piece()
                size += len(line)
            self.has_end = line.endswith(b"\n")
            # The last line may have no end, and is no longer than any other.
            if not is_whole and size > LINE_LIMIT:
                yield place, b""
            elif line.strip():
                yield place, line
            place += size

    @property
    def mark(self) -> str:
        """What tells this content from any other, once all lines were read."""
        return _mark(self._digest.hexdigest())

    def _piece(self) -> bytes:
        piece = self._file.readline(LINE_LIMIT)
        self._digest.update(piece)
        self._progress(len(piece))
        return piece


def line_at(file: BinaryIO, place: int) -> bytes:
    """The line that begins there."""
    file.seek(place)
    return file.readline(LINE_LIMIT)


def whole(path: Path, progress: Progress = unmoved) -> tuple[bytes, str]:
    """All of a file, and its mark.

    Raises:
        SourceError: it is too large, or it cannot be read.
    """
    with opened(path) as file:
        raw = file.read(WHOLE_LIMIT + 1)
    if len(raw) > WHOLE_LIMIT:
        raise SourceError(f"{path} is larger than {WHOLE_LIMIT // 2**20} MB and was not read.")
    progress(len(raw))
    return raw, _mark(blake2b(raw, digest_size=16).hexdigest())


def parsed(raw: bytes) -> dict[str, Any] | None:
    """The JSON object in a text; None for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SourceError(f"{path} is not a regular file.")


def _mark(digest: str) -> str:
    return f"{_READING}-{digest}"
