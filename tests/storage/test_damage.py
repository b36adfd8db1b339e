import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.core.session import Session
from milk_tui.storage.database import Database
from milk_tui.storage.schema import SCHEMA
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import long_session, new_session, say


def stored(home: Path, *sessions: Session) -> Path:
    store = SessionStore(home)
    for session in sessions:
        store.save(session)
    store.close()
    return home / "sessions.db"


def spoken(name: str = "session-1") -> Session:
    session = new_session(name)
    say(session, "question", "answer")
    return session


@contextmanager
def opened(home: Path) -> Iterator[SessionStore]:
    store = SessionStore(home)
    try:
        yield store
    finally:
        store.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database " * 400)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def half_a_header(path: Path) -> None:
    os.truncate(path, 50)


def someone_elses(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE turns (x)")
    connection.close()


def without_a_table(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE percepts")
    connection.close()


@pytest.mark.parametrize("damage", [garbage, truncated, half_a_header, someone_elses, without_a_table])
def test_a_damaged_file_is_kept_aside_and_a_fresh_one_begun(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = stored(tmp_path, long_session(200))
    damage(path)
    content = path.read_bytes()
    with opened(tmp_path) as store:
        store.listed()
        (aside,) = tmp_path.glob("sessions.db.damaged-*Z")
        assert aside.read_bytes() == content
        assert len(store.warnings) == 1 and aside.name in store.warnings[0]
        store.save(spoken("new"))
        assert store.latest("/tmp") == "new" and len(store.load("new").turns) == 1
    with opened(tmp_path) as store:
        assert store.latest("/tmp") == "new" and store.warnings == ()


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "sessions.db").touch()
    with opened(tmp_path) as store:
        assert store.listed() == [] and store.warnings == ()
        store.save(spoken())
        assert store.latest("/tmp") == "session-1"


def test_an_old_journal_never_meets_a_fresh_file(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.save(long_session(200))
    with opened(tmp_path) as store:
        session = store.load("session-1")
        say(session, "in the journal", "answer")
        store.save(session)
        journal = (tmp_path / "sessions.db-wal").read_bytes()
        garbage(tmp_path / "sessions.db")
    # The journal holds only the pages of one turn, so that the file cannot be healed by it.
    garbage(tmp_path / "sessions.db")
    (tmp_path / "sessions.db-wal").write_bytes(journal)
    with opened(tmp_path) as store:
        assert store.listed() == [] and len(store.warnings) == 1
        store.save(spoken("new"))
    with opened(tmp_path) as store:
        assert [entry.id for entry in store.listed()] == ["new"]
    assert [path.read_bytes() for path in tmp_path.glob("sessions.db.damaged-*-wal")] == [journal]


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_journal_without_its_file_gives_back_what_it_holds_or_nothing(
    tmp_path: Path, is_empty: bool
) -> None:
    with opened(tmp_path) as store:
        store.save(spoken("old"))
        with opened(tmp_path) as other:
            other.save(spoken("older"))
            journal = (tmp_path / "sessions.db-wal").read_bytes()
    (tmp_path / "sessions.db").unlink()
    if is_empty:
        (tmp_path / "sessions.db").touch()
    (tmp_path / "sessions.db-wal").write_bytes(journal)
    with opened(tmp_path) as store:
        store.save(spoken("new"))
        assert {entry.id for entry in store.listed()} >= {"new"} and len(store.warnings) == 1
        assert [len(store.load(entry.id).turns) for entry in store.listed()] == [1] * len(store.listed())
    with opened(tmp_path) as store:
        assert "new" in {entry.id for entry in store.listed()} and store.warnings == ()


def test_garbage_in_the_middle_costs_only_the_session_it_is_in(tmp_path: Path) -> None:
    sessions = [long_session(60, f"s{number}") for number in range(8)]
    path = stored(tmp_path, *sessions)
    content = bytearray(path.read_bytes())
    # A page of messages, found by its text.
    at = content.index(b"answer 30 ") // 4096 * 4096
    content[at : at + 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with opened(tmp_path) as store:
        readable = []
        for session in sessions:
            try:
                readable.append(store.load(session.state.id))
            except StoreError as error:
                assert "damaged" in str(error)
        assert 5 <= len(readable) < 8
        for session in sessions:
            say(session, "one more", "answer")
            store.save(session)
            assert store.load(session.state.id).turns == session.turns


def test_damage_met_while_saving_keeps_the_readable_sessions(tmp_path: Path) -> None:
    sessions = [long_session(60, f"s{number}") for number in range(8)]
    path = stored(tmp_path, *sessions)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"answer 59 ") // 4096 * 4096
    content[at : at + 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with opened(tmp_path) as store:
        say(sessions[7], "one more", "answer")
        store.save(sessions[7])
        assert store.load("s7").turns == sessions[7].turns
        assert len(store.warnings) == 1 and "were taken over" in store.warnings[0]
        assert {entry.id for entry in store.listed()} >= {"s0", "s1", "s2", "s3", "s7"}
        assert store.load("s0").turns == sessions[0].turns


@pytest.mark.parametrize("is_damaged", [True, False])
@pytest.mark.parametrize("round_", range(4))
def test_programs_that_begin_at_once_keep_all_their_sessions(
    tmp_path: Path, is_damaged: bool, round_: int
) -> None:
    if is_damaged:
        garbage(tmp_path / "sessions.db")
    gate = threading.Barrier(4)
    troubles: list[Exception] = []

    def run(number: int) -> None:
        gate.wait()
        try:
            with opened(tmp_path) as store:
                store.save(spoken(f"s{number}"))
        except Exception as error:
            troubles.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(tmp_path) as store:
        assert troubles == [] and {entry.id for entry in store.listed()} == {"s0", "s1", "s2", "s3"}
    assert len(list(tmp_path.glob("sessions.db.damaged-*Z"))) == is_damaged


def test_a_file_that_another_program_has_replaced_is_not_set_aside(tmp_path: Path) -> None:
    stored(tmp_path, spoken())
    first, second = Database(tmp_path), Database(tmp_path)
    for database in (first, second):
        with database.reading():
            pass
    first.set_aside()
    second.set_aside()
    assert len(list(tmp_path.glob("sessions.db.damaged-*Z"))) == 1
    assert (len(first.warnings), len(second.warnings)) == (1, 0)
    for database in (first, second):
        database.close()


def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    path = stored(tmp_path, spoken())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()
    before = path.read_bytes()
    with opened(tmp_path) as store:
        for call in (store.listed, lambda: store.latest("/tmp"), lambda: store.save(spoken("new"))):
            with pytest.raises(StoreError, match="newer milk-tui"):
                call()
        store.save(spoken("new"))
        assert store.trouble is not None
    assert path.read_bytes() == before and list(tmp_path.glob("*damaged*")) == []


def test_a_full_disk_is_told_once_and_everything_is_saved_when_there_is_room(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        session = spoken()
        store.save(session)
        connection = store._database._connection
        assert connection is not None
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        say(session, "big", "x" * 500_000)
        with pytest.raises(StoreError, match="disk is full") as caught:
            store.save(session)
        assert "in memory" in caught.value.remedy
        say(session, "and on", "answer")
        store.save(session)
        with opened(tmp_path) as other:
            assert store.trouble is not None and len(other.load("session-1").turns) == 1
        connection.execute("PRAGMA max_page_count = 1000000")
        store.save(session)
        assert store.trouble is None and store.load("session-1").turns == session.turns


def test_a_file_that_may_not_grow_is_a_sentence_in_a_real_process(tmp_path: Path) -> None:
    stored(tmp_path, spoken())
    script = (
        "import resource, sys, pathlib\n"
        "from tests.storage.stored_sessions import *\n"
        "from milk_tui.storage.session_store import *\n"
        "from milk_tui.core.errors import StoreError\n"
        "store = SessionStore(pathlib.Path(sys.argv[1]))\n"
        "session = store.load('session-1')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))\n"
        "say(session, 'big', 'x' * 900_000)\n"
        "try: store.save(session)\n"
        "except StoreError as error: print(error)\n"
        "store.save(session)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "store.save(session)\n"
        "print(store.trouble)\n"
        "store.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    sentence, trouble = done.stdout.splitlines()
    assert "cannot be written" in sentence and trouble == "None", done.stderr
    with opened(tmp_path) as store:
        assert len(store.load("session-1").turns[1].answer) == 900_000


def test_a_file_locked_by_another_program_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milk_tui.storage.database.BUSY_SECONDS", 0.05)
    path = stored(tmp_path, spoken())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with opened(tmp_path) as store:
        assert store.latest("/tmp") == "session-1"
        with pytest.raises(StoreError, match="another program is writing"):
            store.save(spoken("new"))
        other.execute("ROLLBACK")
        other.close()
        store.save(spoken("new"))
        assert store.latest("/tmp") == "new"


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with opened(tmp_path / "file" / "home") as store:
        with pytest.raises(StoreError, match="cannot be written"):
            store.save(spoken())
        assert store.trouble is not None


def test_a_home_that_is_deleted_is_made_again_with_the_whole_conversation(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as store:
        session = long_session(5)
        store.save(session)
        shutil.rmtree(home)
        say(session, "still here", "answer")
        store.save(session)
        assert store.load("session-1").turns == session.turns
    with opened(home) as store:
        assert store.load("session-1").turns == session.turns


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root to be refused")
def test_a_file_that_may_only_be_read_can_be_read_and_says_so_when_written(tmp_path: Path) -> None:
    path = stored(tmp_path, spoken())
    for folder in (tmp_path, *tmp_path.parents):
        if "pytest" in folder.name or folder == tmp_path:
            folder.chmod(0o777)
    path.chmod(0o444)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        lines = []
        os.setuid(65534)
        store = SessionStore(tmp_path)
        steps: tuple[Callable[[], object], ...] = (
            lambda: store.latest("/tmp"),
            lambda: store.save(spoken("new")),
        )
        for step in steps:
            try:
                lines.append(str(step()))
            except StoreError as error:
                lines.append(str(error))
            except BaseException as error:
                lines.append(f"escaped: {error!r}")
        os.write(writer, "\n".join(lines).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        read, wrote = pipe.read().splitlines()
    os.waitpid(child, 0)
    assert read == "session-1" and "cannot be written" in wrote
