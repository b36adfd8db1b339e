import sqlite3
import subprocess
import sys
from pathlib import Path

from milk_tui.conversation.opening import forked_from
from milk_tui.core.session import Session
from milk_tui.core.shaping_events import BrickFrozen, BrickShaped, PartSwitched
from milk_tui.core.versions import KEPT
from milk_tui.storage.schema import STEPS
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import EPOCH, new_session, say

_CHILD = """
import os, signal, sys
from pathlib import Path
from milk_tui.storage.session_store import SessionStore
from tests.storage.test_stored_shaping import shaped
SessionStore(Path(sys.argv[1])).save(shaped())
os.kill(os.getpid(), signal.SIGKILL)
"""


def shaped() -> Session:
    """A session with everything in it that a user can do to its bricks."""
    session = new_session()
    say(session, "which port does the till use?", "The port is 8041.")
    say(session, "and why?", "Because of 🥛.")
    lines = session.local_summary.lines
    for line, change, text in ((lines[1], "pin", ""), (lines[2], "drop", ""), (lines[3], "edit", "Söldi 🥛")):
        event = {"brick": "local_summary", "lines": (line,), "change": change, "text": text, "at": EPOCH}
        session.apply(BrickShaped.model_validate(event))
    session.apply(PartSwitched(part="percepts", is_on=False, at=EPOCH))
    session.apply(BrickFrozen(brick="local_summary", is_frozen=True, at=EPOCH))
    say(session, "more", "not in the frozen brick")
    return session


def loaded(home: Path) -> Session:
    store = SessionStore(home)
    session = store.load("session-1")
    assert store.warnings == ()
    store.close()
    return session


def test_shaping_and_versions_survive_a_kill(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", _CHILD, str(tmp_path)], timeout=60)
    assert killed.returncode < 0
    session, expected = loaded(tmp_path), shaped()
    assert session.state == expected.state
    assert session.handoff() == expected.handoff() and session.bricks() == expected.bricks()
    assert "8041" in session.local_summary.text and "frozen brick" not in session.local_summary.text
    for name in ("current_need", "local_summary"):
        assert session.versions.of(name) == expected.versions.of(name) != ()


def test_only_the_last_versions_of_a_brick_stay_on_disk(tmp_path: Path) -> None:
    store, session = SessionStore(tmp_path), new_session()
    for number in range(KEPT + 6):
        say(session, f"question {number}", "answer")
        store.save(session)
    store.close()
    assert loaded(tmp_path).versions.of("local_summary") == session.versions.of("local_summary")
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        count = connection.execute("SELECT count(*) FROM versions WHERE brick = 'local_summary'").fetchone()
    connection.close()
    assert count == (KEPT,)


def test_a_database_of_the_first_schema_is_taken_along(tmp_path: Path) -> None:
    store, session = SessionStore(tmp_path), new_session()
    say(session, "which port does the till use?", "The port is 8041.")
    store.save(session)
    store.close()
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        connection.execute("DROP TABLE versions")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert len(STEPS) > 1
    session = loaded(tmp_path)
    assert "8041" in session.local_summary.text and session.versions.of("local_summary") == ()
    say(session, "and now?", "It is kept.")
    store = SessionStore(tmp_path)
    store.save(session)
    store.close()
    assert [version.turn for version in loaded(tmp_path).versions.of("local_summary")] == [2]


def test_a_version_edited_by_hand_loses_only_itself(tmp_path: Path) -> None:
    store, session = SessionStore(tmp_path), new_session()
    say(session, "one", "x")
    say(session, "two", "y")
    store.save(session)
    store.close()
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        connection.execute("UPDATE versions SET value = '{' WHERE number = 1")
        connection.execute("UPDATE versions SET brick = 'no such brick' WHERE number = 2")
    connection.close()
    before = [*session.versions.of("current_need"), *session.versions.of("local_summary")]
    again = loaded(tmp_path)
    after = [*again.versions.of("current_need"), *again.versions.of("local_summary")]
    assert len(after) == len(before) - 1
    assert again.handoff() == session.handoff()


def test_a_fork_keeps_the_shape_and_forgets_what_claude_was_told(tmp_path: Path) -> None:
    store, session = SessionStore(tmp_path), shaped()
    copy = store.load(forked_from(store, session))
    store.close()
    assert copy.state.shaping == session.state.shaping
    assert (copy.state.handed, copy.state.handed_turn) == ((), 0)
