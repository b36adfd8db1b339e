"""A file replaced at once: at every moment it holds the old bytes or the new ones, never a part.

What the file was otherwise (its mode, and its owner where the system lets us) stays; hard links to the old content
keep the old content.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from milk_tui.tools.off_loop import Stop, check
from milk_tui.tools.text_file import digest_of, read_bytes
from milk_tui.tools.trouble import ToolError


def replace_file(path: Path, name: str, data: bytes, expected: str | None, stop: Stop) -> str:
    """Write the file, if it still is what the question showed, and give back the digest of what it holds now.

    Args:
        path: resolved; missing parents are created.
        name: the path in sentences.
        data: all that the file will hold.
        expected: digest of what it must hold now; None if it must not exist.
        stop: nothing is changed once it is set.

    Raises:
        ToolError: the file changed meanwhile, or is read-only.
        OSError: it cannot be written.
    """
    _insist_unchanged(path, name, expected, stop)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".milk-{secrets.token_hex(8)}"
    try:
        _write(temporary, data, None if expected is None else path.lstat())
        _insist_unchanged(path, name, expected, stop)
        check(stop)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return digest_of(data)


def _write(temporary: Path, data: bytes, model: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if model is None else 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if model is not None:
            _look_alike(temporary, model)
        os.fsync(file.fileno())


def _look_alike(path: Path, model: os.stat_result) -> None:
    """Give a file the owner and the permissions of another; set-user-id and its kin are not carried over."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, model.st_uid, model.st_gid)
    path.chmod(stat.S_IMODE(model.st_mode) & 0o777)


def _insist_unchanged(path: Path, name: str, expected: str | None, stop: Stop) -> None:
    if expected is None:
        if os.path.lexists(path):
            raise ToolError(f"{name} was created by something else meanwhile; nothing was written.")
        return
    if not path.lstat().st_mode & 0o222:
        raise ToolError(f"{name} is read-only; nothing was written.")
    if digest_of(read_bytes(path, name, stop)) != expected:
        raise ToolError(f"{name} was changed meanwhile; nothing was written. Read it again first.")
