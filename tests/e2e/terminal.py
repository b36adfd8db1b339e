"""The program in a real terminal: a pty with a screen behind it, keys in front of it, and a world of its own.

    world = World(tmp_path)
    with world.open("--url", server.url) as terminal:
        terminal.submit("Hello")
        terminal.wait_for("Hello from loopback.")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0

A world is a home, a working directory and an environment that leads nowhere but to loopback. Nothing here waits by
sleeping; every wait has a deadline, and its failure shows the screen.
"""

import asyncio
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

from milk_tui.core.messages import Turn
from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore
from tests.agents.canned_replies import json_reply
from tests.agents.claude_environment import claude_environment
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import Answer, MessagesApi

WAIT = 30.0
"""Seconds after which something that does not happen is a failure."""
SLOW = 60.0
"""The same for what starts a whole Claude Code or loads a model, on a busy machine."""
END = 5.0
"""Seconds within which the program ends, whatever it is doing."""

LEFT_ALTERNATE = b"\x1b[?1049l"
PASTE_BEGINS, PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"

_NOWHERE = "http://127.0.0.1:9"
_KEYS = {
    "enter": b"\r",
    "tab": b"\t",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "up": b"\x1b[A",
    "f2": b"\x1bOQ",
    "f4": b"\x1bOS",
    "f8": b"\x1b[19~",
    "f9": b"\x1b[20~",
    "pagedown": b"\x1b[6~",
}
# A session leader without a terminal gets the first one that it opens: no code of ours between fork and exec.
_ON_TERMINAL = ("/bin/sh", "-c", 'exec "$@" <>"$0" >&0 2>&0')


