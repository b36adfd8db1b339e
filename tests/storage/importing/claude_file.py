"""Writes session files as Claude Code does: a line a record, each naming the one before it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

SESSION = "0d4d2f0a-9f6e-4f0e-8a55-0d1f6d2b8f11"
CWD = "/home/ana/shop"
BEGAN = datetime(2026, 8, 20, 9, 12, 3, 418000, UTC)
Json = dict[str, Any]


@dataclass
class ClaudeFile:
    """A file in the making; every record follows the last one unless another is named."""

    session: str = SESSION
    lines: list[str] = field(default_factory=list)
    last: str | None = None
    at: datetime = BEGAN
    count: int = 0

    def record(self, kind: str, *, after: str | None = "", **fields: Any) -> str:
        """Add any record that is part of the conversation; its uuid."""
        self.count += 1
        self.at += timedelta(seconds=1)
        name = str(uuid5(UUID(self.session), str(self.count)))
        parent = self.last if after == "" else after
        known = {"parentUuid": parent, "isSidechain": False, "type": kind, "uuid": name}
        about = {"timestamp": self.at.isoformat(), "cwd": CWD, "sessionId": self.session, "version": "2.1.0"}
        self.raw({**known, **about, **fields})
        self.last = name
        return name

    def user(self, content: str | list[Json], **fields: Any) -> str:
        """The user's record."""
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, message_id: str, *blocks: Json, **fields: Any) -> str:
        """Claude's record."""
        usage = {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 7}
        message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": list(blocks)}
        return self.record("assistant", message={**message, "usage": usage}, **fields)

    def raw(self, record: Json | str) -> None:
        """Add a line as it is."""
        self.lines.append(record if isinstance(record, str) else json.dumps(record))

    def write(self, root: Path, name: str = "") -> Path:
        """The file, where Claude Code keeps such files."""
        folder = root / "projects" / "-home-ana-shop"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (name or f"{self.session}.jsonl")
        path.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
        return path


def said(text: str) -> Json:
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "Bash", **arguments: object) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, text: str | Sequence[Json] = "ok", *, is_error: bool = False) -> list[Json]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return [{**block, "is_error": True} if is_error else block]


def large_file(root: Path, size: int) -> Path:
    """A long session of at least so many bytes, most of them in results that stand there twice, as they do."""
    folder = root / "projects" / "-home-ana-shop"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{SESSION}.jsonl"
    file = ClaudeFile()
    written = number = 0
    with path.open("w", encoding="utf-8") as out:
        while written < size:
            file.user(f"Request {number}")
            for step in range(10):
                name = f"{number}-{step}"
                file.assistant(f"msg-{name}", call(f"call-{name}", "Read", file_path=f"/src/{name}.py"))
                text = f"line of {name}\n" * 900
                file.user(result(f"call-{name}", text), toolUseResult={"content": text})
            file.assistant(f"msg-{number}", said(f"Answer {number}"))
            out.writelines(f"{line}\n" for line in file.lines)
            written += sum(len(line) + 1 for line in file.lines)
            file.lines.clear()
            number += 1
    return path
