"""Lines of a model server's stream, put together from bytes that were cut anywhere.

Reads bytes and returns frames; knows nothing of HTTP and nothing of what a frame means. Each `data:` line is a frame
of its own: model servers write one JSON object a line, and some leave out the empty line between two of them. Ollama's
own streams are bare: each line is one JSON object. Lines end at a newline only, for a model may well write any of
Unicode's other line ends.
"""

from typing import Literal, NamedTuple

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes: a longer line is no answer of a model."""
STRAY_LIMIT = 1024 * 1024


class Frame(NamedTuple):
    """One line that says something."""

    kind: Literal["data", "error"]
    text: str


class LineTooLong(Exception):
    """The server has sent more than `LINE_LIMIT` bytes without ending the line."""


class EventLines:
    """Turns chunks of bytes into frames and keeps aside what is no event stream."""

    def __init__(self, *, is_bare: bool = False) -> None:
        """`is_bare` for a stream whose lines are JSON objects with nothing in front of them."""
        self._is_bare = is_bare
        self._parts: list[bytes] = []
        self._size = 0
        self._event = b""
        self._stray = bytearray()

    @property
    def stray(self) -> str:
        """The lines that belong to no event stream, such as a page of HTML or one JSON object; at most 1 MiB."""
        return self._stray.decode("utf-8", "replace")

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes.

        Raises:
            LineTooLong: the line has no end.
        """
        if b"\n" not in chunk:
            self._hold(chunk)
            return []
        *lines, rest = (b"".join(self._parts) + chunk).split(b"\n")
        self._parts, self._size = [], 0
        self._hold(rest)
        return [frame for line in lines if (frame := self._frame(line)) is not None]

    def finish(self) -> list[Frame]:
        """The frame in the last line, when the body ended without ending it."""
        return self.feed(b"\n") if self._parts else []

    def _hold(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
        if self._size > LINE_LIMIT:
            raise LineTooLong

    def _frame(self, line: bytes) -> Frame | None:
        line = line.rstrip(b"\r")
        if self._is_bare and line.lstrip().startswith(b"{"):
            return Frame("data", line.strip().decode("utf-8", "replace"))
        if line.startswith(b"data:"):
            kind: Literal["data", "error"] = "error" if self._event == b"error" else "data"
            return Frame(kind, line[5:].strip().decode("utf-8", "replace"))
        if line.startswith(b"error:"):
            return Frame("error", line[6:].strip().decode("utf-8", "replace"))
        self._note(line)
        return None

    def _note(self, line: bytes) -> None:
        if not line:
            self._event = b""
        elif line.startswith(b"event:"):
            self._event = line[6:].strip()
        elif not line.startswith((b":", b"id:", b"retry:")) and len(self._stray) < STRAY_LIMIT:
            self._stray += line[:STRAY_LIMIT] + b"\n"