class Terminal:
    """One run of a program in a terminal; ended with the `with` block, if need be by force."""

    def __init__(
        self, command: list[str], environ: dict[str, str], cwd: Path, size: tuple[int, int] = (100, 30)
    ) -> None:
        """Start it; `size` is columns and rows."""
        self._master, slave = os.openpty()
        self._name = os.ttyname(slave)
        self.attributes = termios.tcgetattr(slave)
        """The line's settings before the program ran."""
        self._slave = slave
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._raw = bytearray()
        self._news = threading.Condition()
        self.resize(*size)
        self.process = subprocess.Popen(
            [*_ON_TERMINAL, self._name, *command],
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._is_closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self.hang_up()

    # What is shown

    @property
    def raw(self) -> bytes:
        """Every byte that the program has written."""
        with self._news:
            return bytes(self._raw)

    @property
    def afterwards(self) -> str:
        """What was written after the last return from the alternate screen: what the shell's user sees."""
        return self.raw.rpartition(LEFT_ALTERNATE)[2].decode(errors="replace")

    def screen(self) -> str:
        """The text on the screen."""
        with self._news:
            return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def title(self) -> str:
        """What the window is called."""
        return str(self._screen.title)

    def text(self) -> str:
        """The text on the screen as one line, without frames: for texts that are wrapped."""
        return _unframed(self.screen())

    def dialog(self, title: str) -> str:
        """The text inside the frame with this title, as one line; waits until the frame is complete."""
        self.wait_for(lambda: self._framed(title))
        return _unframed("\n".join(self._framed(title)))

    def _framed(self, title: str) -> list[str]:
        lines = self.screen().splitlines()
        top = next((row for row, line in enumerate(lines) if f"─ {title} ─" in line), len(lines) - 1)
        left = lines[top].rfind("╭", 0, max(0, lines[top].find(title)))
        right = lines[top].find("╮", left)
        bottom = next((row for row in range(top, len(lines)) if lines[row][left : left + 1] == "╰"), top)
        return [line[left + 1 : right] for line in lines[top + 1 : bottom]]

    def line_with(self, text: str) -> str:
        """The first line of the screen that holds this."""
        return next((line for line in self.screen().splitlines() if text in line), "")

    def wait_for(self, wanted: str | Callable[[], object], seconds: float = WAIT) -> None:
        """Wait until a text is on the screen, or something is so."""
        deadline = time.monotonic() + seconds
        with self._news:
            while not self._holds(wanted):
                if time.monotonic() > deadline:
                    raise AssertionError(f"{wanted!r} did not come within {seconds:g} s:\n{self.screen()}")
                if self.process.poll() is not None:
                    deadline = min(deadline, time.monotonic() + 0.5)
                self._news.wait(0.05)

    def wait_until_gone(self, text: str, seconds: float = WAIT) -> None:
        """Wait until a text is not on the screen any more."""
        self.wait_for(lambda: text not in self.screen(), seconds)

    def _holds(self, wanted: str | Callable[[], object]) -> bool:
        return wanted in self.screen() if isinstance(wanted, str) else bool(wanted())

    # What is done

    def write(self, data: bytes) -> None:
        """Send bytes to the program as the terminal would."""
        while data:
            data = data[os.write(self._master, data) :]

    def press(self, *keys: str) -> None:
        """Press keys, each as one write: names, `ctrl+x`, or single characters."""
        for key in keys:
            if key.startswith("ctrl+"):
                self.write(bytes([ord(key[-1]) & 0x1F]))
            else:
                self.write(_KEYS.get(key) or key.encode())

    def type(self, text: str) -> None:
        """Type a text and wait until it is on the screen."""
        self.write(text.encode())
        self.wait_for(lambda: " ".join(text.split())[-40:] in self.text())

    def submit(self, text: str) -> None:
        """Type a text and press Enter."""
        self.type(text)
        self.press("enter")

    def paste(self, text: str) -> None:
        """Paste with the marks of bracketed paste."""
        self.write(PASTE_BEGINS + text.encode() + PASTE_ENDS)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        with self._news:
            self._screen.resize(rows, columns)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # How it ends

    @property
    def pid(self) -> int:
        """The program's process."""
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End the program at once, in the middle of anything."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(END)

    def hang_up(self) -> None:
        """Close the window."""
        self._is_closing = True
        self._reader.join()
        for number in (self._slave, self._master):
            with suppress(OSError):
                os.close(number)

    def ended(self, seconds: float = END) -> int:
        """Wait until the program has ended by itself; its exit status."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it still runs after {seconds:g} s:\n{self.screen()}") from None
        self._drained()
        return status

    def is_stopped(self) -> bool:
        """Whether the program is suspended."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def line_settings(self) -> list[Any]:
        """The line's settings now: line mode, echo and the rest."""
        return termios.tcgetattr(self._slave)

    def modes_on(self) -> set[int]:
        """The private modes of the terminal that were turned on and not off again; hidden cursor as 25."""
        on: set[int] = set()
        for number, letter in re.findall(rb"\x1b\[\?(\d+)([hl])", self.raw):
            hides = number == b"25"
            (on.add if (letter == b"h") != hides else on.discard)(int(number))
        return on

    def _drained(self) -> None:
        """Wait until all that was written has been read."""
        mark = f"\x1b]7777;{time.monotonic_ns()}\x07".encode()
        os.write(self._slave, mark)
        self.wait_for(lambda: mark in self._raw)

    def _read(self) -> None:
        while not self._is_closing:
            if not select.select([self._master], [], [], 0.05)[0]:
                continue
            data = os.read(self._master, 65_536)
            with self._news:
                self._raw += data
                self._stream.feed(data)
                self._news.notify_all()


class World:
    """A home, a working directory, and an environment from which only loopback can be reached."""

    def __init__(self, root: Path, claude_url: str = _NOWHERE) -> None:
        self.home = root / "home"
        self.milk = self.home / ".milk"
        self.cwd = root / "work"
        self.home.mkdir()
        self.cwd.mkdir()
        self.environ = {
            **claude_environment(self.home, claude_url),
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
            "MILK_HOME": str(self.milk),
        }

    def open(self, *arguments: str, size: tuple[int, int] = (100, 30), **environ: str) -> Terminal:
        """Start the program with these arguments."""
        command = [sys.executable, "-m", "milk_tui", *arguments]
        return Terminal(command, self.environ | environ, self.cwd, size)

    def run(self, *arguments: str) -> str:
        """The output of a command that needs no terminal."""
        command = [sys.executable, "-m", "milk_tui", *arguments]
        done = subprocess.run(
            command, env=self.environ, cwd=self.cwd, capture_output=True, text=True, timeout=WAIT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def last_turn(self) -> Turn:
        """The newest turn of this world's newest session, as it is on disk."""
        return self.last_session().turns[-1]

    def last_session(self) -> Session:
        """This world's newest session, as it is on disk."""
        store = SessionStore(self.milk)
        try:
            session = store.latest(str(self.cwd))
            assert session, "nothing is saved"
            return store.load(session)
        finally:
            store.close()

    def processes(self, name: str = "") -> list[int]:
        """Living processes of this world, told by their home; with this in their command line."""
        home = f"HOME={self.home}".encode()
        pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
        return [
            pid
            for pid in pids
            if home in _read(pid, "environ").split(b"\0") and name.encode() in _read(pid, "cmdline")
        ]

    def soon_empty(self, name: str = "", seconds: float = END) -> bool:
        """Whether no process is left, or will be in time."""
        return comes_true(lambda: not self.processes(name), seconds)


def comes_true(condition: Callable[[], object], seconds: float = WAIT) -> bool:
    """Whether something is so before the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def nonce_told_to(server: ModelServer) -> str:
    """The word in the session's tags, as the local model was told it."""
    found = re.search(r"<milk:need:(\w+)>", server.chats[0].body["messages"][0]["content"])
    assert found
    return found[1]


def _unframed(text: str) -> str:
    return " ".join(re.sub(r"[│┃▌▐▎▏▕█╭╮╰╯─━▁▔]", " ", text).split())


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def as_model_server(server: ModelServer, model: str = "loopback", window: int = 8_192) -> ModelServer:
    """The server with all that is asked of one before a chat."""
    server.route("/v1/models", json_reply({"object": "list", "data": [{"id": model, "object": "model"}]}))
    server.route("/props", json_reply({"default_generation_settings": {"n_ctx": window}}))
    server.route("/health", json_reply({"status": "ok"}))
    return server


@contextmanager
def messages_api(*script: Answer) -> Iterator[MessagesApi]:
    """The Messages API on a thread of its own."""
    loop = asyncio.new_event_loop()
    api = MessagesApi(*script)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(api.__aenter__(), loop).result(WAIT)
    try:
        yield api
    finally:
        asyncio.run_coroutine_threadsafe(api.__aexit__(), loop).result(WAIT)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(WAIT)
        loop.close()
