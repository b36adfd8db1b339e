"""What was spent, added up over all stored turns."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from milk_tui.core.messages import AgentRole, Message, Turn, Usage
from milk_tui.core.session import Session, SessionState
from milk_tui.storage.session_store import SessionStore

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def turn(number: int, agent: AgentRole, at: datetime, model: str, cost: float | None) -> Turn:
    return Turn(
        number=number,
        agent=agent,
        messages=(Message(id=f"{number}.0", role="user", text="question"),),
        status="finished",
        started_at=at,
        model=model,
        usage=Usage(input_tokens=100, cached_tokens=40, output_tokens=10, cost_usd=cost),
    )


def store_with(home: Path) -> SessionStore:
    store = SessionStore(home)
    for name, day in (("aaa", 0), ("bbb", 5)):
        at = NOON + timedelta(days=day)
        turns = [
            turn(1, "local", at, "small", None),
            turn(2, "claude", at, "opus", 0.25),
            turn(3, "claude", at + timedelta(days=1), "opus", None),
        ]
        state = SessionState(
            id=name, cwd="/tmp", nonce="cafe", created_at=NOON, title=f"Matter \x1b[31m{name}"
        )
        store.save(Session(state, turns))
    return store


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_turns_are_added_up_by_day_by_session_and_by_model(tmp_path: Path) -> None:
    report = store_with(tmp_path).usage()
    assert (report.total.turns, report.total.input_tokens, report.total.output_tokens) == (6, 600, 60)
    assert report.total.cost_usd == pytest.approx(0.5) and report.total.uncounted == 2
    assert [(day.name, day.turns) for day in report.days] == [
        ("2026-03-10", 1),
        ("2026-03-09", 2),
        ("2026-03-05", 1),
        ("2026-03-04", 2),
    ]
    assert [(one.id, one.name, one.turns) for one in report.sessions] == [
        ("bbb", "Matter bbb", 3),
        ("aaa", "Matter aaa", 3),
    ]
    opus, small = report.models
    assert (opus.name, opus.turns, opus.cost_usd, opus.uncounted) == ("opus", 4, 0.5, 2)
    assert (small.name, small.turns, small.cost_usd, small.cached_tokens) == ("small", 2, None, 80)


def test_without_a_file_nothing_was_spent_and_none_is_made(tmp_path: Path) -> None:
    report = SessionStore(tmp_path).usage()
    assert report.total.turns == 0 and report.days == report.sessions == report.models == ()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_row_loses_its_own_figures_and_no_others(tmp_path: Path) -> None:
    store_with(tmp_path).close()
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        connection.execute("UPDATE turns SET value = '{' WHERE session = 'aaa' AND turn = 2")
        connection.execute(
            """UPDATE turns SET value = '{"usage": {"input_tokens": "x", "cost_usd": "much"}}'
            WHERE session = 'aaa' AND turn = 3"""
        )
    connection.close()
    report = SessionStore(tmp_path).usage()
    assert report.total.turns == 6 and report.total.input_tokens == 400
    assert report.days[-1].name == "2026-03-04" and report.days[0].name == "unknown"
