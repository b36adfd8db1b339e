import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, StoreError
from milk_tui.core.messages import Message, Receipt, ToolCall, ToolResult, Turn, Usage
from milk_tui.core.session import Percept, Session, SessionState
from milk_tui.core.text import sanitize
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import EPOCH, begin, end, long_session, new_session, say, use_tool

StoreIn = Callable[[Path], SessionStore]


@pytest.fixture
def store_in() -> Iterator[StoreIn]:
    """Opens stores that are closed when the test is over."""
    with ExitStack() as stack:

        def open_store(home: Path) -> SessionStore:
            store = SessionStore(home)
            stack.callback(store.close)
            return store

        yield open_store


def reopened(home: Path, name: str = "session-1") -> Session:
    store = SessionStore(home)
    try:
        return store.load(name)
    finally:
        store.close()


def rows_written(session: Session, store: SessionStore) -> int:
    """Rows written so far, after this save; saving again writes none."""
    store.save(session)
    connection = store._database._connection
    assert connection is not None
    before = connection.total_changes
    store.save(session)
    assert connection.total_changes == before
    return before


def test_nothing_is_created_before_the_first_prompt(tmp_path: Path, store_in: StoreIn) -> None:
    home = tmp_path / "home"
    store, session = store_in(home), new_session()
    session.apply(ev.NeedEdited(text="a need"))
    store.save(session)
    assert (store.latest("/tmp"), store.listed(), store.directory_percepts("/tmp")) == (None, [], [])
    assert not home.exists()
    begin(session)
    store.save(session)
    assert store.latest("/tmp") == "session-1"


def test_the_folder_and_every_file_are_private(tmp_path: Path, store_in: StoreIn) -> None:
    home = tmp_path / "home"
    store, session = store_in(home), new_session()
    say(session, "a", "b")
    store.save(session)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    names = ("sessions.db", "sessions.db-wal", "sessions.db-shm", "sessions.db.lock")
    assert modes == dict.fromkeys(names, 0o600)


