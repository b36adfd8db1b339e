"""What searching costs with 100,000 messages: `python -m tests.benchmarks.bench_search`.

Prints, and asserts nothing about time. The sessions are made of this project's own words, with names that occur once
and with Chinese ones, in 500 sessions; a third of the messages are calls and their results.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from milk_tui.core.messages import Message, ToolCall, ToolResult, Turn
from milk_tui.core.session import Session, SessionState
from milk_tui.storage.search.searcher import Searcher
from milk_tui.storage.search.words import Query
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import EPOCH

MESSAGES = 100_000
SESSIONS = 500
PER_TURN = 4
RUNS = 5
PACKAGE = Path(__file__).parents[2] / "milk_tui"
CHINESE = "我们在会话中搜索文字并且显示日志文件错误数据库连接失败然后重试订单结算页面测试"
QUERIES = {
    "a rare name": "needle77777",
    "a common word": "return",
    "the commonest": "the",
    "many beginnings": "con",
    "three words": "session text return",
    "a phrase": '"session state"',
    "one letter": "a",
    "two characters": "日志",
    "one character": "错",
    "nothing": "zzzqqq",
}


def words() -> list[str]:
    """Words as they occur in a conversation about a program."""
    return [word for path in sorted(PACKAGE.rglob("*.py")) for word in path.read_text().split()]


def text(draw: random.Random, known: list[str], number: int) -> str:
    parts = draw.choices(known, k=min(int(draw.lognormvariate(4, 1)) + 3, 2_000))
    parts.append(f"needle{number}")
    if number % 20 == 0:
        parts.append("".join(draw.choices(CHINESE, k=30)))
    return " ".join(parts)


def turns(draw: random.Random, known: list[str], session: int, count: int) -> Iterator[Turn]:
    for number in range(1, count + 1):
        first = (session * count + number) * PER_TURN
        call = ToolCall(id="c", name="read_file", arguments='{"path": "shop/orders.py"}')
        yield Turn(
            number=number,
            agent="local",
            status="finished",
            started_at=EPOCH.replace(year=2025 + session // 250, month=1 + session % 12),
            messages=(
                Message(id=f"{number}.0", role="user", text=text(draw, known, first)),
                Message(id=f"{number}.1", role="agent", calls=(call,)),
                Message(
                    id=f"{number}.2",
                    role="tool",
                    result=ToolResult(call_id="c", text=text(draw, known, first + 1)),
                ),
                Message(id=f"{number}.3", role="agent", text=text(draw, known, first + 2)),
            ),
        )


def fill(home: Path, messages: int) -> None:
    draw, known = random.Random(7), words()
    with closing(SessionStore(home)) as store:
        for session in range(SESSIONS):
            state = SessionState(id=f"session-{session}", cwd="/tmp", nonce="cafe", created_at=EPOCH)
            store.save(Session(state, list(turns(draw, known, session, messages // SESSIONS // PER_TURN))))


def milliseconds(searcher: Searcher, words: str) -> tuple[float, int]:
    """The middle of some runs of the whole way from words to hits, and the number of hits."""
    times, hits = [], 0
    for _ in range(RUNS):
        started = time.perf_counter()
        hits = len(searcher.search(Query(words)).hits)
        times.append((time.perf_counter() - started) * 1_000)
    return statistics.median(times), hits


def rows(messages: int = MESSAGES) -> Iterator[str]:
    """The lines of the report."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, messages)
        with closing(Searcher(home)) as searcher:
            started = time.perf_counter()
            searcher.catch_up()
            yield f"{'index of ' + format(messages, ','):24}{time.perf_counter() - started:10.1f} s"
            started = time.perf_counter()
            searcher.catch_up()
            yield f"{'nothing new':24}{(time.perf_counter() - started) * 1e3:10.1f} ms"
            for name in ("sessions.db", "search.db"):
                yield f"{name:24}{(home / name).stat().st_size / 1e6:10.1f} MB"
            for name, words in QUERIES.items():
                took, hits = milliseconds(searcher, words)
                yield f"{name + ' (' + words + ')':40}{took:8.1f} ms {hits:4} hits"


def main() -> None:
    for row in rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
