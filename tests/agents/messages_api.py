"""A Messages API on loopback: it plays scripted answers to the real Claude Code CLI and keeps what it was asked.

    async with MessagesApi(Say("Hello"), UseTool("Bash", {"command": "ls"}), Say("Done")) as api:
        ...  # run Claude Code with ANTHROPIC_BASE_URL=api.url
        assert "need" in api.requests[0].system

Each request of the main conversation takes the next answer of the script, then `otherwise`. What the CLI asks on the
side (token counts, a title, a probe) is answered without touching the script and kept in `api.side`. Alone:

    python -m tests.agents.messages_api --port 0 --reply "Hello" --record requests.jsonl

prints its address as one line and answers every prompt with the reply until it is ended.
"""

import argparse
import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODEL = "claude-sonnet-4-5-20250929"
Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """A streamed answer, in fragments of `step` characters."""

    text: str = ""
    thinking: str = ""
    step: int = 8
    usage: Json = field(default_factory=lambda: {"input_tokens": 10, "cache_read_input_tokens": 0})
    output_tokens: int = 5


@dataclass(frozen=True)
class UseTool:
    """A tool call, after some text if there is any."""

    name: str
    arguments: Json
    text: str = ""


@dataclass(frozen=True)
class UseTools:
    """Several tool calls in one answer."""

    calls: tuple[UseTool, ...]


@dataclass(frozen=True)
class Refuse:
    """An error by its status, before any answer."""

    status: int
    message: str = "refused"
    kind: str = "api_error"
    retry_after: int | None = None


@dataclass(frozen=True)
class Drop:
    """Part of an answer; then the connection is closed in the middle of the body."""

    text: str


@dataclass(frozen=True)
class Hang:
    """Part of an answer; then nothing, until `release` breaks it off or the client goes away."""

    text: str = ""


Answer = Say | UseTool | UseTools | Refuse | Drop | Hang


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json

    @property
    def system_blocks(self) -> list[str]:
        """The texts of the system prompt's blocks."""
        system = self.body.get("system", [])
        return [system] if isinstance(system, str) else [block["text"] for block in system]

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return "\n".join(self.system_blocks)

    @property
    def messages(self) -> list[Json]:
        """The messages of the conversation."""
        found: list[Json] = self.body.get("messages", [])
        return found

    @property
    def said(self) -> str:
        """Every text of every message, in order: the prompts, what hooks added, answers and tool results."""
        return "\n".join(_texts([message["content"] for message in self.messages]))

    @property
    def is_main(self) -> bool:
        """Whether this belongs to the conversation itself: only there are tools on offer."""
        is_messages = self.method == "POST" and self.path.split("?")[0] == "/v1/messages"
        return is_messages and bool(self.body.get("tools"))


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part)
    elif isinstance(content, dict):
        yield from _texts(content.get("text") or content.get("content"))


