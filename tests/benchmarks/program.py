"""A program in a terminal, timed: every byte that is written to it and read from it has its moment.

Linux only. The screen is not understood here; what is waited for are bytes.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

DEADLINE = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")
# A session leader without a terminal gets the first one that it opens.
_ON_TERMINAL = ("/bin/sh", "-c", 'exec "$@" <>"$0" >&0 2>&0')


class Program:
    """One run of a program in a terminal; killed at the end of the `with` block."""

    def __init__(self, command: list[str], size: tuple[int, int] = (120, 40), **environ: str) -> None:
        self._master, self._slave = os.openpty()
        self.resize(*size)
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [*_ON_TERMINAL, os.ttyname(self._slave), *command],
            env={**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._unseen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._slave)
        os.close(self._master)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, wanted: bytes, deadline: float = DEADLINE) -> float:
        """The moment at which these bytes were read; what was read before is forgotten."""
        end = time.perf_counter() + deadline
        while wanted not in self._unseen:
            self._unseen = self._unseen[-len(wanted) :]
            if not self._read(end - time.perf_counter()):
                raise AssertionError(f"{wanted!r} never came")
        moment = time.perf_counter()
        self._unseen = self._unseen.partition(wanted)[2]
        return moment

    def quiet(self, gap: float = 0.4, deadline: float = DEADLINE) -> None:
        """Wait until nothing has been written for a while."""
        end = time.perf_counter() + deadline
        while time.perf_counter() < end and self._read(gap):
            self._unseen = b""

    def drain(self, seconds: float) -> None:
        """Read for so long."""
        end = time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self._read(rest)
            self._unseen = b""

    def write(self, data: bytes) -> float:
        """Write all of it, reading meanwhile; the moment after the last byte."""
        os.set_blocking(self._master, False)
        try:
            while data:
                readable, writable, _ = select.select([self._master], [self._master], [], DEADLINE)
                if readable:
                    self._read(0)
                if writable:
                    data = data[os.write(self._master, data[:4_096]) :]
        finally:
            os.set_blocking(self._master, True)
        return time.perf_counter()

    def echo(self, letter: str) -> float:
        """Seconds from pressing a letter to seeing it; it must not be on the screen before."""
        self._unseen = b""
        pressed = self.write(letter.encode())
        return self.until(letter.encode()) - pressed

    def cpu(self) -> float:
        """Processor seconds used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> float:
        """Resident megabytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024

    def wakeups(self) -> int:
        """How often it has woken up by itself."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))

    def _read(self, timeout: float) -> bool:
        if not select.select([self._master], [], [], max(0.0, timeout))[0]:
            return False
        try:
            self._unseen += os.read(self._master, 65_536)
        except OSError:
            return False
        return True


def interleaved(rounds: int, **measures: Callable[[], float]) -> dict[str, list[float]]:
    """Measure in turns, so that whatever else the machine does strikes all alike."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return taken
