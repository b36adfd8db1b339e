"""Which files are looked at: those that were named, and those in named folders whose names are of sessions."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from milk_tui.storage.exporting.as_json import FORMAT
from milk_tui.storage.importing.fields import is_uuid

_BEGINNING = 200
_EXPORT = re.compile(rb'\s*\{\s*"format"\s*:\s*' + json.dumps(FORMAT).encode())
_NOT_ENTERED = {"subagents", "tool-results"}


@dataclass
class Search:
    """The files found, each once; the Go program's first, for Claude's part of one of its sessions is known by it."""

    files: list[Path] = field(default_factory=list)
    failed: list[tuple[Path, str]] = field(default_factory=list)
    """What could not be searched, and why."""

    @property
    def size(self) -> int:
        """Bytes of all of them, as far as they say."""
        return sum(path.stat().st_size for path in self.files if path.is_file())


def search(named: Iterable[Path]) -> Search:
    """Look for sessions."""
    found = Search()
    seen: dict[str, Path] = {}
    for path in named:
        if not path.is_dir():
            seen.setdefault(os.path.realpath(path), path)
            continue
        inside = _inside(path, found)
        if not inside:
            found.failed.append((path, f"{path} holds no file named like a session's."))
        for file in inside:
            seen.setdefault(os.path.realpath(file), file)
    found.files = sorted(seen.values(), key=lambda path: path.suffix != ".json")
    return found


def is_go_session(path: Path) -> bool:
    """Whether the Go program gives its sessions such names."""
    return path.suffix == ".json" and is_uuid(path.stem)


def is_claude_session(path: Path) -> bool:
    """Whether Claude Code gives its sessions such names."""
    return path.suffix == ".jsonl"


def is_own_session(path: Path) -> bool:
    """Whether it begins as an export of ours does, whatever its name before `.json`."""
    try:
        # Never a device, which may act on being opened.
        if path.suffix != ".json" or not path.is_file():
            return False
        with path.open("rb") as file:
            return bool(_EXPORT.match(file.read(_BEGINNING)))
    except OSError:
        return False


def _inside(folder: Path, found: Search) -> list[Path]:
    def failed(error: OSError) -> None:
        where = Path(error.filename or folder)
        found.failed.append((where, f"{where} cannot be searched: {error.strerror or error}."))

    files: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(set(folders) - _NOT_ENTERED)
        paths = (Path(place, name) for name in sorted(names))
        files += (path for path in paths if _is_session(path))
    return files


def _is_session(path: Path) -> bool:
    return is_go_session(path) or _is_conversation(path) or is_own_session(path)


def _is_conversation(path: Path) -> bool:
    # Older programs kept their sub-agents' conversations beside the user's.
    return is_claude_session(path) and not path.name.startswith("agent-")