def test_a_session_comes_back_as_it_was(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session(cwd=str(tmp_path))
    session.apply(ev.NeedEdited(text="fix the parser"))
    begin(session, "look")
    session.apply(ev.ThinkingDelta(text="hm"))
    session.apply(ev.TextDelta(text="I read it."))
    use_tool(session, "c1")
    session.apply(ev.PerceptRecorded(text="a fact"))
    session.apply(ev.UsageReported(usage=Usage(input_tokens=3, cost_usd=0.5)))
    end(session)
    begin(session, "go", "claude")
    session.apply(ev.AgentReady(model="big", session_id="claude-1"))
    session.apply(ev.AgentFailed(failure=Failure(kind="lost", sentence="Gone.", remedy="Again.")))
    session.apply(ev.TurnEnded(at=EPOCH, receipt=Receipt(situation="first", chars=9, history_chars=99)))
    session.apply(ev.FloorChanged(floor="claude"))
    store.save(session)
    again = reopened(tmp_path)
    assert (again.state, again.turns, again.percepts) == (session.state, session.turns, session.percepts)
    assert again.bricks() == session.bricks()


def test_saving_twice_writes_once(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    say(session, "a", "b")
    begin(session, "c")
    session.apply(ev.TextDelta(text="partial"))
    rows_written(session, store)


def test_a_save_writes_what_is_new_whatever_the_length(tmp_path: Path, store_in: StoreIn) -> None:
    written = []
    for length in (10, 2_000):
        store, session = store_in(tmp_path / str(length)), long_session(length)
        before = rows_written(session, store)
        say(session, "one more", "answer")
        written.append(rows_written(session, store) - before)
        store.close()
    assert written[0] == written[1] <= 6


def test_a_reopened_session_is_not_written_again(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), long_session(500)
    store.save(session)
    store.close()
    store = store_in(tmp_path)
    session = store.load("session-1")
    say(session, "one more", "answer")
    assert rows_written(session, store) <= 6
    assert reopened(tmp_path).turns == session.turns


def test_an_answer_grows_on_disk_as_it_streams(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    begin(session, "tell me")
    store.save(session)
    for word in ("one ", "two ", "three"):
        session.apply(ev.TextDelta(text=word))
        store.save(session)
    turn = reopened(tmp_path).turns[0]
    assert (turn.status, turn.prompt, turn.answer) == ("interrupted", "tell me", "one two three")
    end(session)
    store.save(session)
    assert reopened(tmp_path).turns == session.turns


def test_claudes_session_is_on_disk_as_soon_as_it_is_known(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    begin(session, "go", "claude")
    store.save(session)
    session.apply(ev.AgentReady(session_id="claude-1"))
    store.save(session)
    assert reopened(tmp_path).state.claude_session_id == "claude-1"


def test_a_checkpoint_writes_its_turn_and_its_message(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    begin(session)
    session.apply(ev.TextDelta(text="one "))
    before = rows_written(session, store)
    session.apply(ev.TextDelta(text="two"))
    assert rows_written(session, store) - before == 2


def test_a_voided_step_leaves_nothing_on_disk(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    begin(session)
    session.apply(ev.TextDelta(text="wrong"))
    store.save(session)
    session.apply(ev.StepVoided())
    store.save(session)
    assert len(reopened(tmp_path).turns[0].messages) == 1


def test_calls_that_were_running_come_back_cancelled(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    begin(session)
    use_tool(session, "done")
    use_tool(session, "open", answered=False)
    use_tool(session, "open too", answered=False)
    store.save(session)
    turn = reopened(tmp_path).turns[0]
    results = [message.result for message in turn.messages if message.result]
    assert [(result.call_id, result.is_error) for result in results] == [
        ("done", False),
        ("open", True),
        ("open too", True),
    ]
    assert turn.status == "interrupted" and turn.ended_at is not None
    assert [message.id for message in turn.messages] == [f"1.{place}" for place in range(len(turn.messages))]


def test_an_interrupted_turn_is_followed_by_the_next_on_disk(tmp_path: Path, store_in: StoreIn) -> None:
    store, session = store_in(tmp_path), new_session()
    say(session, "first", "answer")
    begin(session, "second")
    use_tool(session, "open", answered=False)
    store.save(session)
    store.close()
    store = store_in(tmp_path)
    session = store.load("session-1")
    say(session, "third", "answer")
    store.save(session)
    again = reopened(tmp_path)
    assert again.turns == session.turns
    assert [turn.status for turn in again.turns] == ["finished", "interrupted", "finished"]


def test_a_directory_has_one_name_whatever_links_led_there(tmp_path: Path, store_in: StoreIn) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    store, session = store_in(tmp_path), new_session(cwd=str(tmp_path / "link"))
    say(session, "a", "b")
    store.save(session)
    assert store.latest(str(tmp_path / "real" / ".." / "real")) == "session-1"
    assert store.load("session-1").state.cwd == str(tmp_path / "real")
    assert store.latest(str(tmp_path)) is None


def test_sessions_are_listed_by_last_use(tmp_path: Path, store_in: StoreIn) -> None:
    store = store_in(tmp_path)
    sessions = [new_session(f"s{number}", f"/tmp/{number % 2}") for number in range(4)]
    for session in sessions:
        say(session, "first\nwords " + "x" * 5_000, "b")
        store.save(session)
    say(sessions[1], "again", "b")
    sessions[1].apply(ev.NeedEdited(text="the need"))
    store.save(sessions[1])
    assert [entry.id for entry in store.listed()] == ["s1", "s3", "s2", "s0"]
    assert [entry.id for entry in store.listed("/tmp/0")] == ["s2", "s0"]
    assert [entry.id for entry in store.listed(limit=1)] == ["s1"]
    first, *_, last = store.listed()
    assert (first.title, first.turns, last.turns) == ("the need", 2, 1)
    assert last.title.startswith("first words") and last.words.startswith("first words")
    assert len(last.title) <= 80 and len(last.words) <= 80


def test_an_id_is_found_by_the_start_that_only_it_has(tmp_path: Path, store_in: StoreIn) -> None:
    store = store_in(tmp_path)
    for name in ("abc1", "abc2", "abc", "xyz", "x%_"):
        session = new_session(name)
        say(session, "a", "b")
        store.save(session)
    assert (store.find("xy"), store.find("abc"), store.find("abc1"), store.find("x%")) == (
        "xyz",
        "abc",
        "abc1",
        "x%_",
    )
    with pytest.raises(StoreError, match=r"abc2.*abc1"):
        store.find("ab")
    for nothing in ("", "q", "_", "%", "\ud83d"):
        with pytest.raises(StoreError, match="No session begins"):
            store.find(nothing)


def test_an_unknown_session_is_a_sentence(tmp_path: Path, store_in: StoreIn) -> None:
    with pytest.raises(StoreError, match="There is no session"):
        store_in(tmp_path).load("none")
    assert list(tmp_path.iterdir()) == []


def test_facts_of_a_directory_come_newest_first_and_once(tmp_path: Path, store_in: StoreIn) -> None:
    store = store_in(tmp_path)
    for name, cwd, facts in (
        ("s1", "/tmp/a", ["one", "two"]),
        ("s2", "/tmp/b", ["elsewhere"]),
        ("s3", "/tmp/a", ["three", "one", "four"]),
    ):
        session = new_session(name, cwd)
        begin(session)
        for fact in facts:
            session.apply(ev.PerceptRecorded(text=fact))
        end(session)
        store.save(session)
    assert store.directory_percepts("/tmp/a") == ["four", "one", "three", "two"]
    assert store.directory_percepts("/tmp/a", besides="s3") == ["two", "one"]
    assert store.directory_percepts("/tmp/a", limit_chars=7) == ["four", "one"]
    again = store.load("s1")
    assert [percept.text for percept in again.percepts] == ["one", "two"]
    assert again.directory_percepts == ("four", "one", "three")


def test_two_programs_write_to_one_file(tmp_path: Path, store_in: StoreIn) -> None:
    stores = store_in(tmp_path), store_in(tmp_path)
    sessions = new_session("s1"), new_session("s2")
    for round_ in range(20):
        for store, session in zip(stores, sessions, strict=True):
            say(session, f"q{round_}", "a")
            store.save(session)
    assert [len(stores[0].load(name).turns) for name in ("s1", "s2")] == [20, 20]


TEXT = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    [
        "",
        "\ud83d",
        "\ude00\ud83d",
        "\ud83d\ude00",
        "a\x1b[31mb\x00",
        "\u2028",
        "\r\n",
        "👩‍👩‍👧",
        '"\\',
        "\\ud83d",
    ]
)
CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=st.just("{}") | TEXT, parent_id=st.none() | TEXT)
AGENT_MESSAGES = st.builds(
    Message,
    id=st.just(""),
    role=st.just("agent"),
    text=TEXT,
    thinking=TEXT,
    calls=st.lists(CALLS, max_size=2).map(tuple),
)
TOOL_MESSAGES = st.builds(
    Message,
    id=st.just(""),
    role=st.just("tool"),
    result=st.builds(ToolResult, call_id=TEXT, text=TEXT, is_error=st.booleans()),
)


def safe_message(message: Message, place: int) -> Message:
    """What must come back: every text safe, arguments as they are but well-formed."""
    calls = tuple(
        ToolCall(
            id=sanitize(call.id),
            name=sanitize(call.name),
            arguments=call.arguments.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
            parent_id=None if call.parent_id is None else sanitize(call.parent_id),
        )
        for call in message.calls
    )
    result = message.result and message.result.model_copy(
        update={"call_id": sanitize(message.result.call_id), "text": sanitize(message.result.text)}
    )
    changes = {"text": sanitize(message.text), "thinking": sanitize(message.thinking)}
    return message.model_copy(update={**changes, "id": f"1.{place}", "calls": calls, "result": result})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompt=TEXT, replies=st.lists(AGENT_MESSAGES | TOOL_MESSAGES, max_size=4), fact=TEXT, need=TEXT)
def test_any_text_survives_a_round_trip(
    tmp_path: Path, prompt: str, replies: list[Message], fact: str, need: str
) -> None:
    name = f"s{time.monotonic_ns()}"
    messages = (Message(id="1.0", role="user", text=prompt), *replies)
    turn = Turn(number=1, agent="local", status="finished", started_at=EPOCH, messages=messages, preface=need)
    state = SessionState(id=name, cwd="/tmp", nonce="cafe", created_at=EPOCH, need=need)
    store = SessionStore(tmp_path)
    store.save(Session(state, [turn], [Percept(text=fact)]))
    again = store.load(name)
    assert again.turns[0].messages == tuple(safe_message(m, place) for place, m in enumerate(messages))
    assert again.turns[0].preface == again.state.need == sanitize(need)
    assert again.percepts == [Percept(text=sanitize(fact))]
    assert store.find(name) == name and store.listed(limit=1)
    for value in (*again.turns, again.state, *again.percepts):
        value.model_dump_json().encode()
    store.close()


@pytest.mark.parametrize(
    ("statement", "turns"),
    [
        ("UPDATE messages SET value = 'nonsense' WHERE place = 1", 2),
        ("UPDATE messages SET value = '[1]', text = x'ff00fe' WHERE place = 1", 2),
        ('UPDATE messages SET value = \'{"thinking": "\\ud83d \\u001b[31m", "calls": 7}\'', 2),
        ("UPDATE messages SET text = cast(x'61ff1b5b' AS TEXT)", 2),
        ("UPDATE messages SET role = 'assistant' WHERE place = 1", 2),
        ("UPDATE messages SET role = 'system' WHERE place = 0 AND turn = 1", 1),
        ("DELETE FROM messages WHERE turn = 1", 1),
        ("UPDATE turns SET value = '{\"started_at\": 3e99}' WHERE turn = 1", 1),
        ("UPDATE turns SET value = '' WHERE turn = 2", 1),
        ("UPDATE turns SET status = 'odd', agent = 'gpt' WHERE turn = 2", 1),
        ("UPDATE sessions SET title = cast(x'ff' AS TEXT), used_at = 'yesterday', floor = 'moon'", 2),
        ("UPDATE sessions SET value = json_set(value, '$.need', 7, '$.need_by', 'cat', '$.x', 1)", 2),
    ],
)
def test_a_row_edited_by_hand_loses_only_itself(
    tmp_path: Path, store_in: StoreIn, statement: str, turns: int
) -> None:
    store, session = store_in(tmp_path), new_session()
    say(session, "one", "a")
    say(session, "two", "b")
    store.save(session)
    store.close()
    connection = sqlite3.connect(tmp_path / "sessions.db")
    with connection:
        connection.execute(statement)
    connection.close()
    store = store_in(tmp_path)
    again = store.load("session-1")
    assert len(again.turns) == turns and len(store.warnings) == 2 - turns
    assert store.listed()[0].id == "session-1"
    say(again, "three", "c")
    store.save(again)
    assert len(reopened(tmp_path).turns) == turns + 1
    store.close()


def test_a_session_row_that_says_nothing_is_a_sentence_and_others_open(
    tmp_path: Path, store_in: StoreIn
) -> None:
    store = store_in(tmp_path)
    for name in ("s1", "s2"):
        session = new_session(name)
        say(session, "a", "b")
        store.save(session)
    store.close()
    connection = sqlite3.connect(tmp_path / "sessions.db")
    with connection:
        connection.execute("UPDATE sessions SET value = '{' WHERE session = 's1'")
    connection.close()
    store = store_in(tmp_path)
    with pytest.raises(StoreError, match="damaged"):
        store.load("s1")
    assert len(store.load("s2").turns) == 1 and len(store.listed()) == 2
    store.close()
