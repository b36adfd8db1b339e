"""The embedded model, seen from the program: a child process that is there when it is needed, and the agent on it.

The child is a model server like any other and is asked through the same client. This module starts it, starts it
anew after it died, says why a turn ended when it died, and ends it. It knows nothing of how a model is asked, of the
engine, or of the screen; nothing the child writes ever reaches the terminal.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from milk_tui.agents.base import Agent, Sized, TurnRequest
from milk_tui.agents.embedded.weights import check, find_weights
from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.probe import inspect
from milk_tui.core.errors import Failure, FailureKind, ModelError
from milk_tui.core.events import AgentEvent, AgentFailed, Noticed

WINDOW = 4_096
"""Tokens. The model was trained for twice as many, which would take 90 MB more and minutes to read on two cores."""
LOAD_SECONDS = 60.0
NOTICE_SECONDS = 0.3
"""A start that takes longer is told."""
END_SECONDS = 1.0
"""How long the child may take to end by itself, and to be seen ending after its connection broke."""
LOG_LIMIT = 1_000_000
"""Bytes of the child's log; a longer one begins anew at the next start."""

_CHILD = (sys.executable, "-P", "-m", "milk_tui.agents.embedded.child")
_AGAIN = "Send the prompt again: the model is started anew."


class ModelStopped(ModelError):
    """The model's process ended, or had to be ended, before it could answer."""


class EmbeddedModel:
    """The child process: at most one, started when somebody asks for its server."""

    def __init__(
        self,
        home: Path,
        chosen: Path | None = None,
        *,
        window: int = WINDOW,
        load_seconds: float = LOAD_SECONDS,
    ) -> None:
        """`home` is the milk folder, `chosen` a GGUF file to use instead of the usual one."""
        self.slot = asyncio.Lock()
        """Held by whoever has the model generate: it does one thing at a time."""
        self._home = home
        self._chosen = chosen
        self._window = window
        self._load_seconds = load_seconds
        self._starting = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._server: Server | None = None

    @property
    def log(self) -> Path:
        """Where the child's own words go, if it ever has any."""
        return self._home / "logs" / "embedded.log"

    @property
    def pid(self) -> int | None:
        """The running child's process id."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def server(self) -> Server:
        """The server to ask, started now if it is not running. Raises `ModelError` if that cannot be."""
        async with self._starting:
            if self._server is None or self.pid is None:
                await self.close()
                try:
                    self._server = await self._start()
                except BaseException:
                    await self.close()
                    raise
            return self._server

    async def ended(self, seconds: float = 0.0) -> str | None:
        """How the child ended, in words, if it has or does within so many seconds."""
        process = self._process
        if process is None:
            return None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.wait()
        return None if process.returncode is None else _how(process.returncode)

    async def close(self) -> None:
        """End the child, also while it loads or generates. The next request for its server starts another."""
        process, self._process, self._server = self._process, None, None
        if process is None:
            return
        try:
            if process.stdin:
                process.stdin.close()
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            await _killed(process)

    async def _start(self) -> Server:
        weights = find_weights(self._home, self._chosen)
        if weights is None:
            raise ModelError(
                "The embedded model is not on this machine yet.",
                "Run `milk-tui model pull` to fetch it (98 MB).",
            )
        weights = weights.absolute()
        check(weights)
        api_key = secrets.token_hex()
        orders = {"weights": str(weights), "api_key": api_key, "window": self._window}
        self._process = await self._spawned(weights.parent)
        said = await self._introduction(self._process, orders)
        if "error" in said:
            raise _refusal(said["error"], said["detail"], weights)
        facts = await inspect(said["url"], api_key)
        if facts.state != "ok":
            raise ModelStopped(f"The embedded model was loaded and does not answer: {facts.words}.", _AGAIN)
        return facts.server(api_key)

    async def _spawned(self, cwd: Path) -> asyncio.subprocess.Process:
        """The child, in a session of its own: Ctrl+C and Ctrl+Z in the terminal are not meant for it."""
        try:
            with self._open_log() as log:
                return await asyncio.create_subprocess_exec(
                    *_CHILD,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=cwd,
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
        except OSError as error:
            sentence = f"The embedded model's process cannot be started: {error.strerror}."
            raise ModelStopped(sentence, _AGAIN) from error

    async def _introduction(
        self, process: asyncio.subprocess.Process, orders: dict[str, Any]
    ) -> dict[str, Any]:
        """Give the child its orders and take its one line."""
        try:
            async with asyncio.timeout(self._load_seconds):
                said = await _said(process, orders)
        except TimeoutError:
            sentence = f"The embedded model was not ready after {self._load_seconds:g} s and was stopped."
            raise ModelStopped(sentence, "Send the prompt again when this machine is less busy.") from None
        if not said:
            how = await self.ended(END_SECONDS) or "its process said nothing of use"
            raise ModelStopped(f"The embedded model could not start: {how}.", f"See {self.log}.")
        return said

    @contextmanager
    def _open_log(self) -> Iterator[BinaryIO | int]:
        """Where the child's stderr goes. A log that cannot be written keeps no model from running."""
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            is_long = self.log.exists() and self.log.stat().st_size > LOG_LIMIT
            file = self.log.open("wb" if is_long else "ab")
        except OSError:
            yield subprocess.DEVNULL
            return
        with file:
            yield file


