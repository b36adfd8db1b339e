"""A turn that was taken back is gone from the disk, word for word; what it has cost stays in the sums."""

import sqlite3
from contextlib import closing
from pathlib import Path

from milk_tui.core import events as ev
from milk_tui.core.messages import Usage
from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore
from tests.core.building import NOW, Play

UNDONE = ev.ExchangeUndone(at=NOW)
COST = ev.UsageReported(usage=Usage(cost_usd=0.25))


def loaded(home: Path) -> Session:
    with closing(SessionStore(home)) as store:
        return store.load("s")


def same(one: Session, other: Session) -> bool:
    return (one.state, one.turns, one.percepts, one.bricks()) == (
        other.state,
        other.turns,
        other.percepts,
        other.bricks(),
    )


def test_it_is_gone_and_what_follows_is_stored_behind_what_is_left(tmp_path: Path) -> None:
    play = Play()
    with closing(SessionStore(tmp_path)) as store:
        play.local("kept", ev.PerceptRecorded(text="kept fact"), "kept answer")
        store.save(play.session)
        play.claude("secretword", ev.PerceptRecorded(text="secretword fact"), COST, "secretword answer")
        store.save(play.session)
        play.apply(UNDONE)
        store.save(play.session)
        assert same(loaded(tmp_path), play.session)
        with closing(sqlite3.connect(tmp_path / "sessions.db")) as database:
            rows = [
                row
                for table in ("turns", "messages", "percepts")
                for row in database.execute(f"SELECT * FROM {table}")
            ]
        assert rows and "secretword" not in str(rows)
        assert store.listed()[0].turns == 1 and store.usage().total.cost_usd == 0.25
        play.local("later", ev.PerceptRecorded(text="later fact"), "later answer")
        store.save(play.session)
        assert [turn.number for turn in loaded(tmp_path).turns] == [1, 3]
        assert same(loaded(tmp_path), play.session)


def test_a_save_that_was_missed_between_changes_nothing(tmp_path: Path) -> None:
    play = Play()
    with closing(SessionStore(tmp_path)) as store:
        play.local("a", "b")
        play.local("gone", ev.PerceptRecorded(text="gone too"), "c")
        store.save(play.session)
        play.apply(UNDONE)
        play.local("d", ev.PerceptRecorded(text="new"), "e")
        play.begin("running")
        store.save(play.session)
    found = loaded(tmp_path)
    assert [turn.prompt for turn in found.turns] == ["a", "d", "running"]
    assert [percept.text for percept in found.percepts] == ["new"]


def test_the_only_turn_can_be_taken_back_and_what_is_queued_stays(tmp_path: Path) -> None:
    play = Play()
    with closing(SessionStore(tmp_path)) as store:
        play.local("a", "b")
        store.save(play.session)
        play.apply(UNDONE, ev.QueueChanged(queue=()))
        store.save(play.session)
        assert store.load("s").turns == []
        copy = loaded(tmp_path)
    play = Play(copy)
    assert play.local("next", "x").number == 2
