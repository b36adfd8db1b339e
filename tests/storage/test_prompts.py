"""What the user has written in all sessions."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from milk_tui.core import events as ev
from milk_tui.core.session import Session
from milk_tui.storage.prompts import prompts_in
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import long_session, new_session

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def said(name: str, *prompts: tuple[str, float]) -> Session:
    """A session in which these were written, each so many hours after noon."""
    session = new_session(name)
    for prompt, hours in prompts:
        at = NOON + timedelta(hours=hours)
        session.apply(ev.TurnStarted(agent="local", prompt=prompt, at=at))
        session.apply(ev.TextDelta(text=f"The answer to {prompt}"))
        session.apply(ev.AgentFinished())
        session.apply(ev.TurnEnded(at=at))
    return session


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


def test_prompts_of_all_sessions_come_newest_first_whatever_was_saved_last(store: SessionStore) -> None:
    with closing(store):
        store.save(said("b", ("second", 2), ("fourth", 4)))
        store.save(said("a", ("first", 1), ("third", 2.5)))
        assert store.prompts() == ["fourth", "third", "second", "first"]
        assert store.prompts(besides=("b",)) == ["third", "first"]


def test_prompts_that_differ_only_in_the_space_around_them_are_one(store: SessionStore) -> None:
    with closing(store):
        store.save(said("a", ("again\n", 1), ("once", 2), ("  again", 3), ("Again", 4)))
        assert store.prompts() == ["Again", "  again", "once"]


def test_the_number_and_the_length_of_all_are_bounded(store: SessionStore) -> None:
    with closing(store):
        store.save(long_session(2_100))
        prompts = store.prompts()
        assert len(prompts) == 2_000 and prompts[0] == "question 2100"
        short = store._read(lambda connection: prompts_in(connection, (), most_chars=30))
        assert short == ["question 2100", "question 2099"]


def test_what_was_taken_back_and_what_cannot_be_read_is_left_out_and_nothing_unsafe_comes(
    store: SessionStore,
) -> None:
    with closing(store):
        session = said("a", ("one \x1b[31mred", 1), ("two", 2), ("three", 3))
        store.save(session)
        session.apply(ev.ExchangeUndone(at=NOON))
        store.save(session)
        assert len(store.prompts()) == 2
        with store._database.writing() as connection:
            connection.execute("UPDATE turns SET value = 'broken' WHERE turn = 1")
            connection.execute("UPDATE messages SET text = x'00ff' WHERE turn = 2 AND place = 0")
        assert store.prompts() == ["one red"]