async def _said(process: asyncio.subprocess.Process, orders: dict[str, Any]) -> dict[str, Any]:
    """The child's answer to its orders; empty if it gives none."""
    assert process.stdin and process.stdout
    # A child that is already gone cannot be written to; that it says nothing is the answer then.
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(orders).encode() + b"\n")
        await process.stdin.drain()
    try:
        said = json.loads(await process.stdout.readline())
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


async def _killed(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _how(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"its process ended with status {status}"
    with suppress(ValueError):
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process was ended by signal {-status}"


def _refusal(reason: str, detail: str, weights: Path) -> ModelError:
    """The child's reason as an error for the user."""
    match reason:
        case "missing":
            return ModelError(f"There is no model at {weights}.", "Run `milk-tui model pull` to fetch it.")
        case "engine_missing":
            sentence = f"The engine of the embedded model is not there: {detail}."
            return ModelError(sentence, "Choose a model server, such as Ollama, in the settings.")
        case _:
            return ModelError(
                f"The engine cannot load {weights}: {detail.rstrip('.')}.", "Choose another model file."
            )


class EmbeddedAgent:
    """The local agent on the embedded model: makes sure that the model runs, then lets the chat agent answer."""

    def __init__(self, model: EmbeddedModel, chat: Callable[[Server], Agent]) -> None:
        """`chat` makes the agent that asks a given server; it is made anew when the server is."""
        self._model = model
        self._make_chat = chat
        self._chat: tuple[Server, Agent] | None = None

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn, after the one that is under way. See `Agent.run`."""
        if self._model.slot.locked():
            yield Noticed(text="Waiting for the embedded model to finish another answer…")
        async with self._model.slot:
            start = asyncio.create_task(self._model.server())
            try:
                if not (await asyncio.wait({start}, timeout=NOTICE_SECONDS))[0]:
                    yield Noticed(text="Starting the embedded model…")
                server = await start
            except ModelError as error:
                yield _not_started(error)
                return
            finally:
                start.cancel()
                await asyncio.gather(start, return_exceptions=True)
            chat = await self._chat_on(server)
            async with aclosing(chat.run(request)) as events:
                async for event in events:
                    yield await self._judged(event)

    def share(self) -> int | None:
        """A quarter of the window in bytes of text; see `Sized`."""
        chat = self._chat[1] if self._chat else None
        return chat.share() if isinstance(chat, Sized) else None

    async def close(self) -> None:
        """End the model's process and the connections to it."""
        await self._drop_chat()
        await self._model.close()

    async def _chat_on(self, server: Server) -> Agent:
        if self._chat is None or self._chat[0] != server:
            await self._drop_chat()
            self._chat = (server, self._make_chat(server))
        return self._chat[1]

    async def _drop_chat(self) -> None:
        chat, self._chat = self._chat, None
        if chat is not None:
            await chat[1].close()

    async def _judged(self, event: AgentEvent) -> AgentEvent:
        """The event, or what is behind it: a connection that breaks is only how a dead child is noticed."""
        if not isinstance(event, AgentFailed):
            return event
        kind = event.failure.kind
        how = await self._model.ended(END_SECONDS if kind in ("lost", "unreachable") else 0.0)
        if kind == "silent":
            # It gives a sign of life every second; one that does not is stuck, and would stay so.
            await self._model.close()
        if how is None:
            return event
        sentence = f"The embedded model stopped: {how}. Your prompt and what it had answered are kept."
        return AgentFailed(failure=Failure(kind="died", sentence=sentence, remedy=_AGAIN))


def _not_started(error: ModelError) -> AgentFailed:
    kind: FailureKind = "died" if isinstance(error, ModelStopped) else "missing"
    return AgentFailed(failure=Failure(kind=kind, sentence=error.sentence, remedy=error.remedy))
