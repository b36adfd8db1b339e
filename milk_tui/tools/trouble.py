"""What goes wrong with a tool, as sentences for the model that called it and for the user who reads along."""

import errno

_WORDS = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "may not be touched: permission denied",
    errno.EPERM: "may not be touched: the system does not permit it",
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "is not a directory, or something on the way to it is a file",
    errno.ELOOP: "is a symbolic link that leads in a circle, or became one meanwhile",
    errno.ENAMETOOLONG: "is too long for a path",
    errno.ENOSPC: "cannot be written: the disk is full",
    errno.EROFS: "cannot be written: the file system is read-only",
    errno.EAGAIN: "has nothing to read now and would keep us waiting",
    errno.ENXIO: "is no ordinary file",
}


class ToolError(Exception):
    """A sentence for the model: why a call was not run, or how it failed."""


def trouble(error: OSError) -> str:
    """An error of the operating system as a sentence that names the path."""
    words = _WORDS.get(error.errno or 0)
    if words is None:
        return f"The system refused: {error.strerror or error}."
    name = error.filename if isinstance(error.filename, str) and len(error.filename) < 500 else ""
    return f"{name or 'It'} {words}."
