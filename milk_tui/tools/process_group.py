"""One program with everything it starts, as a group that ends together: by itself, by a limit, or when cancelled.

The program has no terminal and an empty input. Its output is read while it runs, through a pipe whose other end a
child left behind may hold as long as it likes. For POSIX systems; knows nothing of shells or of models.
"""

import asyncio
import codecs
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

OUTPUT_BYTES = 8_000_000
"""The most output of one program; one that writes more is ended."""

GRACE_SECONDS = 1.0
"""How long a group has between being asked to end and being ended."""

DRAIN_SECONDS = 0.25
"""How long output may still come after the program has ended, from something it started and did not wait for."""

_REPORT_SECONDS = 0.1
_REPORT_CHARS = 4_000
_POLL_SECONDS = 0.02
_CHUNK = 1 << 16

Ending = Literal["exit", "time", "size"]


@dataclass(frozen=True)
class Finished:
    """What became of a program."""

    output: bytes
    """What it wrote, to either of its outputs."""
    ending: Ending
    status: int | None
    """Exit status, negative for the signal that ended it; None if it belongs to another user and runs on."""
    seconds: float
    """Until it ended, or was told to."""
    left_children: bool
    """Whether something it started was still running, and was ended."""


async def run_group(
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    seconds: float,
    report: Callable[[str], None],
) -> Finished:
    """Run a program. When this returns, raises or is cancelled, nothing of its process group runs any more.

    A child that makes a session of its own (`setsid`) leaves the group and is not found again.

    Raises:
        OSError: it cannot be started.
    """
    reading, writing = os.pipe()
    output = _Output(reading, report)
    try:
        with os.fdopen(writing, "wb", buffering=0) as sink:
            async with _guard() as watch:
                process = await asyncio.create_subprocess_exec(
                    *arguments,
                    cwd=directory,
                    env=environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    start_new_session=True,
                )
                watch(process.pid)
                sink.close()
                began = monotonic()
                try:
                    ending, ended, left_children = await _until_over(process, output, seconds)
                finally:
                    # Also when a second cancel cut the first one's patience short.
                    _signal(process.pid, signal.SIGKILL)
        return Finished(output.written(), ending, process.returncode, ended - began, left_children)
    finally:
        output.close()


@asynccontextmanager
async def _guard() -> AsyncIterator[Callable[[int], object]]:
    """A small process that kills a group if we die without a chance to: it notices that our end of a pipe is gone.

    It is told the group with what this gives.
    """
    reading, writing = os.pipe()
    try:
        try:
            guard = await asyncio.create_subprocess_exec(
                *["/bin/sh", "-c", 'read -r group && read -r nothing; kill -KILL "-$group"'],
                stdin=reading,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(reading)
        try:
            yield lambda group: os.write(writing, f"{group}\n".encode())
        finally:
            # Before the pipe is closed, so that it never signals a group that is gone.
            with suppress(ProcessLookupError):
                guard.kill()
            await guard.wait()
    finally:
        os.close(writing)


async def _until_over(
    process: asyncio.subprocess.Process, output: "_Output", seconds: float
) -> tuple[Ending, float, bool]:
    """Why it ended and when, and whether children of a program that ended by itself had to be ended too."""
    exited = asyncio.ensure_future(process.wait())
    full = asyncio.ensure_future(output.full.wait())
    ending: Ending = "time"
    try:
        await asyncio.wait([exited, full], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        ended = monotonic()
        if exited.done():
            ending = "exit"
            await _within(output.ended.wait(), DRAIN_SECONDS)
        if full.done():
            ending = "size"
        left_children = _is_alive(process.pid)
        await _end(process.pid)
        # What belongs to another user (sudo) cannot be ended by us, and is not waited for.
        await asyncio.wait([exited], timeout=GRACE_SECONDS)
    except asyncio.CancelledError:
        await _end(process.pid)
        await asyncio.wait([exited], timeout=GRACE_SECONDS)
        raise
    finally:
        exited.cancel()
        full.cancel()
    return ending, ended, ending == "exit" and left_children


async def _end(group: int) -> None:
    """End a process group: ask it, wait a little, make it."""
    _signal(group, signal.SIGTERM)
    # What is stopped cannot hear that it should end.
    _signal(group, signal.SIGCONT)
    deadline = monotonic() + GRACE_SECONDS
    while _is_alive(group) and monotonic() < deadline:
        await asyncio.sleep(_POLL_SECONDS)
    _signal(group, signal.SIGKILL)


def _is_alive(group: int) -> bool:
    return _signal(group, 0)


def _signal(group: int, number: int) -> bool:
    """Whether there was a group to signal. One that holds only what we may not signal counts as none."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


async def _within(waiting: Awaitable[object], seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(waiting, seconds)


class _Output:
    """Reads one end of a pipe on the event loop, keeps what came and reports it a few times a second."""

    def __init__(self, descriptor: int, report: Callable[[str], None]) -> None:
        self.full = asyncio.Event()
        self.ended = asyncio.Event()
        self._descriptor = descriptor
        self._report = report
        self._data = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unsaid = ""
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def written(self) -> bytes:
        """All output so far."""
        return bytes(self._data)

    def close(self) -> None:
        """Say what has not been said and read no more."""
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        if self._timer:
            self._timer.cancel()
            self._say()

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._loop.remove_reader(self._descriptor)
            self.ended.set()
            return
        room = OUTPUT_BYTES - len(self._data)
        self._data += chunk[:room]
        self._unsaid = (self._unsaid + self._decoder.decode(chunk))[-_REPORT_CHARS:]
        if self._timer is None:
            self._timer = self._loop.call_later(_REPORT_SECONDS, self._say)
        if len(chunk) >= room:
            self._loop.remove_reader(self._descriptor)
            self.full.set()

    def _say(self) -> None:
        self._timer = None
        said, self._unsaid = self._unsaid, ""
        if said:
            self._report(said)
