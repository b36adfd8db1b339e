"""A directory with tools in it, and a user who answers as a test says."""

import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Answer, Question
from milk_tui.tools.session_tools import Tools
from milk_tui.tools.site import Site
from milk_tui.tools.workspace import Workspace

DEADLINE = 10.0


@dataclass
class Room:
    """The tools of one session in a directory of their own; every question is recorded."""

    directory: Path
    keep: Path
    limit_chars: int = 20_000
    answer: Answer = field(default_factory=lambda: Answer(decision="once"))
    before_answer: Callable[[], Awaitable[None] | None] = lambda: None
    questions: list[Question] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    calls: int = 0

    def __post_init__(self) -> None:
        self.tools = Tools(Site(Workspace(self.directory, [self.keep]), self.limit_chars), self.keep)

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        meanwhile = self.before_answer()
        if meanwhile is not None:
            await meanwhile
        return self.answer

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        self.calls += 1
        call = ToolCall(id=f"call-{self.calls}", name=name, arguments=json.dumps(arguments))
        result = await self.tools.run(call, self.ask, self.reports.append)
        assert result.call_id == call.id
        result.text.encode("utf-8")
        return result

    async def refused(self, name: str, **arguments: Any) -> str:
        """The sentence of a call that must not work."""
        result = await self.call(name, **arguments)
        assert result.is_error, result.text
        assert "Traceback" not in result.text
        return result.text

    async def done(self, name: str, **arguments: Any) -> str:
        """What a call that must work gave."""
        result = await self.call(name, **arguments)
        assert not result.is_error, result.text
        return result.text


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in another process."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def pid_in(path: Path) -> int:
    """The process id that a program writes into a file."""
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def is_running(pid: int) -> bool:
    """Whether a process does anything any more; one that only waits to be collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return Path("/proc/self").exists() is False
