"""Runs the program as a user does: a process of its own, with a home of its own, that can reach only loopback."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore
from tests.agents.canned_replies import json_reply, text_reply
from tests.agents.claude_environment import claude_environment
from tests.agents.loopback_server import ModelServer

REPO = Path(__file__).parents[2]
DEADLINE = 60.0
"""Seconds after which a program that has not ended is a failure."""
NOWHERE = "http://127.0.0.1:9"
"""Where nobody listens: what goes to Claude without having been meant to is refused."""


@dataclass(frozen=True)
class Ran:
    """What a program left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as one JSON object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Program:
    """`python -m milk_tui` in an environment of its own."""

    root: Path
    url: str = ""
    """The local model's server, handed over as a setting."""
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def cwd(self) -> Path:
        """The directory the program is started in."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """Where it keeps sessions and settings."""
        return self.root / "home" / ".milk"

    @property
    def last(self) -> Session:
        """The session of its directory that was used last, as it is on disk."""
        store = SessionStore(self.home)
        try:
            found = store.latest(str(self.cwd))
            assert found, "there is no session"
            return store.load(found)
        finally:
            store.close()

    def run(self, *arguments: str | bytes, stdin: bytes = b"", cwd: Path | None = None) -> Ran:
        """Run it to its end."""
        done = subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            env=self.environment(),
            cwd=cwd or self.cwd,
            timeout=DEADLINE,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start it; it is gone at the end whatever happens."""
        process = subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.cwd,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def command(self, *arguments: str | bytes) -> list[str | bytes]:
        """The arguments that start it."""
        return [sys.executable, "-m", "milk_tui", *arguments]

    def environment(self) -> dict[str, str]:
        """The whole environment of it."""
        home = self.root / "home"
        for folder in (home, self.cwd):
            folder.mkdir(parents=True, exist_ok=True)
        named = {"MILK_URL": self.url} if self.url else {}
        return {
            **claude_environment(home, NOWHERE),
            "PYTHONPATH": str(REPO),
            "MILK_EMBEDDED": "false",
            **named,
            **self.environ,
        }


def assert_sentence(text: str) -> None:
    """What is on standard error is for people."""
    assert text.strip() and "Traceback" not in text and 'File "' not in text
    assert text.strip()[-1] in ".)`!?"


def read_until(process: subprocess.Popen[bytes], ending: bytes) -> bytes:
    """What is on its standard output up to these words; fails when they do not come."""
    assert process.stdout and process.stderr
    shown = b""
    while ending not in shown:
        more = os.read(process.stdout.fileno(), 4_096)
        assert more, (shown, process.stderr.read())
        shown += more
    return shown


def llama_server(*answers: str) -> ModelServer:
    """A server that introduces itself as llama.cpp does and gives these answers."""
    server = ModelServer()
    server.route("/v1/models", json_reply({"object": "list", "data": [{"id": "small", "object": "model"}]}))
    server.route("/health", json_reply({"status": "ok"}))
    server.route("/props", json_reply({"default_generation_settings": {"n_ctx": 65_536}}))
    server.reply(*(text_reply(answer) for answer in answers))
    return server


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until something is so; fail when it is not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        time.sleep(0.01)


def fresh_python(code: str, **environ: str) -> str:
    """What a new interpreter prints that runs this code, with nothing of the test's own loaded."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO), **environ},
        cwd=REPO,
        timeout=DEADLINE,
        check=True,
    )
    return done.stdout
