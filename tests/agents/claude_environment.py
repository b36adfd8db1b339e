"""What a test needs to run the real Claude Code and reach nothing but loopback: a home of its own and a dummy key.

Nothing of the user's own Claude Code is read: neither its settings nor its login.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.agents.claude.agent import ClaudeCode
from milk_tui.core.errors import Failure
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    AgentReady,
    StepVoided,
    TextDelta,
    ToolCallFinished,
)
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Situation
from milk_tui.core.permission import Answer, Question
from tests.agents.messages_api import Answer as Scripted
from tests.agents.messages_api import MessagesApi

DUMMY_KEY = "sk-ant-dummy-key-of-a-test"
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "PATHEXT", "COMSPEC")


def claude_environment(home: Path, url: str, key: str | None = DUMMY_KEY) -> dict[str, str]:
    """A whole environment for Claude Code: nothing is inherited that could lead out of the test."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ = {
        **kept,
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TERM": "xterm-256color",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    if key is not None:
        environ["ANTHROPIC_API_KEY"] = key
    return environ


def use_claude_environment(
    monkeypatch: pytest.MonkeyPatch, home: Path, url: str, key: str | None = DUMMY_KEY
) -> None:
    """Make this process's environment that one, until the test ends."""
    home.mkdir(parents=True, exist_ok=True)
    environ = claude_environment(home, url, key)
    for name in set(os.environ) - set(environ) - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)


def know_own_screen(home: Path, cwd: Path) -> None:
    """Let Claude Code's own screen open at once: nothing to set up, no key to approve, no folder to trust."""
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
        "projects": {str(cwd): {"hasTrustDialogAccepted": True}},
    }
    folder = home / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / ".claude.json").write_text(json.dumps(settings))


@dataclass
class Asked:
    """A permission that gives prepared answers and keeps the questions; it waits when it has no answer."""

    answers: list[Answer] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    withdrawn: int = 0

    async def __call__(self, question: Question) -> Answer:
        self.questions.append(question)
        if self.answers:
            return self.answers.pop(0)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        raise AssertionError


def handed(
    standing: str = "You continue a conversation.",
    changing: str = "The need: none yet.",
    situation: Situation = "first",
) -> Handoff:
    """A hand-off with these texts."""
    return Handoff(situation=situation, parts=(), standing=standing, changing=changing, history_chars=0)


async def events_of(agent: Agent, request: TurnRequest) -> list[AgentEvent]:
    """Every event of a turn."""
    async with asyncio.timeout(45):
        return [event async for event in agent.run(request)]


async def until(
    agent: Agent,
    request: TurnRequest,
    wanted: Callable[[AgentEvent], bool],
    then: Callable[[], Awaitable[object]] | None = None,
) -> list[AgentEvent]:
    """Read a turn until an event is as wanted, do something, then close the turn as the user would."""
    seen: list[AgentEvent] = []
    async with asyncio.timeout(45), aclosing(agent.run(request)) as events:
        async for event in events:
            seen.append(event)
            if wanted(event):
                break
        if then is not None:
            await then()
    return seen


def text_of(events: Iterable[AgentEvent]) -> str:
    """What stays as the answer: voided steps do not count."""
    kept: list[str] = []
    step: list[str] = []
    for event in events:
        match event:
            case TextDelta():
                step.append(event.text)
            case StepVoided():
                step.clear()
            case _ if event.type == "step_started":
                kept += step
                step.clear()
    return "".join(kept + step)


def failure_of(events: Sequence[AgentEvent]) -> Failure:
    """The failure that a turn ended with."""
    last = events[-1]
    assert isinstance(last, AgentFailed), last
    return last.failure


def session_of(events: Iterable[AgentEvent]) -> str:
    """The id of Claude's session."""
    return next(event.session_id for event in events if isinstance(event, AgentReady) and event.session_id)


def results_of(events: Iterable[AgentEvent]) -> list[str]:
    """The texts of the tool results."""
    return [event.result.text for event in events if isinstance(event, ToolCallFinished)]


def is_finished(events: Sequence[AgentEvent]) -> bool:
    """Whether the agent stopped by itself."""
    return isinstance(events[-1], AgentFinished)


async def soon(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until something holds; fail if it does not within the time."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


@dataclass
class Stage:
    """A Claude Code agent with its API, its user and its own directories."""

    api: MessagesApi
    asked: Asked
    root: Path
    log: list[str] = field(default_factory=list)
    agents: list[ClaudeCode] = field(default_factory=list)

    @property
    def cwd(self) -> Path:
        """The directory of the session."""
        return self.root / "work"

    def agent(self, **settings: Any) -> ClaudeCode:
        """A new agent, closed with the stage."""
        agent = ClaudeCode(self.asked, lock_dir=self.root / "locks", log=self.log.append, **settings)
        self.agents.append(agent)
        return agent

    def request(self, prompt: str = "Go on.", **settings: Any) -> TurnRequest:
        """A turn in the session's directory."""
        return TurnRequest(prompt=prompt, **{"cwd": str(self.cwd), "nonce": "n0nce", **settings})

    def pids(self, name: str = "") -> list[int]:
        """Living processes that run in this stage's environment, told by its home; with this in their command."""
        home = f"CLAUDE_CONFIG_DIR={self.root / 'home' / '.claude'}".encode()
        return [
            pid
            for pid in _all_pids()
            if home in _read(pid, "environ") and name.encode() in _read(pid, "cmdline")
        ]

    def environ(self, pid: int) -> dict[str, str]:
        """The environment of a process."""
        entries = _read(pid, "environ").decode().split("\0")
        return dict(entry.split("=", 1) for entry in entries if "=" in entry)

    def argv(self, pid: int) -> list[str]:
        """The arguments of a process."""
        return _read(pid, "cmdline").decode().split("\0")


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if int(path.name) != os.getpid()]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


@asynccontextmanager
async def claude_stage(
    monkeypatch: pytest.MonkeyPatch, root: Path, *script: Scripted, key: str | None = DUMMY_KEY
) -> AsyncIterator[Stage]:
    """Set the stage; at the end every agent is closed and nothing may be left running."""
    (root / "work").mkdir()
    async with MessagesApi(*script) as api:
        use_claude_environment(monkeypatch, root / "home", api.url, key)
        stage = Stage(api, Asked(), root)
        try:
            yield stage
        finally:
            for agent in stage.agents:
                await agent.close()
        assert stage.pids() == []
