"""An MCP server that is a program of ours: started, spoken to by lines, and gone when we leave.

It runs in a session of its own, so that no signal of the terminal reaches it and everything it started can be ended
with it. Should this program be killed, the server's standard input closes. What it writes to its standard error goes
to a file. This module knows lines and processes, and nothing of tools. It imports the MCP package, so import it late.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from milk_tui.core.cut import one_line
from milk_tui.core.text import sanitize
from milk_tui.tools.mcp_setting import McpServer
from milk_tui.tools.mcp_trouble import Trace

LINE_LIMIT = 16 << 20
"""The longest message that is read, in bytes."""
NOISE_LIMIT = 200
"""Lines that are no messages after which a server is given up; a greeting or a stray print is forgiven."""
LOG_LIMIT = 1_000_000
"""Bytes of a log after which the next start begins it anew."""
LEAVE_SECONDS = 1.5
"""How long a server that was of use may take to end once its input is closed."""
END_SECONDS = 1.0
"""How long it may take after it was told to end; then it is ended."""
_WORDS_LIMIT = 160

Received = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def stdio(server: McpServer, cwd: str, log: Path, trace: Trace) -> AsyncIterator[Streams]:
    """Start the server and give its two streams; leaving ends it and all that it started in its session.

    Raises:
        FileNotFoundError: there is no such program; without a file name, so that it can be told from a folder.
        OSError: it cannot be started, or its log cannot be written.
    """
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
    async with received, incoming, outgoing, sent:
        program = await _start(server, cwd, log)
        reading = asyncio.create_task(_read(program, received, trace), name="mcp-read")
        writing = asyncio.create_task(_write(program, sent), name="mcp-write")
        patience = 0.0
        try:
            yield incoming, outgoing
            patience = LEAVE_SECONDS
        finally:
            incoming.close()
            try:
                with anyio.CancelScope(shield=True):
                    await program.leave(patience)
            except BaseException:
                program.end()
                raise
            finally:
                reading.cancel()
                writing.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.gather(reading, writing, return_exceptions=True)


class _Program(asyncio.SubprocessProtocol):
    """The running server: its output as lines, and its end."""

    def __init__(self, server: McpServer, log: Path, log_start: int) -> None:
        self.output = asyncio.StreamReader(limit=LINE_LIMIT)
        self._server = server
        self._log = log
        self._log_start = log_start
        self._exited = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        output = transport.get_pipe_transport(1)
        assert output is not None
        self.output.set_transport(output)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.output.feed_data(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.output.feed_eof()

    def process_exited(self) -> None:
        self._exited.set()

    def write(self, line: bytes) -> None:
        """Send a line. A server that is gone is noticed where it is read."""
        pipe = self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(line)

    async def leave(self, patience: float) -> None:
        """Close the server's input and wait for its end; ask for it if it does not come, and then make it."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        if not await self._is_gone(patience):
            self._signal(signal.SIGTERM)
            await self._is_gone(END_SECONDS)
        self.end()
        await self._is_gone(END_SECONDS)

    def end(self) -> None:
        """End at once what is left of the server and its session."""
        if sys.platform != "win32":
            self._signal(signal.SIGKILL)
        self._transport.close()

    async def how_it_ended(self) -> str:
        """How the server ended, and the last that it wrote to its standard error since it was started."""
        await self._is_gone(END_SECONDS)
        code = self._transport.get_returncode()
        how = "closed its output" if code is None else f"ended with code {code}"
        if code is not None and code < 0:
            how = f"was ended by signal {-code}"
        last = await asyncio.to_thread(self._last_words)
        return f"{how}: {last}" if last else how

    def _last_words(self) -> str:
        with suppress(OSError), self._log.open("rb") as file:
            file.seek(max(self._log_start, self._log.stat().st_size - 4_096))
            lines = sanitize(file.read().decode(errors="replace")).split("\n")
            last = next((line for line in reversed(lines) if line.strip()), "")
            return one_line(self._server.masked(last), _WORDS_LIMIT)
        return ""

    async def _is_gone(self, seconds: float) -> bool:
        """Whether the server itself ends within so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._transport.send_signal(number)
            else:
                # The server leads its group, whose number stays the same even after the server itself is gone.
                os.killpg(self._transport.get_pid(), number)


async def _start(server: McpServer, cwd: str, log: Path) -> _Program:
    path = shutil.which(server.command)
    # A PATH that names the directory one is in would run what happens to lie there.
    if path is None or not Path(path).is_absolute():
        raise FileNotFoundError("no such program")
    variables = {name: value.get_secret_value() for name, value in server.env.items()}
    with _opened(log) as errors:
        program = _Program(server, log, errors.tell())
        await asyncio.get_running_loop().subprocess_exec(
            lambda: program,
            path,
            *server.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=cwd,
            env=get_default_environment() | variables,
            start_new_session=True,
        )
    return program


def _opened(log: Path) -> BinaryIO:
    """The log, to be written at its end. Only its owner can read it."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_long = log.exists() and log.stat().st_size > LOG_LIMIT
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if is_long else 0)
    file = os.fdopen(os.open(log, flags, 0o600), "ab", buffering=0)
    file.seek(0, os.SEEK_END)
    return file


async def _read(program: _Program, received: Received, trace: Trace) -> None:
    """Hand on the server's messages until it ends or what it writes is no use; then read on and forget.

    A server that could not write any more would not notice that it is to end.
    """
    async with received:
        wrong = await _hand_on(program, received, trace)
        trace.over(wrong or await program.how_it_ended())
    with suppress(ValueError):
        while await program.output.read(1 << 16):
            continue


async def _hand_on(program: _Program, received: Received, trace: Trace) -> str:
    """Hand on each message; what is wrong with the output, or nothing if it merely ended."""
    noise = 0
    while True:
        try:
            line = await program.output.readline()
        except ValueError:
            return f"sent a message of more than {LINE_LIMIT >> 20} MiB"
        if not line:
            return ""
        try:
            message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            noise += bool(line.strip())
            trace.noise = trace.noise or one_line(sanitize(line[:1_000].decode(errors="replace")), 80)
            if noise > NOISE_LIMIT:
                return f"does not speak MCP on its standard output: it writes “{trace.noise}”"
            continue
        try:
            await received.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return "was left"


async def _write(program: _Program, sent: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for item in sent:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        program.write(text.encode() + b"\n")
