"""What the transcript costs: `python -m tests.benchmarks.bench_transcript`, or `pytest -m benchmark` on this file.

Prints, and asserts nothing about time: read the ratios. CPU is of the whole process, with Textual's painting.
"""

import asyncio
import gc
import math
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.search import Search
from milk_tui.ui.widgets.transcript import Transcript

STYLES = Path(__file__).parents[2] / "styles"
PART = """## Step {n}

The *budget* is counted in **characters**, see `core/budget.py` and [the note](docs/note.md). A paragraph of some
length follows, as models write them when they explain what they did and why, and it wraps over a few rows.

- first the heading, which is `never` cut
- then the newest turn
  - and what it carried
1. counted {n}
2. checked

```python
def step_{n}(turns: list[str], budget: int) -> str:
    '''Newest first.'''
    return "\\n".join(reversed(turns))[:budget]  # {n}
```

| part | used |
|------|-----:|
| need | {n} |
| summary | 3,900 |

"""
KINDS = {
    "mixed": "".join(PART.format(n=n) for n in range(1_200)),
    "fence": "```python\n"
    + "".join(f"    value_{n} = compute({n}, 'text')  # note\n" for n in range(12_000)),
    "list": "".join(f"- item number {n} with *some* text and `code`\n" for n in range(12_000)),
    "table": "| a | b | c |\n|---|---|---|\n"
    + "".join(f"| {n} | some text | `code` |\n" for n in range(16_000)),
    "paragraph": "Plain words that go on and on. " * 20_000,
}
CHARS_PER_TOKEN = 4
QUANTILES = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))


class Stage(App[None]):
    CSS_PATH = STYLES / "transcript.tcss"

    def __init__(self, blocks: list[Block]) -> None:
        super().__init__()
        self.starting = blocks

    def compose(self) -> ComposeResult:
        yield Transcript(self.starting)


async def stream(kind: str, tokens: int, history: int = 0) -> str:
    """Stream tokens at 2,000 a second for 5 s into a reply that already has the rest of them."""
    text = KINDS[kind][: tokens * CHARS_PER_TOKEN]
    live = min(tokens, 10_000) * CHARS_PER_TOKEN
    app = Stage(messages(history))
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.append(
            Block("live", "local", text[:-live] if live < len(text) else "", label="model", state="running")
        )
        await pilot.pause()
        lags: list[float] = []
        ticker = asyncio.create_task(tick(lags))
        started, cpu = time.perf_counter(), time.process_time()
        for place in range(len(text) - live, len(text), CHARS_PER_TOKEN * 10):
            transcript.stream("live", text[place : place + CHARS_PER_TOKEN * 10])
            due = started + (place - len(text) + live) / CHARS_PER_TOKEN / 2_000
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        transcript.finish("live")
        await pilot.pause()
        spent = time.process_time() - cpu
        ticker.cancel()
        lags.sort()
        cost = spent / live * CHARS_PER_TOKEN * 1e6
        late = " ".join(f"{name} {lags[int((len(lags) - 1) * part)] * 1e3:.1f}" for name, part in QUANTILES)
        return f"{kind:10} {tokens:7,} tokens, {history:6,} before: {cost:4.0f} ms CPU per 1k tokens, lag ms {late}"


async def tick(lags: list[float]) -> None:
    """Record how late a 5 ms sleep returns."""
    while True:
        started = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - started - 0.005)


def messages(count: int) -> list[Block]:
    """Blocks of about 1 KB, by turns the user's and the agent's."""
    text = KINDS["mixed"][:1_000]
    return [Block(str(n), "user" if n % 2 else "local", f"{n} {text}", label="model") for n in range(count)]


async def long_transcript(count: int) -> list[str]:
    """Open, append, scroll and resize a long transcript."""
    blocks = messages(count)
    app = Stage([])
    results = []
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        await pilot.pause()
        results.append(timed("open", lambda: transcript.extend(blocks)))
        await pilot.pause()
        results.append(
            timed("first Markdown", lambda: transcript.append(Block("first", "local", blocks[0].source)))
        )
        results.append(timed("append", lambda: transcript.append(Block("new", "local", blocks[2].source))))
        results.append(timed("page up", transcript.action_page_up))
        results.append(timed("home", transcript.action_scroll_home))
        results.append(timed("end", transcript.action_scroll_end))
        views = transcript.viewport.views
        for needle in ("c", "counted", "nowhere"):
            results.append(timed(f"find {needle!r}", partial(Search(needle).go_on, views, math.inf)))
        started = time.perf_counter()
        await pilot.resize_terminal(90, 40)
        await pilot.pause()
        results.append(f"resize, settled and painted {(time.perf_counter() - started) * 1e3:.1f} ms")
        viewport = transcript.viewport

        def refit() -> None:
            viewport.resize(70, 40)
            viewport.settle()

        results.append(timed("of which ours", refit))
    tracemalloc.start()
    gc.collect()
    transcript = Transcript()
    before = tracemalloc.get_traced_memory()[0]
    transcript.extend(blocks)
    gc.collect()
    results.append(f"memory beside the blocks {(tracemalloc.get_traced_memory()[0] - before) / 1e6:.1f} MB")
    tracemalloc.stop()
    return [f"{count:6,} blocks: {result}" for result in results]


def timed(name: str, action: Callable[[], object]) -> str:
    """Do it once and say how long it took."""
    started = time.perf_counter()
    action()
    return f"{name} {(time.perf_counter() - started) * 1e3:.1f} ms"


async def report() -> None:
    """Print everything."""
    for result in await long_transcript(10_000):
        print(result)
    for tokens in (1_000, 10_000, 100_000):
        print(await stream("mixed", tokens))
    print(await stream("mixed", 10_000, history=10_000))
    for kind in ("fence", "list", "table", "paragraph"):
        print(await stream(kind, 100_000))


@pytest.mark.benchmark
async def test_report() -> None:
    await report()


if __name__ == "__main__":
    asyncio.run(report())
