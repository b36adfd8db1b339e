"""`milk-tui sessions search` and `milk-tui sessions export`, as somebody types them."""

import stat
from contextlib import closing
from pathlib import Path

import pytest

from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore
from tests.e2e.running import Program, assert_sentence
from tests.storage.stored_sessions import new_session, say


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def keep(program: Program, session: Session) -> None:
    program.environment()
    with closing(SessionStore(program.home)) as store:
        store.save(session)


def test_words_are_searched_in_all_sessions_or_in_those_of_here(program: Program) -> None:
    first = new_session("aaaa1111-first", str(program.cwd))
    say(first, "Where is the needle?", "In the 日本 hay \x1b[31mstack.")
    keep(program, first)
    other = new_session("bbbb2222-other", "/elsewhere")
    say(other, "Another needle", "No.")
    keep(program, other)

    ran = program.run("sessions", "search", "need")
    assert (ran.status, ran.err) == (0, "")
    assert sorted(line[:8] for line in ran.out.splitlines()[::2]) == ["aaaa1111", "bbbb2222"]
    assert "Another needle" in ran.out and "/elsewhere" in ran.out and "\x1b" not in ran.out

    (hit,) = program.run("sessions", "search", "need", "--here", "--json").json["hits"]
    assert (hit["session"], hit["message"], hit["by"]) == ("aaaa1111-first", "1.0", "user")
    (hit,) = program.run("sessions", "--json", "search", "日").json["hits"]
    ((start, end),) = hit["excerpt"]["marks"]
    assert hit["excerpt"]["text"][start:end] == "日" and "\x1b" not in hit["excerpt"]["text"]

    nothing = program.run("sessions", "search", "haystack")
    assert (nothing.status, nothing.out, nothing.err) == (1, "Nothing was found.\n", "")


def test_searching_where_nothing_is_makes_nothing(program: Program) -> None:
    ran = program.run("sessions", "search", "anything")
    assert (ran.status, ran.out) == (1, "Nothing was found.\n")
    assert not program.home.exists()


def test_an_exported_session_comes_back_in_another_home(program: Program) -> None:
    session = new_session("aaaa1111-2222", str(program.cwd))
    say(session, "What is it?", "**It** is this.")
    keep(program, session)
    printed = program.run("sessions", "export", "aaaa")
    assert printed.status == 0 and "**It** is this." in printed.out

    written = program.run("sessions", "export", "aaaa", "-o", "it.json")
    path = program.cwd / "it.json"
    assert (written.status, written.out) == (0, "")
    assert_sentence(written.err)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == program.run("sessions", "export", "aaaa", "--format", "json").out

    again = program.run("sessions", "export", "aaaa", "-o", "it.json")
    assert again.status == 1 and "it.json" in again.err
    assert_sentence(again.err)

    home = str(program.root / "other")
    assert program.run("sessions", "import", str(path), "--home", home).status == 0
    with closing(SessionStore(Path(home))) as store:
        assert store.load("aaaa1111-2222").turns == session.turns
    assert (
        program.run("sessions", "export", "aaaa", "--format", "json", "--home", home).out == path.read_text()
    )


def test_a_session_that_is_not_there_cannot_be_exported(program: Program) -> None:
    ran = program.run("sessions", "export", "nope")
    assert (ran.status, ran.out) == (1, "")
    assert_sentence(ran.err)
