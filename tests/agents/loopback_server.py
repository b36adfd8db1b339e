"""A model server on loopback that says exactly what a test tells it to.

It runs on a thread of its own, so that async and sync tests use it alike, and a test that blocks its own loop does not
block the server:

    async with ModelServer() as server:  # or: with ModelServer() as server
        gate = Gate()
        server.reply(stream(text("Hello"), gate, text(" world"), finish(), DONE))
        ...
        gate.open()
        assert server.chats[0].body["messages"][-1]["content"] == "Hi"

Replies to `/v1/chat/completions` and to Ollama's `/api/chat` are used in the order given; `default` serves all others.
Other paths answer what `server.route` gave them, else 404. Nothing here waits by sleeping.
"""

import argparse
import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from types import TracebackType
from typing import Any, Self

CHAT_PATHS = ("/v1/chat/completions", "/api/chat")
DEADLINE = 10.0
"""Seconds after which waiting in a test is a failure."""


class Gate:
    """A place in a reply where the server waits until the test opens it. For one server and one use."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._reached = threading.Event()
        self._wake: Callable[[], object] | None = None

    def open(self) -> None:
        """Let the server go on; from any thread."""
        self._opened.set()
        if self._wake is not None:
            self._wake()

    @property
    def is_reached(self) -> bool:
        """The server stands here, or has passed."""
        return self._reached.is_set()

    async def passed(self) -> None:
        """Wait until the gate is open; on the server's loop."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(woken.set)
        self._reached.set()
        if not self._opened.is_set():
            await woken.wait()


class Abort:
    """Reset the connection here."""


Part = bytes | Gate | Abort
"""Bytes go out as one chunk."""


@dataclass(frozen=True)
class Reply:
    """One answer: a head, and a body in parts."""

    parts: Sequence[Part] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    is_raw: bool = False
    """The parts are everything that is sent, head included."""


@dataclass
class Recorded:
    """One request as it arrived, and how it ended."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    raw: bytes
    is_closed: bool = False
    """The client went away before the reply was complete."""
    is_done: bool = False
    """The reply was sent to its end."""


class ModelServer:
    """The server; a context manager, async or not."""

    def __init__(self, *, port: int = 0, default: Reply | None = None) -> None:
        self.requests: list[Recorded] = []
        self.default = default
        self._port = port
        self._replies: deque[Reply] = deque()
        self._routes: dict[str, Reply] = {}
        self._handlers: set[asyncio.Task[None]] = set()
        self._started = threading.Event()
        self._stop: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        """The base address, `/v1` included."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def chats(self) -> list[Recorded]:
        """The requests for a completion, in order."""
        return [request for request in self.requests if request.path in CHAT_PATHS]

    def reply(self, *replies: Reply) -> None:
        """Answer the next requests for a completion with these, one each."""
        self._replies.extend(replies)

    def route(self, path: str, reply: Reply) -> None:
        """Answer every request for this path so."""
        self._routes[path] = reply

    def start(self) -> Self:
        """Listen; returns when the port is open."""
        self._thread.start()
        assert self._started.wait(DEADLINE), "the server did not start"
        return self

    def stop(self) -> None:
        """Close the port and every connection."""
        self._stop()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive(), "the server did not stop"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    async def _serve(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        listener = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = listener.sockets[0].getsockname()[1]
        self._started.set()
        await stopped.wait()
        listener.close()
        for handler in list(self._handlers):
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.get_running_loop().create_task(self._handle(reader, writer))
        self._handlers.add(handler)
        handler.add_done_callback(self._handlers.discard)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read_request(reader)
            self.requests.append(request)
            await self._answer(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # A client that is gone is what some tests are about.
        finally:
            writer.close()

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Send the reply while watching for the client's leaving."""
        sending = asyncio.create_task(_send(self._reply_for(request), writer))
        leaving = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            is_sent = sending.done() and sending.exception() is None
            request.is_done, request.is_closed = is_sent, not is_sent
        finally:
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    def _reply_for(self, request: Recorded) -> Reply:
        if request.path in self._routes:
            return self._routes[request.path]
        if request.path not in CHAT_PATHS:
            return Reply((b'{"error":{"message":"File Not Found"}}',), 404, "application/json")
        if self._replies:
            return self._replies.popleft()
        return self.default or Reply(
            (b'{"error":{"message":"no reply is scripted"}}',), 500, "application/json"
        )


async def until(condition: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Wait until something is so; fail when it is not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        await asyncio.sleep(0.002)


async def _read_request(reader: asyncio.StreamReader) -> Recorded:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Recorded(method, path, headers, json.loads(raw) if raw else {}, raw)


async def _send(reply: Reply, writer: asyncio.StreamWriter) -> None:
    if not reply.is_raw:
        fields = {
            "Content-Type": reply.content_type,
            "Connection": "close",
            "Transfer-Encoding": "chunked",
            **reply.headers,
        }
        head = f"HTTP/1.1 {reply.status} -\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in fields.items()
        )
        writer.write(head.encode() + b"\r\n")
    for part in reply.parts:
        if isinstance(part, Gate):
            await writer.drain()
            await part.passed()
        elif isinstance(part, Abort):
            writer.transport.abort()
            return
        elif part:
            writer.write(part if reply.is_raw else b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
    if not reply.is_raw:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def main() -> None:
    """Serve fixed replies until interrupted: for tests that need a server outside their own process."""
    from tests.agents.canned_replies import json_reply, text_reply

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--reply", action="append", help="an answer; repeat it for several in turn")
    parser.add_argument("--window", type=int, default=8192)
    options = parser.parse_args()
    server = ModelServer(port=options.port)
    server.route(
        "/v1/models", json_reply({"object": "list", "data": [{"id": "loopback", "object": "model"}]})
    )
    server.route("/props", json_reply({"default_generation_settings": {"n_ctx": options.window}}))
    server.route("/health", json_reply({"status": "ok"}))
    with server:
        print(server.url, flush=True)
        for answer in cycle(options.reply or ["Hello from loopback."]):
            served = len(server.chats)
            server.default = text_reply(answer)
            while len(server.chats) == served:
                time.sleep(0.01)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(0) from None
