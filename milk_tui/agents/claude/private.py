"""Texts that go to Claude Code in files: only this user can read them, and they go with the folder they are in."""

import os
from pathlib import Path


def private_file(path: Path, text: str) -> Path:
    """Write a file that was not there before, for nobody else to read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
