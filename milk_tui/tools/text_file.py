"""Text files as they are on disk: read without ever waiting, decoded so that they can be written back the same.

Only ordinary files are opened. Everything else (devices, pipes, sockets, directories) is a sentence.
"""

import codecs
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from milk_tui.tools.off_loop import Stop, check
from milk_tui.tools.trouble import ToolError

FILE_BYTES = 10_000_000
"""The largest file that is read or written whole."""

_CHUNK = 1 << 20
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link that leads in a circle",
}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TEXT_CONTROLS = b"\t\n\r\f\x08\x1b"
_HIDDEN = re.compile("\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_CONTROLS = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS)


@dataclass(frozen=True)
class TextFile:
    """The text of a file, line ends untouched, and what else is needed to write it back."""

    text: str
    mark: bytes
    """The byte order mark in front."""
    codec: str
    digest: str
    """Of the bytes on disk."""

    @property
    def is_crlf(self) -> bool:
        """Every line ends as on Windows."""
        return "\r\n" in self.text and self.text.count("\n") == self.text.count("\r\n")

    def encoded(self, text: str) -> bytes:
        """Another text as this file would hold it.

        Raises:
            ToolError: a character of it does not exist in the file's encoding.
        """
        try:
            return self.mark + text.encode(self.codec)
        except UnicodeEncodeError as error:
            letter = text[error.start]
            raise ToolError(f"The file is {self.codec} text, which has no “{letter}”.") from None


def new_text_file() -> TextFile:
    """What a file that does not exist yet would be."""
    return TextFile("", b"", "utf-8", "")


def read_text(path: Path, name: str, stop: Stop) -> TextFile:
    """The text of a resolved path, called `name` in sentences.

    Raises:
        ToolError: it is no text file, or too large.
        OSError: it cannot be read.
    """
    data = read_bytes(path, name, stop)
    mark, codec = next(((m, c) for m, c in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) or (codec == "utf-8" and b"\0" in body):
        raise ToolError(f"{name} is a binary file of {len(data):,} bytes.")
    try:
        text = body.decode(codec)
    except UnicodeDecodeError:
        if mark or body.translate(None, _CONTROLS) != body:
            raise ToolError(f"{name} is no text in {codec.upper()}; it has {len(data):,} bytes.") from None
        codec, text = "latin-1", body.decode("latin-1")
    return TextFile(text, mark, codec, digest_of(data))


def read_bytes(path: Path, name: str, stop: Stop) -> bytes:
    """The bytes of an ordinary file."""
    insist_on_file(path.lstat(), name)
    descriptor = os.open(path, _FLAGS)
    try:
        insist_on_file(os.fstat(descriptor), name)
        data = bytearray()
        while chunk := os.read(descriptor, _CHUNK):
            check(stop)
            data += chunk
            if len(data) > FILE_BYTES:
                raise ToolError(_too_large(name))
        return bytes(data)
    finally:
        os.close(descriptor)


def hides(text: str) -> bool:
    """Whether a text holds controls, which are taken out wherever it is shown."""
    return _HIDDEN.search(text) is not None


def digest_of(data: bytes) -> str:
    """What tells one content from another."""
    return hashlib.sha256(data).hexdigest()


def insist_on_file(status: os.stat_result, name: str) -> None:
    """Refuse what is no ordinary file, or too large a one."""
    kind = _KINDS.get(stat.S_IFMT(status.st_mode))
    if kind:
        raise ToolError(f"{name} is {kind}, not a file.")
    if status.st_size > FILE_BYTES:
        raise ToolError(_too_large(name))


def _too_large(name: str) -> str:
    return f"{name} is larger than {FILE_BYTES // 1_000_000} MB; search in it instead."
