"""Words are found in all that was said, whoever said it and in whatever script, and only there."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from milk_tui.core import events as ev
from milk_tui.core.errors import StoreError
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.storage.search.searcher import Found, Searcher
from milk_tui.storage.search.words import Query
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import EPOCH, begin, end, long_session, new_session, say


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with closing(SessionStore(tmp_path)) as store:
        yield store


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    with closing(Searcher(tmp_path)) as searcher:
        yield searcher


def keep(
    store: SessionStore, prompt: str, answer: str = "Yes.", name: str = "session-1", cwd: str = "/tmp"
) -> None:
    session = new_session(name, cwd)
    say(session, prompt, answer)
    store.save(session)


def search(searcher: Searcher, words: str) -> Found:
    searcher.catch_up()
    return searcher.search(Query(words))


def marked(found: Found) -> list[list[str]]:
    """The marked words of each hit."""
    return [[hit.excerpt.text[start:end] for start, end in hit.excerpt.marks] for hit in found.hits]


@pytest.mark.parametrize(
    ("said", "words", "marks"),
    [
        ("The SessionStore writes.", "sessionst", ["SessionSt"]),
        ("It is in shop/orders.py, line 3.", "orders.py", ["orders.py"]),
        ("Un café noir", "cafe", ["café"]),
        ("Un cafe noir", "café", ["cafe"]),
        ("ＷＩＤＥ letters", "wide", ["ＷＩＤＥ"]),
        ("これは日本語の文章です", "日本", ["日本"]),
        ("これは日本語の文章です", "語", ["語"]),
        ("这是一个数据库连接错误", "连接错误", ["连接错误"]),
        ("데이터베이스에서 오류가 났다", "오류", ["오류"]),
        ("ฐานข้อมูลล้มเหลว", "ข้อมูล", ["ข้อมูล"]),
        ("Ошибка в базе данных", "ошиб", ["Ошиб"]),
        ("यह हिन्दी में है", "हिन्दी", ["हिन्दी"]),
        ("يوجد خطأ في القاعدة", "خطأ", ["خطأ"]),
    ],
)
def test_a_word_is_found_in_any_script_and_marked(
    store: SessionStore, searcher: Searcher, said: str, words: str, marks: list[str]
) -> None:
    keep(store, "Something else entirely", said)
    found = search(searcher, words)
    assert [hit.message for hit in found.hits] == ["1.1"]
    assert marked(found) == [marks]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("cat and dog", "cat bird"),
        ("a catalogue", "log"),
        ("the cat sat", '"cat the"'),
        ("a catalogue", '"cat"'),
        ("日本語", "本日"),
        ("abc", "ab"),
        ("anything", "++"),
        ("anything", '"'),
        ("anything", ""),
        ("NEAR (a b)", 'x" OR "near'),
    ],
)
def test_what_is_not_there_is_not_found(
    store: SessionStore, searcher: Searcher, said: str, words: str
) -> None:
    keep(store, said, "")
    assert search(searcher, words).hits == ()


def test_a_hit_says_who_said_it_and_when_and_where(store: SessionStore, searcher: Searcher) -> None:
    session = new_session("one", "/tmp")
    begin(session, "Where is the needle?", "claude")
    session.apply(
        ev.ToolCallStarted(call=ToolCall(id="c", name="Grep", arguments='{"pattern": "\\u0064eep needle"}'))
    )
    session.apply(ev.ToolCallFinished(result=ToolResult(call_id="c", text="hay\nneedle")))
    session.apply(ev.TextDelta(text="The needle is in the hay."))
    end(session)
    store.save(session)
    hits = search(searcher, "needle").hits
    assert [(hit.message, hit.by, hit.tool) for hit in hits] == [
        ("1.3", "claude", ""),
        ("1.2", "tool", ""),
        ("1.1", "claude", "Grep"),
        ("1.0", "user", ""),
    ]
    assert {(hit.session, hit.title, hit.cwd, hit.at) for hit in hits} == {
        ("one", "Where is the needle?", os.path.realpath("/tmp"), EPOCH)
    }
    assert [hit.excerpt.text for hit in hits] == [
        "The needle is in the hay.",
        "hay needle",
        "Grep deep needle",
        "Where is the needle?",
    ]


def test_the_newest_are_found_first_and_no_more_than_asked_for(
    store: SessionStore, searcher: Searcher
) -> None:
    long = long_session(0, "long")
    for number in range(30):
        say(long, f"needle {number}", "hay")
    store.save(long)
    keep(store, "another needle", name="other")
    searcher.catch_up()
    found = searcher.search(Query("needle"), limit=3)
    assert found.has_more
    assert [hit.message for hit in found.hits] == ["30.0", "29.0", "28.0"]
    assert not searcher.search(Query("needle"), limit=31).has_more


def test_only_one_directory_or_all_but_some_sessions_are_searched(
    store: SessionStore, searcher: Searcher
) -> None:
    keep(store, "needle", name="a", cwd="/usr")
    keep(store, "needle", name="b", cwd="/tmp")
    searcher.catch_up()
    assert [hit.session for hit in searcher.search(Query("needle"), cwd="/usr").hits] == ["a"]
    assert [hit.session for hit in searcher.search(Query("needle"), besides={"a"}).hits] == ["b"]


def test_what_is_said_later_is_found_later_and_nothing_twice(store: SessionStore, searcher: Searcher) -> None:
    session = new_session()
    say(session, "first needle", "hay")
    store.save(session)
    assert len(search(searcher, "needle").hits) == 1
    begin(session, "second needle")
    store.save(session)
    assert len(search(searcher, "needle").hits) == 1, "a running turn is not indexed yet"
    end(session)
    store.save(session)
    assert [hit.message for hit in search(searcher, "needle").hits] == ["2.0", "1.0"]
    searcher.catch_up()
    assert len(searcher.search(Query("needle")).hits) == 2


def test_a_turn_that_took_the_number_of_another_is_found_and_that_one_is_not(
    store: SessionStore, searcher: Searcher, tmp_path: Path
) -> None:
    session = new_session()
    say(session, "first", "hay")
    say(session, "needle", "hay")
    store.save(session)
    assert len(search(searcher, "needle").hits) == 1
    last = session.turns[-1]
    messages = (last.messages[0].model_copy(update={"text": "thread"}), *last.messages[1:])
    later = last.started_at + timedelta(hours=1)
    session.turns[-1] = last.model_copy(update={"messages": messages, "started_at": later})
    with closing(SessionStore(tmp_path)) as other:
        other.save(session)
    assert search(searcher, "needle").hits == ()
    assert [hit.message for hit in search(searcher, "thread").hits] == ["2.0"]


def test_a_session_of_many_turns_is_indexed_in_portions_and_goes_on_where_it_was_stopped(
    store: SessionStore, searcher: Searcher
) -> None:
    store.save(long_session(450))
    steps = iter([False, False, False, True])
    searcher.catch_up(stopped=lambda: next(steps))
    part = searcher.search(Query("question"), limit=1_000)
    assert 0 < len(part.hits) < 450
    done: list[float] = []
    searcher.catch_up(done.append)
    assert len(searcher.search(Query("question"), limit=1_000).hits) == 450
    assert done == [1.0]


def test_a_deleted_session_is_not_found_and_leaves_no_word_in_the_index(
    store: SessionStore, searcher: Searcher, tmp_path: Path
) -> None:
    keep(store, "secretword", name="gone")
    keep(store, "openword", name="kept")
    assert len(search(searcher, "secretword").hits) == 1
    searcher.forget("gone")
    with closing(sqlite3.connect(tmp_path / "search.db")) as index:
        index.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
        words = {row[0] for row in index.execute("SELECT term FROM vocabulary")}
    assert "openword" in words and "secretword" not in words


def test_a_session_that_is_gone_from_the_file_of_sessions_is_not_found(
    store: SessionStore, searcher: Searcher, tmp_path: Path
) -> None:
    keep(store, "needle")
    assert len(search(searcher, "needle").hits) == 1
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM sessions")
    assert searcher.search(Query("needle")).hits == ()
    assert search(searcher, "needle").hits == ()


@pytest.mark.parametrize("content", [b"this is no database " * 300, b""])
def test_an_index_that_cannot_be_read_is_made_anew(
    store: SessionStore, searcher: Searcher, tmp_path: Path, content: bytes
) -> None:
    keep(store, "needle")
    (tmp_path / "search.db").write_bytes(content)
    assert len(search(searcher, "needle").hits) == 1


def test_an_index_of_another_version_is_made_anew(store: SessionStore, tmp_path: Path) -> None:
    keep(store, "needle")
    with closing(Searcher(tmp_path)) as before:
        assert len(search(before, "needle").hits) == 1
    with closing(sqlite3.connect(tmp_path / "search.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with closing(Searcher(tmp_path)) as after:
        assert len(search(after, "needle").hits) == 1


def test_without_sessions_nothing_is_made(tmp_path: Path) -> None:
    with closing(Searcher(tmp_path / "home")) as searcher:
        assert search(searcher, "needle").hits == ()
    assert not (tmp_path / "home").exists()


def test_the_index_is_private(store: SessionStore, searcher: Searcher, tmp_path: Path) -> None:
    keep(store, "needle")
    search(searcher, "needle")
    for path in tmp_path.glob("search.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_an_index_that_cannot_be_made_is_told_in_a_sentence(
    store: SessionStore, searcher: Searcher, tmp_path: Path
) -> None:
    keep(store, "needle")
    (tmp_path / "search.db").mkdir()
    with pytest.raises(StoreError, match=r"search\.db"):
        searcher.catch_up()


def test_an_excerpt_has_the_word_in_it_however_long_the_text_and_is_one_line(
    store: SessionStore, searcher: Searcher
) -> None:
    keep(store, "before\n" * 5_000 + "the needle\tis here\n" + "after\n" * 5_000)
    (hit,) = search(searcher, "needle").hits
    assert "the needle is here" in hit.excerpt.text
    assert "\n" not in hit.excerpt.text and len(hit.excerpt.text) < 200
    assert hit.excerpt.text[0] == hit.excerpt.text[-1] == "…"
