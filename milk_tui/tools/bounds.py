"""Every result made safe and bounded before it reaches the model, with the whole of it kept in a file."""

import os
import re
import tempfile
from pathlib import Path

from milk_tui.core.cut import cut_end, cut_middle
from milk_tui.core.text import sanitize

_CONTROLS = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")
"""Colours and controls. Sanitizing megabytes of them would take half a minute; taking these out takes seconds."""

_NOTE = re.compile(r"\[[\d,]+ characters, shortened here\. All of it is in (.+)\]\n")

_PIECE = 1 << 16
"""Characters worked on at once, so that other threads have their turn in between."""


def bounded(text: str, limit_chars: int, keep: Path, name: str) -> str:
    """The text, sanitized, at most `limit_chars` characters: head and tail, what is missing, and where all of it is.

    A text that is too long is written to a new file in the folder `keep`, which only its owner can read; its name
    starts with `name`. If it cannot be written, the result says so.
    """
    if len(text) > limit_chars:
        text = "".join(_CONTROLS.sub("", text[at : at + _PIECE]) for at in range(0, len(text), _PIECE))
    if len(text) <= limit_chars:
        return sanitize(text)
    note = f"[{len(text):,} characters, shortened here. {_kept(text, keep, name)}]\n"
    if len(note) > limit_chars // 2:
        note = ""
    return sanitize(note + cut_middle(text, limit_chars - len(note)))


def kept_path(result: str, folder: Path) -> Path | None:
    """Where the whole of a result is kept, if it was shortened here and is kept in `folder` or below.

    A program could have written the same words: so no file elsewhere is ever named.
    """
    note = _NOTE.match(result)
    if note is None:
        return None
    path = Path(note[1])
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def _kept(text: str, keep: Path, name: str) -> str:
    try:
        keep.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".txt", dir=keep)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        return cut_end(f"The rest could not be kept: {error.strerror}.", 200)
    return f"All of it is in {path}"
