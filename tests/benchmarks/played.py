"""Programs to measure: our app on a scripted conversation, and plain Textual doing the same.

    python -m tests.benchmarks.played ours --turns 5000 --tokens 100000 --rate 2000 --notes FILE

Streaming begins with the first prompt, in plain Textual with F5. To FILE go, as JSON, the lateness of a 5 ms
ticker while it streams and the processor seconds at each thousandth token.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.core.messages import Turn

CHARS_PER_TOKEN = 4
FLUSH_TOKENS = 20


def text_of(tokens: int) -> str:
    """Markdown as models write it, of so many tokens."""
    from tests.benchmarks.bench_transcript import PART

    part = len(PART)
    return "".join(PART.format(n=n) for n in range(tokens * CHARS_PER_TOKEN // part + 1))[
        : tokens * CHARS_PER_TOKEN
    ]


class Notes:
    """What is noted while it streams."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.lags: list[float] = []
        self.cpu: list[float] = []
        self._ticker: asyncio.Task[None] | None = None

    async def pieces(self, tokens: int, rate: float, before: int = 0) -> AsyncIterator[str]:
        """The text in pieces at this rate; `before` tokens come at once. Noted from there on."""
        text = text_of(before + tokens)
        if before:
            yield text[: before * CHARS_PER_TOKEN]
            await asyncio.sleep(3.0)
        self._ticker = asyncio.create_task(self._tick())
        started, size = time.perf_counter(), FLUSH_TOKENS * CHARS_PER_TOKEN
        live = text[before * CHARS_PER_TOKEN :]
        for count, place in enumerate(range(0, len(live), size)):
            if count * FLUSH_TOKENS % 1_000 == 0:
                self.cpu.append(time.process_time())
            yield live[place : place + size]
            await asyncio.sleep(max(0.0, started + (count + 1) * FLUSH_TOKENS / rate - time.perf_counter()))
        self.cpu.append(time.process_time())
        self._ticker.cancel()
        whole = Path(f"{self._path}.new")
        whole.write_text(json.dumps({"lags": self.lags, "cpu": self.cpu}))
        whole.rename(self._path)

    async def _tick(self) -> None:
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.005)
            self.lags.append(time.perf_counter() - started - 0.005)


def turns_of(count: int) -> "list[Turn]":
    """Turns of two messages of about 1 KB each."""
    from milk_tui.core.messages import Message, Turn

    when, text = datetime(2026, 1, 5, tzinfo=UTC), text_of(250)
    return [
        Turn(
            number=number,
            agent="local",
            messages=(
                Message(id=f"{number}.0", role="user", text=f"{number} {text}"),
                Message(id=f"{number}.1", role="agent", text=f"{number} {text}\n```\n\nEnd of {number}."),
            ),
            status="finished",
            started_at=when,
            model="small",
        )
        for number in range(1, count + 1)
    ]


def ours(options: argparse.Namespace) -> "App[None]":
    """The app on a scripted agent that streams."""
    from milk_tui.agents.base import TurnRequest
    from milk_tui.cli.demo import demo_bench
    from milk_tui.core import events as ev
    from milk_tui.ui.app import MilkApp

    class Streaming:
        """Answers with the text; the rest of an agent is not asked for."""

        async def run(self, _request: TurnRequest) -> AsyncIterator[ev.Event]:
            notes = Notes(options.notes)
            yield ev.StepStarted()
            async for piece in notes.pieces(options.tokens, options.rate, options.before):
                yield ev.TextDelta(text=piece)
            yield ev.AgentFinished()

        async def close(self) -> None:
            """Nothing is open."""

    bench = demo_bench(turns=turns_of(options.turns))
    bench.conversation.agents["local"] = Streaming()  # type: ignore[assignment]
    return MilkApp(bench)


def markdown(options: argparse.Namespace) -> "App[None]":
    """Textual's own Markdown stream beside a plain text area."""
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.widgets import Footer, Markdown, TextArea

    class Plain(App[None]):
        BINDINGS = [("f5", "stream", "Stream")]
        CSS = "VerticalScroll { height: 1fr; } TextArea { height: 5; }"

        def compose(self) -> ComposeResult:
            with VerticalScroll():
                yield Markdown()
            yield TextArea()
            yield Footer()

        def on_mount(self) -> None:
            self.query_one(TextArea).focus()

        def action_stream(self) -> None:
            self.run_worker(self._stream())

        async def _stream(self) -> None:
            self.query_one(VerticalScroll).anchor()
            stream = Markdown.get_stream(self.query_one(Markdown))
            async for piece in Notes(options.notes).pieces(options.tokens, options.rate):
                await stream.write(piece)
            await stream.stop()

    return Plain()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=("ours", "markdown"))
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=1_000)
    parser.add_argument("--before", type=int, default=0)
    parser.add_argument("--rate", type=float, default=2_000.0)
    parser.add_argument("--notes", default=os.devnull)
    options = parser.parse_args()
    if options.program == "ours":
        os.environ.setdefault("TEXTUAL_FPS", "120")
    (ours if options.program == "ours" else markdown)(options).run()


if __name__ == "__main__":
    main()
