"""Watching the files that agents change: noted before a tool may run, compared when somebody wants to see.

Agents tell of each call and wait until it is noted, so that the text from before is really from before. Reading and
comparing happen off the event loop.
"""

import asyncio
from collections.abc import Sequence
from os.path import normpath
from pathlib import PurePath
from typing import Protocol

from milk_tui.core.changed_files import ChangedFile, ChangedFiles, changed_files, changed_name
from milk_tui.core.file_diff import Changes, DiffKind, FileDiff
from milk_tui.core.file_text import FileText
from milk_tui.core.line_diff import counts
from milk_tui.core.messages import ToolCall, Turn
from milk_tui.core.session import Session

_WHY_NOT = {
    "large": "is over 1 MB",
    "binary": "is no text",
    "unreadable": "cannot be read",
}
_AS_ASKED = "below is what the agent asked for"


class Texts(Protocol):
    """The part of a store that a watch needs."""

    def keep(self, turn: int, path: str) -> None:
        """Keep a file as it is now, as that of before a turn; the first time counts."""
        ...

    def before(self, turn: int, path: str) -> FileText | None:
        """The file as it was kept."""
        ...

    def now(self, path: str) -> FileText:
        """The file as it is."""
        ...


class Unkept:
    """Files of which nothing is kept and nothing is looked at, as in the demo."""

    def keep(self, turn: int, path: str) -> None:
        """Keep nothing."""

    def before(self, _turn: int, _path: str) -> FileText | None:
        """Nothing was kept."""
        return None

    def now(self, _path: str) -> FileText:
        """It is not looked at."""
        return FileText(kind="absent")


class FileWatch:
    """The files of one session."""

    def __init__(self, session: Session, texts: Texts) -> None:
        self._session = session
        self._texts = texts

    async def note(self, call: ToolCall) -> None:
        """An agent is about to run a tool: if that changes a file, keep what is in it."""
        name, turn = changed_name(call), self._session.running
        if name and turn is not None:
            await asyncio.to_thread(self._texts.keep, turn.number, placed(name, self._session.state.cwd))

    async def changes(self, turns: Sequence[Turn]) -> Changes:
        """What is different now from before these turns, in the files that they changed."""
        cwd = self._session.state.cwd
        named = named_files(turns, cwd)
        files = await asyncio.to_thread(lambda: tuple(self._diff(file, cwd) for file in named.files))
        return Changes(files=files, may_be_more=named.may_be_more)

    def _diff(self, file: ChangedFile, cwd: str) -> FileDiff:
        name = shown_name(file.path, cwd)
        before, now = self._texts.before(file.turns[0], file.path), self._texts.now(file.path)
        why_not = _unknown(before, now)
        if before is None or why_not:
            return FileDiff(name=name, kind="asked", pieces=file.pieces, words=why_not)
        kind, words = _difference(before, now)
        old, new = _text(before), _text(now)
        added, removed = counts(old, new)
        return FileDiff(
            name=name, kind=kind, before=old, after=new, added=added, removed=removed, words=words
        )


def named_files(turns: Sequence[Turn], cwd: str) -> ChangedFiles:
    """The files that these turns changed in a session of this directory."""
    return changed_files(turns, lambda name: placed(name, cwd))


def placed(name: str, cwd: str) -> str:
    """The path that a tool call means: absolute, its dots resolved, its links not."""
    return normpath(PurePath(cwd, name))


def shown_name(path: str, cwd: str) -> str:
    """A path as it is shown: from the directory where it is inside, else whole."""
    inside = PurePath(path)
    return str(inside.relative_to(cwd)) if inside.is_relative_to(cwd) else path


def _unknown(before: FileText | None, now: FileText) -> str:
    """Why the two cannot be compared; empty if they can."""
    if before is None:
        return f"How it was before was not kept; {_AS_ASKED}."
    if before.kind in _WHY_NOT:
        return f"Before, it was not kept, for it {_WHY_NOT[before.kind]}; {_AS_ASKED}."
    return f"Now it {_WHY_NOT[now.kind]}; {_AS_ASKED}." if now.kind in _WHY_NOT else ""


def _difference(before: FileText, now: FileText) -> tuple[DiffKind, str]:
    if before.kind == now.kind == "absent":
        return "unchanged", "It was not there before and is not there now."
    if before.kind == "absent":
        return "created", ""
    if now.kind == "absent":
        return "deleted", ""
    if before.digest == now.digest:
        return "unchanged", "It is now as it was before."
    return "changed", ""


def _text(file: FileText) -> str | None:
    return file.text if file.kind == "text" else None
