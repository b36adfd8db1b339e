"""One HTTP request and the bytes that answer it, with patience counted on our side.

A task of its own owns the connection and reads ahead, so that whoever waits for bytes may give up, look at the clock
or be cancelled without harm to the stream; leaving the block closes the connection at once. Knows no model and no
event of a conversation.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import AsyncClient

READ_AHEAD = 256
"""Chunks held for a reader who is busy; then the server has to wait."""
CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Head:
    """The beginning of an answer."""

    status: int
    location: str


@dataclass(frozen=True)
class _Broken:
    """The connection ended with an error."""

    error: Exception


_END = b""
"""Closes the body; a chunk on the wire is never empty."""


def encoded(body: dict[str, Any]) -> bytes:
    """A request body. Halves of surrogate pairs, which no server accepts, become question marks."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def client(*, is_local: bool, is_tls: bool) -> "AsyncClient":
    """A client that waits as long as its caller does and keeps no idle connections.

    On this machine the environment's proxies are not asked. Without TLS no certificates are loaded.
    """
    import httpx2

    return httpx2.AsyncClient(
        verify=is_tls,
        trust_env=not is_local,
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_keepalive_connections=0),
    )


class Exchange:
    """A request under way. Use it as an async context manager; the connection lives inside the block."""

    def __init__(self, client: "AsyncClient", url: str, headers: dict[str, str], body: bytes) -> None:
        self._client = client
        self._url = url
        self._headers = headers
        self._body = body
        self._queue: asyncio.Queue[Head | bytes | _Broken] = asyncio.Queue(READ_AHEAD)
        self._reader: asyncio.Task[None] | None = None
        self._next: Head | bytes | _Broken | None = None

    async def __aenter__(self) -> "Exchange":
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})

    async def next(self, seconds: float) -> Head | bytes | None:
        """The head first, then all bytes that have come; `b""` when the body is complete, `None` when time is up.

        Raises whatever the connection ended with.
        """
        first = await self._take(seconds)
        if not isinstance(first, bytes) or first == _END:
            return self._checked(first)
        parts = [first]
        while not self._queue.empty():
            item = self._queue.get_nowait()
            if not isinstance(item, bytes) or item == _END:
                self._next = item
                break
            parts.append(item)
        return b"".join(parts)

    async def _take(self, seconds: float) -> Head | bytes | _Broken | None:
        if self._next is not None:
            item, self._next = self._next, None
            return item
        if not self._queue.empty():
            return self._queue.get_nowait()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                return await self._queue.get()
        except TimeoutError:
            return None

    @staticmethod
    def _checked(item: Head | bytes | _Broken | None) -> Head | bytes | None:
        if isinstance(item, _Broken):
            raise item.error
        return item

    async def _read(self) -> None:
        try:
            async with self._client.stream(
                "POST", self._url, headers=self._headers, content=self._body
            ) as response:
                await self._queue.put(Head(response.status_code, response.headers.get("location", "")))
                async for chunk in response.aiter_bytes():
                    if chunk:
                        await self._queue.put(chunk)
        except Exception as error:
            await self._queue.put(_Broken(error))
        else:
            await self._queue.put(_END)


class Patience:
    """When to say that nothing comes, and when to stop waiting. All times are seconds."""

    def __init__(self, *, first: float, between: float, tell_every: float) -> None:
        self._limit = first
        self._between = between
        self._tell_every = tell_every
        self._sign_at = self._word_at = time.monotonic()
        self._told = 0

    @property
    def step(self) -> float:
        """How long to wait before looking at the clock again."""
        return min(self._tell_every, max(0.001, self._sign_at + self._limit - time.monotonic()))

    @property
    def limit(self) -> float:
        """How long the server may send nothing at all."""
        return self._limit

    @property
    def is_over(self) -> bool:
        """The server has sent nothing for too long."""
        return time.monotonic() - self._sign_at >= self._limit

    def sign(self) -> None:
        """Bytes came, be they only a ping."""
        self._sign_at = time.monotonic()
        self._limit = self._between

    def word(self) -> None:
        """Something came that a user can see."""
        self._word_at = time.monotonic()
        self._told = 0

    def silence(self) -> float | None:
        """Seconds without a word, once for each time that it should be told."""
        seconds = time.monotonic() - self._word_at
        if seconds < self._tell_every * (self._told + 1):
            return None
        self._told = int(seconds / self._tell_every)
        return seconds