class MessagesApi:
    """The server; use it with `async with`."""

    def __init__(self, *script: Answer, otherwise: Answer | None = None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.side: list[Request] = []
        self.on_request: Callable[[Request], None] | None = None
        self._script = deque(script)
        self._otherwise = otherwise or Say("The script is over.")
        self._port = port
        self._arrived = asyncio.Condition()
        self._released = asyncio.Event()
        self._count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "MessagesApi":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, limit=1 << 26)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """What belongs in ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def last(self) -> Request:
        """The newest request of the main conversation."""
        return self.requests[-1]

    def play(self, *answers: Answer) -> None:
        """Add answers to the script."""
        self._script.extend(answers)

    def release(self) -> None:
        """Close the connections that hang, in the middle of their answers."""
        self._released.set()
        self._released = asyncio.Event()

    async def asked(self, count: int) -> Request:
        """Wait until so many requests of the main conversation have come; the last of them."""
        async with self._arrived, asyncio.timeout(20):
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while request := await _read(reader):
                await self._answer(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if not request.is_main:
            self.side.append(request)
            await _send_json(writer, 200, _aside(request))
            return
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        if self.on_request is not None:
            self.on_request(request)
        answer = self._script.popleft() if self._script else self._otherwise
        self._count += 1
        if isinstance(answer, Refuse):
            await _send_error(writer, answer)
        elif isinstance(answer, Drop | Hang):
            await self._break_off(writer, answer)
        elif request.body.get("stream"):
            await _send_events(writer, _events(answer, self._count))
        else:
            await _send_json(writer, 200, _whole(answer, self._count))

    async def _break_off(self, writer: asyncio.StreamWriter, answer: Drop | Hang) -> None:
        beginning = list(_events(Say(answer.text), self._count))
        await _send_events(writer, beginning[: -3 if answer.text else 1], whole=False)
        if isinstance(answer, Drop):
            raise ConnectionAbortedError
        released = self._released
        while not released.is_set() and not writer.is_closing():
            await _send_events(writer, [{"type": "ping"}], whole=False, head=False)
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await released.wait()
        raise ConnectionAbortedError


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
    }
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = {"raw": raw.decode(errors="replace")}
    return Request(method, path, headers, body)


def _aside(request: Request) -> Json:
    """What the CLI gets for a request that is not of the main conversation."""
    if request.path.split("?")[0].endswith("/count_tokens"):
        return {"input_tokens": 100}
    return _whole(Say("{}"), 0)


async def _send_json(writer: asyncio.StreamWriter, status: int, body: Json, *headers: str) -> None:
    raw = json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} .",
        "content-type: application/json",
        f"content-length: {len(raw)}",
        *headers,
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + raw)
    await writer.drain()


async def _send_error(writer: asyncio.StreamWriter, answer: Refuse) -> None:
    body = {"type": "error", "error": {"type": answer.kind, "message": answer.message}}
    headers = [] if answer.retry_after is None else [f"retry-after: {answer.retry_after}"]
    await _send_json(writer, answer.status, body, *headers)


async def _send_events(
    writer: asyncio.StreamWriter, events: Iterable[Json], *, whole: bool = True, head: bool = True
) -> None:
    """Send server-sent events as a chunked body, one chunk an event."""
    if head:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
    for event in events:
        raw = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        writer.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        await writer.drain()
    if whole:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def _blocks(answer: Say | UseTool | UseTools, number: int) -> list[Json]:
    """The content of an answer, as the API would return it without streaming."""
    if isinstance(answer, UseTools):
        return [
            block for index, call in enumerate(answer.calls) for block in _blocks(call, number * 100 + index)
        ]
    blocks: list[Json] = []
    if isinstance(answer, Say) and answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": "c2lnbmF0dXJl"})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    if isinstance(answer, UseTool):
        arguments = {
            "type": "tool_use",
            "id": f"toolu_{number:04}",
            "name": answer.name,
            "input": answer.arguments,
        }
        blocks.append(arguments)
    return blocks


def _whole(answer: Answer, number: int) -> Json:
    """The answer as one message."""
    assert isinstance(answer, Say | UseTool | UseTools)
    say = answer if isinstance(answer, Say) else Say()
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": _blocks(answer, number),
        "stop_reason": "end_turn" if isinstance(answer, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {"cache_creation_input_tokens": 0, **say.usage, "output_tokens": say.output_tokens},
    }


def _events(answer: Say | UseTool | UseTools, number: int) -> Iterable[Json]:
    """The answer as the events of a stream."""
    message = _whole(answer, number)
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    step = answer.step if isinstance(answer, Say) else 8
    for index, block in enumerate(message["content"]):
        yield from _block_events(block, index, step)
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _block_events(block: Json, index: int, step: int) -> Iterable[Json]:
    """One content block as a start, its deltas and a stop."""
    kind = block["type"]
    name, delta = {
        "text": ("text", "text_delta"),
        "thinking": ("thinking", "thinking_delta"),
        "tool_use": ("partial_json", "input_json_delta"),
    }[kind]
    whole = json.dumps(block["input"]) if kind == "tool_use" else block[kind]
    empty = {**block, "input": {}} if kind == "tool_use" else {"type": kind, kind: ""}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for start in range(0, len(whole), step):
        piece = {"type": delta, name: whole[start : start + step]}
        yield {"type": "content_block_delta", "index": index, "delta": piece}
    if kind == "thinking":
        signature = {"type": "signature_delta", "signature": block["signature"]}
        yield {"type": "content_block_delta", "index": index, "delta": signature}
    yield {"type": "content_block_stop", "index": index}


async def serve(port: int, reply: str, record: Path | None) -> AsyncIterator[str]:
    """Serve until closed; yields the address once."""
    async with MessagesApi(otherwise=Say(reply), port=port) as api:
        if record is not None:
            api.on_request = lambda request: _append(record, request)
        yield api.url
        await asyncio.Event().wait()


def _append(path: Path, request: Request) -> None:
    with path.open("a") as file:
        file.write(json.dumps(request.body) + "\n")


async def _main() -> None:
    parser = argparse.ArgumentParser(description="A Messages API on loopback with one reply to everything.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--reply", default="Hello from Claude.")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    async for url in serve(options.port, options.reply, options.record):
        print(url, flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
