"""A session of Claude Code's, from `projects/*/<uuid>.jsonl`.

Read twice: once to learn how the records hang together, and once along the conversation, record by record. So a file
takes the memory of one turn and of a note on each record, whatever its size. The turns are Claude's, and its session
id is kept, so that an escalation resumes it; the floor is the local agent's, for nothing goes to Claude without being
sent there.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from milk_tui.core.cut import one_line
from milk_tui.core.messages import Turn
from milk_tui.core.tags import new_nonce
from milk_tui.core.text import sanitize
from milk_tui.storage.importing.branch import Nodes, branch, is_of_sub_agent, node_of
from milk_tui.storage.importing.claude_reader import ClaudeReader, record_at
from milk_tui.storage.importing.claude_records import (
    ASIDE_KINDS,
    Record,
)
from milk_tui.storage.importing.fields import is_uuid, moment_in, text_in
from milk_tui.storage.importing.found import Found, ImportedState
from milk_tui.storage.importing.source import Lines, Progress, SourceError, opened, parsed, unmoved

TITLE_LIMIT = 80

_KINDS_NAMED = 20
"""Unknown kinds of records that are counted by name; the others are counted together."""


def claude_session(path: Path, progress: Progress = unmoved) -> Found:
    """The session in a file.

    Raises:
        SourceError: the file cannot be read, or it holds no session of Claude Code's.
    """
    survey = _Survey(path)
    with opened(path) as file:
        lines = Lines(file, progress)
        for place, line in lines:
            survey.add(place, parsed(line))
    if not lines.has_end and survey.is_last_damaged:
        survey.left_out["unfinished last lines"] += 1
        survey.left_out["damaged lines"] -= 1
    if not survey.nodes:
        raise SourceError(f"{path} holds no messages of Claude Code.")
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    began, ended = survey.began or modified, survey.ended or modified
    state = ImportedState(
        id=survey.session,
        cwd=survey.cwd,
        nonce=new_nonce(),
        created_at=began,
        title=survey.title,
        claude_session_id=survey.session,
        source_mark=lines.mark,
    )
    return Found(state, ended, _turns(path, survey.nodes, began, survey.left_out), survey.left_out)


class _Survey:
    """What the first reading finds out."""

    def __init__(self, path: Path) -> None:
        self.nodes: Nodes = {}
        self.left_out: Counter[str] = Counter()
        self.began: datetime | None = None
        self.ended: datetime | None = None
        self.is_last_damaged = False
        self._path = path
        self._named = ""
        self._cwds: list[str] = []
        self._titles: dict[str, str] = {}

    def add(self, place: int, record: dict[str, Any] | None) -> None:
        """Note a record; None for a damaged line."""
        self.is_last_damaged = record is None
        if record is None:
            self.left_out["damaged lines"] += 1
            return
        kind = text_in(record, "type")
        node = node_of(record, place)
        if kind in ("user", "assistant") and node is not None:
            self._note_message(record)
        elif kind in ("custom-title", "ai-title"):
            self._titles[kind] = text_in(record, "customTitle") or text_in(record, "aiTitle")
        elif kind not in ASIDE_KINDS:
            self._count_unknown(kind)
        if node is not None:
            self.nodes[node.name] = node

    @property
    def session(self) -> str:
        """The id by which Claude Code resumes it: the file's name, or what stands in a file of another name."""
        return self._path.stem if is_uuid(self._path.stem) else self._named

    @property
    def cwd(self) -> str:
        """The directory it was begun in, which the folder is named after; a command may have led to others."""
        folder = self._path.resolve().parent.name
        named = (cwd for cwd in self._cwds if re.sub(r"[^a-zA-Z0-9]", "-", cwd) == folder)
        return sanitize(next(named, self._cwds[0] if self._cwds else str(self._path.resolve().parent)))

    @property
    def title(self) -> str:
        """What the user called it, or Claude Code."""
        titles = filter(None, (self._titles.get("custom-title"), self._titles.get("ai-title")))
        return one_line(sanitize(next(titles, "")), TITLE_LIMIT)

    def _note_message(self, record: Record) -> None:
        if is_of_sub_agent(record):
            self.left_out["records of sub-agents"] += 1
            return
        cwd, at = text_in(record, "cwd"), moment_in(record, "timestamp")
        if cwd and cwd not in self._cwds[-1:]:
            self._cwds.append(cwd)
        self._named = text_in(record, "sessionId") or self._named
        if at is not None:
            self.began = min(self.began or at, at)
            self.ended = max(self.ended or at, at)

    def _count_unknown(self, kind: str) -> None:
        name = f"records of the unknown kind {one_line(sanitize(kind), 40) or '(none)'}"
        if name not in self.left_out and sum("unknown" in known for known in self.left_out) >= _KINDS_NAMED:
            name = "records of other unknown kinds"
        self.left_out[name] += 1


def _turns(path: Path, nodes: Nodes, began: datetime, left_out: Counter[str]) -> Iterator[Turn]:
    """The turns of the conversation, one after the other."""
    chain = branch(nodes)
    on_chain = {node.name for node in chain}
    left_out["messages of branches that were left"] += sum(
        node.is_message and not node.is_aside and node.name not in on_chain for node in nodes.values()
    )
    places = [node.place for node in chain]
    nodes.clear()
    reader = ClaudeReader(began, left_out)
    with opened(path) as file:
        for place in places:
            yield from reader.read(record_at(file, place))
    yield from reader.end()
