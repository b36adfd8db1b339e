"""A library that is only looked at: what the list and the search show in pictures, at times that no time zone moves."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from milk_tui.cli.demo import demo_bench
from milk_tui.conversation.library import Library, Listed
from milk_tui.conversation.opening import Opened
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.messages import AgentRole
from milk_tui.storage.config import Settings
from milk_tui.storage.reading import SessionEntry
from milk_tui.storage.search.searcher import By, Found, Hit
from milk_tui.storage.search.words import Query

SHOP = "/home/ana/shop"


def at(day: int, hour: int, minute: int) -> datetime:
    """A time of January 2026 as the machine's own clock shows it."""
    return datetime(2026, 1, day, hour, minute).astimezone()


def entry(
    name: str, title: str, cwd: str, used_at: datetime, turns: int, words: str, floor: AgentRole = "local"
) -> SessionEntry:
    return SessionEntry(id=name, title=title, cwd=cwd, used_at=used_at, floor=floor, turns=turns, words=words)


ENTRIES = (
    Listed(
        entry=entry(
            "demo", "Find out why test_checkout fails", SHOP, at(5, 9, 41), 3, "Why does it fail?", "claude"
        ),
        is_open_here=True,
    ),
    Listed(
        entry=entry(
            "b", "Refunds twice when the customer clicks twice", SHOP, at(4, 18, 2), 41, "refund() runs twice"
        ),
        is_open_elsewhere=True,
        owner=4711,
    ),
    Listed(entry=entry("c", "注文の取り消しを直す", SHOP, at(3, 11, 20), 12, "注文の取り消しが失敗します")),
    Listed(
        entry=entry(
            "d", "Write the release notes", "/home/ana/blog", at(2, 8, 15), 5, "What changed since 1.4?"
        )
    ),
    Listed(
        entry=entry(
            "e",
            "Move the database to another machine",
            "/srv/db",
            at(1, 22, 48),
            208,
            "How large is it?",
            "claude",
        )
    ),
)

SAID: tuple[tuple[str, int, By, datetime, str], ...] = (
    (
        "Find out why test_checkout fails",
        1,
        "local",
        at(5, 9, 41),
        "So the second worker reads before the first one commits.",
    ),
    (
        "Find out why test_checkout fails",
        1,
        "tool",
        at(5, 9, 41),
        "4 failed, 16 passed in 8.31s AssertionError: order 1007 not found; commit came late",
    ),
    (
        "Refunds twice when the customer clicks twice",
        12,
        "claude",
        at(4, 17, 55),
        "Each click commits its own transaction, so the second refund sees no first one.",
    ),
    (
        "Refunds twice when the customer clicks twice",
        11,
        "user",
        at(4, 17, 50),
        "Does refund() commit before it replies?",
    ),
    ("Write the release notes", 2, "user", at(2, 8, 12), "List the commits since 1.4, newest first."),
)


class Shelves(Library):
    """Shows what there is; nothing can be done with it."""

    def __init__(self) -> None:
        super().__init__(Path("/nowhere"), _cannot)

    async def listed(self) -> list[Listed]:
        return list(ENTRIES)

    async def catch_up(self, told: Callable[[float], None]) -> None:
        """There is nothing new."""

    async def search(self, query: Query, limit: int) -> Found:
        hits = (
            Hit(
                session="b",
                title=title,
                cwd=SHOP,
                message=f"{turn}.1",
                by=by,
                at=when,
                excerpt=query.excerpt(text),
            )
            for title, turn, by, when, text in SAID
        )
        return Found(hits=tuple(hit for hit in hits if hit.excerpt.marks))


def _cannot(_settings: Settings, _opened: Opened) -> Workbench:
    raise AssertionError("nothing is opened here")


def with_shelves(bench: Workbench | None = None) -> Workbench:
    """A bench with such a library."""
    bench = bench or demo_bench()
    Shelves().hold(bench)
    return bench
