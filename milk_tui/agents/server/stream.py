"""From the bytes of one answer to events: waiting for them, reading them, and noticing how the answer ended.

Ends normally only when the server has said that its answer is complete; every other end is a `ServerError`. Knows no
turn, no tool and no history.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from milk_tui.agents.server import refusals
from milk_tui.agents.server.completion import Completion
from milk_tui.agents.server.sse import EventLines, Frame, LineTooLong
from milk_tui.agents.server.wire import Exchange, Head, Patience
from milk_tui.core.errors import ServerError
from milk_tui.core.events import AgentEvent, Silent
from milk_tui.core.messages import Value

REFUSAL_LIMIT = 256 * 1024
"""Bytes of a refusal that are read."""
FRAMES_AT_ONCE = 50
"""Frames read without giving other tasks their turn."""


class Waiting(Value):
    """How long a server may be silent, in seconds."""

    first: float = 300.0
    """Until the first byte: reading a long prompt on a slow machine takes minutes, and shows as silence."""
    between: float = 60.0
    """Between two signs of life afterwards."""
    tell_every: float = 5.0
    """How often the silence is reported while it lasts."""
    after_end: float = 1.0
    """For the numbers that come after the answer is complete; some servers never close."""


async def completion_events(
    exchange: Exchange, completion: Completion, url: str, waiting: Waiting
) -> AsyncGenerator[AgentEvent, None]:
    """Read one answer into `completion` and report it as it comes, one event per kind and read.

    Raises:
        ServerError: the server refused, failed, fell silent, or sent what no model server sends.
    """
    reader = _Reader(exchange, completion, url, waiting)
    try:
        async with aclosing(reader.events()) as events:
            async for event in events:
                yield event
    except ServerError:
        raise
    except LineTooLong as error:
        raise refusals.failure("protocol", f"{url} sent a line without an end.") from error
    except _wire_errors() as error:
        raise refusals.broken(url, error, has_begun=reader.has_begun) from error


class _Reader:
    def __init__(self, exchange: Exchange, completion: Completion, url: str, waiting: Waiting) -> None:
        self._exchange = exchange
        self._completion = completion
        self._url = url
        self._waiting = waiting
        self._patience = Patience(first=waiting.first, between=waiting.between, tell_every=waiting.tell_every)
        self._lines = EventLines(is_bare=completion.is_bare)
        self.has_begun = False

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        async with aclosing(self._items()) as items:
            async for item in items:
                if isinstance(item, Silent):
                    yield item
                elif isinstance(item, Head):
                    self.has_begun = True
                    if item.status != 200:
                        raise await self._refusal(item)
                else:
                    await self._read(self._lines.feed(item))
                    for event in self._completion.drain():
                        self._patience.word()
                        yield event
                    self._check()
        await self._read(self._lines.finish())
        self._read_stray()
        for event in self._completion.drain(is_last=True):
            yield event
        self._check()
        if not self._completion.is_finished:
            raise self._unfinished()

    async def _items(self) -> AsyncGenerator[Head | bytes | Silent, None]:
        """Head and body, with a report whenever nothing has come for a while."""
        while not self._completion.is_finished:
            item = await self._exchange.next(self._patience.step)
            if item == b"":
                return
            if item is not None:
                self._patience.sign()
                yield item
            elif self._patience.is_over:
                raise refusals.failure(
                    "silent", f"{self._url} has sent nothing for {self._patience.limit:g} seconds."
                )
            if (seconds := self._patience.silence()) is not None:
                yield Silent(seconds=seconds)
        async for chunk in self._epilogue():
            yield chunk

    async def _epilogue(self) -> AsyncIterator[bytes]:
        """What comes after the answer is complete, for a moment only: usage, and the end mark."""
        until = time.monotonic() + self._waiting.after_end
        while not self._completion.is_done and (left := until - time.monotonic()) > 0:
            item = await self._exchange.next(left)
            if not isinstance(item, bytes) or item == b"":
                return
            yield item

    async def _read(self, frames: list[Frame]) -> None:
        for count, frame in enumerate(frames, 1):
            if frame.kind == "error":
                self._completion.error = _parsed(frame.text)
            else:
                self._completion.take_line(frame.text)
            if count % FRAMES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _read_stray(self) -> None:
        """A server that does not stream, or that drops an error into its stream, sends one bare JSON object."""
        said = _parsed(self._lines.stray) if not self._completion.is_finished else None
        if isinstance(said, dict):
            self._completion.take(said)

    def _check(self) -> None:
        if self._completion.error is not None:
            raise refusals.reported(self._url, self._completion.error)

    def _unfinished(self) -> ServerError:
        if self._lines.stray.strip() and not self._completion.has_begun:
            return refusals.not_a_stream(self._url, self._lines.stray)
        return refusals.failure("lost", f"{self._url} ended its answer before it was complete.")

    async def _refusal(self, head: Head) -> ServerError:
        """The error behind a refusal, whose text is read for a moment only."""
        body = b""
        until = time.monotonic() + self._waiting.after_end
        while len(body) < REFUSAL_LIMIT and (left := until - time.monotonic()) > 0:
            item = await self._exchange.next(left)
            if not isinstance(item, bytes) or item == b"":
                break
            body += item
        return refusals.refused(self._url, head.status, body.decode("utf-8", "replace"), head.location)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _wire_errors() -> tuple[type[Exception], ...]:
    import httpx2

    return (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError)
